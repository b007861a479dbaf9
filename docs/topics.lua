-- What gr.help knows: each entry and each chapter of docs/api as plain text, and all of it packed as C for the module.
local source = dofile("docs/source.lua")

local topics = {}

-- ---- texts ----

-- A line is a paragraph, which gr.help breaks at the terminal's width: what goes on further in as the first line's
-- blanks say. Four blanks in front are code, which it leaves as it is.
local function indented(code) return "    " .. code:gsub("^\n", ""):gsub("%s+$", ""):gsub("\n", "\n    ") end

-- Markdown's links and bold letters have their place in the reference alone.
local function plain(text) return (text:gsub("%[([^%[%]]+)%]%([^()%s]+%)", "%1"):gsub("%*%*([^*]+)%*%*", "%1")) end

-- Markdown as such lines: paragraphs and the entries of lists become one, a table's rows one each.
local function lines_of(text)
  local lines, code, open = {}, false, false
  for line in (text:gsub("^%s+", ""):gsub("%s+$", "") .. "\n"):gmatch("([^\n]*)\n") do
    local is_row = line:find("^|")
    if line:find("^```") then code, open = not code, false
    elseif code then lines[#lines + 1] = "    " .. line
    elseif is_row and not line:find("^|[-|]+$") then
      local cells = {}
      for cell in line:gsub("^|", ""):gsub("|$", ""):gsub("\\|", "\1"):gmatch("[^|]+") do
        cells[#cells + 1] = cell:gsub("^%s+", ""):gsub("%s+$", ""):gsub("\1", "|")
      end
      if #cells > 1 then lines[#lines + 1] = "  " .. cells[1] .. ": " .. table.concat(cells, ", ", 2) end
      open = false
    elseif line == "" or is_row then
      if not is_row then lines[#lines + 1] = "" end
      open = false
    elseif open and not line:find("^%s*%- ") then lines[#lines] = lines[#lines] .. " " .. line:gsub("^%s+", "")
    else lines[#lines + 1], open = line:find("^%s*%- ") and "  " .. line or line, true end
  end
  return plain(table.concat(lines, "\n"))
end

local function add_rows(add, title, rows)
  if not rows or #rows == 0 then return end
  add(title .. ":")
  for _, row in ipairs(rows) do
    local text = source.flat(row[3])
    if row.default then text = text .. (text == "" and "" or "; ") .. "default " .. row.default end
    local kind = source.plain(row[2]) .. (source.is_optional(row) and ", optional" or "")
    add(plain(("  %s (%s)%s%s"):format(row[1], kind, text == "" and "" or ": ", text)))
  end
end

local function entry_text(entry, objects)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  for _, form in ipairs(source.signatures(entry, objects)) do add(form) end
  add("")
  add(lines_of(entry.text))
  add("")
  add_rows(add, "Parameters", entry.params)
  add_rows(add, "Options", entry.options)
  for _, row in ipairs(entry.returns) do
    add(plain(("Returns %s%s"):format(row[1], row[2] == "" and "" or ": " .. source.flat(row[2]))))
  end
  if #entry.returns == 0 then add("Returns nothing.") end
  for _, fact in ipairs(source.facts) do
    if entry[fact[1]] then add(("%s: %s"):format(fact[2], plain(source.flat(entry[fact[1]])))) end
  end
  add("")
  add("Example:")
  add(indented(entry.example))
  if entry.output ~= "" then
    add("prints")
    add(indented(entry.output))
  end
  return table.concat(lines, "\n")
end

local function chapter_text(chapter)
  local pieces = { lines_of(chapter.text) }
  for _, object in ipairs(chapter.objects or {}) do
    pieces[#pieces + 1] = ("%s %s: %s"):format(object.class, object.self, plain(source.flat(object.text)))
    local rows = {}
    add_rows(function(line) rows[#rows + 1] = line end, "Fields", object.fields)
    if #rows > 0 then pieces[#pieces + 1] = table.concat(rows, "\n") end
  end
  return table.concat(pieces, "\n\n")
end

--- All topics in the reference's order: { name, text, is_chapter }; entries follow their chapter.
function topics.list(chapters, objects)
  local list = {}
  for _, chapter in ipairs(chapters) do
    list[#list + 1] = { name = chapter.title, text = chapter_text(chapter), is_chapter = true }
    for _, entry in ipairs(chapter.entries) do
      list[#list + 1] = { name = source.full_name(entry), text = entry_text(entry, objects) }
    end
  end
  return list
end

-- ---- packing ----

-- Many entries have lines in common, which the module carries once; what is left is packed by byte pair encoding
-- (P. Gage, A New Algorithm for Data Compression, 1994): the pair of neighbours that comes most often gets a byte that
-- no text holds, again and again. Pairs are looked for within words, since equal words are counted once; lines are
-- packed one by one, so that one is unpacked without the others.

-- The bytes from 1 on that no line holds.
local function free_bytes(lines)
  local taken, free = {}, {}
  for _, line in ipairs(lines) do
    for k = 1, #line do taken[line:byte(k)] = true end
  end
  for byte = 1, 255 do
    if not taken[byte] then free[#free + 1] = byte end
  end
  return free
end

-- Calls each(word) for a line's words, each with what parts it from the next.
local function each_word(line, each)
  for word in line:gmatch("%w*[^%w]*") do each(word) end
end

local function bytes_of(word)
  local bytes = {}
  for k = 1, #word do bytes[k] = word:byte(k) end
  return bytes
end

-- Adds the pairs of a word that comes `times` times to counts (or takes them away), and notes where they are.
local function count_pairs(counts, places, word, times)
  for k = 1, #word - 1 do
    local pair = word[k] * 256 + word[k + 1]
    counts[pair] = (counts[pair] or 0) + times
    places[pair] = places[pair] or {}
    places[pair][word] = true
  end
end

local function merge(word, left, right, code)
  local k, n = 1, #word
  local to = 0
  while k <= n do
    to = to + 1
    if word[k] == left and word[k + 1] == right then word[to], k = code, k + 2 else word[to], k = word[k], k + 1 end
  end
  for j = to + 1, n do word[j] = nil end
end

-- A function that packs a line out of the list, and the pairs that bytes stand for: { [byte] = { byte, byte } }.
local function packing(lines)
  local words, order, times = {}, {}, {}
  for _, line in ipairs(lines) do
    each_word(line, function(word)
      if not words[word] then
        words[word] = bytes_of(word)
        order[#order + 1] = words[word]
      end
      times[words[word]] = (times[words[word]] or 0) + 1
    end)
  end
  local counts, places, pairs_of = {}, {}, {}
  for _, word in ipairs(order) do count_pairs(counts, places, word, times[word]) end
  for _, code in ipairs(free_bytes(lines)) do
    local best, most = nil, 1
    for pair, count in pairs(counts) do
      if count > most or (count == most and best and pair < best) then best, most = pair, count end
    end
    if not best then break end
    local left, right = math.floor(best / 256), best % 256
    pairs_of[code] = { left, right }
    for word in pairs(places[best]) do
      count_pairs(counts, places, word, -times[word])
      merge(word, left, right, code)
      count_pairs(counts, places, word, times[word])
    end
  end
  local function packed(line)
    local pieces = {}
    each_word(line, function(word)
      for _, byte in ipairs(words[word]) do pieces[#pieces + 1] = string.char(byte) end
    end)
    return table.concat(pieces)
  end
  return packed, pairs_of
end

-- ---- C ----

-- Lines of numbers for an initializer.
local function add_numbers(add, list)
  for k = 1, #list, 20 do add(table.concat(list, ",", k, math.min(k + 19, #list)) .. ",") end
end

--- The C source of the tables of src/binding/reference.h.
function topics.embed(chapters, objects)
  local lines, numbers, used = {}, {}, {}
  local function number(line)
    if not numbers[line] then
      lines[#lines + 1] = line
      numbers[line] = #lines - 1
    end
    return numbers[line]
  end
  for _, topic in ipairs(topics.list(chapters, objects)) do
    local from = #used + 1
    used[from] = 0
    used[from + 1] = number((topic.is_chapter and "# " or "") .. topic.name)
    for line in (topic.text .. "\n"):gmatch("([^\n]*)\n") do used[#used + 1] = number(line) end
    used[from] = #used - from
  end
  assert(#lines < 65536, "numbers of lines fit 16 bits")
  local pack, pairs_of = packing(lines)
  local bytes, ends, flat_pairs, size = {}, {}, {}, 0
  for k, line in ipairs(lines) do
    local packed = pack(line)
    for j = 1, #packed do bytes[size + j] = packed:byte(j) end
    size = size + #packed
    ends[k] = size
  end
  for byte = 0, 255 do
    local pair = pairs_of[byte] or { 0, 0 }
    flat_pairs[byte + 1] = ("{%d,%d}"):format(pair[1], pair[2])
  end
  used[#used + 1] = 0
  local text = {}
  local function add(line) text[#text + 1] = line end
  add('#include "src/binding/reference.h"')
  for _, each in ipairs {
    { "const unsigned char gr_reference_pairs[256][2]", flat_pairs },
    { "const unsigned char gr_reference_bytes[]", bytes },
    { "const uint32_t gr_reference_ends[]", ends }, { "const uint16_t gr_reference_topics[]", used },
  } do
    add(each[1] .. " = {")
    add_numbers(add, each[2])
    add("};")
  end
  return table.concat(text, "\n") .. "\n"
end

return topics
