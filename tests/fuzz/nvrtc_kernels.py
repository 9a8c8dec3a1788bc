"""Random kernels of one thread, in CUDA C++: does NVRTC's code leave the elements that the text defines?

    python tests/fuzz/nvrtc_kernels.py [--seed N] [--count N] [--forms ours|all] [--gpu]

NVRTC treats elements at some equal subscripts as different ones (docs/explanation/gpu.md). Each kernel
stores to and loads from one array, under several names, at subscripts of every form that ParPy emits (`ours`) or
also of the forms that it avoids (`all`). They run in the interpreter of PTX (ptx.py), or with `--gpu` on the GPU, which
needs CuPy; Python evaluates the same statements for comparison. Prints the kernels that differ, and exits with 1
if there are any.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "python")]
sys.path.append(str(_HERE.parents[1] / "python"))

SIZE = 512  # elements; subscripts lie around the middle
MIDDLE = SIZE // 2


@dataclass(frozen=True)
class Term:
    """A subscript: C++ text, and its value for the counters i and j."""

    text: str
    value: Callable[[int, int], int]


Value = Callable[[int, int], int]


class Forms:
    def __init__(self, rng: random.Random, avoided: bool) -> None:
        self.random, self.avoided = rng, avoided

    def variable(self, counters: str) -> tuple[str, Value]:
        """A counter, or a non-negative value computed from one."""
        name, c = self.random.choice(counters), self.random.randint(2, 5)
        of: Value = (lambda i, j: i) if name == "i" else (lambda i, j: j)
        return self.random.choice([
            (name, of), (name, of), (name, of),
            (f"({name} < {c} ? {name} : {c})", lambda i, j: min(of(i, j), c)),
            (f"({name} & {c})", lambda i, j: of(i, j) & c),
            (f"{name} % {c}", lambda i, j: of(i, j) % c),
            (f"({name} / {c})", lambda i, j: of(i, j) // c),
        ])  # fmt: skip

    def subscript(self, counters: str) -> Term:
        if not counters or self.random.random() < 0.3:
            c = self.random.randint(-40, 40)
            return Term(str(c), lambda i, j: c)
        x, of = self.variable(counters)
        s, c = self.random.randint(1, 5), self.random.randint(-20, 20)
        plus_c = f"+ {c}" if c >= 0 else f"- {-c}"
        made = [
            Term(f"{x} {plus_c}", lambda i, j: of(i, j) + c),
            Term(f"{x} * {s} {plus_c}", lambda i, j: of(i, j) * s + c),
            Term(f"({x} {plus_c}) * {s}", lambda i, j: (of(i, j) + c) * s),
            self.falling(s, f"{c} - {x} * {s}", lambda i, j: c - of(i, j) * s),
            self.falling(s, f"-({x}) * {s}", lambda i, j: -of(i, j) * s),
            self.falling(s, f"({c} - {x}) * {s}", lambda i, j: (c - of(i, j)) * s),
            Term(f"-({c} - {x} * {s})", lambda i, j: of(i, j) * s - c),
            Term(f"-({c} - {x}) * {s}", lambda i, j: (of(i, j) - c) * s),
            Term(f"{c} - ({x} + {s})", lambda i, j: c - of(i, j) - s),
        ]
        if len(counters) > 1:
            t = self.random.randint(1, 7)
            made += [
                Term(f"i * {t} + {x}", lambda i, j: i * t + of(i, j)),
                self.falling(s, f"j * {t} - {x} * {s}", lambda i, j: j * t - of(i, j) * s),
                self.falling(max(s, t), f"{c} - i * {t} - {x} * {s}", lambda i, j: c - i * t - of(i, j) * s),
            ]
        if self.avoided:
            made += [
                Term(f"{x} * -{s} {plus_c}", lambda i, j: of(i, j) * -s + c),
                Term(f"{x} * -{s}", lambda i, j: of(i, j) * -s),
            ]
        chosen = self.random.choice(made)
        if self.random.random() < 0.15:
            return Term(f"(long long)({chosen.text})", chosen.value)
        return chosen

    def falling(self, factor: int, text: str, value: Value) -> Term:
        """A subscript that subtracts `factor` times a variable."""
        return Term(text if factor == 1 or self.avoided else f"hidden({text})", value)


# The same function as in src/dialects/prelude/cuda.inc.
HELPER = """template <class T> static __device__ __forceinline__ T hidden(T at) {
    if constexpr (sizeof(T) == 8) asm("" : "+l"(at)); else asm("" : "+r"(at));
    return at;
}
"""


@dataclass
class Kernel:
    text: str
    run: Callable[[np.ndarray], None]


class Maker:
    """Writes one kernel. Its pointers `names` point to one memory; `restrict` adds an array that shares none of it."""

    def __init__(self, seed: int, avoided: bool) -> None:
        self.random = random.Random(seed)
        self.forms = Forms(self.random, avoided)
        self.names = self.random.choice(("a", "a", "ab", "abc"))
        self.kind = self.random.choice(("double", "double", "float", "long long", "int"))
        self.lines: list[str] = []
        self.actions: list[Callable[[np.ndarray, int, int], None]] = []

    def make(self) -> Kernel:
        outer = self._range()
        inner = self._range() if self.random.random() < 0.5 else None
        before, first, middle, last = [], [], [], []
        for actions, counters, depth, most in ((before, "", 1, 1), (first, "i", 2, 2)):
            self._statements(actions, counters, depth, most)
            if depth == 1:
                self.lines.append(
                    f"    for (int i = {outer[0]}; i {'<' if outer[2] > 0 else '>'} {outer[1]}; i += {outer[2]}) {{"
                )
        if inner is not None:
            self.lines.append(
                f"        for (int j = {inner[0]}; j {'<' if inner[2] > 0 else '>'} {inner[1]}; j += {inner[2]}) {{"
            )
            self._statements(middle, "ij", 3, 3)
            self.lines.append("        }")
        self._statements(last, "i", 2, 1)
        self.lines.append("    }")
        parameters = ", ".join(f"{self.kind}* {name}" for name in self.names)
        text = HELPER + "\n".join([f'extern "C" __global__ void k({parameters}) {{', *self.lines, "}"]) + "\n"

        def run(memory: np.ndarray) -> None:
            for act in before:
                act(memory, 0, 0)
            for i in range(*outer):
                for act in first:
                    act(memory, i, 0)
                for j in range(*inner) if inner is not None else ():
                    for act in middle:
                        act(memory, i, j)
                for act in last:
                    act(memory, i, 0)

        return Kernel(text, run)

    def _range(self) -> tuple[int, int, int]:
        step = self.random.choice((1, 1, 1, 2, -1, -2))
        begin, end = self.random.choice((0, 1, 2)), self.random.randint(3, 10)
        return (begin, end, step) if step > 0 else (end - 1, begin - 1, step)

    def _element(self, counters: str) -> tuple[str, Term]:
        return self.random.choice(self.names), self.forms.subscript(counters)

    def _statements(self, actions: list, counters: str, depth: int, most: int) -> None:
        for _ in range(self.random.randint(0 if depth != 2 else 1, most)):
            (x, to), (y, at) = self._element(counters), self._element(counters)
            c = self.random.randint(1, 3)
            form = self.random.randrange(4)
            values = [f"{y}[{at.text}] + {c}", f"{x}[{to.text}] + {y}[{at.text}]", str(c), f"{c} - {y}[{at.text}]"]
            self.lines.append("    " * depth + f"{x}[{to.text}] = {values[form]};")
            actions.append(_action(to, at, c, form))


def _action(to: Term, at: Term, c: int, form: int) -> Callable[[np.ndarray, int, int], None]:
    def act(memory: np.ndarray, i: int, j: int) -> None:
        p, q = MIDDLE + to.value(i, j), MIDDLE + at.value(i, j)
        with np.errstate(all="ignore"):
            one = memory.dtype.type(c)
            memory[p] = (memory[q] + one, memory[p] + memory[q], one, one - memory[q])[form]

    return act


DTYPES = {"double": np.float64, "float": np.float32, "long long": np.int64, "int": np.int32}


def by_ptx(text: str, memory: np.ndarray, names: int) -> None:
    import ptx

    import nvrtc

    module, places = ptx.parse(nvrtc.ptx(text)), ptx.Memory()
    base = places.add(memory) + MIDDLE * memory.itemsize
    ptx.launch(module, "k", [base] * names, places)


def by_gpu(text: str, memory: np.ndarray, names: int) -> None:
    import cupy

    device = cupy.asarray(memory)
    kernel = cupy.RawModule(code=text, options=("--fmad=false",)).get_function("k")
    pointer = device.data.ptr + MIDDLE * memory.itemsize
    kernel((1,), (1,), tuple(np.uint64(pointer) for _ in range(names)))
    memory[:] = cupy.asnumpy(device)


def difference(seed: int, avoided: bool = False, run: Callable[[str, np.ndarray, int], None] = by_ptx) -> str | None:
    """The text of kernel `seed` if it leaves other elements than its statements do; else None."""
    maker = Maker(seed, avoided)
    kernel = maker.make()
    values = np.random.default_rng(seed).integers(-4, 5, SIZE)
    got, want = values.astype(DTYPES[maker.kind]), values.astype(DTYPES[maker.kind])
    run(kernel.text, got, len(maker.names))
    kernel.run(want)
    if np.array_equal(got, want):
        return None
    places = np.flatnonzero(got != want)[:5]
    shown = ", ".join(f"[{p - MIDDLE}] is {got[p]}, want {want[p]}" for p in places)
    return f"{kernel.text}{shown}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--forms", choices=("ours", "all"), default="ours")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    found = 0
    for seed in range(options.seed, options.seed + options.count):
        text = difference(seed, options.forms == "all", by_gpu if options.gpu else by_ptx)
        if text is not None:
            found += 1
            print(f"=== kernel {seed}\n{text}\n", flush=True)
    print(f"{options.count} kernels, {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
