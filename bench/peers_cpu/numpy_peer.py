"""NumPy's side of bench/cpu.lua: one command a line on standard input, one line of answer each.

make KIND DTYPE N PATH   random numbers into a raw file (uniform, normal, constant, below256)
load NAME DTYPE PATH     the file as the array NAME (x or y)
check OP ARGS            the result as a number, or, where it is an array, as a file of up to 1000 doubles
time OP REPEAT ARGS      nanoseconds a call, the mean of REPEAT calls after one that is not counted
"""
import sys
import time
from functools import partial

import numpy as np

arrays, out = {}, {}


def make(kind, dtype, n, path):
    rng = np.random.default_rng(1)
    with open(path, "wb") as f:
        for start in range(0, n, 1 << 22):
            m = min(1 << 22, n - start)
            if kind == "uniform":
                part = rng.random(m)
            elif kind == "normal":
                part = rng.standard_normal(m)
            elif kind == "constant":
                part = np.full(m, 0.3)
            else:
                part = rng.integers(0, int(kind[5:]), m)
            part.astype(dtype).tofile(f)
    return "ok"


def load(name, dtype, path):
    arrays[name] = np.fromfile(path, dtype)
    out.clear()
    return "ok"


def operation(op, bins=0, low=0.0, high=0.0):
    x, y, bins = arrays["x"], arrays.get("y"), int(bins)
    if op == "dot":
        return partial(x.dot, y)
    if op == "histogram":
        span = (float(low), float(high))
        return partial(np.histogram, x, bins=bins, range=span)
    if op == "bincount":
        return partial(np.bincount, x)
    if op == "scan":
        if x.size not in out:
            out[x.size] = np.cumsum(x)
        to = out[x.size]
        return partial(x.cumsum, out=to)
    if op == "rows":
        matrix = x.reshape(bins, -1)
        return partial(matrix.sum, axis=1)
    return getattr(x, op)


def check(op, path, *args):
    """In 64 bits, so that it is right also where NumPy's own default is not."""
    narrow = dict(arrays)
    if op in ("sum", "mean", "var", "dot", "scan", "rows"):
        for name, a in narrow.items():
            arrays[name] = a.astype("f8" if a.dtype.kind == "f" else "i8")
    out.clear()
    result = operation(op, *args)()
    result = np.asarray(result[0] if op == "histogram" else result)
    arrays.update(narrow)
    out.clear()
    if result.ndim == 0:
        return repr(int(result) + 1 if op == "argmax" else result.item())
    step = max(1, result.size // 1000)
    result[::step].astype("f8").tofile(path)
    return "file"


def measure(op, repeat, *args):
    f, repeat = operation(op, *args), range(int(repeat))
    f()
    start = time.perf_counter_ns()
    for _ in repeat:
        f()
    return str((time.perf_counter_ns() - start) / len(repeat))


for line in sys.stdin:
    command, *words = line.split()
    if command == "make":
        answer = make(words[0], words[1], int(words[2]), words[3])
    elif command == "version":
        answer = "NumPy " + np.__version__
    else:
        answer = {"load": load, "check": check, "time": measure}[command](*words)
    print(answer, flush=True)
