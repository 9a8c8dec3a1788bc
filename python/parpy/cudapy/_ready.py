"""Templates that ship with CudaPy: ``map``, ``zipWith``, ``reduce`` and ``scan`` of a typed scalar function.

Each maps the scalar function to a function on CudaArrays, whose kernels are compiled once.
"""

# The bodies below use names of CudaPy, and `f`, which is replaced by the function.
# ruff: noqa: F821
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arrays import CudaArray
from ._compile import Template, compile
from ._errors import TemplateError
from ._types import Int, Pointer, Signature, Void


def _map_kernel(X, Y):
    if idx < len(X):
        Y[idx] = f(X[idx])


def _zip_kernel(X, Y, Z):
    if idx < len(Z):
        Z[idx] = f(X[idx], Y[idx])


def _fold_kernel(X, n, half):
    if idx + half < n:
        X[idx] = f(X[idx], X[idx + half])


def _scan_kernel(X, Y, distance):
    if idx < len(X):
        if idx < distance:
            Y[idx] = X[idx]
        else:
            Y[idx] = f(X[idx - distance], X[idx])


def _copy_kernel(X, Y):
    if idx < len(Y):
        Y[idx] = X[idx]


def _scalar_function(function: Any, count: int) -> tuple[Template, Signature]:
    found = Template(function)
    signature = found.signature
    if signature is None:
        raise TemplateError(f"the function '{found.name}' has no signature")
    if len(signature.parameters) != count or signature.result is Void:
        raise TemplateError(f"'{found.name}' must take {count} numbers and return one")
    if any(isinstance(each, Pointer) for each in signature.parameters):
        raise TemplateError(f"'{found.name}' must take numbers, not arrays")
    return found, signature


def _on_device(values: Any, kind: Any) -> CudaArray:
    return values if isinstance(values, CudaArray) else CudaArray(values, kind)


def map(f: Any) -> Callable[[Any], CudaArray]:
    """Returns a function of X, a ``CudaArray`` or a list, that returns a new ``CudaArray`` of ``f(x)`` for each element
    x. ``f`` is a typed function of one number that returns a number. Raises TemplateError for other functions."""
    function, types = _scalar_function(f, 1)
    (a,), b = types.parameters, types.result
    body = Template(_map_kernel).substitute((function, "f"))
    call = compile([body, function], [[Void, Pointer(a), Pointer(b)], [b, a]])

    def mapped(X: Any) -> CudaArray:
        source = _on_device(X, a)
        result = CudaArray.allocate(len(source), b)
        call(len(source))(source, result)
        return result

    return mapped


def zipWith(f: Any) -> Callable[[Any, Any], CudaArray]:
    """Returns a function of two arrays or lists X and Y that returns a new ``CudaArray`` of ``f(x, y)`` for each pair
    of elements, with the length of the shorter operand. ``f`` is a typed function of two numbers that returns a
    number. Raises TemplateError for other functions."""
    function, types = _scalar_function(f, 2)
    (a, b), c = types.parameters, types.result
    body = Template(_zip_kernel).substitute((function, "f"))
    call = compile([body, function], [[Void, Pointer(a), Pointer(b), Pointer(c)], [c, a, b]])

    def zipped(X: Any, Y: Any) -> CudaArray:
        left, right = _on_device(X, a), _on_device(Y, b)
        result = CudaArray.allocate(min(len(left), len(right)), c)
        call(len(result))(left, right, result)
        return result

    return zipped


def _same_type(f: Any) -> tuple[Template, Any]:
    function, types = _scalar_function(f, 2)
    if len({*types.parameters, types.result}) != 1:
        raise TemplateError(f"'{function.name}' must take and return one type")
    return function, types.result


def _copier(kind: Any) -> Any:
    return compile(_copy_kernel, [Void, Pointer(kind), Pointer(kind)])


def reduce(f: Any) -> Callable[[Any], Any]:
    """Returns a function of X, an array or a list, that returns the number to which ``f`` combines all elements.

    ``f`` is a typed function of two numbers that returns a number, all of one type; it must be associative and
    commutative. Each launch combines the first half of the elements with the second. Raises TemplateError for other
    functions and for empty arrays.
    """
    function, kind = _same_type(f)
    body = Template(_fold_kernel).substitute((function, "f"))
    fold = compile([body, function], [[Void, Pointer(kind), Int, Int], [kind, kind, kind]])
    copy = _copier(kind)

    def reduced(X: Any) -> Any:
        source = _on_device(X, kind)
        n = len(source)
        if n == 0:
            raise TemplateError("an empty array has nothing to reduce")
        work = CudaArray.allocate(n, kind)
        copy(n)(source, work)
        while n > 1:
            half = (n + 1) // 2
            fold(half)(work, n, half)
            n = half
        return work[0]

    return reduced


def scan(f: Any) -> Callable[[Any], CudaArray]:
    """Returns a function of X, an array or a list, that returns a new ``CudaArray`` whose element i combines the
    elements 0 to i with ``f`` (an inclusive scan).

    ``f`` is a typed function of two numbers that returns a number, all of one type; it must be associative. The method
    is that of Hillis and Steele (1986), with one launch for each power of 2 below the length. Raises TemplateError
    for other functions.
    """
    function, kind = _same_type(f)
    body = Template(_scan_kernel).substitute((function, "f"))
    step = compile([body, function], [[Void, Pointer(kind), Pointer(kind), Int], [kind, kind, kind]])
    copy = _copier(kind)

    def scanned(X: Any) -> CudaArray:
        source = _on_device(X, kind)
        n, distance = len(source), 1
        front, back = CudaArray.allocate(n, kind), CudaArray.allocate(n, kind)
        copy(n)(source, front)
        while distance < n:
            step(n)(front, back, distance)
            front, back = back, front
            distance *= 2
        return front

    return scanned
