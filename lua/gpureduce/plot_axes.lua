-- The axes of pictures in the terminal: ticks as texts, and the line below a picture.
local axes = {}

local floor, max, min = math.floor, math.max, math.min

--- A tick as a text: powers as 10^6 and 2*10^6.
function axes.tick_text(tick)
  return type(tick) == "table" and string.gsub(tick[1], "[\128-\255]+", "*") .. "^" .. tick[2] or tick
end

--- What the ticks of an axis leave out, in words, or nil.
function axes.left_out(name, axis)
  local words = {}
  if axis.factor ~= 0 then words[1] = string.format("in 10^%d", axis.factor) end
  if axis.offset then words[#words + 1] = "+ " .. axis.offset end
  return #words > 0 and name .. " " .. table.concat(words, " ") or nil
end

--- Ticks of the x axis: the marks on its line, and the texts below, which keep apart.
function axes.below(axis, columns, ascii)
  local line, reached = {}, 0
  for k = 1, columns do line[k] = ascii and "-" or "\226\148\128" end
  local row = ""
  for _, tick in ipairs(axis.ticks) do
    local at, text = min(columns, floor(tick[1] * columns) + 1), axes.tick_text(tick[2])
    local start = max(1, min(columns - #text + 1, at - floor(#text / 2)))
    if (reached == 0 or start > reached + 1) and start + #text - 1 <= columns then
      line[at] = ascii and "+" or "\226\148\180"
      row = row .. string.rep(" ", start - 1 - #row) .. text
      reached = start + #text - 1
    end
  end
  return table.concat(line), row
end

--- The labels of the y axis by row, counted from 0 at the top, and the columns that they take. room: the most of those.
function axes.beside(axis, rows, room)
  local labels, left = {}, 0
  for _, tick in ipairs(axis.ticks) do
    local row = min(rows - 1, max(0, floor((1 - tick[1]) * rows)))
    labels[row] = labels[row] or axes.tick_text(tick[2])
    if #labels[row] <= room then left = max(left, #labels[row]) end
  end
  for row, label in pairs(labels) do labels[row] = #label <= left and label or nil end
  return labels, left
end

return axes
