"""Operations of kernels written by hand that Python does not have: hardware indices, shared memory, exchanges between
threads, atomic operations.

`parpy.cuda` exports these objects. The frontend recognises them by identity. This file describes each object, and
frontend/languages.py has the function that lowers it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

# parpy.cuda exports these names.
__all__ = [
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "blockDim", "blockIdx", "brev", "cbrt", "clz",
    "const", "eq_sync", "ffs", "fma", "grid", "gridDim", "gridsize", "laneid", "lanemask_lt", "ldca", "ldcg", "ldcs",
    "ldcv", "ldlu", "local", "match_all_sync", "match_any_sync", "nanosleep", "popc", "rsqrt", "selp", "shared",
    "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "stcg", "stcs", "stwb", "stwt", "syncthreads",
    "syncthreads_and", "syncthreads_count", "syncthreads_or", "syncwarp", "threadIdx", "threadfence",
    "threadfence_block", "threadfence_system", "warpsize",
]  # fmt: skip

GEOMETRY = ("grid.x", "grid.y", "grid.z", "block.x", "block.y", "block.z", "shared bytes")
"""The parameters of a kernel that precede those of its function; no Python function can have such names."""


class _Named:
    """An object of `parpy.cuda` with its name there."""

    __slots__ = ()
    name: str

    def __repr__(self) -> str:
        return f"parpy.cuda.{self.name}"


class Register(_Named):
    """A hardware register such as `threadIdx.x`. `text` is its name in IR text."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    def __index__(self) -> NoReturn:
        raise TypeError(f"{self!r} has a value in kernels only")

    __int__ = __index__


class Coordinates(_Named):
    """Three registers, such as `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, which are numbers in a kernel."""

    if TYPE_CHECKING:
        x: int
        y: int
        z: int

    def __init__(self, name: str, text: str) -> None:
        for axis in "xyz":
            setattr(self, axis, Register(f"{name}.{axis}", f"{text}.{axis}"))
        self.name = name


class DeviceFunction(_Named):
    """A function of kernels, such as `syncthreads` or `atomic.add`.

    `lowering` is the key of a row in frontend/languages.py, and `op` the operator for the function there. `effect`
    tells that calls have effects, so that they are kept in order even if their value is unused.
    """

    def __init__(
        self,
        name: str,
        lowering: str,
        op: str,
        count: int | tuple[int, int],
        doc: str,
        *,
        effect: bool = False,
        keywords: tuple[str, ...] = (),
    ) -> None:
        self.name, self.lowering, self.op, self.__doc__ = name, lowering, op, doc
        self.least, self.most = (count, count) if isinstance(count, int) else count
        self.effect, self.keywords = effect, keywords
        FUNCTIONS.append(self)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self!r} can only be called in a kernel")


class Launchable:
    """A kernel, which Python launches. If `is_callable`, kernels may call it as a device function."""

    is_callable = False


class ForeignFunction:
    """A CUDA C++ function that kernels call, from ``declare_device``. `types` and `result` are names in IR text, with a
    star for pointers. `abi` is the way in which it returns its result; None if its text shows it. `link` has the paths
    of the sources that define it, or `texts` do; these are empty for builtins of CUDA C++. Messages call it `shown`."""

    effect = True

    def __init__(
        self,
        name: str,
        types: list[str],
        result: str,
        abi: str | None,
        link: tuple[str, ...] = (),
        texts: tuple[str, ...] | None = None,
        shown: str = "",
    ) -> None:
        self.__name__, self.types, self.result, self.abi, self.link = name, types, result, abi, link
        self.texts, self.shown = texts, shown or name
        if texts is not None:
            self.__doc__ = f"CUDA's {name}: {result}({', '.join(types)})."

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"'{self.shown}' is device code: kernels call it")

    def __repr__(self) -> str:
        return f"<parpy.cuda foreign function {self.__name__}>"


class Group(_Named):
    """Functions under a common name: `atomic.add`, `shared.array`."""

    def __init__(self, name: str, **functions: DeviceFunction) -> None:
        self.__dict__.update(functions)
        self.name, self.names = name, tuple(functions)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self!r} has no '{name}'; it has: {', '.join(self.names)}")


FUNCTIONS: list[DeviceFunction] = []

threadIdx = Coordinates("threadIdx", "thread")
blockIdx = Coordinates("blockIdx", "block")
blockDim = Coordinates("blockDim", "blockdim")
gridDim = Coordinates("gridDim", "griddim")
warpsize = Register("warpsize", "warpsize")
laneid = Register("laneid", "")

grid = DeviceFunction(
    "grid", "grid", "thread", 1,
    "grid(n): this thread's place among all threads of the launch; for n = 2 and 3 a tuple (x, y[, z]).",
)  # fmt: skip
gridsize = DeviceFunction(
    "gridsize", "grid", "size", 1,
    "gridsize(n): the number of threads of the launch; for n = 2 and 3 a tuple.",
)  # fmt: skip


def _memory(name: str, doc: str) -> Group:
    made = DeviceFunction(
        f"{name}.array", "array", name, (0, 3), f"{name}.array(shape, dtype): {doc}",
        keywords=("shape", "dtype", "alignment"),
    )  # fmt: skip
    return Group(name, array=made)


shared = _memory(
    "shared",
    "an array that the threads of a block share; its shape is constant. Shape 0: the dynamic shared memory, "
    "as many elements as fit into that of the launch.",
)
local = _memory("local", "an array of this thread; its shape is constant.")
const = Group(
    "const",
    array_like=DeviceFunction(
        "const.array_like", "const_array", "", 1, "const.array_like(a): the global array `a`, to be read only."
    ),
)


def _statement(name: str, op: str, doc: str) -> DeviceFunction:
    return DeviceFunction(name, "barrier", op, 0, doc, effect=True)


def _exchange(name: str, op: str, count: int | tuple[int, int], doc: str) -> DeviceFunction:
    return DeviceFunction(name, "exchange", op, count, doc, effect=True)


syncthreads = _statement("syncthreads", "block", "Waits for all threads of the block.")
threadfence = _statement(
    "threadfence", "device", "Makes all earlier stores of this thread visible to the GPU before its later ones."
)
threadfence_block = _statement(
    "threadfence_block", "block_memory", "Like threadfence, but for the threads of the block."
)
threadfence_system = _statement("threadfence_system", "system_memory", "Like threadfence, but for the host as well.")

syncthreads_count = _exchange(
    "syncthreads_count", "sync_count", 1, "A barrier that returns the number of threads for which `p` is true."
)
syncthreads_and = _exchange(
    "syncthreads_and", "sync_all", 1, "A barrier that returns whether `p` is true for all threads."
)
syncthreads_or = _exchange(
    "syncthreads_or", "sync_any", 1, "A barrier that returns whether `p` is true for any thread."
)
syncwarp = _exchange("syncwarp", "sync_warp", (0, 1), "Waits for the lanes of `mask` (default: all).")
nanosleep = _exchange("nanosleep", "sleep", 1, "Waits for about the given number of nanoseconds.")
activemask = _exchange(
    "activemask", "activemask", 0, "Returns the lanes that run in step with this one, as a bit mask."
)
lanemask_lt = DeviceFunction("lanemask_lt", "lanemask_lt", "", 0, "The lanes below this one, as a bit mask.")

shfl_sync = _exchange("shfl_sync", "shfl", 3, "shfl_sync(mask, value, lane): the value of that lane.")
shfl_up_sync = _exchange(
    "shfl_up_sync", "shfl_up", 3, "shfl_up_sync(mask, value, delta): the value of the lane `delta` below."
)
shfl_down_sync = _exchange(
    "shfl_down_sync", "shfl_down", 3, "shfl_down_sync(mask, value, delta): the value of the lane `delta` above."
)
shfl_xor_sync = _exchange(
    "shfl_xor_sync", "shfl_xor", 3, "shfl_xor_sync(mask, value, bits): the value of the lane `lane ^ bits`."
)
all_sync = _exchange("all_sync", "vote_all", 2, "all_sync(mask, p): whether `p` is true for all lanes of the mask.")
any_sync = _exchange("any_sync", "vote_any", 2, "any_sync(mask, p): whether `p` is true for any lane of the mask.")
eq_sync = DeviceFunction(
    "eq_sync", "vote_equal", "", 2, "eq_sync(mask, p): whether `p` is the same for all lanes.", effect=True
)
ballot_sync = _exchange(
    "ballot_sync", "ballot", 2, "ballot_sync(mask, p): the lanes for which `p` is true, as a bit mask."
)
match_any_sync = _exchange(
    "match_any_sync", "match_any", 2, "match_any_sync(mask, v): the lanes with the same value, as a bit mask."
)
match_all_sync = DeviceFunction(
    "match_all_sync", "match_all", "match_all", 2,
    "match_all_sync(mask, v): (mask, True) if all lanes have the same value, else (0, False).",
    effect=True,
)  # fmt: skip


def _operator(name: str, op: str, count: int, doc: str) -> DeviceFunction:
    return DeviceFunction(name, "device_op", op, count, doc)


popc = _operator("popc", "popcount", 1, "The number of set bits.")
clz = _operator("clz", "leading_zeros", 1, "The number of zero bits above the highest set bit.")
ffs = _operator("ffs", "first_set", 1, "The position of the lowest set bit, counted from 1, or 0 if no bit is set.")
brev = _operator("brev", "reverse_bits", 1, "The bits in reverse order.")
fma = _operator("fma", "fma", 3, "a * b + c with one rounding.")
cbrt = _operator("cbrt", "cbrt", 1, "The cube root.")
rsqrt = _operator("rsqrt", "rsqrt", 1, "One divided by the square root.")
selp = _operator("selp", "select", 3, "selp(c, a, b): a if c else b.")


def _atomic(name: str, op: str, doc: str, values: int = 1) -> DeviceFunction:
    return DeviceFunction(f"atomic.{name}", "atomic", op, 2 + values, doc, effect=True)


atomic = Group(
    "atomic",
    add=_atomic("add", "add", "atomic.add(ary, idx, val): ary[idx] += val. All atomics return the old element."),
    sub=_atomic("sub", "sub", "atomic.sub(ary, idx, val): ary[idx] -= val."),
    min=_atomic("min", "min", "atomic.min(ary, idx, val): the lesser of both; ary[idx] stays if one of them is NaN."),
    max=_atomic("max", "max", "atomic.max(ary, idx, val): the greater of both; ary[idx] stays if one of them is NaN."),
    nanmin=_atomic("nanmin", "nanmin", "atomic.nanmin(ary, idx, val): the lesser of both; a NaN counts as missing."),
    nanmax=_atomic("nanmax", "nanmax", "atomic.nanmax(ary, idx, val): the greater of both; a NaN counts as missing."),
    and_=_atomic("and_", "and", "atomic.and_(ary, idx, val): ary[idx] &= val."),
    or_=_atomic("or_", "or", "atomic.or_(ary, idx, val): ary[idx] |= val."),
    xor=_atomic("xor", "xor", "atomic.xor(ary, idx, val): ary[idx] ^= val."),
    exch=_atomic("exch", "exchange", "atomic.exch(ary, idx, val): ary[idx] = val."),
    inc=_atomic("inc", "inc", "atomic.inc(ary, idx, val): 0 if ary[idx] >= val, else ary[idx] + 1."),
    dec=_atomic("dec", "dec", "atomic.dec(ary, idx, val): val if ary[idx] is 0 or above val, else ary[idx] - 1."),
    cas=_atomic("cas", "cas", "atomic.cas(ary, idx, old, val): val if ary[idx] equals old.", 2),
    compare_and_swap=DeviceFunction(
        "atomic.compare_and_swap", "compare_and_swap", "cas", 3,
        "atomic.compare_and_swap(ary, old, val): cas on the first element.",
        effect=True,
    ),
)  # fmt: skip


def _hinted(name: str, doc: str) -> DeviceFunction:
    stores = name.startswith("st")
    call = f"{name}(ary, idx, val): ary[idx] = val" if stores else f"{name}(ary, idx): ary[idx]"
    return DeviceFunction(name, "hinted", name, 3 if stores else 2, f"{call}, {doc}", effect=True)


ldca = _hinted("ldca", "kept in all caches.")
ldcg = _hinted("ldcg", "kept in L2 alone.")
ldcs = _hinted("ldcs", "which is not used again soon.")
ldlu = _hinted("ldlu", "which is not used again.")
ldcv = _hinted("ldcv", "read from memory again.")
stcg = _hinted("stcg", "kept in L2 alone.")
stcs = _hinted("stcs", "which is not used again soon.")
stwb = _hinted("stwb", "written back when the cache is full.")
stwt = _hinted("stwt", "written through to memory.")


class GridGroup:
    """The result of `cg.this_grid()` in a kernel: the group of all threads of the launch."""

    sync = _statement(
        "cg.this_grid().sync", "grid", "Waits for all threads of the launch, which must all fit on the GPU at once."
    )


this_grid = DeviceFunction("cg.this_grid", "this_grid", "", 0, "All threads of the launch.")
