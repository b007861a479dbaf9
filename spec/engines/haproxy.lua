-- The check as a task of HAProxy, beside its connections; then the proxy ends.
core.register_task(function()
  local fine, message = pcall(dofile, "spec/engines/check.lua")
  if not fine then print(message) end
  os.exit(fine and 0 or 1)
end)
