-- The module's functions that are written in Lua. The part that has one is read when it is first called.
local gr, parts = ...

for name, part in pairs { csv = "csv", help = "help", plot = "plot_line", show = "show", svg = "svg" } do
  gr[name] = function(...) return parts[part][name](...) end
end
