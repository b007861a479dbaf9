std = "max"
max_line_length = 120
files["lua"] = { std = "min" } -- what is embedded runs on every Lua
files["spec"] = { std = "max+busted" }
exclude_files = { "build", ".gpu" }
files["docs"] = { max_line_length = false } -- the tables of docs/api are prose
