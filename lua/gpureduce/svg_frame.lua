-- The frame of a picture: where title, notes, axes, names and plot go, and all of them but the plot.
local _, parts = ...

local frame = {}

local max, min, abs, floor, huge = math.max, math.min, math.abs, math.floor, math.huge
local FONT, SMALL, LARGE = 13, 11, 15
local ROW, SMALL_ROW = 17, 15 -- from name to name, beside the plot and below
-- Texts over lines and bars are seen against a rim of the background.
local HALO = 'paint-order="stroke" stroke="#fff" stroke-width="3.5" stroke-linejoin="round"'
frame.FONT = FONT

local function at(x) return parts.text.coordinate(x) end

local function tick_text(tick) return type(tick) == "table" and tick[1] .. tick[2] or tick end

frame.tick_text = tick_text

--- A text, or a power, at a place.
local function text_at(x, y, text, attributes)
  if type(text) == "table" then -- a power: its exponent is raised
    text = string.format('%s<tspan dy="-5" font-size="9">%s</tspan>', parts.text.xml(text[1]), parts.text.xml(text[2]))
  else text = parts.text.xml(text) end
  return string.format('<text x="%s" y="%s"%s>%s</text>', at(x), at(y), attributes and " " .. attributes or "", text)
end

frame.text_at = text_at

-- "time (ms)", with the power of ten and the number that the ticks leave out.
local superscripts = {
  ["-"] = "\226\129\187", ["0"] = "\226\129\176", ["1"] = "\194\185", ["2"] = "\194\178", ["3"] = "\194\179",
}
for digit = 4, 9 do superscripts[tostring(digit)] = "\226\129" .. string.char(176 + digit) end

--- The axis' name with its unit, and what its ticks leave out: "time (10^3 ms)", "time (+ 1600000000 s)".
function frame.axis_name(label, unit, axis)
  local inside = {}
  if axis.factor ~= 0 then inside[1] = "10" .. string.gsub(string.format("%d", axis.factor), ".", superscripts) end
  if axis.offset then
    local sign = string.sub(axis.offset, 1, 1) == "-" and "\226\136\146 " or "+ "
    inside[#inside + 1] = sign .. string.gsub(axis.offset, "^-", "")
  end
  if unit then inside[#inside + 1] = unit end
  if #inside == 0 then return label end
  return (label and label .. " " or "") .. "(" .. table.concat(inside, " ") .. ")"
end

-- ---- names ----

-- The names below the plot, in rows from left to right; those for which there is no room are counted.
local function names_below(named, width, room)
  local rows, x, most = { {} }, 0, max(1, floor(room / SMALL_ROW))
  for k, s in ipairs(named) do
    local name = parts.text.cut(s.name, width - 30, SMALL)
    local wide = 30 + parts.text.width(name, SMALL)
    if x > 0 and x + wide > width then
      if #rows == most then
        rows.more = #named - k + 1
        break
      end
      rows[#rows + 1], x = {}, 0
    end
    rows[#rows][#rows[#rows] + 1] = { s = s, x = x, name = name }
    x = x + wide + 10
  end
  if rows.more then rows[#rows + 1] = {} end -- "and 12 more" has a row of its own
  return rows
end

-- ---- layout ----

--- The rectangle of the plot between its texts. c: { width, height, title, note, xlabel, ylabel (texts) }; named: the
-- series that have names; x, y: their axes. c.beside: room on the right for what stands beside the plot; names are
-- below it then.
function frame.layout(c, x, y, named)
  local T, f = parts.text, {}
  local width, height = c.width, c.height
  f.title = c.title and T.wrap(c.title, width - 16, LARGE, height < 200 and 1 or 3) or {}
  f.note = c.note and T.wrap(c.note, width - 16, SMALL, 2) or {}
  f.label = c.xlabel and T.width(c.xlabel, FONT) > width - 16 and SMALL or FONT
  f.xlabel = c.xlabel and T.wrap(c.xlabel, width - 16, f.label, height < 200 and 1 or 2) or {}
  f.top = 12 + #f.title * 19 + #f.note * 14 + 4
  f.bottom = height - 28 - #f.xlabel * 17
  -- Names stand beside the ends of their lines when there is room for all.
  local widest = 0
  for _, s in ipairs(named) do widest = max(widest, T.width(s.name, FONT) + 46) end
  if (c.beside and #named > 0) or widest > width * 0.3 or #named * ROW > f.bottom - f.top + ROW then
    f.rows = names_below(named, width - 28, (f.bottom - f.top) * 0.5)
    f.bottom = f.bottom - #f.rows * SMALL_ROW
    f.names_top = height - #f.rows * SMALL_ROW + 4
    widest = 0
  end
  f.xlabel_top = (f.rows and height - #f.rows * SMALL_ROW - 2 or height) - 8 - (#f.xlabel - 1) * 17
  f.ylabel = c.ylabel and T.wrap(c.ylabel, f.bottom - f.top + 20, FONT, 2) or {}
  local left, last = 0, x.ticks[#x.ticks]
  for _, tick in ipairs(y.ticks) do left = max(left, T.width(tick_text(tick[2]), SMALL)) end
  f.left = left + 14 + #f.ylabel * 18
  local margin = max(14, last and T.width(tick_text(last[2]), SMALL) / 2 * last[1] + 4 or 0)
  f.right = width - max(margin, widest > 0 and widest or 0, c.beside or 0)
  if f.right < f.left + 20 then f.right = f.left + 20 end
  if f.bottom < f.top + 20 then f.bottom = f.top + 20 end
  function f.x_at(share) return f.left + (f.right - f.left) * max(-1e6, min(1e6, share)) end
  function f.y_at(share) return f.bottom - (f.bottom - f.top) * max(-1e6, min(1e6, share)) end
  function f.x(value) return f.x_at(x.scale(value)) end
  function f.y(value) return f.y_at(y.scale(value)) end
  return f
end

-- ---- drawing ----

local function draw_grid(add, f, x, y)
  add('<g stroke="#ddd" stroke-width="1">')
  for _, share in ipairs(y.minor) do
    add(string.format('<path stroke="#f0f0f0" d="M%s %sH%s"/>', at(f.left), at(f.y_at(share)), at(f.right)))
  end
  for _, tick in ipairs(y.ticks) do
    add(string.format('<path d="M%s %sH%s"/>', at(f.left), at(f.y_at(tick[1])), at(f.right)))
  end
  for _, tick in ipairs(x.ticks) do
    add(string.format('<path stroke="#444" d="M%s %sv5"/>', at(f.x_at(tick[1])), at(f.bottom)))
  end
  for _, share in ipairs(x.minor) do
    add(string.format('<path stroke="#444" d="M%s %sv3"/>', at(f.x_at(share)), at(f.bottom)))
  end
  add(string.format('<path fill="none" stroke="#444" d="M%s %sV%sH%s"/>', at(f.left), at(f.top), at(f.bottom),
    at(f.right)))
  add("</g>")
end

--- Grid, ticks, title, note and the axes' names.
function frame.draw(add, f, x, y, c)
  draw_grid(add, f, x, y)
  add(string.format('<g font-size="%d" fill="#222">', SMALL))
  local above = huge -- texts that would touch the one before are left out
  for _, tick in ipairs(y.ticks) do
    local row = f.y_at(tick[1]) + 4
    if row < above - 11 then
      add(text_at(f.left - 6, row, tick[2], 'text-anchor="end"'))
      above = row
    end
  end
  local reached = -huge
  for _, tick in ipairs(x.ticks) do
    local middle, half = f.x_at(tick[1]), parts.text.width(tick_text(tick[2]), SMALL) / 2
    if middle - half > reached + 4 then
      add(text_at(middle, f.bottom + 18, tick[2], 'text-anchor="middle"'))
      reached = middle + half
    end
  end
  add("</g>")
  -- Long ones stand in the middle of the picture, short ones in that of the plot.
  local function centred(lines, size, y_first, step, attributes)
    for k, line in ipairs(lines) do
      local half = parts.text.width(line, size) / 2
      local middle = max(half + 8, min(c.width - half - 8, (f.left + f.right) / 2))
      add(text_at(middle, y_first + (k - 1) * step, line, attributes))
    end
  end
  centred(f.title, LARGE, 25, 19, string.format('fill="#222" text-anchor="middle" font-size="%d"', LARGE))
  centred(f.note, SMALL, 21 + #f.title * 19 + (#f.title > 0 and 2 or 0), 14,
    string.format('text-anchor="middle" font-size="%d" fill="#444"', SMALL))
  centred(f.xlabel, f.label, f.xlabel_top, 17,
    string.format('fill="#222" text-anchor="middle" font-size="%d"', f.label))
  for k, line in ipairs(f.ylabel) do
    add(string.format('<text fill="#222" text-anchor="middle" transform="translate(%s %s) rotate(-90)">%s</text>',
      at(16 + (k - 1) * 17), at((f.top + f.bottom) / 2), parts.text.xml(line)))
  end
end

--- Limits across the plot, their names above them, or below where they would touch another's.
function frame.draw_ceilings(add, f, ceilings)
  local taken = {}
  local function free(row)
    for _, other in ipairs(taken) do
      if abs(other - row) < 13 then return false end
    end
    return row > f.top + 8 and row < f.bottom - 2
  end
  for _, ceiling in ipairs(ceilings) do
    local y = f.y(ceiling.y)
    if y >= f.top - 2 and y <= f.bottom + 2 then
      add(string.format('<path stroke="#666" stroke-width="2" stroke-dasharray="12 4" d="M%s %sH%s"/>',
        at(f.left), at(y), at(f.right)))
      if ceiling.name then
        local row = free(y - 5) and y - 5 or free(y + 14) and y + 14 or y - 5
        taken[#taken + 1] = row
        local name = parts.text.cut(ceiling.name, f.right - f.left - 12, SMALL)
        add(text_at(f.left + 8, row, name, string.format('font-size="%d" fill="#444" %s', SMALL, HALO)))
      end
    end
  end
end

-- Names beside the lines' ends, moved apart until each has its own row.
local function names_beside(add, f, named)
  local rows = {}
  for k, s in ipairs(named) do
    local y = s.last and s.last[2] or f.top
    rows[k] = { k = k, s = s, y = min(max(y, f.top), f.bottom) }
  end
  table.sort(rows, function(a, b) return a.y < b.y or (a.y == b.y and a.k < b.k) end)
  for i, row in ipairs(rows) do row.at = max(row.y, i > 1 and rows[i - 1].at + ROW or -huge) end
  local limit = f.bottom
  for i = #rows, 1, -1 do
    rows[i].at = min(rows[i].at, limit)
    limit = rows[i].at - ROW
  end
  for _, row in ipairs(rows) do
    local x, last = f.right + 12, row.s.last
    if last and abs(last[1] - f.right) < 0.1 * (f.right - f.left) and row.s.kind ~= "points" then
      add(string.format('<path fill="none" stroke="#bbb" stroke-width="0.7" d="M%s %sL%s %s"/>',
        at(min(last[1], f.right)), at(row.y), at(x - 2), at(row.at)))
    end
    parts.svg_lines.sample(add, row.s, row.s.style, x, row.at)
    add(text_at(x + 32, row.at + 4.5, row.s.name, 'fill="#222"'))
  end
end

--- The names of series: where layout has put them.
function frame.draw_names(add, f, named)
  if #named == 0 then return end
  if not f.rows then return names_beside(add, f, named) end
  for k, row in ipairs(f.rows) do
    local y, size = f.names_top + (k - 1) * SMALL_ROW, string.format('font-size="%d" ', SMALL)
    for _, each in ipairs(row) do
      parts.svg_lines.sample(add, each.s, each.s.style, 14 + each.x, y)
      add(text_at(14 + each.x + 30, y + 4, each.name, size .. 'fill="#222"'))
    end
    if f.rows.more and k == #f.rows then
      add(text_at(14, y + 4, string.format("and %d more", f.rows.more), size .. 'fill="#444"'))
    end
  end
end

return frame
