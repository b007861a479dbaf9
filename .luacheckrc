std = "max"
max_line_length = 120
files["lua"] = { std = "min" } -- what is embedded runs on every Lua
files["spec"] = { std = "max+busted" }
exclude_files = { "build", ".gpu" }
