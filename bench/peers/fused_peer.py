"""NumPy's, PyTorch's and CuPy's side of bench/fused.lua: one command a line on standard input, one line of answer each.

open                     who is there: names (numpy torch compile cupy), then | and why others are not, then | versions
load PATH                the array of an NPY file becomes the next input (a, b, ...); reset forgets them
check WHO OP N           the result for the first N elements: a number, or of an element function a sum in 64 bits
time WHO OP N CALLS      nanoseconds a call until the number is there, the mean of CALLS calls after one not counted
first WHO OP N           nanoseconds of the first call of a formula: torch.compile's and CuPy's compilers
threads K                for torch on the CPU
An answer that begins with "no" says why there is none.
"""
import os
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
    cupy.cuda.runtime.getDeviceCount()
except Exception:  # no CuPy, or no device for it
    cupy = None

ON_GPU = os.environ.get("FUSED_ON") == "gpu"
inputs, placed, made = [], {}, {}
ELEMENT = ("exp", "log", "sin", "cos", "tanh")


def on_gpu():
    return torch is not None and ON_GPU and torch.cuda.is_available()


def formulas(m):
    """The formulas with a module's functions, until a value of that module."""
    return {
        "mse": lambda a, b: ((a - b) ** 2).mean(),
        "squares": lambda a, b: ((a - b) ** 2).sum(),
        "chain": lambda a, b: (m.sqrt(a * a + b * b) * 0.5 + a).sum(),
        "ratio": lambda a, b: (abs(a - b) / (abs(b) + 1)).max(),
    }


def kernels():
    """CuPy's own way: a ReductionKernel each."""
    def reduction(each, merge, start, finish="y = a"):
        return cupy.ReductionKernel("T a, T b", "T y", each, merge, finish, start, "fused_" + str(abs(hash(each))))
    squares = reduction("(a - b) * (a - b)", "a + b", "0")
    return {
        "mse": lambda a, b: squares(a, b) / a.size,
        "squares": squares,
        "chain": reduction("sqrt(a * a + b * b) * (T)0.5 + a", "a + b", "0"),
        "ratio": reduction("abs(a - b) / (abs(b) + 1)", "max(a, b)", "0"),
    }


def contender(who, op):
    if (who, op) in made:
        return made[who, op]
    if who == "numpy":
        f = getattr(np, op) if op in ELEMENT else formulas(np)[op]
    elif who == "cupy":
        f = kernels()[op]
    else:
        f = getattr(torch, op) if op in ELEMENT else formulas(torch)[op]
        if who == "compile":
            f = torch.compile(f)
    made[who, op] = f
    return f


def arguments(who, op, n):
    key = (who if who != "compile" else "torch", n, op in ELEMENT)
    if key not in placed:
        placed.clear()
        parts = [x[:n] for x in inputs[:1 if op in ELEMENT else 2]]
        if key[0] == "torch":
            parts = [torch.from_numpy(x).to("cuda" if on_gpu() else "cpu") for x in parts]
        elif who == "cupy":
            parts = [cupy.asarray(x) for x in parts]
        if op in ELEMENT:
            parts.append(np.empty_like(parts[0]) if who == "numpy" else torch.empty_like(parts[0]))
        placed[key] = parts
    return placed[key]


def call(who, op, n):
    f, parts = contender(who, op), arguments(who, op, n)
    if op in ELEMENT:
        return lambda: f(parts[0], out=parts[1])
    return lambda: f(*parts).item()


def check(who, op, n):
    r = call(who, op, int(n))()
    if op in ELEMENT:
        r = r.astype("f8").sum() if who == "numpy" else r.double().sum().item()
    return "%.17g" % r


def measure(who, op, n, calls):
    f, calls = call(who, op, int(n)), range(int(calls))
    f()
    start = time.perf_counter_ns()
    for _ in calls:
        f()
    return str((time.perf_counter_ns() - start) / len(calls))


def first(who, op, n):
    made.pop((who, op), None)
    arguments(who, op, int(n))
    start = time.perf_counter_ns()
    call(who, op, int(n))()
    return str(time.perf_counter_ns() - start)


def present():
    who, missing = ["numpy"] if not ON_GPU else [], []
    versions = "NumPy " + np.__version__
    if torch is None:
        missing.append("torch: not installed")
    elif ON_GPU and not torch.cuda.is_available():
        missing.append("torch: no CUDA device")
    else:
        who += ["torch", "compile"]
        versions += ", torch " + torch.__version__
    if cupy is None or not ON_GPU:
        missing.append("cupy: " + ("not installed, or no device" if cupy is None else "the GPU's alone"))
    else:
        who.append("cupy")
        versions += ", CuPy " + cupy.__version__
    return " ".join(who) + "|" + ", ".join(missing) + "|" + versions


def load(path):
    inputs.append(np.load(path))
    placed.clear()
    return "ok"


def reset():
    inputs.clear()
    placed.clear()
    return "ok"


def threads(k):
    if torch is not None:
        torch.set_num_threads(int(k))
    return "ok"


for line in sys.stdin:
    command, *words = line.split()
    try:
        answer = {"open": present, "load": load, "reset": reset, "check": check, "time": measure, "first": first,
                  "threads": threads}[command](*words)
    except Exception as e:
        answer = "no " + (str(e).split("\n") or ["?"])[0][:150]
    print(answer, flush=True)
