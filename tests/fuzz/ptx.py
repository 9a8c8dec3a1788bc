"""Runs PTX, one thread at a time: shows how NVRTC compiled a kernel on a machine without a GPU.

Registers and memory hold bit patterns. Threads run one after the other, in any order, from one barrier to the
next, so that a load which the compiler moved before a barrier reads the older value. Instructions that
our kernels do not need are refused (Unsupported). Source of the meaning of each instruction: the PTX ISA manual,
version 9.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ptx_operations import OPERATIONS
from ptx_text import Instruction, Kernel, Module, Unsupported, masked, number_of, parse

__all__ = ["Memory", "Unsupported", "launch", "parse"]

_RUBBISH = 0x5A5A_5A5A_5A5A_5A5A
_SHARED, _LOCAL = 0xE000_0000, 0xF000_0000  # the starts of these spaces, also as 32 bits; global memory is below


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
        return masked(value, 64)

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
            return _RUBBISH  # a register that nothing set: an element of an unused array
        raise Unsupported(name)

    def value(self, operand: str, kind: str) -> Any:
        return number_of(self.pattern(operand, kind), kind)

    def address(self, operand: str) -> int:
        inside = operand[1:-1]
        base, _, offset = inside.partition("+")
        place = self.pattern(base, "u64")
        return masked(place + (int(offset) if offset else 0), 64)

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
                operation = OPERATIONS.get(one.name)
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


def launch(
    module: Module,
    name: str,
    arguments: list[int],
    memory: Memory,
    grid: int = 1,
    block: int = 1,
    order: Callable[[list[int]], list[int]] | None = None,
) -> None:
    """Runs a kernel. `order` shuffles the threads between barriers; blocks run one after the other."""
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
