"""The effect of each instruction of PTX on the registers of a thread and on memory (ptx.py runs them).

Source of the meaning of each instruction: the PTX ISA manual, version 9.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from ptx_text import FLOATS, Instruction, Unsupported, bits_of, masked, number_of, pattern_of, signed

if TYPE_CHECKING:
    from ptx import Thread

Operation = Callable[["Thread", Instruction], None]


def _load(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    if one.parts[0] == "param":
        name, _, offset = one.operands[1][1:-1].partition("+")
        t.set(one.operands[0], masked(t.parameters[name] >> (8 * int(offset or 0)), bits_of(kind)))
        return
    address, size = t.address(one.operands[1]), bits_of(kind) // 8
    for number, register in enumerate(re.findall(r"%\w+", one.operands[0])):
        found = t.bytes_at(address + number * size, size)
        pattern = int.from_bytes(found, "little")
        t.set(register, masked(signed(pattern, 8 * size), 64) if kind[0] == "s" else pattern)


def _store(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    address, size = t.address(one.operands[0]), bits_of(kind) // 8
    values = one.operands[1].strip("{}").split(",") if one.operands[1].startswith("{") else [one.operands[1]]
    for number, operand in enumerate(values):
        place = t.bytes_at(address + number * size, size)
        place[:] = masked(t.pattern(operand.strip(), kind), 8 * size).to_bytes(size, "little")


def _move(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    target, source = one.operands
    if source.startswith("{"):
        width = bits_of(kind) // len(source.strip("{}").split(","))
        parts = [t.pattern(part.strip(), kind) for part in source.strip("{}").split(",")]
        t.set(target, sum(masked(part, width) << (width * i) for i, part in enumerate(parts)))
    elif target.startswith("{"):
        names = [name.strip() for name in target.strip("{}").split(",")]
        width, whole = bits_of(kind) // len(names), t.pattern(source, kind)
        for i, name in enumerate(names):
            t.set(name, masked(whole >> (width * i), width))
    else:
        t.set(target, masked(t.pattern(source, kind), bits_of(kind)))


def _binary(of: Callable[[Any, Any], Any]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        with np.errstate(all="ignore"):
            t.set(one.operands[0], pattern_of(of(t.value(one.operands[1], kind), t.value(one.operands[2], kind)), kind))

    return operation


def _unary(of: Callable[[Any], Any]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        with np.errstate(all="ignore"):
            t.set(one.operands[0], pattern_of(of(t.value(one.operands[1], kind)), kind))

    return operation


def _product(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    a, b = (t.value(operand, kind) for operand in one.operands[1:3])
    with np.errstate(all="ignore"):
        product = a * b
    if kind in FLOATS:
        t.set(one.operands[0], pattern_of(product, kind))
    elif "wide" in one.parts:
        t.set(one.operands[0], masked(product, 2 * bits_of(kind)))
    else:
        t.set(one.operands[0], masked(product >> (bits_of(kind) if "hi" in one.parts else 0), bits_of(kind)))


def _multiply_add(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    a, b = (t.value(operand, kind) for operand in one.operands[1:3])
    width = 2 * bits_of(kind) if "wide" in one.parts else bits_of(kind)
    product = a * b >> (bits_of(kind) if "hi" in one.parts else 0)
    t.set(one.operands[0], masked(product + t.pattern(one.operands[3], kind), width))


def _fused(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    if kind != "f64" and kind != "f32":
        raise Unsupported("fma of halves")
    a, b, c = (t.value(operand, kind) for operand in one.operands[1:4])
    if not all(math.isfinite(x) for x in (a, b, c)):
        with np.errstate(all="ignore"):
            t.set(one.operands[0], pattern_of(a * b + c, kind))
        return
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    zero = float(a) * float(b) + float(c)  # keeps the sign of a zero
    t.set(one.operands[0], pattern_of(_nearest(exact, kind) if exact else zero, kind))


def _copysign(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    sign = 1 << (bits_of(kind) - 1)
    target, source, size = one.operands
    t.set(target, (t.pattern(source, kind) & sign) | (t.pattern(size, kind) & (sign - 1)))


def _insert_bits(t: Thread, one: Instruction) -> None:
    bits = bits_of(one.parts[-1])
    target, inserted, into, at, length = one.operands
    place, size = (t.pattern(operand, "u32") & 255 for operand in (at, length))
    mask = masked(((1 << size) - 1) << place, bits)
    t.set(target, (t.pattern(into, "u64") & ~mask) | (t.pattern(inserted, "u64") << place & mask))


def _nearest(exact: Fraction, kind: str) -> float:
    """The type's value nearest to this number."""
    try:
        near = float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
    if kind == "f64" or near == exact:
        return near
    # Rounds to odd first, so that the rounding to f32 that follows gives the nearest value.
    if struct.pack("<d", near)[0] & 1:
        return near
    return math.nextafter(near, math.inf if exact > near else -math.inf)


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, np.floating):
        return a / b
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * _divide(a, b)


def _least(a: Any, b: Any) -> Any:
    if isinstance(a, np.floating):
        return np.fmin(a, b)
    return min(a, b)


def _greatest(a: Any, b: Any) -> Any:
    if isinstance(a, np.floating):
        return np.fmax(a, b)
    return max(a, b)


def _shift(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    value, by = t.value(one.operands[1], kind), masked(t.pattern(one.operands[2], "u32"), 32)
    by = min(by, bits_of(kind))
    t.set(one.operands[0], masked(value << by if one.name == "shl" else value >> by, bits_of(kind)))


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b and a == a and b == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
    "num": lambda a, b: a == a and b == b,
    "nan": lambda a, b: a != a or b != b,
}


def _compare(t: Thread, one: Instruction) -> None:
    kind, test = one.parts[-1], one.parts[0]
    a, b = (t.value(operand, kind) for operand in one.operands[1:3])
    if test in _COMPARISONS:
        result = bool(_COMPARISONS[test](a, b))
    elif test.endswith("u") and test[:-1] in _COMPARISONS:  # or unordered
        result = bool(a != a or b != b or _COMPARISONS[test[:-1]](a, b))
    else:
        raise Unsupported(test)
    if len(one.operands) > 3:
        other = bool(t.pattern(one.operands[3].lstrip("!"), "pred")) != one.operands[3].startswith("!")
        result = {"and": result and other, "or": result or other, "xor": result != other}[one.parts[1]]
    target, _, inverse = one.operands[0].partition("|")
    t.set(target, int(result))
    if inverse:
        t.set(inverse, int(not result))


def _select(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    if one.name == "slct":
        raise Unsupported("slct")
    chosen = one.operands[1 if t.pattern(one.operands[3], "pred") else 2]
    t.set(one.operands[0], masked(t.pattern(chosen, kind), bits_of(kind)))


def _convert(t: Thread, one: Instruction) -> None:
    to, source = one.parts[-2], one.parts[-1]
    value = t.value(one.operands[1], source)
    if "sat" in one.parts:
        raise Unsupported("cvt.sat")
    if to in FLOATS:
        if source in FLOATS:
            rounding = next((p for p in one.parts if p in ("rni", "rzi", "rmi", "rpi")), None)
            if rounding is not None:
                value = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[rounding](value)
        t.set(one.operands[0], pattern_of(value, to))
        return
    if source in FLOATS:
        if value != value:
            value = 0 if bits_of(to) <= 32 else -(1 << 63)
        rounding = next(p for p in one.parts if p in ("rni", "rzi", "rmi", "rpi"))
        with np.errstate(all="ignore"):
            whole = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[rounding](np.float64(value))
        low, high = (
            (-(1 << (bits_of(to) - 1)), (1 << (bits_of(to) - 1)) - 1) if to[0] == "s" else (0, (1 << bits_of(to)) - 1)
        )
        value = low if whole < low else high if whole > high else int(whole)
    pattern = masked(int(value), bits_of(to))
    t.set(one.operands[0], masked(signed(pattern, bits_of(to)), 64) if to[0] == "s" else pattern)


def _square_root(value: Any) -> Any:
    return np.sqrt(value)


def _not(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    t.set(one.operands[0], masked(~t.pattern(one.operands[1], kind), bits_of(kind)))


def _logic(of: Callable[[int, int], int]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        a, b = (masked(t.pattern(operand, kind), bits_of(kind)) for operand in one.operands[1:3])
        t.set(one.operands[0], of(a, b))

    return operation


def _lookup3(t: Thread, one: Instruction) -> None:
    a, b, c = (masked(t.pattern(operand, "b32"), 32) for operand in one.operands[1:4])
    table, result = int(one.operands[4], 0), 0
    for bit in range(32):
        entry = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        result |= (table >> entry & 1) << bit
    t.set(one.operands[0], result)


def _extract(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    value, begin, count = t.pattern(one.operands[1], kind), *(t.pattern(o, "u32") for o in one.operands[2:4])
    found = masked(masked(value, bits_of(kind)) >> begin, count) if count else 0
    t.set(one.operands[0], masked(signed(found, count) if kind[0] == "s" and count else found, bits_of(kind)))


def _atomic(t: Thread, one: Instruction) -> None:
    kind, operation = one.parts[-1], next(p for p in one.parts if p in _ATOMICS or p in ("cas", "exch"))
    reduces = one.name == "red"
    place = one.operands[0 if reduces else 1]
    address, size = t.address(place), bits_of(kind) // 8
    memory = t.bytes_at(address, size)
    old = int.from_bytes(memory, "little")
    given = [t.pattern(operand, kind) for operand in one.operands[1 if reduces else 2 :]]
    if operation == "cas":
        new = given[1] if old == masked(given[0], 8 * size) else old
    elif operation == "exch":
        new = given[0]
    else:
        with np.errstate(all="ignore"):
            new = pattern_of(_ATOMICS[operation](number_of(old, kind), number_of(given[0], kind)), kind)
    memory[:] = masked(new, 8 * size).to_bytes(size, "little")
    if not reduces:
        t.set(one.operands[0], old)


_ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "min": _least,
    "max": _greatest,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _nothing(t: Thread, one: Instruction) -> None:
    del t, one


def _copy(t: Thread, one: Instruction) -> None:
    t.set(one.operands[0], t.pattern(one.operands[1], "u64"))


OPERATIONS: dict[str, Operation] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "mov": _move,
    "cvta": _copy,
    "add": _binary(lambda a, b: a + b),
    "sub": _binary(lambda a, b: a - b),
    "mul": _product,
    "mad": _multiply_add,
    "fma": _fused,
    "copysign": _copysign,
    "bfi": _insert_bits,
    "div": _binary(_divide),
    "rem": _binary(_remainder),
    "min": _binary(_least),
    "max": _binary(_greatest),
    "abs": _unary(abs),
    "neg": _unary(lambda a: -a),
    "sqrt": _unary(_square_root),
    "shl": _shift,
    "shr": _shift,
    "and": _logic(lambda a, b: a & b),
    "or": _logic(lambda a, b: a | b),
    "xor": _logic(lambda a, b: a ^ b),
    "not": _not,
    "lop3": _lookup3,
    "bfe": _extract,
    "setp": _compare,
    "selp": _select,
    "slct": _select,
    "cvt": _convert,
    "atom": _atomic,
    "red": _atomic,
    "membar": _nothing,
    "fence": _nothing,
}
