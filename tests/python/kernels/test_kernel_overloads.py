"""A kernel by the types of its arguments: ``overloads`` and inspection; ``cuda.compile`` and similar functions."""

from __future__ import annotations

import io
import math
from collections import namedtuple
from contextlib import redirect_stdout

import numpy as np
import pytest

import kernel_places
import parpy
from nvrtc import why_not_linked
from parpy import _native, cuda
from parpy.cuda import types

backend = kernel_places.backend


def fresh():
    @cuda.jit
    def scaled(x, n):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] *= n

    return scaled


FACTS = ("get_regs_per_thread", "get_shared_mem_per_block", "get_local_mem_per_thread", "get_const_mem_size",
         "get_max_threads_per_block")  # fmt: skip


def test_overloads_of_launches():
    kernel = fresh()
    assert kernel.overloads == {} and kernel.get_regs_per_thread() == {}
    kernel[1, 4](np.ones(4), 2)
    kernel[1, 8](np.ones((4), np.float32), np.int32(2))
    kernel.forall(4)(np.ones(4)[::2], 2.5)
    wanted = [
        (types.float64[::1], types.int64), (types.float32[::1], types.int32), (types.float64[:], types.float64),
    ]  # fmt: skip
    assert [*kernel.overloads] == wanted
    for fact in FACTS:
        found = getattr(kernel, fact)()
        assert [*found] == wanted and all(type(value) is int for value in found.values())
        assert getattr(kernel, fact)(np.ones(4), 2) == found[wanted[0]] == getattr(kernel, fact)(wanted[0])
    assert [*kernel.inspect_asm()] == wanted
    assert "scaled_kernel" in kernel.inspect_source()[wanted[1]]
    assert ".entry scaled_kernel" in kernel.inspect_asm(wanted[1]) == kernel.overloads[wanted[1]].inspect_asm()


def test_overloads_of_signatures():
    @cuda.jit("void(int32[:])")
    def waits(x):
        cuda.cg.this_grid().sync()
        x[0] = 1

    overload = waits.overloads[(types.int32[:],)]
    assert overload.max_cooperative_grid_blocks((32, 1, 1)) > 0
    assert overload.max_cooperative_grid_blocks(32, dynsmemsize=16) > 0
    assert overload.signature == types.void(types.int32[:])
    for name in ("regs_per_thread", "shared_mem_per_block", "const_mem_size", "local_mem_per_thread",
                 "max_threads_per_block"):  # fmt: skip
        assert type(getattr(overload, name)) is int
    assert waits.specialized and not fresh().specialized
    assert [*waits.overloads] == [(types.int32[:],)]
    assert type(waits.get_regs_per_thread()) is int


def test_overloads_that_nobody_launched():
    kernel = fresh()
    asked = kernel.overloads[types.float64[:], "int32"]
    assert "scaled_kernel" in asked.inspect_source()
    assert kernel.overloads[(types.float64[:], types.int32)] is asked
    assert kernel.compile("void(float64[:], int32)") is asked


def test_a_kernel_for_the_types_of_arguments():
    kernel = fresh()
    made = kernel.specialize(np.ones(2), 3)
    assert made.specialized and made.signatures == [(types.float64[::1], types.int64)]
    assert kernel.specialize(cuda.to_device(np.ones(5)), 7) is made
    assert kernel.specialize(np.ones(2, np.float32), 3) is not made
    assert type(made.get_regs_per_thread()) is int and [*made.inspect_asm()] == made.signatures
    x = np.ones(4)
    made[1, 4](x, 3)
    np.testing.assert_array_equal(x, [3] * 4)
    with pytest.raises(TypeError, match="'x' must be a"):
        made[1, 4](x.astype(np.float32), 3)

    @cuda.jit
    def named(x, point):
        x[0] = point.a

    point = namedtuple("Point", "a b")(3, 4)
    assert named.specialize(x, point) is named


def test_needs_of_several_signatures():
    @cuda.jit(["void(float32[:])", "void(float64[:])"])
    def first(x):
        x[0] = 1

    assert not first.specialized
    for fact in FACTS:
        assert [*getattr(first, fact)()] == first.signatures
    assert [*first.inspect_asm()] == first.signatures


def test_inspection():
    kernel = fresh()
    kernel[1, 4](np.ones(4), 2)
    shown = io.StringIO()
    kernel.inspect_types(file=shown)
    assert "scaled(float64[::1], int64)" in shown.getvalue() and "__global__" in shown.getvalue()
    with redirect_stdout(io.StringIO()) as printed:
        kernel.inspect_types()
    assert printed.getvalue() == shown.getvalue()
    with pytest.raises(NotImplementedError, match=r"write k\.inspect_source\(\) or k\.inspect_asm\(\)"):
        kernel.inspect_llvm()
    with pytest.raises(NotImplementedError, match="nvdisasm"):
        kernel.inspect_sass()
    assert [*kernel.inspect_lto_ptx()] == [*kernel.overloads]


# ---------------------------------------------------------------- cuda.compile


def added(x, y):
    return x + y


def waved(x):
    if x > 2:
        return math.sin(x)
    return x * 2.0


def positive(x):
    return x > 0


def place(x):
    return cuda.threadIdx.x + x


def stored(r, x, y):
    r[cuda.grid(1)] = x + y


RESULTS = [
    (added, "(float32, float32)", types.float32), (added, "int32(int32, int32)", types.int32),
    (added, (types.float64, types.int32), types.float64), (waved, (types.float32,), types.float32),
    (positive, (types.int16,), types.boolean), (place, "(int32,)", types.int32),
    (added, "float64(float32, float32)", types.float64), (added, "(uint8, uint8)", types.uint8),
]  # fmt: skip


@pytest.mark.parametrize("function, signature, result", RESULTS)
def test_functions_are_compiled(function, signature, result):
    for abi in ("c", "numba"):
        text, found = cuda.compile(function, signature, abi=abi)
        assert found == result
        assert f".visible .func  (.param .b32 func_retval0) {function.__name__}(" in text or (
            "b64 func_retval0" in text and abi == "c"
        )
        assert ".entry" not in text
    pointers = 1 + len(
        cuda.compile(function, signature, abi="c")[0].split(f"{function.__name__}(")[1].split(")")[0].split(",")
    )
    text = cuda.compile(function, signature, abi="numba")[0]
    assert len(text.split(f"{function.__name__}(")[1].split(")")[0].split(",")) == pointers


def test_kernels_are_compiled():
    signature = (types.float32[::1], types.float32, types.float32)
    text, result = cuda.compile_ptx(stored, signature)
    assert ".visible .entry stored_kernel(" in text and result is types.void
    assert cuda.compile(stored, signature, device=False)[0] == text
    assert ".target sm_90" in cuda.compile_ptx(stored, signature, cc=(9, 0))[0]
    assert ".target sm_80" in cuda.compile_ptx(stored, signature, cc=(8, 0))[0]
    current = "{}{}".format(*cuda.get_current_device().compute_capability)
    assert f".target sm_{current}" in cuda.compile_ptx_for_current_device(stored, signature)[0]
    assert f".target sm_{current}" in cuda.compile_for_current_device(added, "(int32, int32)")[0]
    assert cuda.compile_all(stored, signature, device=False)[0] == [text]


def test_names_and_options_of_compile():
    text, _ = cuda.compile(added, "(float32, float32)", abi_info={"abi_name": "plus"})
    assert " plus(" in text and " added(" not in text
    assert ".loc" in cuda.compile(added, "(float32, float32)", lineinfo=True)[0]

    def nothing(x):
        x + 1

    text, result = cuda.compile(nothing, "(float32,)")
    assert result is types.void and ".visible .func nothing(" in text


def test_what_compile_refuses():
    with pytest.raises(NotImplementedError, match="compiled to 'ptx' or 'ltoir', not to 'cubin'"):
        cuda.compile(added, "(int32, int32)", output="cubin")
    with pytest.raises(NotImplementedError, match="the abi of a compiled function is 'c' or 'numba'"):
        cuda.compile(added, "(int32, int32)", abi="fortran")
    with pytest.raises(NotImplementedError, match=r"takes and returns only numbers here, not float32\[:\]"):
        cuda.compile(added, "(float32[:], float32)")
    with pytest.raises(NotImplementedError, match="not complex64"):
        cuda.compile(added, "(complex64, float32)")
    with pytest.raises(ValueError, match="'a b' is not the name of a function"):
        cuda.compile(added, "(int32, int32)", abi_info={"abi_name": "a b"})
    with pytest.raises(TypeError, match="has 2 parameters, but its signature is"):
        cuda.compile(added, "int32(int32)")

    def unknown(x):
        return nowhere(x)  # noqa: F821

    with pytest.raises(parpy.CompileError, match="name 'nowhere' is not defined"):
        cuda.compile(unknown, "(int32,)")


def test_compiled_functions_are_linked(tmp_path):
    """A kernel can link and call the PTX of a function that was compiled before."""
    if cuda.sim.enabled:
        pytest.skip("PTX runs on a GPU")
    path = tmp_path / "added.ptx"
    path.write_text(cuda.compile_for_current_device(added, "int32(int32, int32)", abi_info={"abi_name": "plus"})[0])
    plus = cuda.declare_device("plus", "int32(int32, int32)", link=path)

    @cuda.jit
    def kernel(x):
        x[0] = plus(x[0], 2)

    x = np.ones(1, np.int32)
    kernel[1, 1](x)
    assert x[0] == 3


def test_a_lambda_is_compiled():
    text, result = cuda.compile(lambda x: x + 1, (types.float32,))
    assert result is types.float32 and "nameless" in text
    assert "plus_one" in cuda.compile(lambda x: x + 1, (types.float32,), abi_info={"abi_name": "plus_one"})[0]


@pytest.mark.parametrize("is_function", [True, False])
def test_what_debuggers_need(is_function):
    types_of_arguments = (*[types.float32[:]] * (not is_function), types.float32, types.float32)
    made = added if is_function else stored
    plain, _ = cuda.compile_ptx(made, types_of_arguments, device=is_function)
    found, _ = cuda.compile_ptx(made, types_of_arguments, device=is_function, debug=True)
    assert ".debug_info" in found and ".debug_info" not in plain


def test_parts_of_types_and_signatures():
    made = types.int32(types.float32, types.float64[:])
    assert made.return_type == types.int32 and made.args == (types.float32, types.float64[:])
    assert types.void(types.int8).return_type == types.void
    for kind in ("int8", "uint16", "float32", "complex128", "boolean"):
        assert getattr(types, kind).bitwidth == 8 * np.dtype("bool" if kind == "boolean" else kind).itemsize
    assert types.int8.signed and types.float32.signed and not types.uint8.signed


CALLING = """
extern "C" __device__ int added_numbers(int, int);
extern "C" __global__ void calling(int* x) { *x = added_numbers(x[0], x[1]); }
"""


def test_code_that_is_optimised_when_it_is_linked(tmp_path):
    if why_not_linked():
        pytest.skip(why_not_linked())
    code, result = cuda.compile(
        added, "int32(int32, int32)", output="ltoir", abi_info={"abi_name": "added_numbers"}, cc=(9, 0)
    )
    assert type(code) is bytes and result == types.int32
    place = tmp_path / "added.ltoir"
    place.write_bytes(code)
    caller = _native.compile_cuda(CALLING, "calling.cu", "sm_90", extra_flags=["--relocatable-device-code=true"])
    linked = _native.link_device_code(caller, [str(place)], "sm_90")
    assert linked.startswith(b"\x7fELF") and b"calling" in linked
    with pytest.raises(parpy.BackendError, match="Undefined reference to 'added_numbers'"):
        _native.link_device_code(caller, [], "sm_90")
    several, _ = cuda.compile_all(added, (types.int32, types.int32), output="ltoir", cc=(9, 0))
    assert [type(each) for each in several] == [bytes]
    kernel, nothing = cuda.compile(stored, "void(float32[:], float32, float32)", device=False, output="ltoir")
    assert type(kernel) is bytes and nothing == types.void
