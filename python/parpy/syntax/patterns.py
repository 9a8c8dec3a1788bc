"""Facts that the syntax tree shows without further analysis: constants, keys, names, parameters, and the ways in which
control leaves statements."""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeGuard

from .walks import walk

Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Text(ast.Constant):
    value: str


def node_parameters(node: Function | ast.Lambda) -> list[str]:
    """The names of the parameters without starred ones."""
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def names_in(*nodes: ast.AST) -> set[str]:
    """The names of all variables in the nodes."""
    return {part.id for node in nodes for part in walk(node) if isinstance(part, ast.Name)}


def stored_in(*nodes: ast.AST) -> set[str]:
    """The names of the variables that the nodes assign."""
    parts = (part for node in nodes for part in walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def first_name(node: ast.expr) -> ast.expr:
    """The expression x of x.a[i].b."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def root_of(node: ast.expr) -> str:
    """The name of the variable x of x.a[i].b; empty if x is no variable."""
    first = first_name(node)
    return first.id if isinstance(first, ast.Name) else ""


def subscripts_of(node: ast.Subscript) -> list[ast.expr]:
    """The subscripts of x[i, j]."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def slices_of(node: ast.expr) -> list[ast.Slice]:
    """The slices among the subscripts of x[i, a:b]; an empty list for other expressions."""
    parts = subscripts_of(node) if isinstance(node, ast.Subscript) else []
    return [part for part in parts if isinstance(part, ast.Slice)]


def chosen_names(value: ast.expr) -> set[str]:
    """The names among which `a if c else b` chooses, or the single name; empty for other expressions."""
    if isinstance(value, ast.Name):
        return {value.id}
    if isinstance(value, ast.IfExp):
        parts = chosen_names(value.body), chosen_names(value.orelse)
        return parts[0] | parts[1] if all(parts) else set()
    return set()


def names_given(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """The names that `a = b`, `a, b = c, d` or `a = b if … else c` assign, with their values; empty for others."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple):
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            return []
        pairs = list(zip(target.elts, value.elts, strict=True))
    found = [(name.id, given) for name, given in pairs if isinstance(name, ast.Name) and chosen_names(given)]
    return found if len(found) == len(pairs) else []


def integer_constant(node: ast.expr, limit: int = 64) -> int | None:
    """The value of an integer constant below the limit, which may have a sign; None for other expressions."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < limit:
        return sign * node.value
    return None


def string_key(node: ast.expr) -> str | None:
    """The key k of d['k']; None for other expressions."""
    return node.slice.value if isinstance(node, ast.Subscript) and is_text(node.slice) else None


def is_text(node: ast.AST) -> TypeGuard[_Text]:
    """Whether the node is a text literal."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_c_order(node: ast.AST) -> bool:
    """Whether the node is the text "C", which names the usual order of elements."""
    return isinstance(node, ast.Constant) and node.value == "C"


def is_none(node: ast.AST | None) -> bool:
    """Whether the node is the literal `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def is_absent(node: ast.AST | None) -> bool:
    """Whether an argument is missing or the literal `None`, which have the same meaning."""
    return node is None or is_none(node)


def is_label(node: ast.stmt) -> bool:
    """Whether the statement is a call of a function with the name of `parpy.label`."""
    call = node.value if isinstance(node, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return getattr(func, "attr", getattr(func, "id", "")) == "label"


class GotEntry(NamedTuple):
    """The parts of a call `d.get("k", v)`."""

    owner: ast.expr
    key: str
    default: ast.expr | None


def got_entry(node: ast.AST) -> GotEntry | None:
    """The parts of a call `d.get("k", v)`; None for other nodes."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=owner, attr="get") | ast.Subscript(value=owner, slice=ast.Constant(value="get")),
            args=[ast.Constant(value=str(key)), *default],
            keywords=[],
        ) if len(default) < 2:
            return GotEntry(owner, key, default[0] if default else None)
    return None


def chooses_place(node: ast.expr) -> bool:
    """Whether the node is a variable, an attribute or a subscript, or chooses among them: `a if c else b[1:]`."""
    if isinstance(node, ast.IfExp):
        return chooses_place(node.body) and chooses_place(node.orelse)
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def is_literal(node: ast.expr) -> bool:
    """Whether `node` is a constant, which may have a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


# ------------------------------------------------------------ operators of classes

_METHODS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("__add__", "__radd__"), ast.Sub: ("__sub__", "__rsub__"), ast.Mult: ("__mul__", "__rmul__"),
    ast.Div: ("__truediv__", "__rtruediv__"), ast.FloorDiv: ("__floordiv__", "__rfloordiv__"),
    ast.Mod: ("__mod__", "__rmod__"), ast.Pow: ("__pow__", "__rpow__"), ast.MatMult: ("__matmul__", "__rmatmul__"),
    ast.BitAnd: ("__and__", "__rand__"), ast.BitOr: ("__or__", "__ror__"), ast.BitXor: ("__xor__", "__rxor__"),
    ast.LShift: ("__lshift__", "__rlshift__"), ast.RShift: ("__rshift__", "__rrshift__"),
    ast.UAdd: ("__pos__",), ast.Invert: ("__invert__",), ast.USub: ("__neg__",), ast.Eq: ("__eq__",),
    ast.NotEq: ("__ne__", "__eq__"), ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip
_TRUTH = ("__bool__", "__len__")
# The methods of arguments that functions of Python call.
_OF_CALLS = {
    "abs": ("__abs__",), "bool": ("__bool__", "__len__"), "float": ("__float__",), "int": ("__int__",),
    "len": ("__len__",),
    "max": ("__gt__", "__lt__"), "min": ("__lt__", "__gt__"), "sum": ("__add__", "__radd__"),
}  # fmt: skip
OPERATOR_METHODS = frozenset(name for names in (*_METHODS.values(), *_OF_CALLS.values()) for name in names)


IN_PLACE_METHODS = frozenset(f"__i{names[0][2:]}" for names in _METHODS.values() if names[-1].startswith("__r"))


def operator_methods(node: ast.AST) -> list[str]:
    """The methods that the operators of this very node, or the called function of Python, may call, if an operand is an
    object."""
    match node:
        case ast.Call(func=ast.Name(id=function)):
            return [*_OF_CALLS.get(function, ())]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return [*_TRUTH] if chooses_place(test) else []
        case ast.BoolOp(values=values):
            return [*_TRUTH] if any(map(chooses_place, values)) else []
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [*_TRUTH] if chooses_place(operand) else []
    operators: list[ast.AST] = [*node.ops] if isinstance(node, ast.Compare) else [getattr(node, "op", node)]
    names = [name for each in operators for name in _METHODS.get(type(each), ())]
    return names + [f"__i{each[2:]}" for each in names[:1] if isinstance(node, ast.AugAssign)]


def ends(body: list[ast.stmt]) -> bool:
    """Whether every path through the statements returns, or raises an exception."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, ast.With):
        return ends(last.body)
    if isinstance(last, ast.While):
        always = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return always and not any(isinstance(part, ast.Break) for part in walk(last))
    return isinstance(last, ast.Return | ast.Raise)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of the statements."""
    return any(isinstance(stmt, ast.Break | ast.Continue) or ends([stmt]) for stmt in body)


def breaks(body: list[ast.stmt]) -> bool:
    """Whether the statements, the body of a loop, contain a break of this loop."""
    return _jumps(body, ast.Break)


def continues(body: list[ast.stmt]) -> bool:
    """Whether the statements, the body of a loop, contain a continue of this loop."""
    return _jumps(body, ast.Continue)


def _jumps(body: list[ast.stmt], kind: type[ast.stmt]) -> bool:
    for stmt in body:
        inner = isinstance(stmt, ast.For | ast.While)
        parts = [getattr(stmt, field, []) for field in (("orelse",) if inner else ("body", "orelse"))]
        if isinstance(stmt, kind) or any(_jumps(part, kind) for part in parts):
            return True
    return False
