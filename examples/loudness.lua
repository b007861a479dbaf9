-- How loud a sound is: lua examples/loudness.lua [SECONDS [PICTURE.svg]]
-- Mean squares of blocks of 400 ms that overlap by three quarters, with quiet ones gated out in two steps, as EBU R 128
-- (ITU-R BS.1770-4) measures loudness, of one channel and without the standard's filters; then the gain that brings it
-- to -23, with what is clipped, as 16-bit samples.
local gr = require "gpureduce"

local SECONDS, PICTURE = tonumber(arg and arg[1]) or 20, arg and arg[2]
local RATE, TARGET, ABSOLUTE, RELATIVE, OFFSET = 48000, -23, -70, -10, -0.691

-- Something to hear: words of noise around 200 Hz, pauses between them, hum at 50 Hz under all.
local n = math.floor(SECONDS * RATE)
local noise = gr.randn(n, { seed = 1 })
local words = gr.fuse "max(sin(2.1 * t) + 0.6 * sin(5.3 * t) - 0.2, 0)^2" { t = gr.linspace(0, SECONDS, n) }:eval()
local sound = gr.fuse "0.2 * w * (f32(sin(tone * f64(i))) + 0.3 * noise) + 0.0005 * f32(sin(hum * f64(i)))" {
  w = words, noise = noise, tone = 2 * math.pi * 200 / RATE, hum = 2 * math.pi * 50 / RATE }:eval()

-- Mean squares of pieces of 100 ms are rows' sums; a block is four of them.
local piece = RATE / 10
local pieces = math.floor(n / piece)
local squares = (gr.lazy(sound:slice(1, pieces * piece):matrix(pieces)) ^ 2):mean { axis = 2 }
local blocks = pieces - 3
local power = gr.zeros(blocks, "f64")
for k = 1, 4 do gr.add(power, squares:slice(k, blocks + k - 1), { into = power }) end
local decibels = gr.fuse "offset + 10 * log10(max(p, 1e-12))"
local loudness = decibels { p = power / 4, offset = OFFSET }:eval()

local function ten_log(x) return 10 * math.log(x) / math.log(10) end

-- The mean of the powers above a threshold, in decibels.
local function gated(threshold)
  local loud = (power / 4):compact(gr.compare(loudness, ">", threshold))
  return #loud > 0 and OFFSET + ten_log(loud:mean()) or -math.huge, #loud
end
local first = gated(ABSOLUTE)
local integrated, used = gated(math.max(ABSOLUTE, first + RELATIVE))

local gain = 10 ^ ((TARGET - integrated) / 20)
local samples = gr.fuse "clamp(round(32767 * gain * s), -32768, 32767)" { s = sound, gain = gain }:eval():cast "i16"
local low, high = sound:minmax()
local peak = math.max(-low, high)
print(("%.1f s of sound on %s"):format(SECONDS, gr.backend():match "%S+"))
print(("peak %.2f dB, loudness %.3f LUFS (of %d blocks %d count)"):format(2 * ten_log(peak), integrated, blocks, used))
local heard = loudness:compact(gr.compare(loudness, ">", first - 20)):quantile { 0.10, 0.95 }
print(("range of the middle 85 %% of blocks that are heard: %.2f dB"):format(heard[2] - heard[1]))
print(("gain %+.2f dB; largest sample %d, clipped %d"):format(2 * ten_log(gain), samples:max(),
  samples:count { op = "==", value = 32767 } + samples:count { op = "==", value = -32768 }))

if PICTURE then
  local at = gr.linspace(0.2, 0.1 + 0.1 * blocks, blocks)
  assert(gr.svg { path = PICTURE, lines = { { name = "blocks", x = at, y = loudness } }, title = "Loudness over time",
    xlabel = "time", xunit = "s", ylabel = "loudness", yunit = "LUFS",
    ceiling = { { y = integrated, name = "integrated" }, { y = first + RELATIVE, name = "gate" } } })
end
