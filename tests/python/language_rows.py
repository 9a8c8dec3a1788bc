"""Two pages of docs/reference, written from the tables of the frontend. language.md lists every construct of Python
that compiled code supports, each with a program that the tests run, and every function that it knows; numpy.md lists
the functions of NumPy.

`python tests/python/language_rows.py` writes both pages again.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import places
from parpy.frontend import draws, refused
from parpy.frontend.calls import intrinsics
from parpy.frontend.languages import LOOPS
from parpy.library import table

PAGE = places.ROOT / "docs" / "reference" / "language.md"
NUMPY_PAGE = PAGE.with_name("numpy.md")


@dataclass(frozen=True)
class Row:
    """A construct: `form` in the user's spelling, `note` on its meaning, `body` of a function that contains it; `x` is
    an array of six floats, and `k` a small integer."""

    node: type[ast.AST]
    form: str
    note: str
    body: str


VALUES = [
    (
        "numbers",
        "Python's, which are weak, and NumPy's scalars: bool, 8 to 64-bit integers, float16 to float64, complex",
        "[Types](types.md)",
    ),
    (
        "arrays",
        "those of NumPy, CuPy, PyTorch, JAX and `parpy.buffer`, with any strides and dimensions; they may share memory",
        "[Calls and caches](calls.md)",
    ),
    (
        "tuples",
        "plain and named tuples of values of any kind; they have parts, sums and a length, and cannot be changed",
        "[Loops](loops.md)",
    ),
    ("None", "as a default, in place of a number, and as a result", "[Loops](loops.md)"),
    (
        "dicts and objects",
        "with names as keys; their attributes are read, their numbers assigned to, their methods called",
        "[Functions](functions.md)",
    ),
    (
        "functions",
        "plain ones, decorated ones and lambdas: arguments, variables, elements of tuples and results",
        "[Functions](functions.md)",
    ),
    (
        "texts and types",
        "arguments and variables that choose a branch or the type of an array",
        "[Functions](functions.md)",
    ),
    ("generators", "`np.random.Generator` and `RandomState`", "[Random numbers](random.md)"),
]

STATEMENTS = [
    Row(
        ast.Assign,
        "`a = v`, `x[i] = v`, `a, (b, c) = t`, `a = b = v`",
        "evaluate the values first, then store from the left",
        "a, (b, c) = k, (x[0], x[1])\nx[0] = x[1] = a + b\nreturn a, b, c",
    ),
    Row(
        ast.Assign,
        "`r = x[1:]`, `y = x * 2`",
        "a name for a part of an array, or for a new array",
        "r = x[1:]\ny = x * 2\nr[0] = y[2]\nreturn r[0] + y[1]",
    ),
    Row(
        ast.Assign,
        "`x[1:] = v`, `x[x > 0] = v`",
        "store to the elements of a slice, or to those that a mask selects",
        "x[1:] = x[:-1] * 2\nx[x > 4] = 0.5",
    ),
    Row(
        ast.AugAssign,
        "`a += v`, `x[i] *= v`, `x += v`",
        "update arrays in place; a parallel loop may reduce",
        "s = 0.0\nfor i in range(len(x)):\n    s += x[i]\n    x[k] -= i\nx += 1\nreturn s",
    ),
    Row(ast.AnnAssign, "`a: np.float32 = v`", "the annotation has no effect", "a: np.float32 = x[1]\nreturn a * 2"),
    Row(
        ast.For,
        "`for i in range(a, b, c)`",
        "bounds and steps may be computed",
        "for i in range(len(x) - 1, -1, -k):\n    x[i] = i\nelse:\n    x[0] = -1",
    ),
    Row(
        ast.For,
        "`for v in x`, `enumerate`, `zip`, `reversed`",
        "over arrays and tuples",
        "s = 0.0\nfor i, (a, b) in enumerate(zip(x, reversed(x))):\n    s += i * a - b\n"
        "for c, d in ((1, k), (2, 3)):\n    s += c * d\nreturn s",
    ),
    Row(
        ast.For,
        "`for i, j in np.ndindex(x.shape)`, `np.ndenumerate`, `itertools.product`",
        "nests of loops",
        "for (i,), v in np.ndenumerate(x):\n    x[i] = v * i\nfor i, j in np.ndindex(k, 2):\n    x[j] += i",
    ),
    Row(
        ast.While,
        "`while c: … else: …`",
        "runs in sequence",
        "i = 0\nwhile i < k:\n    i += 1\nelse:\n    i += 10\nreturn i",
    ),
    Row(ast.Break, "`break`", "", "for i in range(9):\n    if i > k:\n        break\nreturn i"),
    Row(ast.Continue, "`continue`", "", "for i in range(len(x)):\n    if i == k:\n        continue\n    x[i] = 0"),
    Row(
        ast.If,
        "`if c: … elif d: … else: …`",
        "branches that cannot run for the types of a call are not compiled",
        "if k > 1 and x[0] >= 0:\n    x[0] = 1\nelif k:\n    x[0] = 2\nelse:\n    x[0] = 3",
    ),
    Row(
        ast.Match,
        "`match v: case 1: … case n if n < 0: …`",
        "cases of numbers, names, None, alternatives and, for a tuple that is written out, of tuples",
        "match (k % 2, len(x)):\n    case (0, n) if n > k:\n        x[0] = n\n    case (1, 2 | 3):\n        x[0] = 2\n"
        "    case _:\n        x[0] = 7",
    ),
    Row(
        ast.Return,
        "`return v`, `return a, x * 2`",
        "numbers, arrays, None, and tuples of them",
        "return k, (x * 2, None), x[1:]",
    ),
    Row(
        ast.Assert,
        '`assert c, "text"`',
        "checked with `debug=True` and `opts.check`",
        "assert k > 0, 'k is positive'\nreturn k",
    ),
    Row(
        ast.Raise,
        '`raise ValueError(f"bad {a}")`',
        "ends the call with the user's exception",
        "if k > 1:\n    raise ValueError(f'bad {k}')",
    ),
    Row(ast.Expr, "`f(x)`, `print(a)`", "calls for their effect", "x.fill(2)"),
    Row(ast.Pass, "`pass`", "", "pass"),
    Row(ast.With, "`with parpy.gpu:`", "runs sequential code on one GPU thread", "with parpy.gpu:\n    x[0] = k"),
    Row(
        ast.FunctionDef,
        "`def g(a): …`",
        "a nested function, which reads the outer variables",
        "def g(a):\n    return a * k\nreturn g(x[1]) + g(2)",
    ),
]

EXPRESSIONS = [
    Row(
        ast.Constant,
        '`1`, `2.5`, `3j`, `True`, `None`, `"text"`',
        "texts and None can be compared with, or be arguments",
        "return 1, 2.5, 3j, True, None",
    ),
    Row(
        ast.Name,
        "`a`, `math.pi`",
        "variables, and globals and closure values, which are read again at each call",
        "return k",
    ),
    Row(
        ast.Attribute,
        "`x.shape`, `x.size`, `x.ndim`, `x.T`, `z.real`, `p.mass`",
        "attributes of arrays, numbers and objects",
        "return x.shape, x.size, x.ndim, x.T[1]",
    ),
    Row(
        ast.BinOp,
        "`a + b`, `a // b`, `a % b`, `a ** b`, `a << b`, `a @ b`, …",
        "compute with numbers and, element by element, with arrays",
        "return x + k, x // 2 % 3, x ** k, k << 3, x @ x",
    ),
    Row(ast.UnaryOp, "`-a`, `+a`, `~a`, `not a`", "", "return -x, +k, ~k, not k"),
    Row(ast.Compare, "`a < b <= c`, `a is None`, `a in t`", "", "return 0 < k <= 2, x > 1, k in (1, 2), k is None"),
    Row(
        ast.BoolOp,
        "`a and b`, `a or b`",
        "conditions; the second is evaluated only if it decides the result",
        "return k > 1 and x[k] > 1, k > 5 or x[0] > 5",
    ),
    Row(ast.IfExp, "`a if c else b`", "only one of the two values is evaluated", "return x[0] if k > 5 else k"),
    Row(
        ast.Subscript,
        "`x[i, -1]`, `x[1:, None]`, `x[..., 0]`, `x[idx]`, `t[k]`",
        "elements, parts, masks, arrays of subscripts",
        "t = (k, 7)\nreturn x[-1], x[1:][0], x[..., 0], x[None, 1:4], t[k - 1]",
    ),
    Row(ast.Slice, "`x[a:b:c]`", "bounds may be computed, and steps may be negative", "return x[k::-1], x[1:k + 3:2]"),
    Row(ast.Tuple, "`(a, b)`", "", "t = (k, (x[0], 1))\nreturn t[1] + t[:1], len(t)"),
    Row(ast.Starred, "`(*t, 1)`", "only in tuples", "t = (k, 2)\nreturn (*t, *x.shape, 1)"),
    Row(ast.Call, "`f(a, b=c)`", "your functions, and those below", "return max(k, 1), abs(x[0] - 2)"),
    Row(
        ast.GeneratorExp,
        "`sum(a for b in c if d)`",
        "only as the argument of sum, min, max, any and all",
        "return sum(v * i for i, v in enumerate(x) if v > 1), any(v > 4 for v in x)",
    ),
    Row(ast.ListComp, "`sum([a for b in c])`", "the same", "return max([v * 2 for v in x])"),
    Row(
        ast.List,
        "`[1, 2]`",
        "in a loop, after `in`, as a subscript, in a function of NumPy, under a name that is only read; else Python "
        "makes it",
        "s = 0\nw = [1, k, 1]\nfor a in [1, k]:\n    s += a * w[k]\n"
        "x[[0, 1]] = x[[1, k]]\nreturn s, k in [1, 2], np.array([s, 2.5]), [s, k]",
    ),
    Row(
        ast.Dict,
        '`{"a": b}`, `[a for b in c]`, `found.append(a)`',
        "Python keeps dicts, sets and lists, and runs the statements around them; loops in which lists of numbers, or "
        "dicts and sets with integers as keys, grow are compiled",
        "found, total = [], 0\nfor v in x:\n    total += v\n    found.append(total)\n"
        "found.append(total)\nreturn {'total': found, 'twice': x * 2}",
    ),
    Row(
        ast.Lambda,
        "`lambda a: …`",
        "a function that reads the outer variables, as an argument or called by its name",
        "g = lambda a: a * k\nreturn g(x[1])",
    ),
    Row(
        ast.NamedExpr,
        "`(a := v)`",
        "assigns when it is evaluated",
        "while (k := k - 1) > 0:\n    x[k] = (a := k) * a\nreturn k",
    ),
    Row(
        ast.JoinedStr,
        '`f"…{a:.2f}"`',
        "in raise and print; Python makes other texts",
        "if k > 1:\n    raise ValueError(f'bad {x[1]:.2f}')",
    ),
]

METHODS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "astype",
    "copy",
    "cumprod",
    "cumsum",
    "fill",
    "max",
    "mean",
    "min",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "searchsorted",
    "sort",
    "std",
    "sum",
    "transpose",
    "var",
]


def functions() -> dict[str, list[str]]:
    """The functions that compiled code knows, by module."""
    found: dict[str, set[str]] = {}
    for _, row in intrinsics.table().values():
        module, _, name = row.name.rpartition(".")
        if module.startswith("cuda") or row.lowering.startswith("misplaced"):
            continue
        if not module:
            module = "builtins" if hasattr(builtins, row.name) else "parpy.builtin"
        found.setdefault(module, set()).add(name)
    found["np"] |= {name.removeprefix("np.") for name in map(_name_of, table.functions())}
    found["builtins"] |= {"range", "enumerate", "zip", "reversed", "print"}
    found["np"] |= {"add.outer", "add.reduce"}
    return {module: sorted(names) for module, names in sorted(found.items())}


def _name_of(function: Any) -> str:
    if isinstance(getattr(function, "__self__", None), np.ufunc):  # np.add.outer
        return f"{function.__self__.__name__}.{function.__name__}"
    module = function.__module__.removeprefix("numpy").lstrip(".")
    return f"{module}.{function.__name__}" if module == "linalg" else str(function.__name__)


def refusals() -> Iterator[tuple[str, str]]:
    taken = {row.node for row in (*STATEMENTS, *EXPRESSIONS)}
    for refusals in (refused.STATEMENTS, refused.EXPRESSIONS):
        for node, (what, cure) in refusals.items():
            if node not in taken:
                yield what, cure


def page() -> str:
    lines = [
        "# The language in tables",
        "",
        "This page lists the language of compiled code. The tables are generated from the compiler's own tables, and",
        "the tests run a program for each row of the statements and expressions, both compiled and by Python.",
        "[Loops](loops.md) and [Functions](functions.md) explain the rows, [NumPy](numpy.md) lists the functions of",
        "NumPy, and [Kernels by hand](../howto/kernels.md) describes the names that only kernels have.",
        "",
        "## Values",
        "",
        "| kind | which | more |",
        "|---|---|---|",
        *(f"| {kind} | {which} | {link} |" for kind, which, link in VALUES),
    ]
    for title, rows in (("Statements", STATEMENTS), ("Expressions", EXPRESSIONS)):
        lines += [
            "",
            f"## {title}",
            "",
            "| form | notes |",
            "|---|---|",
            *(f"| {row.form} | {row.note} |" for row in rows),
        ]
    lines += ["", "## Functions", "", "| module | functions |", "|---|---|"]
    rows = {module: _listed(names) for module, names in functions().items()}
    rows["np"] = "see [NumPy](numpy.md)"
    lines += [f"| `{module}` | {names} |" for module, names in rows.items()]
    lines += [f"| methods of arrays | {_listed(METHODS)} |"]
    lines += [f"| methods of generators, `np.random` | {_listed(sorted(draws.METHODS))} |"]
    lines += [
        "",
        "Python calls all other functions of NumPy and SciPy between the compiled parts, outside of compiled loops.",
        "Your own functions are compiled together with the functions that call them.",
        "",
        "## Constructs that are not compiled, and their replacements",
        "",
        "Python runs statements with some of these between the compiled parts ([What Python",
        "runs](loops.md#what-python-runs)), unless a mapping names a loop around them. All others are refused.",
        "",
        "| found | instead |",
        "|---|---|",
        *(f"| {what} | {cure} |" for what, cure in dict.fromkeys(refusals())),
    ]
    return "\n".join(lines) + "\n"


SPECIAL = {"einsum", "random.default_rng"}  # compiled by lowerings of their own


def numpy_functions() -> dict[str, list[str]]:
    """The public functions of NumPy and of its submodules, by the treatment of their calls in compiled functions."""
    found: dict[str, list[str]] = {"ufuncs": [], "types": [], "functions": [], "python": []}
    for module in ("", "linalg.", "fft.", "random."):
        space = getattr(np, module[:-1]) if module else np
        for name in sorted(space.__all__):
            value = getattr(space, name)
            if not callable(value) or (isinstance(value, type) and not issubclass(value, np.generic)):
                continue  # constants and classes
            if module + name in SPECIAL or (module == "random." and name in draws.METHODS):
                kind = "functions"
            elif intrinsics.intrinsic_of(value) is None and not table.is_in_library(value):
                kind = "python"
            elif isinstance(value, type):
                kind = "types"
            else:
                kind = "ufuncs" if isinstance(value, np.ufunc) else "functions"
            if kind != "python" or not isinstance(value, type):
                found[kind].append(module + name)
    return found


def ufunc_methods() -> list[str]:
    """The methods of ufuncs that compiled code knows; `np.add` represents all ufuncs."""
    methods = [f"add.{name}" for name in ("accumulate", "at", "outer", "reduce", "reduceat")]
    return [
        name
        for name in methods
        if intrinsics.intrinsic_of(value := getattr(np.add, name[4:])) is not None or table.is_in_library(value)
    ]


NUMPY_TEXT = """\
# NumPy functions that work

This page lists the functions of NumPy by how a function under `parpy.jit` runs them. It is generated from the
compiler's own tables. Aliases count: `np.abs` is `np.absolute`. Results have the dtypes of NumPy's. [Slices](slices.md)
describes `axis`, `keepdims` and `out`, and [Elementary functions](math.md) lists the rounding errors.

## Compiled everywhere

These functions are part of the compiled program, also inside parallel loops.

Universal functions, applied to numbers and element by element to arrays:

{ufuncs}

Their methods, shown for `np.add`: {methods_of_ufuncs}

Other functions:

{functions}

Types, which convert numbers and name the dtypes of arrays:

{types}

Methods of arrays: {methods}

Methods of `np.random.Generator` and `np.random.RandomState`: {draws}

Where no loop is around the call, NumPy itself runs {for_loops}.

A function of this list may still refuse some arguments in a parallel loop, such as an `axis` that is not a constant.
The error names the argument.

## Called by Python between compiled parts

A compiled function may also call the functions below, and everything in SciPy. Python calls them between the compiled
parts, with NumPy's own speed. In a loop such a call makes Python run the loop: ParPy says so once, with a
`PerformanceWarning` (P315), and a loop that a mapping names is refused.

{python}
"""


def numpy_page() -> str:
    return NUMPY_TEXT.format(
        methods_of_ufuncs=_listed(ufunc_methods()),
        methods=_listed(METHODS),
        draws=_listed(sorted(draws.METHODS)),
        for_loops=_listed(sorted(_name_of(each).removeprefix("np.") for each in table.for_loops())),
        **{kind: _listed(names) for kind, names in numpy_functions().items()},
    )


def _listed(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def nodes() -> set[type[ast.AST]]:
    """The kinds of Python's nodes that the frontend has functions for."""
    return {each for each in (*LOOPS.expressions, *LOOPS.statements) if each.__module__ == "ast"}


if __name__ == "__main__":
    PAGE.write_text(page())
    NUMPY_PAGE.write_text(numpy_page())
