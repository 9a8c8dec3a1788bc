"""Runs PTX, one thread at a time: shows what NVRTC made of a kernel on a machine without a GPU.

Registers and memory hold bit patterns. Threads run one after the other, in any order, from one barrier to the
next, so that a load which the compiler moved in front of a barrier reads what was there before. Instructions that
our kernels do not need are refused (Unsupported). Source of the meaning of each instruction: the PTX ISA manual,
version 9.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np


class Unsupported(Exception):
    """An instruction that this interpreter does not know."""


_FLOATS = {"f16": ("<e", 2), "f32": ("<f", 4), "f64": ("<d", 8)}
_NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_RUBBISH = 0x5A5A_5A5A_5A5A_5A5A
_SHARED, _LOCAL = 0xE000_0000, 0xF000_0000  # where these spaces begin, also as 32 bits; global memory lies below


def _bits(kind: str) -> int:
    if kind == "pred":
        return 1
    return int(kind[1:])


def _mask(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _signed(value: int, bits: int) -> int:
    value = _mask(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def _number(pattern: int, kind: str) -> Any:
    """The number that a register of this type holds."""
    if kind in _FLOATS:
        form, size = _FLOATS[kind]
        return _NUMPY[kind](struct.unpack(form, _mask(pattern, 8 * size).to_bytes(size, "little"))[0])
    if kind[0] == "s":
        return _signed(pattern, _bits(kind))
    return _mask(pattern, _bits(kind))


def _pattern(value: Any, kind: str) -> int:
    if kind in _FLOATS:
        form, _ = _FLOATS[kind]
        with np.errstate(all="ignore"):
            return int.from_bytes(struct.pack(form, float(_NUMPY[kind](value))), "little")
    return _mask(int(value), _bits(kind))


@dataclass(frozen=True)
class Instruction:
    guard: str  # "", "%p1" or "!%p1"
    name: str
    parts: tuple[str, ...]
    operands: tuple[str, ...]


@dataclass
class Kernel:
    name: str
    parameters: list[str]
    code: list[Instruction]
    labels: dict[str, int]
    local_bytes: int


@dataclass
class Module:
    kernels: dict[str, Kernel]
    shared: dict[str, tuple[int, int]]  # variable: its place and size
    shared_bytes: int
    constants: dict[str, tuple[int, bytes]] = field(default_factory=dict)


def parse(text: str) -> Module:
    text = re.sub(r"//[^\n]*", "", text)
    shared: dict[str, tuple[int, int]] = {}
    top = 0
    for align, name, size in re.findall(r"\.shared \.align (\d+) \.b8 (\w+)\[(\d+)\]", text):
        top = -(-top // int(align)) * int(align)
        shared[name] = (top, int(size))
        top += int(size)
    kernels = {}
    for match in re.finditer(r"\.entry (\w+)\((.*?)\)([^{]*)\{(.*?)\n\}", text, re.S):
        name, head, _, body = match.groups()
        parameters = re.findall(r"(\w+_param_\d+)", head)
        depot = re.search(r"\.local \.align \d+ \.b8\s+__local_depot\d+\[(\d+)\]", body)
        code, labels = _code(body)
        kernels[name] = Kernel(name, parameters, code, labels, int(depot.group(1)) if depot else 0)
    return Module(kernels, shared, top)


def _code(body: str) -> tuple[list[Instruction], dict[str, int]]:
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    for statement in re.split(r"[;\n]", body):
        line = statement.strip()
        if line.startswith(".") or not line or line in "{}":
            continue
        while (label := re.match(r"(\$?\w+):\s*", line)) is not None:
            labels[label.group(1)] = len(code)
            line = line[label.end() :]
        if not line:
            continue
        guard = ""
        if line.startswith("@"):
            guard, line = line[1:].split(None, 1)
        name, _, rest = line.partition(" ")
        name = name.strip()
        if "\t" in name:
            name, rest = name.split("\t", 1)[0], name.split("\t", 1)[1] + rest
        parts = name.split(".")
        code.append(Instruction(guard, parts[0], tuple(parts[1:]), _operands(rest)))
    return code, labels


def _operands(text: str) -> tuple[str, ...]:
    found = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+(?:\|[^,\s]+)?", text)
    return tuple(part.strip() for part in found)


class Memory:
    """Global memory: arrays of the host, each at an address of its own."""

    def __init__(self) -> None:
        self._arrays: list[tuple[int, memoryview]] = []
        self._next = 1 << 20

    def add(self, array: np.ndarray) -> int:
        view = memoryview(array.view(np.uint8).reshape(-1)).cast("B")
        place = self._next
        self._arrays.append((place, view))
        self._next += (len(view) + 4095) // 4096 * 4096 + 4096
        return place

    def bytes_at(self, address: int, size: int) -> memoryview:
        for place, view in self._arrays:
            if place <= address and address + size <= place + len(view):
                return view[address - place : address - place + size]
        raise IndexError(f"address {address:#x} is in no array")


@dataclass
class Block:
    threads: int
    number: int
    blocks: int
    shared: bytearray
    exchanged: dict[tuple[int, int], int] = field(default_factory=dict)  # by number of the shuffle and thread


class Thread:
    """One thread; `run` yields at each barrier."""

    def __init__(self, module: Module, kernel: Kernel, arguments: list[int], memory: Memory, block: Block, number: int):
        self.module, self.kernel, self.memory, self.block, self.number = module, kernel, memory, block, number
        self.registers: dict[str, int] = {}
        self.parameters = dict(zip(kernel.parameters, arguments, strict=True))
        self.local = bytearray(kernel.local_bytes)
        self.steps = self.shuffles = 0

    # ---- operands

    def pattern(self, operand: str, kind: str) -> int:
        if operand in self.registers:
            return self.registers[operand]
        if operand.startswith("%"):
            return self._special(operand)
        if operand.startswith("0d"):
            return int(operand[2:], 16)
        if operand.startswith("0f"):
            return int(operand[2:], 16)
        if operand in self.module.shared:
            return _SHARED + self.module.shared[operand][0]
        if operand.startswith("__local_depot"):
            return _LOCAL
        value = int(operand.rstrip("U"), 0)
        return _mask(value, 64)

    def _special(self, name: str) -> int:
        known = {
            "%tid.x": self.number,
            "%ntid.x": self.block.threads,
            "%ctaid.x": self.block.number,
            "%nctaid.x": self.block.blocks,
            "%laneid": self.number % 32,
        }
        if name in known:
            return known[name]
        if name[:5] in ("%tid.", "%ctai"):
            return 0
        if name[:5] in ("%ntid", "%ncta"):
            return 1
        if re.fullmatch(r"%[a-z]+\d+", name):
            return _RUBBISH  # a register that nothing was put into: an element of an array that is not used
        raise Unsupported(name)

    def value(self, operand: str, kind: str) -> Any:
        return _number(self.pattern(operand, kind), kind)

    def address(self, operand: str) -> int:
        inside = operand[1:-1]
        base, _, offset = inside.partition("+")
        place = self.pattern(base, "u64")
        return _mask(place + (int(offset) if offset else 0), 64)

    def bytes_at(self, address: int, size: int) -> Any:
        if address >= _LOCAL:
            return memoryview(self.local)[address - _LOCAL : address - _LOCAL + size]
        if address >= _SHARED:
            return memoryview(self.block.shared)[address - _SHARED : address - _SHARED + size]
        return self.memory.bytes_at(address, size)

    # ---- running

    def run(self, most: int = 400_000) -> Iterator[None]:
        at, code = 0, self.kernel.code
        while at < len(code):
            one = code[at]
            at += 1
            self.steps += 1
            if self.steps > most:
                raise Unsupported("too many steps")
            if one.guard:
                negated = one.guard.startswith("!")
                if bool(self.registers.get(one.guard.lstrip("!"), 0)) == negated:
                    continue
            if one.name == "bra":
                at = self.kernel.labels[one.operands[0]]
            elif one.name in ("ret", "exit"):
                return
            elif one.name in ("bar", "barrier"):
                yield
            elif one.name == "shfl":
                self.shuffles += 1
                self.block.exchanged[self.shuffles, self.number] = self.pattern(one.operands[1], "b32")
                yield
                self._receive(one)
            else:
                operation = _OPERATIONS.get(one.name)
                if operation is None:
                    raise Unsupported(".".join((one.name, *one.parts)))
                operation(self, one)

    def _receive(self, one: Instruction) -> None:
        lane, warp = self.number % 32, self.number // 32 * 32
        by, control = self.pattern(one.operands[2], "b32"), self.pattern(one.operands[3], "b32")
        clamp, segment = control & 31, control >> 8 & 31
        least, most = lane & segment, (lane & segment) | (clamp & ~segment & 31)
        source = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": least | (by & ~segment & 31)}[
            one.parts[1]
        ]
        inside = source >= most if one.parts[1] == "up" else source <= most
        target, _, told = one.operands[0].partition("|")
        self.set(target, self.block.exchanged[self.shuffles, warp + (source if inside else lane)])
        if told:
            self.set(told, int(inside))

    def set(self, operand: str, pattern: int) -> None:
        self.registers[operand] = pattern


# ---------------------------------------------------------------- instructions

Operation = Callable[[Thread, Instruction], None]


def _load(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    if one.parts[0] == "param":
        name, _, offset = one.operands[1][1:-1].partition("+")
        t.set(one.operands[0], _mask(t.parameters[name] >> (8 * int(offset or 0)), _bits(kind)))
        return
    address, size = t.address(one.operands[1]), _bits(kind) // 8
    for number, register in enumerate(re.findall(r"%\w+", one.operands[0])):
        found = t.bytes_at(address + number * size, size)
        pattern = int.from_bytes(found, "little")
        t.set(register, _mask(_signed(pattern, 8 * size), 64) if kind[0] == "s" else pattern)


def _store(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    address, size = t.address(one.operands[0]), _bits(kind) // 8
    values = one.operands[1].strip("{}").split(",") if one.operands[1].startswith("{") else [one.operands[1]]
    for number, operand in enumerate(values):
        place = t.bytes_at(address + number * size, size)
        place[:] = _mask(t.pattern(operand.strip(), kind), 8 * size).to_bytes(size, "little")


def _move(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    target, source = one.operands
    if source.startswith("{"):
        width = _bits(kind) // len(source.strip("{}").split(","))
        parts = [t.pattern(part.strip(), kind) for part in source.strip("{}").split(",")]
        t.set(target, sum(_mask(part, width) << (width * i) for i, part in enumerate(parts)))
    elif target.startswith("{"):
        names = [name.strip() for name in target.strip("{}").split(",")]
        width, whole = _bits(kind) // len(names), t.pattern(source, kind)
        for i, name in enumerate(names):
            t.set(name, _mask(whole >> (width * i), width))
    else:
        t.set(target, _mask(t.pattern(source, kind), _bits(kind)))


def _binary(of: Callable[[Any, Any], Any]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        with np.errstate(all="ignore"):
            t.set(one.operands[0], _pattern(of(t.value(one.operands[1], kind), t.value(one.operands[2], kind)), kind))

    return operation


def _unary(of: Callable[[Any], Any]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        with np.errstate(all="ignore"):
            t.set(one.operands[0], _pattern(of(t.value(one.operands[1], kind)), kind))

    return operation


def _product(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    a, b = (t.value(operand, kind) for operand in one.operands[1:3])
    with np.errstate(all="ignore"):
        product = a * b
    if kind in _FLOATS:
        t.set(one.operands[0], _pattern(product, kind))
    elif "wide" in one.parts:
        t.set(one.operands[0], _mask(product, 2 * _bits(kind)))
    else:
        t.set(one.operands[0], _mask(product >> (_bits(kind) if "hi" in one.parts else 0), _bits(kind)))


def _multiply_add(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    a, b = (t.value(operand, kind) for operand in one.operands[1:3])
    width = 2 * _bits(kind) if "wide" in one.parts else _bits(kind)
    product = a * b >> (_bits(kind) if "hi" in one.parts else 0)
    t.set(one.operands[0], _mask(product + t.pattern(one.operands[3], kind), width))


def _fused(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    if kind != "f64" and kind != "f32":
        raise Unsupported("fma of halves")
    a, b, c = (t.value(operand, kind) for operand in one.operands[1:4])
    if not all(math.isfinite(x) for x in (a, b, c)):
        with np.errstate(all="ignore"):
            t.set(one.operands[0], _pattern(a * b + c, kind))
        return
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    zero = float(a) * float(b) + float(c)  # with its sign
    t.set(one.operands[0], _pattern(_nearest(exact, kind) if exact else zero, kind))


def _copysign(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    sign = 1 << (_bits(kind) - 1)
    target, source, size = one.operands
    t.set(target, (t.pattern(source, kind) & sign) | (t.pattern(size, kind) & (sign - 1)))


def _insert_bits(t: Thread, one: Instruction) -> None:
    bits = _bits(one.parts[-1])
    target, inserted, into, at, length = one.operands
    place, size = (t.pattern(operand, "u32") & 255 for operand in (at, length))
    mask = _mask(((1 << size) - 1) << place, bits)
    t.set(target, (t.pattern(into, "u64") & ~mask) | (t.pattern(inserted, "u64") << place & mask))


def _nearest(exact: Fraction, kind: str) -> float:
    """Of the values of the type."""
    try:
        near = float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
    if kind == "f64" or near == exact:
        return near
    # Rounded to odd first, so that the rounding to f32 that follows is the right one.
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
    value, by = t.value(one.operands[1], kind), _mask(t.pattern(one.operands[2], "u32"), 32)
    by = min(by, _bits(kind))
    t.set(one.operands[0], _mask(value << by if one.name == "shl" else value >> by, _bits(kind)))


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
    t.set(one.operands[0], _mask(t.pattern(chosen, kind), _bits(kind)))


def _convert(t: Thread, one: Instruction) -> None:
    to, source = one.parts[-2], one.parts[-1]
    value = t.value(one.operands[1], source)
    if "sat" in one.parts:
        raise Unsupported("cvt.sat")
    if to in _FLOATS:
        if source in _FLOATS:
            rounding = next((p for p in one.parts if p in ("rni", "rzi", "rmi", "rpi")), None)
            if rounding is not None:
                value = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[rounding](value)
        t.set(one.operands[0], _pattern(value, to))
        return
    if source in _FLOATS:
        if value != value:
            value = 0 if _bits(to) <= 32 else -(1 << 63)
        rounding = next(p for p in one.parts if p in ("rni", "rzi", "rmi", "rpi"))
        with np.errstate(all="ignore"):
            whole = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[rounding](np.float64(value))
        low, high = (-(1 << (_bits(to) - 1)), (1 << (_bits(to) - 1)) - 1) if to[0] == "s" else (0, (1 << _bits(to)) - 1)
        value = low if whole < low else high if whole > high else int(whole)
    pattern = _mask(int(value), _bits(to))
    t.set(one.operands[0], _mask(_signed(pattern, _bits(to)), 64) if to[0] == "s" else pattern)


def _square_root(value: Any) -> Any:
    return np.sqrt(value)


def _not(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    t.set(one.operands[0], _mask(~t.pattern(one.operands[1], kind), _bits(kind)))


def _logic(of: Callable[[int, int], int]) -> Operation:
    def operation(t: Thread, one: Instruction) -> None:
        kind = one.parts[-1]
        a, b = (_mask(t.pattern(operand, kind), _bits(kind)) for operand in one.operands[1:3])
        t.set(one.operands[0], of(a, b))

    return operation


def _lookup3(t: Thread, one: Instruction) -> None:
    a, b, c = (_mask(t.pattern(operand, "b32"), 32) for operand in one.operands[1:4])
    table, result = int(one.operands[4], 0), 0
    for bit in range(32):
        entry = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        result |= (table >> entry & 1) << bit
    t.set(one.operands[0], result)


def _extract(t: Thread, one: Instruction) -> None:
    kind = one.parts[-1]
    value, begin, count = t.pattern(one.operands[1], kind), *(t.pattern(o, "u32") for o in one.operands[2:4])
    found = _mask(_mask(value, _bits(kind)) >> begin, count) if count else 0
    t.set(one.operands[0], _mask(_signed(found, count) if kind[0] == "s" and count else found, _bits(kind)))


def _atomic(t: Thread, one: Instruction) -> None:
    kind, operation = one.parts[-1], next(p for p in one.parts if p in _ATOMICS or p in ("cas", "exch"))
    reduces = one.name == "red"
    place = one.operands[0 if reduces else 1]
    address, size = t.address(place), _bits(kind) // 8
    memory = t.bytes_at(address, size)
    old = int.from_bytes(memory, "little")
    given = [t.pattern(operand, kind) for operand in one.operands[1 if reduces else 2 :]]
    if operation == "cas":
        new = given[1] if old == _mask(given[0], 8 * size) else old
    elif operation == "exch":
        new = given[0]
    else:
        with np.errstate(all="ignore"):
            new = _pattern(_ATOMICS[operation](_number(old, kind), _number(given[0], kind)), kind)
    memory[:] = _mask(new, 8 * size).to_bytes(size, "little")
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


_OPERATIONS: dict[str, Operation] = {
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


def launch(
    module: Module,
    name: str,
    arguments: list[int],
    memory: Memory,
    grid: int = 1,
    block: int = 1,
    order: Callable[[list[int]], list[int]] | None = None,
) -> None:
    """Runs a kernel. `order` shuffles the threads that run next; blocks run one after the other."""
    kernel = module.kernels[name]
    for number in range(grid):
        shared = Block(block, number, grid, bytearray(module.shared_bytes))
        waiting = [Thread(module, kernel, arguments, memory, shared, i).run() for i in range(block)]
        while waiting:
            numbers = list(range(len(waiting)))
            left = []
            for i in order(numbers) if order is not None else numbers:
                try:
                    next(waiting[i])
                    left.append((i, waiting[i]))
                except StopIteration:
                    continue
            waiting = [thread for _, thread in sorted(left, key=lambda pair: pair[0])]
