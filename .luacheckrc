std = "max"
max_line_length = 120
files["lua"] = { std = "min" } -- what is embedded runs on every Lua
files["spec"] = { std = "max+busted" }
exclude_files = { "build", ".gpu" }
-- What hosts put into Lua's globals.
files["spec/engines/love"] = { globals = { "love" } }
files["examples/love"] = { globals = { "love" } }
files["spec/engines/haproxy.lua"] = { read_globals = { "core" } }
files["spec/engines/luanti.lua"] = { read_globals = { "minetest" } }
files["spec/engines/mame.lua"] = { read_globals = { "emu", "manager" } }
