"""PyTorch's and CuPy's side of bench/versus.lua: reads commands on stdin, answers each with one line.

The inputs are the very buffers of the other side, opened by their IPC handle; where that cannot be had, the contents
are drawn anew. Commands: open, cell, error, time, quit; each is words of the form key=value.
"""
import sys
import time

import torch
import torch.nn.functional as F

try:
    import cupy
except ImportError:
    cupy = None

DTYPES = {"f32": (torch.float32, "<f4", 4), "f64": (torch.float64, "<f8", 8), "f16": (torch.float16, "<f2", 2),
          "i32": (torch.int32, "<i4", 4), "i64": (torch.int64, "<i8", 8), "u8": (torch.uint8, "|u1", 1)}


class Memory:
    """Somebody else's device memory."""

    def __init__(self, pointer, n, kind):
        self.__cuda_array_interface__ = {"data": (pointer, False), "shape": (n,), "typestr": kind, "version": 3,
                                         "strides": None}


base = second = 0
flushed = torch.zeros(48 << 20, dtype=torch.float32, device="cuda")
before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
cell, inputs, contenders, graphs, turn = {}, [], {}, {}, 0


def flush():
    """After this nothing of the inputs is in L2."""
    flushed.sum()
    torch.cuda.synchronize()


def open_pool(words):
    global base, second
    second = int(words["second"])
    if words.get("ipc"):
        base = cupy.cuda.runtime.ipcOpenMemHandle(bytes.fromhex(words["ipc"]))
    version = torch.__version__ + (" cupy " + cupy.__version__ if cupy else "")
    return "torch %s %s" % (version, "same buffers" if base else "buffers of its own")


def whole(x):
    """A matrix where the cell is one, else flat."""
    rows = int(cell.get("rows", 0))
    return x.view(rows, -1) if rows else x


def make_inputs(words):
    dtype, kind, size = DTYPES[words["dtype"]]
    n, slots, pitch, offset = (int(words[k]) for k in ("n", "slots", "pitch", "offset"))
    rows, axis = int(words.get("rows", 0)), int(words.get("axis", 0))
    length = (n // rows if axis == 2 else rows) if words["op"] == "mv" else n  # of the second input
    made = []
    for s in range(slots):
        if base:
            at = base + s * pitch + offset * size
            x = torch.as_tensor(Memory(at, n, kind), device="cuda")
            y = torch.as_tensor(Memory(at + second, length, kind), device="cuda")
        else:
            x = torch.randn(n, device="cuda").to(dtype) if s < 8 else made[s % 8][0]
            y = torch.randn(length, device="cuda").to(dtype) if s < 8 else made[s % 8][1]
        made.append((x, y))
    return [(whole(x), y) for x, y in made]


def torch_call():
    """A function of the two inputs, for this cell's operation."""
    op, axis, bins = cell["op"], int(cell.get("axis", 0)), int(cell.get("bins", 0))
    if int(cell.get("rows", 0)):
        cols = int(cell["n"]) // int(cell["rows"])
        return {"sum": lambda x, y: x.sum(axis - 1), "mv": (lambda x, y: torch.mv(x, y)) if axis == 2 else
                (lambda x, y: torch.mv(x.t(), y)), "rmsnorm": lambda x, y: F.rms_norm(x, (cols,), eps=1e-6)}.get(op)
    if op == "histogram" and cell.get("irregular"):
        return None
    if op == "histogram" and cell["dtype"][0] == "f":
        low, high = float(cell["low"]), float(cell["high"])
        return lambda x, y: torch.histc(x, bins, low, high)
    if op == "histogram":
        return (lambda x, y: torch.bincount(x, minlength=bins)) if cell["dtype"] != "u8" or bins == 256 else None
    return {"sum": lambda x, y: x.sum(), "min": lambda x, y: x.amin(), "max": lambda x, y: x.amax(),
            "prod": lambda x, y: x.prod(), "dot": torch.dot, "argmin": lambda x, y: x.argmin(),
            "argmax": lambda x, y: x.argmax(), "minmax": lambda x, y: torch.aminmax(x), "mse": F.mse_loss,
            "cosine": lambda x, y: F.cosine_similarity(x, y, dim=0), "norm": lambda x, y: torch.linalg.vector_norm(x),
            "scan": lambda x, y: torch.cumsum(x, 0)}.get(op)


def torch_to_host():
    f, op = torch_call(), cell["op"]
    if op == "minmax":
        return lambda x, y: [v.item() for v in f(x, y)]
    if op == "histogram":
        return lambda x, y: f(x, y).cpu()
    return lambda x, y: f(x, y).item()


def cupy_to_host():
    op, bins = cell["op"], int(cell.get("bins", 0))
    f = {"sum": lambda x, y: x.sum(), "min": lambda x, y: x.min(), "max": lambda x, y: x.max(), "dot": cupy.dot,
         "argmax": lambda x, y: x.argmax(), "prod": lambda x, y: x.prod()}.get(op)
    if op == "histogram" and not cell.get("irregular"):
        low, high = float(cell["low"]), float(cell["high"])
        return lambda x, y: cupy.histogram(x, bins=bins, range=(low, high))[0].get()
    return f and (lambda x, y: float(f(x, y)))


def flat(x):
    return cupy.from_dlpack(x.flatten().detach())


def open_cell(words):
    """Answers with the names of those who can, and then why the others cannot."""
    global cell, inputs, contenders, graphs
    cell, contenders, graphs = words, {}, {}
    inputs = make_inputs(words)
    why = ""
    try:
        f = torch_call()
        if f:
            f(*inputs[0])
            torch.cuda.synchronize()
            contenders["torch"] = (f, torch_to_host(), inputs)
    except Exception as e:  # an operation that torch has not for this dtype
        why = " torch: " + str(e).split("\n")[0][:120]
    if cupy and words.get("cupy"):
        try:
            f, pairs = cupy_to_host(), [(flat(x), flat(y)) for x, y in inputs]
            if f:
                f(*pairs[0])
                contenders["cupy"] = (None, f, pairs)
        except Exception as e:
            why += " cupy: " + str(e).split("\n")[0][:120]
    return " ".join(contenders) + " |" + why


def numbers(words):
    """What torch makes of the first input: a number or two, or a weighted sum of an array of results."""
    r = contenders["torch"][0](*inputs[0])
    if isinstance(r, tuple):
        return " ".join("%.17g" % v.item() for v in r)
    if r.dim() == 0:
        return "%.17g" % r.item() if r.dtype.is_floating_point else "%d" % r.item()
    r = r.flatten().double()
    return "%.17g" % (r * (torch.arange(r.numel(), device="cuda") % 1024 + 1)).sum().item()


def stream_us(name, calls):
    global turn
    f, _, pairs = contenders[name]
    f(*pairs[turn % len(pairs)])
    batch = [pairs[(turn + k) % len(pairs)] for k in range(calls)]
    turn += calls
    if not cell.get("resident"):
        flush()
    before.record()
    for x, y in batch:
        f(x, y)
    after.record()
    after.synchronize()
    return before.elapsed_time(after) * 1e3 / calls


def graph_us(name, calls):
    f, _, pairs = contenders[name]
    key = (name, calls)
    if key not in graphs:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            f(*pairs[0])
        torch.cuda.current_stream().wait_stream(side)
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            for k in range(calls):
                f(*pairs[k % len(pairs)])
        graphs[key] = g
        g.replay()
    if not cell.get("resident"):
        flush()
    before.record()
    graphs[key].replay()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) * 1e3 / calls


def host_us(name, calls):
    global turn
    _, f, pairs = contenders[name]
    batch = [pairs[(turn + k) % len(pairs)] for k in range(calls)]
    turn += calls
    if not cell.get("resident"):
        flush()
    f(*pairs[turn % len(pairs)])
    start = time.perf_counter()
    for x, y in batch:
        f(x, y)
    return (time.perf_counter() - start) * 1e6 / calls


VIEWS = {"stream": stream_us, "graph": graph_us, "host": host_us}
COMMANDS = {"open": open_pool, "cell": open_cell, "numbers": numbers,
            "time": lambda w: "%.6f" % VIEWS[w["view"]](w["name"], int(w["calls"]))}

for line in sys.stdin:
    command, *words = line.split()
    if command == "quit":
        break
    try:
        answer = "ok " + str(COMMANDS[command](dict(w.split("=", 1) for w in words)))
    except Exception as e:  # the other side says what is missing
        answer = "no " + (type(e).__name__ + ": " + str(e)).replace("\n", " ")[:300]
        torch.cuda.synchronize()
    print(answer, flush=True)
