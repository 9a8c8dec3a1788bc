"""The programs that are timed: the forms of a kernel under ParPy, and its peers, a row of FRAMEWORKS each.

A framework gives one or several versions of a kernel, of which the fastest valid one counts. Frameworks that are not
installed are skipped, and so are kernels for which a framework has no version. DaCe 1.0 needs NumPy 1 and networkx
before 3.5, docc 0.8 a clang++-21 and libomp: run them in environments of their own with `--framework dace --resume`.
"""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import parpy

from . import texts
from .kernel import BACKENDS, Kernel, Sizes
from .places import Device, Host, Jax


@dataclass(frozen=True)
class Target:
    backend: str  # cpu or cuda
    fields: Mapping[str, bool]  # compile options of ParPy to set


class Version(NamedTuple):
    name: str
    bind: Callable[[Sizes], Callable[..., Any]]  # returns the function to call for these sizes
    parameters: Callable[..., Any]  # has the names of the call's parameters
    returns: tuple[str, ...]  # the outputs that it returns, unless it returns None


def of_parpy(name: str, function: Callable[..., Any], kernel: Kernel, target: Target, by_hand: bool = False) -> Version:
    def bind(sizes: Sizes) -> Callable[..., Any]:
        if by_hand:
            options = kernel.options(target.backend, sizes, **target.fields)
        else:
            options = parpy.auto(backend=BACKENDS[target.backend], **target.fields)
        return lambda *values: function(*values, opts=options)

    return Version(name, bind, function, kernel.returns)


def as_numpy(kernel: Kernel, target: Target) -> Iterator[Version]:
    yield of_parpy("NumPy", parpy.jit(texts.numpy_style(kernel.name)), kernel, target)


def as_numba(kernel: Kernel, target: Target) -> Iterator[Version]:
    function = texts.numba_style(kernel.name)
    if function is not kernel.function:
        yield of_parpy("Numba", function, kernel, target)


def loops(kernel: Kernel, target: Target) -> Iterator[Version]:
    yield of_parpy("loops", kernel.function, kernel, target)
    if kernel.on(target.backend) is not kernel.function:
        yield of_parpy("loops by rows", kernel.on(target.backend), kernel, target)


def by_hand(kernel: Kernel, target: Target) -> Iterator[Version]:
    if kernel.by_hand:
        yield of_parpy("by hand", kernel.on(target.backend), kernel, target, by_hand=True)


def published(kernel: Kernel, target: Target) -> Iterator[Version]:
    from .published import PORTS

    port = PORTS.get(kernel.name)
    if port is not None:
        place = BACKENDS[target.backend]
        yield Version("published", lambda sizes: partial(port, backend=place), port, kernel.returns)


def plain(name: str, function: Callable[..., Any], kernel: Kernel) -> Version:
    return Version(name, lambda sizes: function, function, kernel.returns)


def of_numpy(kernel: Kernel, target: Target) -> Iterator[Version]:
    if kernel.reference:
        yield plain("reference", kernel.reference, kernel)
    yield plain("text", texts.numpy_style(kernel.name), kernel)


def of_numba(kernel: Kernel, target: Target) -> Iterator[Version]:
    from .numba_twin import versions

    for name, function, parameters in versions(kernel):
        yield Version(name, lambda sizes, function=function: function, parameters, kernel.returns)


def of_cupy(kernel: Kernel, target: Target) -> Iterator[Version]:
    import cupy

    if kernel.reference:
        reference = kernel.reference
        twin = types.FunctionType(reference.__code__, {**reference.__globals__, "np": cupy})  # type: ignore[attr-defined]
        yield Version("reference", lambda sizes: twin, reference, kernel.returns)
    yield plain("text", texts.with_library(kernel.name, "cupy"), kernel)


def of_jax(kernel: Kernel, target: Target) -> Iterator[Version]:
    import jax

    from . import jax_forms

    form = jax_forms.form(kernel.name)
    if form is None:
        return

    data = kernel.data(kernel.presets["tiny"])
    fixed = [n for n, name in enumerate(texts.parameters(form)) if isinstance(data[name], int)]
    compiled = jax.jit(form, static_argnums=fixed)
    yield Version("jit", lambda sizes: compiled, form, kernel.outputs)


def of_dace(kernel: Kernel, target: Target) -> Iterator[Version]:
    import dace

    device = dace.DeviceType.GPU if target.backend == "cuda" else dace.DeviceType.CPU
    text = texts.numpy_style(kernel.name)
    compiled = dace.program(auto_optimize=True, device=device)(text)
    yield Version("text", lambda sizes: compiled, text, kernel.returns)


def of_docc(kernel: Kernel, target: Target) -> Iterator[Version]:
    from docc.python import native

    text = texts.numpy_style(kernel.name)
    for name in ["cuda"] if target.backend == "cuda" else ["openmp", "sequential"]:
        compiled = native(text, target=name)

        def call(*values: Any, compiled: Callable[..., Any] = compiled) -> Any:
            returned = compiled(*values)
            return returned if kernel.returns else None  # docc returns another value if the text returns none

        yield Version(name, lambda sizes, call=call: call, text, kernel.returns)


@dataclass(frozen=True)
class Framework:
    title: str
    versions: Callable[[Kernel, Target], Iterator[Version]]
    places: Mapping[str, type[Host]]  # by backend
    module: str  # must be installed
    patience: float = 1.0  # multiplies the usual limit: some compile for long
    compiles: bool = True  # for sizes: the first call with new ones does not count


ANYWHERE = {"cpu": Host, "cuda": Device}
# By name; ParPy's forms choose mappings themselves, except `hand` and `published`. Peers that run on a CPU can also be
# requested if the back end is cuda.
FRAMEWORKS = {
    "hand": Framework("ParPy by hand", by_hand, ANYWHERE, "parpy"),
    "published": Framework("ParPy 0.3's mappings", published, ANYWHERE, "parpy"),
    "loops": Framework("ParPy, loops", loops, ANYWHERE, "parpy"),
    "as-numpy": Framework("ParPy, NumPy text", as_numpy, ANYWHERE, "parpy"),
    "as-numba": Framework("ParPy, Numba text", as_numba, ANYWHERE, "parpy"),
    "numpy": Framework("NumPy", of_numpy, {"cpu": Host, "cuda": Host}, "numpy", compiles=False),
    "numba": Framework("Numba", of_numba, {"cpu": Host, "cuda": Host}, "numba", 4.0, compiles=False),
    "cupy": Framework("CuPy", of_cupy, {"cuda": Device}, "cupy", compiles=False),
    "jax": Framework("JAX", of_jax, {"cpu": Jax, "cuda": Jax}, "jax", 1.5),
    "dace": Framework("DaCe", of_dace, ANYWHERE, "dace", 4.0),
    "docc": Framework("docc", of_docc, ANYWHERE, "docc", 4.0),
}
OURS = ("hand", "published", "loops", "as-numpy", "as-numba")
AUTOMATIC = ("loops", "as-numpy", "as-numba")
DEFAULT = {
    "cpu": ("loops", "as-numpy", "as-numba", "hand", "numpy", "numba", "jax", "dace", "docc"),
    "cuda": ("loops", "as-numpy", "as-numba", "hand", "cupy", "jax", "dace", "docc"),
}


def available(name: str, backend: str) -> bool:
    """Whether the framework is installed, and runs on this back end."""
    framework = FRAMEWORKS[name]
    return backend in framework.places and importlib.util.find_spec(framework.module) is not None
