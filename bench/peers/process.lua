-- A process that answers one line to each: peer(command) gives a function that asks words and returns the answer.
-- Commands go in by a named pipe. It raises where the process has ended.
return function(command)
  local pipe = os.tmpname()
  os.remove(pipe)
  assert(os.execute("mkfifo " .. pipe))
  -- Whatever is asked after the command has ended goes nowhere: a write to a pipe that nobody reads would end us, too.
  local answers = assert(io.popen(("exec < '%s'; %s; exec cat > /dev/null"):format(pipe, command), "r"))
  local questions = assert(io.open(pipe, "w"))
  os.remove(pipe)
  return function(...)
    questions:write(table.concat({ ... }, " "), "\n")
    questions:flush()
    return assert(answers:read "*l", command .. " has ended")
  end
end
