"""The surface program of each construct of the language, and the origin of its names."""

from __future__ import annotations

import linecache
import math
import textwrap
from collections import namedtuple
from enum import Enum, IntEnum
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parpy
from parpy.calls.errors import CompileError
from parpy.frontend import languages
from parpy.frontend.calls import compositions, intrinsics
from parpy.frontend.parse import Surface, parse
from parpy.syntax.names import MISSING
from parpy.vocabulary import operators as _operators

_NUMBERS = count()


def define(source: str, **names: Any) -> dict[str, Any]:
    """Runs `source` as a module of its own and returns its globals."""
    text = textwrap.dedent(source).lstrip("\n")
    file = f"<test {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"np": np, "math": math, "parpy": parpy, "__name__": "defined", **names}
    exec(compile(text, file, "exec"), namespace)
    return namespace


def surface(source: str, **names: Any) -> Surface:
    return parse(define(source, **names)["f"])


def text(source: str, **names: Any) -> str:
    """The program of function `f`, without the line that marks it as a surface program."""
    return surface(source, **names).module.text().removeprefix("surface\n\n").rstrip("\n")


def body(statements: str, params: str = "x, y, n, a, b", **names: Any) -> str:
    """The program of `statements` in the body of a function."""
    lines = text(f"def f({params}):\n" + textwrap.indent(textwrap.dedent(statements), "    "), **names)
    return textwrap.dedent(lines.partition("\n")[2])


def value(expression: str, **names: Any) -> str:
    return body(f"x[0] = {expression}", **names).removeprefix("x[0] = ")


# ---------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ("1", "1"),
        ("-1", "-1"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("2.5", "2.5"),
        ("-2.5", "-2.5"),
        ("True", "True"),
        ("a + b * n", "a + b * n"),
        ("(a + b) * n", "(a + b) * n"),
        ("a - (b - n)", "a - (b - n)"),
        ("a / b // n % 2", "a / b // n % 2"),
        ("a ** -b", "a ** -b"),
        ("a << 1 | b >> 2 & ~n ^ 3", "a << 1 | b >> 2 & ~n ^ 3"),
        ("+a", "+a"),
        ("x[a, -1]", "x[a, -1]"),
        ("x[1][b]", "x[1, b]"),
        ("x[len(x) - 1, 2][n]", "x[length(x) - 1, 2, n]"),
        ("x[a][b]", "tmp = x[a]\nx[0] = tmp[b]"),  # a may be an array
        ("x[()]", "x[]"),
        ("a if b else n", "a if b else n"),
        ("a < b", "a < b"),
        ("a < b <= n", "a < b and b <= n"),
        ("a == b != n > 1", "a == b and (b != n and n > 1)"),
        ("not a", "not a"),
        ("a and b", "a and b"),
        ("a or b and n", "a or b and n"),
        ("a < 1 and not b", "a < 1 and not b"),
        ("a if b and n else 0", "a if truth(b) and truth(n) else 0"),
        ("x.shape[0] + x.shape[-1]", "x.shape[0] + x.shape[-1]"),
        ("len(x)", "length(x)"),
        ("x is not None", "not is(x, none())"),
        ("a in (1, b)", "in(a, tuple(1, b))"),
        ("len(x.shape) + x.ndim", "x.ndim + x.ndim"),
        ("x.size", "x.size"),
        ("a.real + x[0].imag", "real(a) + imag(x[0])"),
    ],
)
def test_expression(python: str, expected: str) -> None:
    assert value(python) == expected


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ("abs(a)", "abs(a)"),
        ("min(a, b)", "min(a, b)"),
        ("max(a, b, n)", "max(max(a, b), n)"),
        ("round(a)", "int(round(a, 0))"),
        ("round(a, ndigits=2)", "tmp = a\nx[0] = round(tmp, 2)"),
        ("np.round(a, -1)", "numpy(round(a, -1))"),
        ("int(a) + float(b)", "int(a) + float(b)"),
        ("bool(a)", "truth(a)"),
        ("pow(a, b)", "a ** b"),
        ("float('inf')", "float.inf"),
        ("complex(a, b)", "complex(float(a), float(b))"),
        ("math.exp(a)", "exp(float(a))"),
        ("math.exp(2)", "exp(2.0)"),
        ("math.floor(a)", "int(floor(a))"),
        ("math.log(a)", "log(float(a))"),
        ("math.log(a, 2)", "log(float(a)) / log(2.0)"),
        ("math.hypot(a, b, n)", "float(hypot(hypot(float(a), float(b)), float(n)))"),
        ("math.pow(a, b)", "float(a) ** float(b)"),
        ("math.fabs(a)", "abs(float(a))"),
        ("math.gcd(a, b, n)", "int(gcd(gcd(abs(as_index(a)), abs(as_index(b))), abs(as_index(n))))"),
        ("math.isnan(a)", "isnan(float(a))"),
        ("math.pi", "3.141592653589793"),
        ("-np.inf", "-(float.inf)"),
        ("np.exp(a)", "numpy(exp(a))"),
        ("np.arctan2(a, b)", "numpy(atan2(a, b))"),
        ("np.maximum(a, b)", "numpy(maximum(a, b))"),
        ("np.where(a, b, n)", "numpy(b if a else n)"),
        ("np.clip(a, 0, 1)", "minimum(maximum(numpy(a), 0), 1)"),
        ("np.logical_xor(a, b)", "numpy(truth(a) != truth(b))"),
        ("np.floor_divide(a, b)", "numpy(a // b)"),
        ("np.fabs(a)", "numpy(copysign(a, True))"),
        ("np.float32(a)", "f32(a)"),
        ("np.uint64(18446744073709551615)", "18446744073709551615u64"),
        ("np.int8(a) + np.bool_(b)", "i8(a) + bool(b)"),
        ("parpy.math.tanh(a)", "numpy(tanh(a))"),
        ("parpy.math.erf(a)", "numpy(erf(a))"),
        ("parpy.builtin.maximum(a, parpy.builtin.inf)", "numpy(maximum(a, float.inf))"),
        ("parpy.builtin.convert(a, np.float16)", "f16(a)"),
        ("parpy.builtin.convert(a, int)", "int(a)"),
    ],
)
def test_known_function(python: str, expected: str) -> None:
    assert value(python) == expected


def test_functions_are_known_under_any_name() -> None:
    names = {"e": math.exp, "lib": SimpleNamespace(root=np.sqrt), "largest": max, "F": np.float32}
    assert value("F(largest(e(a), lib.root(b)))", **names) == "f32(max(exp(float(a)), numpy(sqrt(b))))"
    assert value("parpy.builtin.convert(a, U8)", U8=np.dtype("uint8")) == "u8(a)"


def test_builtins_can_be_shadowed() -> None:
    assert value("abs[0] + abs[1]", abs=np.zeros(2)) == "abs[0] + abs[1]"


def test_middle_operand_of_a_comparison_is_evaluated_once() -> None:
    source = """
        @parpy.jit
        def g(a): return a + 1
        def f(x, n):
            if 0 < g(n) < 5:
                x[0] = 1
            x[1] = n < 3 and 0 < g(n) < x[0]
    """
    assert text(source).partition("\n\n")[0] == textwrap.dedent("""\
        entry f(x, n):
            tmp = g(n)
            if 0 < tmp and tmp < 5:
                x[0] = 1
            tmp_3 = n < 3
            if tmp_3:
                tmp_2 = g(n)
                tmp_3 = 0 < tmp_2 and tmp_2 < x[0]
            x[1] = tmp_3""")


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ("y[0] = a", "y[0] = a"),
        ("c = a\nc += 1", "c = a\nc += 1"),
        ("x[a] -= b", "x[a] -= b"),
        ("x[a] //= b", "x[a] //= b"),
        ("c: float = a", "c = a"),
        ("c: float", "pass"),
        ("c = d = 0", "c = 0\nd = 0"),
        ("c = x[0] = a * b", "tmp = a * b\nc = tmp\nx[0] = tmp"),
        ("a, b = b, a", "tmp = b\ntmp_1 = a\na = tmp\nb = tmp_1"),
        ("c, d = a, b", "c = a\nd = b"),
        ("(c, d), e = (a, b), n", "c = a\nd = b\ne = n"),
        ("x[0], x[1] = x[1], x[0]", "tmp = x[1]\ntmp_1 = x[0]\nx[0] = tmp\nx[1] = tmp_1"),
        ("[c, d] = a, 1", "c = a\nd = 1"),
        ("c, d = x.shape", "c = x.shape[0 of 2]\nd = x.shape[1 of 2]"),
        ("q, r = divmod(a, 3)", "tmp = tuple(a // 3, a % 3)\nq = item(tmp, 0, 2)\nr = item(tmp, 1, 2)"),
        ("t = (a, *b, None)", "t = tuple() + tuple(a) + b + tuple(none())"),
        ("a, (b, c) = 1, x", "a = 1\nb = item(x, 0, 2)\nc = item(x, 1, 2)"),
        ("'docstring'\n...\npass", "pass"),
        ("a + b", "pass"),
        ("return", "return"),
        ("return None", "return"),
        ("return a + b", "return a + b"),
        ("return a, (b, None)", "return tuple(a, tuple(b, none()))"),
        ("assert a > 0, 'positive'", 'assert a > 0, "positive"'),
        ("assert a", "assert a"),
        ("with parpy.gpu:\n    x[0] = 1", "gpu:\n    x[0] = 1"),
        ("if a:\n    pass\nelif b:\n    x[0] = 1\nelse:\n    x[0] = 2",
         "if a:\n    pass\nelif b:\n    x[0] = 1\nelse:\n    x[0] = 2"),
        ("while a < n:\n    a += 1\n    if a == 3:\n        continue\n    break",
         "while a < n:\n    a += 1\n    if a == 3:\n        continue\n    break"),
        ("for i in range(n):\n    x[i] = 0", "for i in range(n):\n    x[i] = 0"),
        ("for i in range(1, n):\n    x[i] = 0", "for i in range(1, n):\n    x[i] = 0"),
        ("for i in range(n, 0, -1):\n    x[i] = 0", "for i in range(n, 0, -1):\n    x[i] = 0"),
        ("parpy.label('N')\nfor i in range(n):\n    x[i] = 0",
         'label "N"\nfor i in range(n):\n    x[i] = 0'),
    ],
)  # fmt: skip
def test_statement(python: str, expected: str) -> None:
    # The printer distinguishes temporaries by its own suffixes; here only their order counts.
    assert body(python).replace("tmp_2", "tmp_1") == expected


def test_condition_of_while_is_evaluated_anew() -> None:
    source = """
        @parpy.jit
        def g(a): return a + 1
        def f(n):
            while 0 < g(n) < 5:
                n += 1
    """
    assert text(source).partition("\n\n")[0] == textwrap.dedent("""\
        entry f(n):
            while True:
                tmp = g(n)
                if not (0 < tmp and tmp < 5):
                    break
                n += 1""")


def test_possibly_unassigned_variables_are_allowed() -> None:
    body("""
        for i in range(n):
            if i > 0:
                x[i] = last
            last = y[i]
        if a:
            c = 1
        x[0] = c
    """)


# ---------------------------------------------------------------- names


def test_globals_are_captured_in_order_of_use() -> None:
    namespace = define("def f(x):\n    x[0] = K * x[1] + w[0] + K", K=3, w=np.ones(2))
    parsed = parse(namespace["f"])
    assert parsed.module.text() == "surface\n\nentry f(x, K, w):\n    x[0] = K * x[1] + w[0] + K\n"
    assert [c.name for c in parsed.captures] == ["K", "w"]
    assert parsed.captures[0].read() == 3
    namespace["K"] = 4
    assert parsed.captures[0].read() == 4
    del namespace["K"]
    assert parsed.captures[0].read() is MISSING
    assert parsed.guards == ()


def test_closure_cells_are_captured() -> None:
    scale = 2.0

    def f(x):  # type: ignore[no-untyped-def]
        x[0] = scale

    (capture,) = parse(f).captures
    assert (capture.name, capture.read()) == ("scale", 2.0)
    scale = 3.0
    assert capture.read() == 3.0


def test_attributes_of_objects_are_captured_and_guarded() -> None:
    config = SimpleNamespace(N=3, table=np.zeros(4))
    parsed = surface("def f(x):\n    x[0] = config.N + config.table[1]", config=config)
    assert "entry f(x, config_N, config_table):" in parsed.module.text()
    assert [c.name for c in parsed.captures] == ["config.N", "config.table"]
    config.N = 5
    assert parsed.captures[0].read() == 5
    assert [(g.key, g.holds()) for g in parsed.guards] == [("config", True)]


def test_constants_of_enums_named_tuples_and_classes() -> None:
    class Color(Enum):
        RED = 3

    class Level(IntEnum):
        HIGH = 4

    class Base:
        N = 5

    class Derived(Base):
        pass

    point = namedtuple("point", "x")(6)
    names = {"Color": Color, "Level": Level, "Derived": Derived, "point": point}
    assert value("Level.HIGH + point.x", **names) == "4 + 6"
    parsed = surface("def f(x):\n    x[0] = Derived.N", **names)
    assert [c.read() for c in parsed.captures] == [5]
    Base.N = 7
    assert [c.read() for c in parsed.captures] == [7]


def test_long_sums_do_not_nest() -> None:
    assert value(" + ".join(["a"] * 900)).count("+") == 899


def test_entries_of_global_dicts_are_captured() -> None:
    parsed = surface("def f(x):\n    x[0] = D['n'] + D['a'][0]", D={"n": 1, "a": np.zeros(1)})
    assert [c.read() is not MISSING for c in parsed.captures] == [True, True]


def test_dict_arguments_become_parameters_of_their_own() -> None:
    parsed = surface("def f(d, n):\n    d['x'][0] = d['y'][n] + d['x'].shape[0] + d['k']")
    assert parsed.module.text().splitlines()[2] == "entry f(d_y, d_x, d_k, n):"
    assert [(p.name, p.key) for p in parsed.params] == [
        ("d", "y"), ("d", "x"), ("d", "k"), ("n", None),
    ]  # fmt: skip


def test_names_of_parameters_and_captures_do_not_clash() -> None:
    parsed = surface("def f(d, d_x):\n    d_x[0] = d['x'][0] + d_x_2", d_x_2=1.0)
    assert parsed.module.text().splitlines()[2].count("d_x") == 3
    assert len(set(parsed.module.text().splitlines()[2][8:-2].split(", "))) == 3


def test_signature() -> None:
    parsed = surface("def f(x, /, n=3, *, k, s=1.5):\n    x[0] = n + k + s")
    found = [(d.name, d.has_default, d.default, d.positional_only, d.keyword_only) for d in parsed.signature]
    assert found == [
        ("x", False, None, True, False),
        ("n", True, 3, False, False),
        ("k", False, None, False, True),
        ("s", True, 1.5, False, True),
    ]


def test_functions_are_guarded() -> None:
    source = "@parpy.jit\ndef g(a): return a\ndef f(x): x[0] = g(abs(1))"
    namespace = define(source)
    parsed = parse(namespace["f"])
    assert {g.key for g in parsed.guards} == {"g", "abs"}
    assert all(g.holds() for g in parsed.guards)
    namespace["abs"] = max
    assert [g.key for g in parsed.guards if not g.holds()] == ["abs"]


# ---------------------------------------------------------------- other functions


def test_helpers() -> None:
    source = """
        K = 3
        @parpy.jit
        def leaf(a): return a * K
        @parpy.jit
        def g(a, b=2, *, c=np.float32(1)): return leaf(a) + b + c
        def f(x):
            x[0] = g(1) + g(b=x[1], a=2) + g(3, 4, c=5)
            leaf(0)
    """
    assert text(source) == textwrap.dedent("""\
        entry f(x, K):
            x[0] = g(1, 2, f32(1.0), K) + g(2, x[1], f32(1.0), K) + g(3, 4, 5, K)
            leaf(0, K)

        helper g(a, b, c, K):
            return leaf(a, K) + b + c

        helper leaf(a, K):
            return a * K""")


def test_recursion_makes_a_helper_of_the_entry() -> None:
    source = """
        @parpy.jit
        def f(n):
            if n < 2:
                return n
            return f(n - 1) + f(n - 2)
    """
    found = text(source)
    assert found.count("entry f(n):") == 1
    assert found.count("helper f_2(n):") == 1
    assert " f(n - 1)" not in found


def test_mutual_recursion_passes_captures_on() -> None:
    source = """
        K = 1
        @parpy.jit
        def odd(n): return n > 0 and even(n - 1)
        @parpy.jit
        def even(n): return n == K or odd(n - 1)
        def f(x): x[0] = even(3)
    """
    found = text(source)
    assert "x[0] = even(3, K)" in found
    assert "odd(n - 1, K)" in found
    assert "even(n - 1, K)" in found


def test_helpers_of_one_name_stay_apart() -> None:
    first = define("@parpy.jit\ndef g(a): return a + 1")["g"]
    second = define("@parpy.jit\ndef g(a): return a + 2")["g"]
    found = text("def f(x): x[0] = g(1) + h(1)", g=first, h=second)
    assert "g(1) + g_2(1)" in found


# ---------------------------------------------------------------- source text


def test_positions_are_those_of_the_file() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        x[0] = nowhere  # noqa: F821

    with pytest.raises(CompileError) as raised:
        parse(f)
    line = f.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}:16: error[P101]" in str(raised.value)


@pytest.mark.parametrize(
    "source",
    [
        "class C:\n\t@staticmethod\n\tdef f(x):\n\t\tx[0] = (1 +\n2)\n\t\t# the end\nf = C.f",
        'def f(x):\n    x[0] = 1\n    """text\nat the margin\n"""\n    x[1] = 2\ny = 1',
        "def f(\n    x,\n):\n    x[0] = 1\ndef g(): pass",
        "def f(x): x[0] = 1; x[1] = 2",
        "if True:\n    def f(x):\n# at the margin\n        x[0] = 1\n\n        x[1] = 2\n",
        "def f(x):\n    x[0] = 1 + \\\n2\n    x[1] = x[\n0]\n",
        "def f(größe):\n    größe[0] = π\nπ = 3",
        "def f(x):\r\n    x[0] = 1\r\n",
    ],
)
def test_source_is_found(source: str) -> None:
    assert "[0] = " in text(source)


def test_private_names_in_a_class() -> None:
    source = """
        class C:
            def f(x, __a):
                __t = __a + __k
                x[0] = __t
        f = C.f
    """
    assert "_C__t = _C__a + _C__k" in text(source, _C__k=2)


def test_private_names_elsewhere_are_names_like_others() -> None:
    source = """
        def f(x, __a, _b__a, ____):
            __t = __a + _b__a
            for ___ in range(3):
                x[___] = __t + ____
    """
    assert "__t = __a + _b__a" in text(source)
    source = """
        class __:
            def f(x, __a, _b__a):
                x[0] = __a + _b__a
        f = __.f
    """
    assert "x[0] = __a + _b__a" in text(source)
    source = """
        def outer():
            class _C:
                def f(__a, __x__):
                    def g(x, _b__a):
                        x[0] = __a + __x__ + _b__a
                    return g
            return _C.f(1, 2)
        f = outer()
    """
    assert "x[0] = _C__a + __x__ + _b__a" in text(source)


def test_columns_of_lines_with_other_letters() -> None:
    with pytest.raises(CompileError) as raised:
        surface("def f(größe):\n    größe[0] = größe[1] + nichts")
    assert ":2:27: error[P101]: name 'nichts'" in str(raised.value)


# ---------------------------------------------------------------- plain Python


def test_operators_in_plain_python() -> None:
    assert parpy.label("N") is None
    with parpy.gpu as nothing:
        assert nothing is None
    x = np.array([1.5, -300.0, np.nan, 1e30], np.float32)
    assert _operators.convert(x, np.int8).tolist() == [1, -44, 0, 0]
    assert _operators.convert(2.9, np.int64) == 2
    assert _operators.convert(1e30, np.uint64) == 0 and _operators.convert(1.5e19, np.uint64) == 15 * 10**18
    assert _operators.convert(1, np.float32).dtype == np.float32
    assert _operators.maximum(np.float32(1), np.nan).dtype == np.float32
    with pytest.raises(TypeError, match="scalar type"):
        _operators.convert(1, "float32x")
    with pytest.raises(TypeError, match="label"):
        parpy.label(3)  # type: ignore[arg-type]


def test_math_keeps_types() -> None:
    for name in ("exp", "tanh", "erf", "lgamma", "sqrt"):
        function = getattr(parpy.math, name)
        assert function(np.ones(3, np.float32)).dtype == np.float32
        assert function(2.0) == pytest.approx(getattr(math, name)(2.0))


def test_every_known_function_is_lowered_and_nothing_else():
    rows = [intrinsic for _, intrinsic in intrinsics.table().values()]
    methods = {"reduce_first", "tuple_method"}  # found by the object that they belong to
    assert {row.lowering for row in rows} | methods == set(languages.INTRINSICS)
    assert {row.op for row in rows if row.lowering == "composed"} == set(compositions._COMPOSED)
    assert {row.op for row in rows if row.lowering == "pair"} == set(compositions._PAIRS)
