function love.conf(t)
  t.identity, t.version = "gpureduce-particles", "11.4"
  t.window.title = "gpureduce: particles and their luminance"
  t.window.width, t.window.height, t.window.vsync = 640, 400, 0
  t.modules.audio, t.modules.sound, t.modules.physics = false, false, false
end
