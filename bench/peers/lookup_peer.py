"""torch's (without it NumPy's) side of bench/arrays.lua: a command a line on standard input, an answer in a line each.

open                 who it is, with its version
load NAME PATH       the array of an NPY file: a (a vector), index (positions from 1) or values
names                the calls that it has
size COUNT           how many random numbers its calls draw, in arrays that are there
keep CALL PATH       what a call gives, as an NPY file
time CALL COUNT      nanoseconds of a call, the mean of COUNT one after the other after one not counted
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

ON_GPU = os.environ.get("LOOKUP_ON") == "gpu"
DEVICE = "cuda" if ON_GPU else "cpu"
data = {}


def calls():
    """Functions that give a new array, and some that write an old one; all return what they made."""
    a, index, values, out = (data.get(name) for name in ("a", "index", "values", "out"))
    if torch is None:
        def put():
            out[index] = values
            return out
        return {"take": lambda: np.take(a, index), "take_into": lambda: np.take(a, index, out=out, mode="clip"),
                "put": put}
    def room(name):
        if data.get(name) is None or len(data[name]) != data["size"]:
            data[name] = torch.empty(data["size"], dtype=getattr(torch, name), device=DEVICE)
        return data[name]
    return {
        "randint_i64": lambda: torch.randint(1, 7, (data["size"],), out=room("int64")),
        "random_i64": lambda: room("int64").random_(1, 7),
        "randint_u8": lambda: torch.randint(1, 7, (data["size"],), out=room("uint8")),
        "random_u8": lambda: room("uint8").random_(1, 7),
        "rand": lambda: torch.rand(data["size"], out=room("float32")),
        "randn": lambda: torch.randn(data["size"], out=room("float32")),
        "exponential_": lambda: room("float32").exponential_(),
        "index_select": lambda: torch.index_select(a, 0, index),
        "index_select_into": lambda: torch.index_select(a, 0, index, out=out),
        "gather": lambda: torch.gather(a, 0, index),
        "scatter_": lambda: out.scatter_(0, index, values),
        "index_copy_": lambda: out.index_copy_(0, index, values),
    }


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def present():
    if torch is None:
        return "no torch" if ON_GPU else "NumPy " + np.__version__
    if ON_GPU and not torch.cuda.is_available():
        return "no CUDA device for torch"
    return "torch " + torch.__version__


def load(name, path):
    array = np.load(path)
    if name == "index":
        array -= 1
    data[name] = array if torch is None else torch.from_numpy(array).to(DEVICE)
    if name == "a":
        data["out"] = np.zeros_like(array) if torch is None else torch.zeros_like(data["a"])
    return "ok"


def size(count):
    data["size"] = int(count)
    return "ok"


def keep(name, path):
    result = calls()[name]()
    np.save(path, result if torch is None else result.cpu().numpy())
    return "ok"


def measure(name, count):
    call, count = calls()[name], int(count)
    call()
    wait()
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    wait()
    return str((time.perf_counter_ns() - start) / count)


for line in sys.stdin:
    command, *words = line.split()
    try:
        answer = {"open": present, "load": load, "names": lambda: " ".join(calls()), "keep": keep,
                  "size": size, "time": measure}[command](*words)
    except Exception as e:
        answer = "no " + (str(e).split("\n") or ["?"])[0][:150]
    print(answer, flush=True)
