"""Arrays of CuPy and torch on a GPU in Lua and back, without a copy, and what that costs.

    python spec/python/dlpack_gpu.py lua54 build/lua5.4      with cupy and torch installed, whichever are there

Each line says what was compared and how it came out; the exit status is 0 if all of it held.
"""
import gc
import importlib
import os
import sys
import time

sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
NAME, FOLDER = sys.argv[1], os.path.abspath(sys.argv[2])
lupa = importlib.import_module("lupa." + NAME)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from gpureduce_dlpack import Tensor, to_lua  # noqa: E402

lua = lupa.LuaRuntime(unpack_returned_tuples=True)
lua.execute('package.cpath = "%s/?.so;" .. package.cpath; gr = require "gpureduce"; gr.use "cuda:0"' % FOLDER)
call = lambda code, *a: lua.eval("function(a) %s end" % code)(*a)  # noqa: E731
failures = []


def check(what, held):
    print("%-6s %s" % ("ok" if held else "FAILED", what), flush=True)
    if not held:
        failures.append(what)


def moved(f):
    """What f gives, and how many bytes went between host and device meanwhile."""
    before = call("local s = gr.stats() return s.bytes_up + s.bytes_down")
    result = f()
    return result, call("local s = gr.stats() return s.bytes_up + s.bytes_down") - before


class Torch:
    name = "torch"

    def __init__(self):
        import torch
        self.m, self.from_dlpack = torch, torch.from_dlpack
        self.device = torch.device("cuda:0")

    def arange(self, n):
        return self.m.arange(n, dtype=self.m.float32, device=self.device)

    def pointer(self, x):
        return x.data_ptr()

    def host(self, x):
        return x.cpu().numpy()

    def stream(self):
        s = self.m.cuda.Stream()
        return s, s.cuda_stream, lambda: self.m.cuda.stream(s)

    def used(self):
        return self.m.cuda.memory_allocated()

    def synchronize(self):
        self.m.cuda.synchronize()


class Cupy:
    name = "cupy"

    def __init__(self):
        import cupy
        self.m, self.from_dlpack = cupy, cupy.from_dlpack

    def arange(self, n):
        return self.m.arange(n, dtype=self.m.float32)

    def pointer(self, x):
        return x.data.ptr

    def host(self, x):
        return self.m.asnumpy(x)

    def stream(self):
        s = self.m.cuda.Stream(non_blocking=True)
        return s, s.ptr, lambda: s

    def used(self):
        return self.m.get_default_memory_pool().used_bytes()

    def synchronize(self):
        self.m.cuda.Device().synchronize()


def shapes(lib):
    x = lib.arange(24)
    m = x.reshape(4, 6)
    for what, view in (("vector", x), ("every third", x[::3]), ("part", x[5:9]), ("matrix", m), ("row", m[1]),
                       ("column", m[:, 2]), ("transposed", m.T)):
        a, bytes_moved = moved(lambda v=view: to_lua(lua, v))
        check("%s: %s has no copy" % (lib.name, what), bytes_moved == 0 and a.info(a)["device"] == "cuda:0")
        check("%s: %s has its sum" % (lib.name, what), call("return a:sum()", a) == float(lib.host(view).sum()))
        back = lib.from_dlpack(Tensor(lua, a))
        check("%s: %s comes back as it was" % (lib.name, what), lib.pointer(back) == lib.pointer(view)
              and tuple(back.shape) == tuple(view.shape) and (lib.host(back) == lib.host(view)).all())
    part = m[:, 1:4]
    try:
        to_lua(lua, part)
        check("%s: parts of rows are refused" % lib.name, False)
    except lupa.LuaError as error:
        check("%s: parts of rows are refused" % lib.name, "without gaps" in str(error))
    copy = to_lua(lua, part, copy=True)
    check("%s: parts of rows are copied" % lib.name, call("return a:sum()", copy) == float(lib.host(part).sum()))


def writes(lib):
    x = lib.arange(1000)
    a = to_lua(lua, x)
    call("a:fill(2) a[1] = 5 a:prefetch() a:sync()", a)
    check("%s: sees what Lua wrote" % lib.name, float(lib.host(x).sum()) == 2003)
    x[:] = 3
    lib.synchronize()
    check("%s: Lua sees what was written" % lib.name, call("a:touch() return a:sum() + a[1]", a) == 3003)
    gaps = lib.arange(3000)
    a = to_lua(lua, gaps[1::3])
    call("a[1] = -1 a[1000] = -2 a:prefetch() a:sync()", a)
    want = list(range(3000))
    want[1], want[2998] = -1, -2
    check("%s: what lies between elements stays" % lib.name, lib.host(gaps).tolist() == want)


def lifetimes(lib):
    gc.collect()
    before = lib.used()
    x = lib.arange(1 << 20)
    a = to_lua(lua, x)
    del x
    gc.collect()
    check("%s: lives while Lua has it" % lib.name, lib.used() >= before + (4 << 20)
          and call("return a:max()", a) == (1 << 20) - 1)
    call("a:release()", a)
    gc.collect()
    check("%s: goes when Lua releases it" % lib.name, lib.used() == before)
    live = call("collectgarbage() collectgarbage() return gr.memory().live")
    y = lib.from_dlpack(Tensor(lua, call("return gr.full(2^20, 3)")))
    call("collectgarbage() collectgarbage()")
    check("%s: Lua's lives while it is in use" % lib.name, float(lib.host(y).sum(dtype="f8")) == 3 << 20)
    del y
    gc.collect()
    check("%s: Lua's goes afterwards" % lib.name, call("return gr.memory().live") == live)


def streams(lib):
    """Producer's and consumer's work on streams of their own, which nobody waits for on the host."""
    wrong = 0
    for k in range(50):
        keep, handle, using = lib.stream()
        with using():
            x = lib.arange(1 << 22)
            for _ in range(20):
                x = x * 1
            x = x * 0 + k
        a = call("return a", to_lua(lua, x, stream=handle))
        wrong += call("return a:sum()", a) != float(k << 22)
        y = call("return a + 1", a)
        for _ in range(5):
            y = call("return a + 1", y)
        with using():
            z = lib.from_dlpack(Tensor(lua, y)) * 2
        keep.synchronize()
        wrong += bool((lib.host(z) != 2 * (k + 6)).any())
    check("%s: streams are in order, 50 times" % lib.name, wrong == 0)


def cost(lib):
    x = lib.arange(1 << 24)
    lib.synchronize()
    a = to_lua(lua, x)
    sum_of = lua.eval("function(a) return a:sum() end")
    sum_of(a)
    for what, f in (("to Lua", lambda: to_lua(lua, x)), ("from Lua", lambda: lib.from_dlpack(Tensor(lua, a))),
                    ("sum of 2^24 in Lua", lambda: sum_of(a)), ("sum of 2^24 there", lambda: float(x.sum()))):
        times = []
        for _ in range(200):
            begun = time.perf_counter()
            f()
            times.append(time.perf_counter() - begun)
        print("       %s: %s: %.1f us (median of 200)" % (lib.name, what, sorted(times)[100] * 1e6), flush=True)


found = 0
for make in (Torch, Cupy):
    try:
        library = make()
    except ImportError as missing:
        print("       %s is not here: %s" % (make.name, missing))
        continue
    found += 1
    for part in (shapes, writes, lifetimes, streams, cost):
        part(library)
if not found:
    failures.append("neither torch nor cupy")
print("all of it held" if not failures else "failed: " + "; ".join(failures))
sys.exit(1 if failures else 0)
