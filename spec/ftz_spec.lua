-- Game engines switch on flush-to-zero. The module's results must not change, and the host's setting must come back.
local S = require "spec.support"

-- A library whose only effect is to set flush-to-zero (and denormals-are-zero) when it is loaded.
local source = [[
#if defined(__x86_64__)
#include <xmmintrin.h>
__attribute__((constructor)) static void set(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#elif defined(__aarch64__)
#include <stdint.h>
__attribute__((constructor)) static void set(void) {
  uint64_t f;
  __asm__ volatile("mrs %0, fpcr" : "=r"(f));
  __asm__ volatile("msr fpcr, %0" : : "r"(f | 1u << 24));
}
#else
#error unknown
#endif
]]

local function build()
  local base = os.tmpname()
  S.write_file(base .. ".c", source)
  local library = base .. ".so"
  os.execute(("LD_PRELOAD= cc -shared -fPIC -o %s %s.c > %s 2>&1"):format(library, base, base))
  os.remove(base .. ".c")
  os.remove(base)
  local file = io.open(library)
  if file then file:close() end
  return file and library
end

describe("with the host's flush-to-zero set", function()
  local library

  setup(function() library = build() end)
  teardown(function() if library then os.remove(library) end end)

  -- LD_PRELOAD may already name something (a sanitizer): keep it in front.
  local function environment(more)
    local old = os.getenv("LD_PRELOAD")
    more.LD_PRELOAD = old and old ~= "" and old .. ":" .. library or library
    return more
  end

  it("golden bits hold, under every instruction set", function()
    if not library then return pending "no C compiler here" end
    for _, set in ipairs { "generic", "sse2", "avx2", "avx512", "neon" } do
      local settings = environment { GPUREDUCE_CPU = set, GPUREDUCE_DEVICE = "cpu" }
      local text, status = S.child(settings, "spec/golden.lua", "quick")
      if not text:find("GPUREDUCE_CPU", 1, true) then
        assert.equal(0, status, text)
        assert.truthy(text:find("^ok"), text)
      end
    end
  end)

  it("subnormals count, and the setting comes back", function()
    if not library then return pending "no C compiler here" end
    for _, threads in ipairs { 1, 3 } do
      local text, status = S.child_text(environment { GPUREDUCE_DEVICE = "cpu" }, ([[
        local gr = require "gpureduce"
        gr.threads(%d)
        local one = 1
        local function flushed() return 2.0 ^ -1022 * one / 4 == 0 end
        print(flushed())
        local tiny = gr.frombytes(("\1\0\0\0\0\0\0\0"):rep(200000), "f64")
        local sum = gr.sum(tiny, { rows = 1 })
        assert(sum:bytes() == "\64\13\3\0\0\0\0\0") -- 200000 times the smallest
        assert(gr.scan(tiny, "sum"):bytes(200000) == "\64\13\3\0\0\0\0\0")
        assert(tiny:count() == 200000 and tiny:min() ~= nil)
        assert(gr.max(tiny, { rows = 1 }):bytes() == "\1\0\0\0\0\0\0\0")
        local single = gr.frombytes(("\1\0\0\0"):rep(1000), "f32")
        assert(single:sum() == 1000 * 2.0 ^ -149)
        assert(gr.scan(single, "sum"):bytes(1000) == "\232\3\0\0")
        assert(gr.frombytes("\1\0", "f16"):sum() == 2.0 ^ -24)
        assert(gr.frombytes("\1\0", "bf16"):sum() == 2.0 ^ -133)
        local h = gr.histogram(single, { edges = { -1, 0, 1 } })
        assert(h.counts[2] == 1000)
        print(flushed())]]):format(threads))
      assert.equal(0, status, text)
      assert.equal("true\ntrue\n", text)
    end
  end)
end)
