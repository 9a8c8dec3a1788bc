"""PTX as text and numbers: its kernels and instructions, and the bit patterns of its types."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Unsupported(Exception):
    """An instruction that this interpreter does not know."""


FLOATS = {"f16": ("<e", 2), "f32": ("<f", 4), "f64": ("<d", 8)}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def bits_of(kind: str) -> int:
    if kind == "pred":
        return 1
    return int(kind[1:])


def masked(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    value = masked(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def number_of(pattern: int, kind: str) -> Any:
    """The number that these bits mean in a register of this type."""
    if kind in FLOATS:
        form, size = FLOATS[kind]
        return NUMPY[kind](struct.unpack(form, masked(pattern, 8 * size).to_bytes(size, "little"))[0])
    if kind[0] == "s":
        return signed(pattern, bits_of(kind))
    return masked(pattern, bits_of(kind))


def pattern_of(value: Any, kind: str) -> int:
    if kind in FLOATS:
        form, _ = FLOATS[kind]
        with np.errstate(all="ignore"):
            return int.from_bytes(struct.pack(form, float(NUMPY[kind](value))), "little")
    return masked(int(value), bits_of(kind))


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
