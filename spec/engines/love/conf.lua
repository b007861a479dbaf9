-- A window, as games have one, and nothing else that a check needs.
function love.conf(t)
  t.identity = "gpureduce-check"
  t.window.width, t.window.height, t.window.vsync = 320, 200, 0
  t.modules.audio, t.modules.sound, t.modules.joystick, t.modules.physics = false, false, false, false
end
