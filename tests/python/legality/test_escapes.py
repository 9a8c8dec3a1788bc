"""Unusual names and texts of the user: they stay inside the comments and strings of generated code, and keep their
meaning of Python there."""

from __future__ import annotations

import linecache
import re
import textwrap
import types

import numpy as np
import pytest

import parpy
from nvrtc import cubin, device_part
from parpy import cuda

HOSTILE = [
    "plain",
    "a\n#error injected\n",
    "a\r#error injected\r",
    "a\u2028#error injected\u2029",
    "a\x85#error injected\x0b#error injected\x0c",
    "a\0b",
    "*/ #error injected /*",
    "//",
    'a"\n#error injected\n"',
    "a'b, c: d']",
    'a"b',
    "a??/",
    "a\\",
    "a\\ ",
    "a: 1\\\n",
    "\x1b[2J\u202e",
    "%s%n%",
    "\udcff",
    "größe",
]
BACKENDS = [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim, parpy.CompileBackend.Cuda, parpy.CompileBackend.Metal]

BODY = """
@parpy.jit
def f(x, d):
    parpy.label({label!r})
    for i in range(4):  # {comment}
        assert x[i] == 0, {message!r}
        x[i] = helper(d[{key!r}][i])  # {comment}
"""


def defined(text: str, file: str, **names: object) -> dict:
    """The names that the text defines, as if it came from a file with this name."""
    text = textwrap.dedent(text)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"parpy": parpy, "cuda": cuda, **names}
    code = compile(text, "file", "exec")

    def renamed(code: types.CodeType) -> types.CodeType:
        inner = (renamed(each) if isinstance(each, types.CodeType) else each for each in code.co_consts)
        return code.replace(co_filename=file, co_consts=tuple(inner))

    exec(renamed(code), space)  # compile() itself takes no NUL
    return space


def helper_called(name: str):
    def helper(a):
        return a * a + 1

    helper.__name__ = helper.__qualname__ = name
    return parpy.jit(helper)


def is_plain(text: str) -> bool:
    """Whether all compilers split the text into the same lines, and none of the injected code left its comment."""
    lines = text.split("\n")
    return (
        text.replace("\n", "").replace("\t", "").isprintable()
        and not any(line.rstrip().endswith(("\\", "??/")) for line in lines)
        and not any(line.lstrip().startswith("#error") for line in lines)
    )


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
def test_names_of_files_and_functions_and_keys(hostile, backend):
    in_comment = hostile if len(hostile.splitlines()) == 1 and "\0" not in hostile and hostile.isprintable() else "x"
    text = BODY.format(label="i", comment=in_comment, message=hostile, key=hostile)
    f = defined(text, f"{hostile.replace('/', '')}.py", helper=helper_called(hostile))["f"]
    f.__wrapped__.__name__ = hostile
    runs = backend in BACKENDS[:2]
    mapping = {"i": parpy.threads(32)}
    opts = parpy.CompileOptions(backend=backend, parallelize=mapping, check="bounds" if runs else None)
    arguments = [np.zeros(4, np.float32), {hostile: np.arange(4, dtype=np.float32)}]
    shown = parpy.print_compiled(f, arguments, opts)
    assert is_plain(shown), shown
    if backend is parpy.CompileBackend.Cuda:
        cubin(shown)
    if not runs:
        return
    f(*arguments, opts=opts)
    assert arguments[0].tolist() == [1, 2, 5, 10]
    again = parpy.compile_string(re.search(r"// (\w+)\(", shown)[1], shown, parpy.CompileOptions(backend=backend))
    arguments[0][:] = 0
    again(*arguments)
    assert arguments[0].tolist() == [1, 2, 5, 10]


@pytest.mark.parametrize("hostile", [each for each in HOSTILE if "\0" not in each and each != "\udcff"])
@pytest.mark.parametrize("backend", BACKENDS[:2], ids=lambda backend: backend.name)
def test_labels(hostile, backend, capfd):
    f = defined(BODY.format(label=hostile, comment="", message="", key="k"), "f.py", helper=helper_called("h"))["f"]
    opts = parpy.CompileOptions(backend=backend, parallelize={hostile: parpy.threads(32)}, debug_print=True)
    x, d = np.zeros(4), {"k": np.arange(4.0)}
    f(x, d, opts=opts)
    assert x.tolist() == [1, 2, 5, 10]
    stages = capfd.readouterr().out
    assert 'label "' in stages
    assert is_plain(stages)
    assert is_plain(parpy.print_compiled(f, [x, d], opts))


@pytest.mark.parametrize("label", ["a\0b", "\0", "\udcff"])
def test_labels_that_are_no_text(label):
    f = defined(BODY.format(label=label, comment="", message="", key="k"), "f.py", helper=helper_called("h"))["f"]
    words = re.escape(f"f.py:4:5: error[P020]: the label {label!r} has characters that cannot be encoded as text")
    with pytest.raises(parpy.CompileError, match=words):
        f(np.zeros(4), {"k": np.ones(4)})


def test_mappings_with_labels_that_are_no_text():
    f = defined(BODY.format(label="a", comment="", message="", key="k"), "f.py", helper=helper_called("h"))["f"]
    opts = parpy.par({"a\0": parpy.threads(2)}, backend=parpy.CompileBackend.Cpu)
    (note,) = parpy.explain(f, np.zeros(4), {"k": np.ones(4)}, opts=opts).facts["notes"]
    assert "the mapping names the label 'a\0', which no loop" in note
    with pytest.raises(parpy.CompileError, match=re.escape(r"labels must be str, not '\udcff'")):
        parpy.par({"\udcff": parpy.threads(2)})


@pytest.mark.parametrize("hostile", HOSTILE)
def test_messages_of_assertions(hostile):
    text = BODY.format(label="i", comment="", message=hostile, key="k")
    f = defined(text, "f.py", helper=helper_called("h"))["f"]
    with pytest.raises(AssertionError) as caught:
        f(np.ones(4), {"k": np.ones(4)}, opts=parpy.CompileOptions(backend=BACKENDS[0], debug_print=True))
    assert hostile.replace("\udcff", r"\udcff") in str(caught.value)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_printed_texts(hostile, capfdbinary):
    text = f"""
        @cuda.jit
        def k(x):
            print({hostile!r}, x[0] // 2, "//", x[0] % 2)
        """
    k = defined(text, "f.py")["k"]
    x = np.array([5])
    assert is_plain(k.inspect_source(x))
    cubin(device_part(k.inspect_source(x)))
    k[1, 1](x)
    cuda.synchronize()
    expected = f"{hostile} 2 // 1\n".encode("utf-8", "backslashreplace")
    assert capfdbinary.readouterr().out == expected


@pytest.mark.parametrize("hostile", [each for each in HOSTILE if "\0" not in each])
def test_names_of_linked_files(hostile, tmp_path):
    source = tmp_path / f"{hostile.replace('/', '')}.cu"
    source.write_text('extern "C" __device__ int bar(int a) { return a + 1; }')
    bar = cuda.declare_device("bar", "int32(int32)", link=source)
    k = defined(
        """
        @cuda.jit
        def k(x):
            x[0] = bar(x[0])
        """,
        "f.py",
        bar=bar,
    )["k"]
    x = np.zeros(1, np.int32)
    k[1, 1](x)
    assert x[0] == 1
    cubin(device_part(k.inspect_source(x)))
    source.write_text('extern "C" __device__ int bar(int a) { return b; }')
    broken = cuda.declare_device("bar", "int32(int32)", link=source)
    k = defined("\n@cuda.jit\ndef k(x):\n    x[0] = bar(x[0])\n", "f.py", bar=broken)["k"]
    with pytest.raises(parpy.BackendError, match="undeclared identifier 'b'") as caught:
        k[1, 1](x)
    assert "which the kernel links" in str(caught.value)


@pytest.mark.parametrize("name", ["f(); int x", "f\n", "a b", "f;", "2f", "f\\", "", "f::", "größe"])
def test_names_of_external_functions(name):
    with pytest.raises((ValueError, TypeError), match="name of"):
        parpy.external(name, parpy.CompileBackend.Cpu, parpy.Target.Host)


@pytest.mark.parametrize("header", ['a"\nint x;\n"', "a\nb", "<a", "<a>\n#error", '"a', "a\\", "a\0"])
def test_names_of_headers(header):
    with pytest.raises(ValueError, match="is not the name of a header"):
        parpy.external("f", parpy.CompileBackend.Cpu, parpy.Target.Host, header=header)


def test_part_of_a_function_with_such_a_name():
    text = """
        @parpy.jit
        def f(x):
            for i in range(len(x)):
                x[i] = i
            return x
        """
    f = defined(text, "f.py")["f"]
    f.__wrapped__.__name__ = "f\n#error injected"
    shown = parpy.print_compiled(f, [np.zeros(4)], parpy.CompileOptions(backend=BACKENDS[0]))
    assert is_plain(shown)
    assert "// part of: " in shown
