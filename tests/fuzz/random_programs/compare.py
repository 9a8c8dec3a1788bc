"""Runs a program compiled and in the Python interpreter, and compares the memory of their arguments."""

from __future__ import annotations

import importlib
import itertools
import linecache
import random
import types
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import parpy
from parpy import CompileBackend, CompileOptions
from parpy.calls.jit import interpret

from . import by_ptx
from .data import Arguments, Signature
from .values import RETURNS_ARRAYS

_names = itertools.count()

# Rules that the compiler applies to code which a run need not reach, and constructs outside of the language; all
# are documented. Any other refusal of a program that the interpreter runs is a fault.
STATIC_RULES = (
    "P102", "P110", "P200", "P201", "P204", "P221", "P222", "P225", "P226", "P233",
    "slices in an assignment to several targets",
    "the number of these values is not known when the function is entered",
)  # fmt: skip
MODES = {
    "cpu": ("automatic",) * 5 + ("deterministic",) + ("bits",) * 2 + ("hand",) * 4
        + ("restructured", "sequential", "checked", "checked by hand"),
    "sim": ("automatic",) * 4 + ("deterministic", "bits") + ("hand",) * 3 + ("restructured", "sequential", "bounds"),
    "cuda": ("automatic",) * 4 + ("deterministic", "bits", "hand", "hand", "hand", "restructured", "sequential"),
    "eval": ("sequential", "hand", "hand", "restructured", "deterministic", "bits"),
    "eval-cuda": ("automatic", "automatic", "sequential", "hand", "hand", "restructured", "deterministic", "bits"),
    "ptx": ("sequential",),
}  # fmt: skip
_BACKENDS = {
    "cpu": CompileBackend.Cpu, "sim": CompileBackend.Sim, "cuda": CompileBackend.Cuda, "eval": CompileBackend.Cpu,
    "eval-cuda": CompileBackend.Cuda, "ptx": CompileBackend.Cuda,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One call of the program: its arguments and its mode."""

    number: int
    data: str
    mode: str
    choice: str  # seed of the choices within the mode: the mapping

    def __str__(self) -> str:
        return f"arguments {self.number} ({self.data!r}), {self.mode} ({self.choice!r})"


@dataclass
class Case:
    """A program and its calls: a fault depends on nothing else."""

    text: str
    signature: Signature
    labels: list[str]
    calls: list[Call]
    backend: str


@dataclass
class Outcome:
    fault: str | None = None
    counts: Counter[str] = field(default_factory=Counter)


def calls_for(seed: int, sets: int, backend: str) -> list[Call]:
    rng = random.Random(f"calls {seed} {backend}")
    usual = rng.choice(MODES[backend])
    order = list(range(sets))
    if sets > 1:
        order += [rng.randrange(sets) for _ in range(rng.choice((0, 1, 2)))]
        rng.shuffle(order)
    calls = []
    for position, number in enumerate(order):
        mode = usual if rng.random() < 0.6 else rng.choice(MODES[backend])
        layout = rng.choice((0, 0, 1, 2, 3))
        calls.append(Call(number, f"data {seed} {number} {layout}", mode, f"{seed} {position}"))
    return calls


class CopiedFirst(np.ndarray):
    """An array whose stores read all values before they change an element. NumPy promises that, but
    `b[n::-1, 3] = b[0, :]` breaks it for some negative strides (2.4.6). Numbers that NumPy computes from it are
    numbers, as from other arrays: arrays without dimensions would change in place under all their names."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else super().__array_wrap__(array, context, return_scalar)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value.copy() if isinstance(value, np.ndarray) else value)

    def _updated(self, operator: Callable[..., Any], value: Any) -> CopiedFirst:
        value = value.copy() if isinstance(value, np.ndarray) else value
        result = np.asarray(self).copy()
        operator(result, np.asarray(value) if isinstance(value, np.ndarray) else value, out=result)
        super().__setitem__(..., result)
        return self

    def __iadd__(self, value: Any) -> CopiedFirst:  # type: ignore[misc]
        return self._updated(np.add, value)

    def __isub__(self, value: Any) -> CopiedFirst:  # type: ignore[misc]
        return self._updated(np.subtract, value)


def load(text: str, compiled: bool) -> Callable[..., Any]:
    name = f"<random program {next(_names)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "random_program"}
    exec(compile(text, name, "exec"), space)
    if not compiled:
        plain = types.SimpleNamespace(jit=lambda f: f, label=lambda _: None)
        for operator in ("sum", "prod", "min", "max", "any", "all", "mean"):
            setattr(plain, operator, getattr(parpy, operator))
        space = {"__name__": "random_program", "parpy": plain}
        exec(compile(by_ptx.without_gpu(text).replace("import parpy\n", "\n"), name, "exec"), space)
    function: Callable[..., Any] = space["kernel"]
    return function


# ---- options


def _options(mode: str, backend: str, mapping: dict[str, Any]) -> CompileOptions:
    where = _BACKENDS[backend]
    if mode == "automatic":
        return parpy.auto(backend=where)
    if mode in ("deterministic", "bits"):
        if mapping:
            return CompileOptions(backend=where, deterministic=True, parallelize=mapping, legality="strict")
        return parpy.auto(backend=where, deterministic=True)
    if mode == "sequential":
        return CompileOptions(backend=where, parallelize=mapping)
    if mode == "checked":
        return CompileOptions(backend=where, check="all")
    fields: dict[str, Any] = {"parallelize": mapping, "legality": "strict", "backend": where}
    if mode == "restructured":
        fields["restructure"] = True
    if mode == "checked by hand":
        fields["check"] = "all"
    if mode == "bounds":
        fields["check"] = "bounds"
    return CompileOptions(**fields)


def _mapping(rng: random.Random, labels: list[str], mode: str, backend: str) -> dict[str, Any]:
    on_device = {"gpu": parpy.threads(1)} if backend in ("sim", "cuda", "eval-cuda") else {}
    if mode == "sequential":
        return on_device
    if mode in ("automatic", "checked") or (mode in ("deterministic", "bits") and rng.random() < 0.5):
        return {}
    share = rng.choice((0.3, 0.6, 1.0))
    chosen = {}
    left = 100_000 if backend == "sim" else 10**12  # threads that nested loops may have: 10^6 take the simulator 2 s
    for label in labels:
        if rng.random() < share:
            number = rng.choice([number for number in (1, 2, 3, 8, 32, 33, 64, 100, 1000, 5000) if number <= left])
            loop = parpy.threads(number)
            left //= number
            if backend != "cpu" and rng.random() < 0.3:
                loop = loop.tpb(rng.choice((32, 64, 96, 256)))
            chosen[label] = loop
    return {**chosen, **on_device}


# ---- comparison


def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The greatest magnitude of values whose sums are exact, and the number of parts into which one is divided."""
    real = np.zeros(0, dtype).real.dtype
    return {"float16": (64, 16), "float32": (1 << 11, 1 << 9), "float64": (1 << 23, 1 << 22)}[real.name]


def is_exact(memory: list[np.ndarray]) -> bool:
    for array in memory:
        if array.dtype.kind not in "fc":
            continue
        greatest, parts = _limits(array.dtype)
        values = array.view(array.real.dtype)
        with np.errstate(all="ignore"):
            scaled = values.astype(np.float64) * parts
            if not (np.abs(values) <= greatest).all() or not (scaled == np.floor(scaled)).all():
                return False
    return True


def _bits(array: np.ndarray) -> np.ndarray:
    """The bits of the elements, where all NaNs are equal."""
    if array.dtype.kind not in "fc":
        return array
    parts = array.view(array.real.dtype)
    whole = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
    return whole.view(f"u{parts.dtype.itemsize}")


def _difference(signature: Signature, got: Arguments, want: Arguments, exactly: bool = False) -> str | None:
    for number, (ours, numpys) in enumerate(zip(got.memory, want.memory, strict=True)):
        same = np.array_equal(_bits(ours), _bits(numpys)) if exactly else np.array_equal(ours, numpys)
        if not same:
            names = [name for name, view in got.views.items() if view.memory == number]
            shown = "\n".join(
                f"{name} {view.shape} strides {view.strides} at {view.offset} {view.dtype}:\n"
                f"  got  {got.array(name).tolist()}"
                f"\n  want {want.array(name).tolist()}"
                for name, view in got.views.items()
                if name in names
            )
            numbers = ", ".join(
                f"{s.name}={s.values[want._number]!r}" for s in signature.parameters if hasattr(s, "values")
            )
            return f"{numbers}\n{shown}"
    return None


class OnDevice:
    """The memory of arguments copied to the GPU, and arrays over it."""

    def __init__(self, arguments: Arguments) -> None:
        self._cupy = importlib.import_module("cupy")
        self._arguments = arguments
        self._memory = [self._cupy.asarray(memory) for memory in arguments.memory]

    def array(self, arguments: Arguments, name: str) -> Any:
        view = arguments.views[name]
        memory = self._memory[view.memory]
        place = self._cupy.cuda.MemoryPointer(memory.data.mem, memory.data.ptr - memory.data.mem.ptr + view.offset)
        return self._cupy.ndarray(view.shape, view.dtype, place, view.strides)

    def copy_back(self) -> None:
        for host, device in zip(self._arguments.memory, self._memory, strict=True):
            host[:] = self._cupy.asnumpy(device)


class Comparison:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.outcome = Outcome()
        self._wanted: dict[tuple[int, str, bool], tuple[Arguments, str]] = {}

    def run(self) -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._plain = load(self.case.text, compiled=False)
            compiled: Callable[..., Any] | None = None
            for call in self.case.calls:
                want, status = self._interpreted(call)
                if status:
                    self.outcome.counts[status] += 1
                    continue
                if compiled is None:
                    compiled = load(self.case.text, compiled=True)
                self.outcome.counts["calls"] += 1
                fault = self._compare(compiled, call, want)
                if fault is not None:
                    self.outcome.fault = f"{call}\n{fault}"
                    break
        return self.outcome

    def _arguments(self, call: Call) -> Arguments:
        return Arguments(self.case.signature, call.number, call.data, exact=call.mode != "bits")

    def _settled(self, call: Call) -> tuple[Arguments, str]:
        """The reference interpreter's results for values of any kind: `deterministic=True` promises these bits."""
        want = self._arguments(call)
        options = CompileOptions(backend=CompileBackend.Cpu, deterministic=True)
        try:
            interpret(load(self.case.text, compiled=True), want.passed(), options, _SETTLED)
            want.settle()
        except Exception:
            return want, "refused by the interpreter"
        return want, ""

    def _interpreted(self, call: Call) -> tuple[Arguments, str]:
        key = (call.number, call.data, call.mode == "bits")
        if key not in self._wanted:
            want = self._arguments(call)
            status = ""
            try:
                with np.errstate(all="ignore", over="raise"):
                    self._plain(*want.passed(lambda own, name: own.array(name).view(CopiedFirst)))
                want.settle()
            except Exception:
                status = "unusable"
            if not status and call.mode == "bits":
                want, status = self._settled(call)
            elif not status and not is_exact(want.memory):
                status = "inexact"
            self._wanted[key] = (want, status)
        return self._wanted[key]

    def _compare(self, compiled: Callable[..., Any], call: Call, want: Arguments) -> str | None:
        rng = random.Random(call.choice)
        mapping = _mapping(rng, self.case.labels, call.mode, self.case.backend)
        passes = _EVALUATED_ON_GPUS if self.case.backend == "eval-cuda" else _EVALUATED
        until = rng.choice(passes[passes.index(_SETTLED) :] if call.mode == "bits" else passes)
        while True:
            got = self._arguments(call)
            options = _options(call.mode, self.case.backend, mapping)
            try:
                self._call(compiled, got, options, rng, until)
            except Exception as error:
                refused = self._refusal(error, got, call)
                if refused is None and rng.random() < 0.2 and self._accepts_alone(call, options, rng, until):
                    refused = f"refused, but not when it is the first call\n{type(error).__name__}: {error}"
                if refused is not None:
                    return f"{options}\n{refused}"
                labels = [label for label in mapping if label != "gpu"]
                if not labels:
                    return None
                mapping = {label: loop for label, loop in mapping.items() if label != rng.choice(labels)}
                continue
            found = _difference(self.case.signature, got, want, exactly=call.mode == "bits")
            self.outcome.counts[call.mode] += 1
            return None if found is None else f"{options}\n{found}"

    def _call(
        self, compiled: Callable[..., Any], got: Arguments, options: CompileOptions, rng: random.Random, until: str
    ) -> None:
        if self.case.backend in ("eval", "eval-cuda"):
            if until == "infer-types" and RETURNS_ARRAYS.search(self.case.text):
                until = "fold-constants"
            interpret(compiled, got.passed(), options, until)
        elif self.case.backend == "ptx":
            by_ptx.run(compiled, got)
        elif self.case.backend == "cuda" and rng.random() < 0.5:
            device = OnDevice(got)
            try:
                compiled(*got.passed(device.array), opts=options)
            finally:
                device.copy_back()
        else:
            compiled(*got.passed(), opts=options)
        got.settle()

    def _accepts_alone(self, call: Call, options: CompileOptions, rng: random.Random, until: str) -> bool:
        """Whether a new function accepts the call: a verdict must not depend on the calls before."""
        fresh = load(self.case.text, compiled=True)
        try:
            self._call(fresh, self._arguments(call), options, rng, until)
        except Exception:
            return False
        return True

    def _refusal(self, error: Exception, got: Arguments, call: Call) -> str | None:
        """None if the compiler may refuse the program with this error; else a description of the fault."""
        text = f"{type(error).__name__}: {error}"
        before = self._arguments(call)
        if (changed := _difference(self.case.signature, got, before)) is not None:
            return f"refused, but arguments are changed\n{text}\n{changed}"
        if isinstance(error, by_ptx.Unsupported):
            self.outcome.counts[text] += 1
            return None
        code = next((code for code in STATIC_RULES if code in text), None)
        if code is not None:
            self.outcome.counts[code] += 1
            return None
        by_hand = call.mode in ("hand", "restructured", "bounds", "checked by hand", "deterministic", "bits")
        if by_hand and any(c in text for c in ("P227", "P303", "P308", "P401", "P402", "P310", "P311", "P312", "P313")):
            self.outcome.counts["refused mappings"] += 1
            return None
        return text


# After this pass a deterministic program keeps its meaning to the last bit.
_SETTLED = "settle-reductions"
# The interpreter may run a program after any of these passes.
_EVALUATED = (
    "infer-types", "fold-constants", "order-calls", "narrow-math", "normalize-loops", "lower-slices",
    "normalize-indices",
    _SETTLED, "distribute-loops", "fuse-loops", "interchange-loops", "collapse-loops", "map-loops", "infer-reductions",
    "normalize-reductions", "guard-variables", "count-loops", "simplify-divisions", "simplify-signs", "legalize-cpu",
)  # fmt: skip
_EVALUATED_ON_GPUS = (*_EVALUATED[: _EVALUATED.index("simplify-signs")], "split-kernels", "narrow-indices")


def case_of(seed: int, backend: str) -> Case:
    from .writer import Program

    program = Program(seed)
    calls = calls_for(seed, program.sets, backend)
    text = by_ptx.on_one_thread(program.text) if backend == "ptx" else program.text
    return Case(text, program.signature, program.labels, calls, backend)


def fault_of(case: Case) -> str | None:
    return Comparison(case).run().fault
