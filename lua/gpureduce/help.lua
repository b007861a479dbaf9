-- gr.help: the reference at the prompt. Its texts come with the module (src/binding/help.c), a line a paragraph.
local _, parts = ...
local help = {}

local MOST_NEAR = 8 -- topics that a mistake is answered with

-- ---- laying out ----

-- A paragraph to the width; what is told of a name stands further in than the name. Code stays as it is.
local function add_paragraph(lines, paragraph, width)
  local blanks = #string.match(paragraph, "^ *")
  if paragraph == "" or blanks >= 4 then
    lines[#lines + 1] = paragraph
    return
  end
  local further = blanks > 0 and blanks + 2 or 0
  for k, line in ipairs(parts.plot.wrap(paragraph, math.max(1, width - further))) do
    lines[#lines + 1] = string.rep(" ", k == 1 and blanks or further) .. line
  end
end

local function laid_out(text, width)
  local lines = {}
  for paragraph in string.gmatch((text .. "\n"), "([^\n]*)\n") do add_paragraph(lines, paragraph, width) end
  return table.concat(lines, "\n")
end

-- ---- topics ----

-- The topics in groups, { { title, name, ... }, ... }, and where each stands in the reference. Chapters' names come
-- behind "# ".
local function read_topics()
  local groups, places = {}, {}
  for k, name in ipairs(parts.topics()) do
    local title = string.match(name, "^# (.*)")
    if title then groups[#groups + 1] = { title }
    else table.insert(groups[#groups], name) end
    places[title or name] = k
  end
  return groups, places
end

local function overview(groups, width)
  local lines = {}
  add_paragraph(lines, 'gr.help "sum" tells of one of these, gr.help "Scans" of a group, gr.help "axis" of an option.',
    width)
  lines[#lines + 1] = ""
  for _, group in ipairs(groups) do
    add_paragraph(lines, group[1], width)
    add_paragraph(lines, "  " .. table.concat(group, ", ", 2), width)
  end
  return table.concat(lines, "\n")
end

local function text_of_group(group, place)
  return parts.topic(place) .. "\n\nTopics: " .. table.concat(group, ", ", 2)
end

-- Calls each(name) for all names of topics, then of groups, in the reference's order.
local function each_name(groups, each)
  for _, group in ipairs(groups) do
    for k = 2, #group do each(group[k]) end
  end
  for _, group in ipairs(groups) do each(group[1]) end
end

-- What of a name says which function it is: "sum" of "gr.sum" and "a:sum", "eval" of "expression:eval".
local function bare(name) return string.match(name, "[.:]([%a_][%w_]*)$") or name end

-- The name of the topic that was meant, or nil, and the names that could have been. Exact names come first; then those
-- of calls, of methods of other objects than arrays without the object, and of groups whatever their letters' case.
local function find(groups, places, given)
  if places[given] then return given end
  local last, alike = bare(string.match(given, "^([^()]+)%(.*%)$") or given), {}
  if places[last] then return last end
  each_name(groups, function(name)
    if bare(name) == last or string.lower(name) == string.lower(given) then alike[#alike + 1] = name end
  end)
  if #alike == 1 then return alike[1] end
  return nil, alike
end

-- What the entries say of an option, each wording once, above the names of the functions that take it so; nil where it
-- is no option.
local function text_of_option(groups, places, option)
  local paragraphs, takers = {}, {}
  for _, group in ipairs(groups) do
    for k = 2, #group do
      local rows = string.match((parts.topic(places[group[k]]) .. "\n"), "\nOptions:\n(.-\n)%S") or ""
      for row in string.gmatch(rows, "  ([^\n]+)\n") do
        if string.match(row, "^[%w_]+") == option then
          if not takers[row] then takers[row], paragraphs[#paragraphs + 1] = {}, row end
          table.insert(takers[row], group[k])
        end
      end
    end
  end
  for k, row in ipairs(paragraphs) do paragraphs[k] = row .. "\n  An option of " .. table.concat(takers[row], ", ") end
  return paragraphs[1] and table.concat(paragraphs, "\n\n")
end

-- Names that hold the word, or that it begins or ends with.
local function add_near(list, groups, word)
  local there = {}
  for _, name in ipairs(list) do there[name] = true end
  each_name(groups, function(name)
    local own = string.lower(name)
    local ends = #own > 2 and (string.sub(word, 1, #own) == own or string.sub(word, -#own) == own)
    if (#word > 2 and string.find(own, word, 1, true) or ends) and not there[name] then list[#list + 1] = name end
  end)
end

local function unknown(groups, given, list)
  if #list == 0 then
    local names = {}
    each_name(groups, function(name) names[#names + 1] = bare(name) end)
    local hinted = string.match(parts.hint(bare(given), names), "did you mean '([^']+)'")
    each_name(groups, function(name) if bare(name) == hinted then list[#list + 1] = name end end)
    if #given < 100 then add_near(list, groups, string.lower(bare(given))) end
  end
  local text = table.concat(list, "', '", 1, math.min(#list, MOST_NEAR))
  if #list > 0 then text = string.format(" (near it: '%s'%s)", text, #list > MOST_NEAR and ", ..." or "") end
  parts.check.fail("help", 1, "unknown topic '%s'%s; gr.help() lists all", string.sub(given, 1, 40), text)
end

--- gr.help(topic): its entry in the reference, what is said of an option, or all topics in their groups; text in the
-- terminal's width.
function help.help(topic)
  local width, groups, places = parts.plot.columns(), read_topics()
  if topic == nil then return overview(groups, width) end
  if type(topic) ~= "string" then
    parts.check.fail("help", 1, "name such as \"sum\" expected, got %s", parts.check.kind(topic))
  end
  local name, alike = find(groups, places, topic)
  if not name then
    local text = text_of_option(groups, places, topic)
    return text and laid_out(text, width) or unknown(groups, topic, alike)
  end
  for _, group in ipairs(groups) do
    if group[1] == name then return laid_out(text_of_group(group, places[name]), width) end
  end
  return laid_out(parts.topic(places[name]), width)
end

return help
