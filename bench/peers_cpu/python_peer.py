"""NumPy's and torch's side of bench/cpu.lua and bench/shapes.lua: one command a line on standard input, one line of
answer each.

version                        what is there
make KIND DTYPE N PATH         random numbers into a raw file (uniform, normal, constant, below256)
load NAME DTYPE PATH [ROWS]    the file as the array NAME (x or y), with rows as a matrix; forgets what was prepared
threads K                      for torch; NumPy has its own library's number
check OP PATH ARGS             the result as a number, or, where it is an array, as a file of up to 1000 doubles
able WHO OP ARGS               "yes", or "no" and why numpy or torch cannot
time OP REPEAT ARGS            nanoseconds a call of NumPy, the mean of REPEAT calls after one that is not counted;
                               torch.OP: of torch
DTYPE is NumPy's name; V2 is bfloat16, which only torch has. PEER_DEVICE=cuda: torch works there; it waits at the end of
the calls, and with results of one number after each.
"""
import os
import sys
import time
from functools import partial

import numpy as np

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

DEVICE = os.environ.get("PEER_DEVICE", "cpu")
arrays, tensors, out = {}, {}, {}
bfloats = set()  # names of arrays that hold the bits of bfloat16


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


def load(name, dtype, path, rows=0):
    a = np.fromfile(path, "u2" if dtype == "V2" else dtype)
    arrays[name] = a.reshape(int(rows), -1) if int(rows) else a
    bfloats.discard(name)
    if dtype == "V2":
        bfloats.add(name)
    tensors.clear()
    out.clear()
    return "ok"


def widened(name):
    """An array in 64 bits."""
    a = arrays[name]
    if name in bfloats:
        a = (a.astype("u4") << 16).view("f4")
    return a.astype("f8" if a.dtype.kind == "f" else "i8")


def tensor(name):
    if name not in tensors:
        a = arrays[name]
        bits = name in bfloats
        t = torch.from_numpy(a.view("i2")).view(torch.bfloat16) if bits else torch.from_numpy(a)
        tensors[name] = t.to(DEVICE)
    return tensors[name]


def numpy_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def numpy_rmsnorm(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


def operation(op, bins=0, low=0.0, high=0.0):
    """bins: of sum, var, max, argmax, dot and mv the axis, from 1; none: of all elements."""
    x, y, bins = arrays["x"], arrays.get("y"), int(bins)
    if op == "dot":
        return partial(np.vecdot, x, y, axis=bins - 1) if bins else partial(x.dot, y)
    if op == "mv":
        return partial(np.matmul, x if bins == 2 else x.T, y)
    if op == "softmax":
        return partial(numpy_softmax, x)
    if op == "rmsnorm":
        return partial(numpy_rmsnorm, x)
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
    return partial(getattr(x, op), axis=bins - 1) if bins else getattr(x, op)


def torch_operation(op, bins=0, low=0.0, high=0.0):
    x, y, bins = tensor("x"), "y" in arrays and tensor("y"), int(bins)
    axis = {"dim": bins - 1} if bins else {}
    if op == "dot":
        return partial(torch.linalg.vecdot, x, y, dim=bins - 1) if bins else partial(torch.dot, x, y)
    if op == "mv":
        return partial(torch.mv, x if bins == 2 else x.t(), y)
    if op == "softmax":
        return partial(torch.softmax, x, -1)
    if op == "rmsnorm":
        return partial(F.rms_norm, x, x.shape[-1:], eps=1e-6)
    if op == "histogram":
        return partial(torch.histc, x, bins, float(low), float(high))
    if op == "bincount":
        return partial(torch.bincount, x)
    if op == "scan":
        to = torch.cumsum(x, 0)
        return partial(torch.cumsum, x, 0, out=to)
    if op == "var":
        return partial(torch.var, x, correction=0, **axis)
    return partial(getattr(torch, "amax" if op == "max" else op), x, **axis)


def contender(op, *args):
    if not op.startswith("torch."):
        return operation(op, *args)
    f = torch_operation(op[6:], *args)
    return (lambda: f().item()) if DEVICE != "cpu" and f().dim() == 0 else f


def wait(op):
    if DEVICE != "cpu" and op.startswith("torch."):
        torch.cuda.synchronize()


def able(who, op, *args):
    if who == "torch" and torch is None:
        return "no torch here"
    if who == "numpy" and "x" in bfloats:
        return "no bfloat16"
    contender("torch." + op if who == "torch" else op, *args)()
    return "yes"


def check(op, path, *args):
    """In 64 bits, so that it is right also where NumPy's own default is not."""
    narrow = dict(arrays)
    for name in narrow if op != "bincount" else ():
        arrays[name] = widened(name)
    out.clear()
    result = operation(op, *args)()
    result = np.asarray(result[0] if op == "histogram" else result)
    arrays.update(narrow)
    out.clear()
    if result.ndim == 0:
        return repr(int(result) + 1 if op == "argmax" else result.item())
    result = result.reshape(-1)
    step = max(1, result.size // 1000)
    result = result[::step].astype("f8")
    (result + 1 if op == "argmax" else result).tofile(path)
    return "file"


def measure(op, repeat, *args):
    f, repeat = contender(op, *args), range(int(repeat))
    f()
    wait(op)
    start = time.perf_counter_ns()
    for _ in repeat:
        f()
    wait(op)
    return str((time.perf_counter_ns() - start) / len(repeat))


def threads(k):
    if torch is not None:
        torch.set_num_threads(int(k))
    return "ok"


def version():
    return "NumPy " + np.__version__ + (", torch " + torch.__version__ if torch else "")


COMMANDS = {"load": load, "check": check, "time": measure, "able": able, "threads": threads, "version": version}
np.seterr(all="ignore")
for line in sys.stdin:
    command, *words = line.split()
    try:
        if command == "make":
            answer = make(words[0], words[1], int(words[2]), words[3])
        else:
            answer = COMMANDS[command](*words)
    except Exception as e:
        answer = "no " + (str(e).split("\n") or ["?"])[0][:120]
    print(answer, flush=True)
