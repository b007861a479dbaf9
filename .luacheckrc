std = "max"
max_line_length = 120
files["lua"] = { std = "min" } -- what is embedded runs on every Lua
files["spec"] = { std = "max+busted" }
exclude_files = { "build", ".gpu" }
files["docs"] = { max_line_length = false } -- the tables of docs/api are prose
files["spec/ladder_spec.lua"] = { max_line_length = 140 } -- whole error texts
files["bench/peers"] = { max_line_length = 200 } -- goals and rows of the table
files["bench/ladder.lua"] = { max_line_length = 145 }
