"""Arrays between NumPy and gpureduce in lupa's Lua states: make python.

    python spec/python/dlpack.py lua54 build/lua5.4     lupa's module, and where the module for that Lua lies
"""
import gc
import importlib
import os
import re
import subprocess
import sys
import threading
import unittest
import weakref

# Lua's own functions must be there for the module, which does not bring them; before lupa's module is loaded.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
NAME, FOLDER = sys.argv[1], os.path.abspath(sys.argv[2])
lupa = importlib.import_module("lupa." + NAME)

import numpy as np  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from gpureduce_dlpack import Tensor, to_lua  # noqa: E402

DTYPES = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "u32": np.uint32, "i32": np.int32,
          "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def state(safe=""):
    lua = lupa.LuaRuntime(unpack_returned_tuples=True)
    lua.execute('package.cpath = "%s/?.so;" .. package.cpath' % FOLDER)
    lua.execute('gr = require "gpureduce"; gr.use "cpu" ' + safe)
    return lua


class Counted(np.ndarray):
    """An array that weak references can point at."""


def counted(x):
    return np.asarray(x).view(Counted)


def collected(lua):
    lua.execute("collectgarbage() collectgarbage() gr.memory()")
    gc.collect()


class Both(unittest.TestCase):
    def setUp(self):
        self.lua = state()

    def run_lua(self, code, *arguments):
        return self.lua.eval("function(a) %s end" % code)(*arguments)

    def test_every_dtype_both_ways(self):
        for name, dtype in DTYPES.items():
            x = np.arange(7).astype(dtype)
            a = to_lua(self.lua, x)
            self.assertEqual(a.dtype, name)
            self.assertEqual(self.run_lua("return a:sum()", a), 21)
            y = np.from_dlpack(Tensor(self.lua, a))
            self.assertEqual(y.dtype, dtype)
            self.assertEqual(y.ctypes.data, x.ctypes.data)  # the same memory, there and back
            np.testing.assert_array_equal(x, y)
        self.assertEqual(to_lua(self.lua, np.array([True, False])).dtype, "u8")
        for dtype in (np.uint64, np.complex64):
            with self.assertRaisesRegex(lupa.LuaError, "elements of a dtype expected, got DLPack's (uint|complex)"):
                to_lua(self.lua, np.zeros(3, dtype))

    def test_writes_are_seen_on_the_other_side(self):
        x = np.zeros(5, np.float32)
        a = to_lua(self.lua, x)
        self.run_lua("a[2] = 7 a:slice(4, 5):fill(1)", a)
        np.testing.assert_array_equal(x, [0, 7, 0, 1, 1])
        x[0] = 100
        self.assertEqual(self.run_lua("return a:sum()", a), 109)
        y = np.from_dlpack(Tensor(self.lua, self.run_lua("b = gr.zeros(3, 'f64') return b")))
        y[:] = [1, 2, 3]
        self.assertEqual(self.run_lua("return b:sum()"), 6)
        self.run_lua("b:fill(9)")
        np.testing.assert_array_equal(y, [9, 9, 9])

    def test_strides(self):
        x = np.arange(24, dtype=np.float64)
        m = x.reshape(4, 6)
        for view in (x[::3], x[::-1], x[20:2:-4], x[5:6], x[:0], m, m[:, 2], m[1], m.T, m[::-1, ::-1], m[:, ::2][:, :1],
                     m.T[::-1, ::-1], x.reshape(2, 12)[:, ::2], m[:1, ::5], np.float64(3)[None]):
            a = to_lua(self.lua, view)
            self.assertEqual(self.run_lua("return #a", a), view.size)
            self.assertEqual(self.run_lua("return a:sum()", a), view.sum())
            back = np.from_dlpack(Tensor(self.lua, a))
            self.assertEqual(back.shape, view.shape)
            np.testing.assert_array_equal(back, view)
            if view.size:
                self.assertEqual(back.ctypes.data, view.ctypes.data)
        self.assertEqual(self.run_lua("return #a", to_lua(self.lua, np.array(5.0))), 1)
        for view in (m[:, 1:4], m[::2], m[::-1], np.broadcast_to(x[:3], (2, 3)), np.broadcast_to(x[3], 4)):
            with self.assertRaisesRegex(lupa.LuaError, "expected"):
                to_lua(self.lua, view)
            copy = to_lua(self.lua, view, copy=True)
            np.testing.assert_array_equal(np.from_dlpack(Tensor(self.lua, copy)), view)
        with self.assertRaisesRegex(lupa.LuaError, "at most 2 dimensions expected, got 3"):
            to_lua(self.lua, x.reshape(2, 3, 4))

    def test_views_and_transposes_of_arrays_of_lua(self):
        for code, expected in (("gr.arange(1, 9):slice(2, 8, 3)", [2, 5, 8]),
                               ("gr.arange(1, 9):slice(-1, 1, -4)", [9, 5, 1]),
                               ("gr.arange(1, 6):matrix(2)", [[1, 2, 3], [4, 5, 6]]),
                               ("gr.arange(1, 6):matrix(2):transpose()", [[1, 4], [2, 5], [3, 6]]),
                               ("gr.arange(1, 6):matrix(2):column(2)", [2, 5]), ("gr.zeros(0)", []),
                               ("gr.arange(1, 6):histogram{bins = 5, min = 0, max = 5}.edges", [0, 1, 2, 3, 4, 5])):
            y = np.from_dlpack(Tensor(self.lua, self.run_lua("return " + code)))
            np.testing.assert_array_equal(y, expected)

    def test_read_only(self):
        x = np.arange(4, dtype=np.float32)
        x.flags.writeable = False
        a = to_lua(self.lua, x)
        with self.assertRaisesRegex(lupa.LuaError, "the memory is read-only"):
            self.run_lua("a:fill(1)", a)
        self.assertFalse(np.from_dlpack(Tensor(self.lua, a)).flags.writeable)
        a = to_lua(self.lua, np.ones(3), readonly=True)
        with self.assertRaisesRegex(lupa.LuaError, "the memory is read-only"):
            self.run_lua("a[1] = 2", a)
        b = self.run_lua("return gr.ones(3)")
        self.assertFalse(np.from_dlpack(Tensor(self.lua, b, readonly=True)).flags.writeable)
        self.assertTrue(np.from_dlpack(Tensor(self.lua, b)).flags.writeable)

    def test_numpy_lives_as_long_as_lua_uses_it(self):
        x = counted(np.arange(1000.0))
        alive = weakref.ref(x)
        a = to_lua(self.lua, x)
        del x
        collected(self.lua)
        self.assertIsNotNone(alive())
        v = self.run_lua("return a:slice(1, 10)", a)
        del a
        collected(self.lua)
        self.assertEqual(self.run_lua("return a:sum()", v), 45)
        self.assertIsNotNone(alive())
        self.run_lua("a:release()", v)
        collected(self.lua)
        self.assertIsNone(alive())
        for code in ("a:release()", "gr.scope(function() return nil end)"):
            x = counted(np.ones(5))
            alive = weakref.ref(x)
            self.run_lua(code, to_lua(self.lua, x))
            del x
            collected(self.lua)
            self.assertIsNone(alive())

    def test_lua_lives_as_long_as_numpy_uses_it(self):
        live = lambda: self.run_lua("collectgarbage() collectgarbage() return gr.memory().live")  # noqa: E731
        before = live()
        y = np.from_dlpack(Tensor(self.lua, self.run_lua("return gr.full(100000, 3)")))
        gc.collect()
        self.assertGreaterEqual(live(), before + 400000)
        self.assertEqual(y.sum(dtype=np.float64), 300000)
        z = y[5:10]
        del y
        gc.collect()
        self.assertGreaterEqual(live(), before + 400000)
        del z
        gc.collect()
        self.assertEqual(live(), before)
        capsule = Tensor(self.lua, self.run_lua("return gr.ones(100000)")).__dlpack__()
        self.assertGreaterEqual(live(), before + 400000)
        del capsule  # never consumed
        gc.collect()
        self.assertEqual(live(), before)

    def test_what_is_refused_is_given_back(self):
        x = counted(np.zeros((3, 3, 3)))
        alive = weakref.ref(x)
        for options in ({}, {"copie": True}, {"stream": 0}):
            with self.assertRaises(lupa.LuaError):
                to_lua(self.lua, x, **options)
        del x
        collected(self.lua)
        self.assertIsNone(alive())
        lua = state("gr.safe()")
        x = counted(np.ones(3))
        alive = weakref.ref(x)
        with self.assertRaisesRegex(lupa.LuaError, "'fromdlpack' is refused: gr.safe allows no pointers"):
            to_lua(lua, x)
        with self.assertRaisesRegex(lupa.LuaError, "'dlpack' is refused: gr.safe allows no pointers"):
            np.from_dlpack(Tensor(lua, lua.eval("gr.ones(3)")))
        del x
        collected(lua)
        self.assertIsNone(alive())

    def test_copies_and_devices(self):
        b = self.run_lua("b = gr.ones(4) return b")
        y = np.from_dlpack(Tensor(self.lua, b), copy=True)
        y[:] = 5
        self.assertEqual(self.run_lua("return b:sum()"), 4)
        c = self.run_lua("gr.use 'pretend' c = gr.full(4, 2) gr.use 'cpu' return c")
        self.assertEqual(Tensor(self.lua, c).__dlpack_device__(), (12, 0))
        with self.assertRaises((BufferError, RuntimeError)):
            np.from_dlpack(Tensor(self.lua, c))
        with self.assertRaises(BufferError):
            np.from_dlpack(Tensor(self.lua, c), device="cpu", copy=False)
        np.testing.assert_array_equal(np.from_dlpack(Tensor(self.lua, c), device="cpu"), [2, 2, 2, 2])
        self.assertEqual(self.run_lua("return (gr.backend())"), "cpu")

    def test_old_and_new_structures(self):
        a = self.run_lua("return gr.arange(1, 5)")
        for version, name in ((None, '"dltensor"'), ((0, 8), '"dltensor"'), ((1, 0), '"dltensor_versioned"')):
            self.assertIn(name, repr(Tensor(self.lua, a).__dlpack__(max_version=version)))

        class Old:  # from before version 1
            def __init__(self, x):
                self.x = x

            def __dlpack__(self, stream=None):
                return self.x.__dlpack__()

        self.assertEqual(self.run_lua("return a:sum()", to_lua(self.lua, Old(np.arange(4.0)))), 6)

    def test_memory_outlives_the_state(self):
        lua = state()
        y = np.from_dlpack(Tensor(lua, lua.eval("gr.full(1000, 4)")))
        x = counted(np.ones(10))
        alive = weakref.ref(x)
        lua.globals().kept = to_lua(lua, x)
        z = np.from_dlpack(Tensor(lua, lua.globals().kept))
        del lua, x
        gc.collect()
        self.assertEqual(y.sum(), 4000)
        self.assertEqual(z.sum(), 10)
        self.assertIsNotNone(alive())  # NumPy has it back, through a state that is gone
        done = threading.Thread(target=lambda held: held.clear(), args=([z],))
        del z
        done.start()
        done.join()
        gc.collect()
        self.assertIsNone(alive())
        y[:] = 1
        del y
        gc.collect()

    def test_deleters_run_while_lua_works(self):
        stop = threading.Event()
        made = []

        def drop():
            while not stop.is_set() or made:
                if made:
                    made.pop()

        thread = threading.Thread(target=drop)
        thread.start()
        make = self.lua.eval("function(n) local a = gr.full(n, 2) a:sum() gr.ones(n):dot(a) return a end")
        for k in range(500):
            made.append(np.from_dlpack(Tensor(self.lua, make(1000 + k))))
            to_lua(self.lua, np.ones(100 + k)).sum
        stop.set()
        thread.join()
        collected(self.lua)
        self.assertLess(self.run_lua("collectgarbage() collectgarbage() return gr.memory().live"), 200000)


class Page(unittest.TestCase):
    """docs/python.md prints what it says, in a process of its own; here with the Lua that is tested."""

    def test_it(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(root, "docs", "python.md"), encoding="utf-8") as page:
            blocks = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", page.read(), re.S)
        self.assertEqual(len(blocks), 3)
        program = "".join(code for code, _ in blocks).replace("lua54", NAME).replace("build/lua5.4", FOLDER)
        done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
        expected = "".join(printed for _, printed in blocks)
        if NAME in ("lua51", "lua52", "luajit21"):  # numbers of one kind
            expected = expected.replace("5.0\n", "5\n", 1).replace("115.0", "115").replace("26.0", "26")
        self.assertEqual(done.stdout, expected, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
