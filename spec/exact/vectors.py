#!/usr/bin/env python3
"""Writes spec/golden/exact.txt: inputs and correctly rounded results, from Python's integers and nothing else.

Every finite element is an integer times 2^-1074 (or an integer by itself), so sums and products are exact, and a result
is one comparison of integers away. A line: dtype, how often the arrays are repeated, the bytes of x, the bytes of y,
then sum dot mean norm1 norm2 var std mse cosine as bits of f64, and sum and dot rounded to f32 (as bits of f64).
Run from the root; the generator is seeded, so the file comes out the same.
"""
import math
import random
import struct

random.seed(20261121)
UNIT = 1074
FORMATS = {"f64": (53, -1074, 1024), "f32": (24, -149, 128)}  # digits, lowest bit, 2^top is too much


def integer(x):
    """x * 2^1074 as an integer."""
    if isinstance(x, int):
        return x << UNIT
    n, d = x.as_integer_ratio()
    return n * ((1 << UNIT) // d)


def pick(low, below, tie):
    """low or low + 1: what is rounded lies below the half between them, on it (tie), or above."""
    return low + (low & 1) if tie else low if below else low + 1


def nearest(num, den, fmt):
    """num / den, rounded to nearest even, as a Python float."""
    digits, lowest, _ = FORMATS[fmt]
    sign, num = (-1, -num) if num < 0 else (1, num)
    if num == 0:
        return 0.0
    place = max(num.bit_length() - den.bit_length() - digits, lowest)
    while True:
        n, d = (num << -place, den) if place < 0 else (num, den << place)
        q, r = divmod(n, d)
        if q.bit_length() <= digits:
            break
        place += 1
    q = pick(q, 2 * r < d, 2 * r == d)
    return sign * scaled(q, place, fmt)


def root(num, den, fmt):
    """sqrt(num / den), rounded to nearest even."""
    digits, lowest, _ = FORMATS[fmt]
    if num == 0:
        return 0.0
    place = max((num.bit_length() - den.bit_length()) // 2 - digits - 1, lowest)
    while True:
        n, d = (num << -2 * place, den) if place < 0 else (num, den << 2 * place)
        q = math.isqrt(n // d)
        if q.bit_length() <= digits:
            break
        place += 1
    half = (2 * q + 1) ** 2 * d  # compare sqrt(n / d) with q + 1/2
    return scaled(pick(q, 4 * n < half, 4 * n == half), place, fmt)


def scaled(q, place, fmt):
    if q.bit_length() + place > FORMATS[fmt][2]:
        return math.inf
    return math.ldexp(q, place)


def bits(x):
    return "7ff8000000000000" if x != x else struct.pack(">d", x).hex()


def special(addends):
    """NaN or an infinity among float addends, else None."""
    if any(a != a for a in addends):
        return math.nan
    up, down = math.inf in addends, -math.inf in addends
    return math.nan if up and down else math.inf if up else -math.inf if down else None


def product(a, b):
    """What a product of floats is where it is not finite; finite ones as 1.0 or -1.0 or a signed zero."""
    if math.isinf(a) or math.isinf(b) or a != a or b != b:
        return a * b
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return sign if a and b else sign * 0.0


def signed_zero(addends):
    return -0.0 if addends and all(a == 0 and math.copysign(1, a) < 0 for a in addends) else 0.0


def results(x, y, floats):
    n = len(x)
    fx, fy = [float(v) for v in x], [float(v) for v in y]
    products = [product(a, b) for a, b in zip(fx, fy)]
    odd, odd_y, odd_dot = (special(v) if floats else None for v in (fx, fy, products))
    zero, zero_dot = (signed_zero(v) if floats else 0.0 for v in (fx, products))
    finite = odd is None and odd_y is None
    ix, iy = [integer(v) for v in x] if odd is None else [], [integer(v) for v in y] if odd_y is None else []
    sx, sabs, sxx, syy = sum(ix), sum(map(abs, ix)), sum(v * v for v in ix), sum(v * v for v in iy)
    sxy = sum(a * b for a, b in zip(ix, iy))
    one, two = 1 << UNIT, 1 << 2 * UNIT

    def total(s, den, fmt, odd, zero):
        return odd if odd is not None else nearest(s, den, fmt) if s else zero

    ends = [total(sx, one, "f32", odd, zero), total(sxy, two, "f32", odd_dot, zero_dot)]
    out = [total(sx, one, "f64", odd, zero), total(sxy, two, "f64", odd_dot, zero_dot)]
    if n == 0:
        return out + [math.nan, 0.0, 0.0, math.nan, math.nan, math.nan, math.nan] + ends
    out.append(total(sx, n * one, "f64", odd, zero))
    if odd is None:
        spread = n * sxx - sx * sx
        out += [nearest(sabs, one, "f64"), root(sxx, two, "f64")]
        out += [nearest(spread, n * n * two, "f64"), root(spread, n * n * two, "f64")]
    else:
        out += [math.nan if any(v != v for v in fx) else math.inf] * 2 + [math.nan] * 2
    if finite:
        out.append(nearest(sxx - 2 * sxy + syy, n * two, "f64"))
    else:
        out.append(math.nan if any(a - b != a - b for a, b in zip(fx, fy)) else math.inf)
    if not finite or not sxx or not syy:
        out.append(math.nan)
    elif sxy == 0:
        out.append(zero_dot)
    else:
        c = root(sxy * sxy, sxx * syy, "f64")
        out.append(c if sxy > 0 else -c)
    return out + ends


# ---- inputs ----

FLOATS = {
    "f16": ("e", 10, -24, 15), "bf16": (None, 7, -133, 127), "f32": ("f", 23, -149, 127), "f64": ("d", 52, -1074, 1023),
}
INTEGERS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "i64": "q"}


def pack(values, dtype):
    if dtype == "bf16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    code = FLOATS[dtype][0] if dtype in FLOATS else INTEGERS[dtype]
    return struct.pack("<%d%s" % (len(values), code), *values)


def unpack(data, dtype):
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[k : k + 2])[0] for k in range(0, len(data), 2)]
    code = FLOATS[dtype][0] if dtype in FLOATS else INTEGERS[dtype]
    return list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data))


def number(dtype, e):
    """A number of the dtype with exponent e and random digits and sign."""
    _, fraction, low, high = FLOATS[dtype]
    e = min(e, high)
    m = random.getrandbits(fraction) | 1 << fraction
    place = max(e - fraction, low)
    m >>= place - (e - fraction)
    return random.choice((1, -1)) * math.ldexp(m, place)


def floats(dtype, kind, n):
    _, fraction, low, high = FLOATS[dtype]
    middle = (low + high) // 2
    top = (2 - math.ldexp(1, -fraction)) * math.ldexp(1.0, high)
    any_e = lambda: random.randint(low, high)
    if kind == "plain":
        return [number(dtype, random.choice((0, 0, 0, -1, -2, -5))) for _ in range(n)]
    if kind == "wide":
        return [number(dtype, any_e()) for _ in range(n)]
    if kind == "cancel":
        v = [number(dtype, any_e()) for _ in range(n // 2)]
        v += [-a for a in v] + [number(dtype, low + fraction)] * (n & 1)
        random.shuffle(v)
        return v
    if kind == "tie":
        e = random.randint(low + fraction + 2, high - 1) if dtype != "f16" else 0
        significand = 1 + random.getrandbits(fraction - 1) * math.ldexp(1, -fraction)
        v = [math.ldexp(significand, e), math.ldexp(1, e - fraction - 1)]
        v += random.choice(([], [math.ldexp(1, low)], [-math.ldexp(1, low)]))
        v += [math.ldexp(1, e - fraction + 20), -math.ldexp(1, e - fraction + 20)] if e - fraction + 20 <= high else []
        random.shuffle(v)
        return v
    if kind == "overflow":
        v = [top, math.ldexp(1, high - fraction - 1) if fraction > 10 else top, top, -top]
        v = v[: random.randint(1, 4)] + random.choice(([], [-top], [math.ldexp(1, low)], [-math.ldexp(1, low)]))
        random.shuffle(v)
        return v
    if kind == "tiny":
        most = min(999, 2 ** (fraction + 1) - 1)
        return [math.ldexp(random.randint(-most, most), low) for _ in range(n)]
    if kind == "zeros":
        return random.choice(([-0.0] * n, [-0.0] * (n - 1) + [0.0], [0.0] * n, [1.0, -1.0], [-0.0, 1.0, -1.0]))[:n]
    if kind == "special":
        v = [number(dtype, 0) for _ in range(n)] + [random.choice((math.inf, -math.inf, math.nan))]
        v += random.choice(([], [math.inf], [-math.inf], [0.0], [top, top]))
        random.shuffle(v)
        return v
    if kind == "clusters":
        return [number(dtype, random.choice((low + fraction, high - 3))) for _ in range(n)]
    return [float(random.randint(-7, 7)) for _ in range(n)]  # whole


def whole(dtype, kind, n):
    size = {"8": 8, "6": 16, "2": 32, "4": 64}[dtype[-1]]
    low, high = (0, 2 ** size - 1) if dtype[0] == "u" else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    if kind == "ends":
        return [random.choice((low, high, high - 1)) for _ in range(n)]
    return [random.randint(low, high) for _ in range(n)]


def main():
    kinds = ["plain", "wide", "cancel", "tie", "overflow", "tiny", "zeros", "special", "clusters", "whole"]
    lines = []

    def add(dtype, x, y, times=1):
        if len(y) < len(x):
            y = (y + x)[: len(x)]
        y = y[: len(x)]
        assert str(unpack(pack(x + y, dtype), dtype)) == str(x + y), "a number that the dtype does not hold"
        r = results(x * times, y * times, dtype in FLOATS)
        words = [dtype, str(times), pack(x, dtype).hex() or "-", pack(y, dtype).hex() or "-"]
        lines.append(" ".join(words + [bits(v) for v in r]))

    for dtype, rounds in (("f32", 16), ("f64", 16), ("f16", 3), ("bf16", 3)):
        for k in range(rounds):
            for kind in kinds:
                n = random.choice((1, 2, 3, 5, 8, 16, 17))
                other = random.choice(kinds[:7] + [kind, kind, kind])
                times = random.choice((1, 1, 1, 1, 2, 64, 129, 700)) if kind != "overflow" else 1
                add(dtype, floats(dtype, kind, n), floats(dtype, other, n + 3), times)
        add(dtype, [], [])
    for dtype in INTEGERS:
        for k in range(4):
            n = random.choice((1, 2, 7, 16))
            kind = random.choice(("ends", "any"))
            add(dtype, whole(dtype, kind, n), whole(dtype, kind, n), random.choice((1, 1, 130)))
    with open("spec/golden/exact.txt", "w") as f:
        f.write("\n".join(lines) + "\n")
    print(len(lines), "vectors")


main()
