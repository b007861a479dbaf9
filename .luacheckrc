std = "min"
max_line_length = 120
files["spec"] = { std = "min+busted" }
exclude_files = { "build", ".gpu" }
