-- Whether code keeps to 120 columns and 500 lines: lua mk/lengths.lua says what does not, and fails if anything does.
-- Columns are characters, not bytes of UTF-8. What a program writes may be as long as it must.

local columns, lines = 120, 500
local generated = { ["library/gpureduce.lua"] = true, ["library/gpureduce.d.tl"] = true,
  ["include/gpureduce.h"] = true }
local endings = { c = 1, h = 1, cu = 1, cuh = 1, inc = 1, lua = 1, sh = 1, py = 1, mk = 1 }

local function is_code(path)
  return endings[path:match("%.(%w+)$")] or path:find("Makefile$") ~= nil
end

-- What is tracked, and what is new; in a folder without a repository all that lies where code does.
local function files()
  local pipe = io.popen("git ls-files --cached --others --exclude-standard 2>/dev/null || "
    .. "find Makefile bench docs kernels lua mk spec src -type f")
  local list = {}
  for path in pipe:lines() do
    if is_code(path) and not generated[path] then list[#list + 1] = path end
  end
  pipe:close()
  return list
end

local faults = 0
local function fault(...)
  faults = faults + 1
  print(string.format(...))
end

for _, path in ipairs(files()) do
  local file, count = io.open(path, "rb"), 0
  for line in file and file:lines() or function() end do
    count = count + 1
    local width = select(2, line:gsub("[^\128-\191]", ""))
    if width > columns then fault("%s:%d: %d columns, %d at most", path, count, width, columns) end
  end
  if file then file:close() end
  if count > lines then fault("%s: %d lines, %d at most", path, count, lines) end
end
os.exit(faults == 0 and 0 or 1)
