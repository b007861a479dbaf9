-- Element operators whose results would be f64, rounded to f32 by the option out.
local S = require "spec.support"
local D = require "spec.data"
local gr, data = S.gr, D.odd
local unpack = table.unpack or unpack -- luacheck: ignore

describe("operators that are asked for f32", function()
  local unary = { "sqrt", "exp", "log1p", "atan", "cbrt", "square", "floor" }
  local binary = { "div", "pow", "atan2", "hypot", "add", "mod" }
  it("round their results of f64 once more, into an array too", function()
    S.on_each(function(device)
      for _, dtype in ipairs { "f64", "i32", "u8", "i64" } do
        local s, t = data(dtype, 130, 1), data(dtype, 130, 2)
        local a, b = gr.array(s, dtype), gr.array(t, dtype)
        local function check_rounded(name, ...)
          local plain = gr[name](...)
          if plain.dtype == "f64" then
            local arguments = { ... }
            arguments[#arguments + 1] = { out = "f32" }
            local got = gr[name](unpack(arguments))
            assert.equal("f32", got.dtype)
            assert.equal(plain:cast("f32"):bytes(), got:bytes(), device .. " " .. name .. " " .. dtype)
            local wide = gr.zeros(260)
            arguments[#arguments] = { out = "float32", into = wide:slice(1, -1, 2) }
            gr[name](unpack(arguments))
            assert.equal(got:bytes(), wide:slice(1, -1, 2):copy():bytes())
            arguments[#arguments] = { out = "f64" }
            assert.equal(plain:bytes(), gr[name](unpack(arguments)):bytes())
          end
        end
        for _, name in ipairs(unary) do check_rounded(name, a) end
        for _, name in ipairs(binary) do
          check_rounded(name, a, b)
          check_rounded(name, a, 3)
          check_rounded(name, 3, a)
        end
      end
      local X = gr.arange(1, 6, "i32"):matrix(2)
      local shares = X:div(gr.row(gr.array({ 1, 2, 3 }, "i32")), { out = "f32" })
      assert.same({ 2, 3 }, shares.shape)
      S.same_all({ 1, 1, 1, 4, 2.5, 2 }, shares:slice())
      assert.same({ 3, 2 }, X:transpose():sqrt({ out = "f32" }).shape)
    end)
  end)

  it("say where there is nothing to round", function()
    local u, d = gr.array({ 1, 2 }, "u8"), gr.array({ 1, 2 }, "f64")
    for _, row in ipairs {
      { "#3 to 'add' (option 'out': only for results of f64, 'add' of u8 gives u8)", gr.add, u, 1, { out = "f32" } },
      { "#2 to 'sqrt' (option 'out': only for results of f64, 'sqrt' of f32 gives f32)", gr.sqrt, gr.ones(2),
        { out = "f32" } },
      { "#2 to 'isnan' (option 'out': only for results of f64, 'isnan' of f64 gives u8)", gr.isnan, d,
        { out = "f32" } },
      { "#3 to 'div' (option 'out': f32 or f64 expected, got 'f16')", gr.div, u, 2, { out = "f16" } },
      { "#3 to 'div' (option 'into': f32[2] expected, got f64[2])", gr.div, u, 2, { out = "f32", into = d } },
      { "#3 to 'div' (unknown option 'outt' (did you mean 'out'?))", gr.div, u, 2, { outt = "f32", out = "f32" } },
      { "#4 to 'compare' (unknown option 'out' (did you mean 'into'?))", gr.compare, d, "<", 1, { out = "f32" } },
      { "#4 to 'clamp' (unknown option 'out' (did you mean 'into'?))", gr.clamp, d, 0, 1, { out = "f32" } },
    } do
      assert.equal("bad argument " .. row[1], S.message(unpack(row, 2)))
    end
  end)
end)
