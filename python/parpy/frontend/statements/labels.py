"""Lowers the statements of a block with their labels, and finds the loops, or the dimensions of a statement over
slices, that the labels before a statement name.
"""

from __future__ import annotations

import ast
import builtins

from ... import _native
from ...pragmas.words import StatementPragma
from ...syntax.patterns import integer_constant, is_none, subscripts_of
from ...syntax.text import is_text
from ...syntax.walks import children, walk
from ...types import BufferType, Symbol
from ...vocabulary import operators
from ..calls.intrinsics import REDUCTIONS, intrinsic_of
from ..lowering import lower, statement
from ..scope import FunctionScope
from .pragmas import check_promises, pragma_labels, pragma_of
from .returns import return_value
from .statements import as_assignment

# The name of a parpy.label, and its place.
Label = tuple[str, ast.expr]


def lower_block(fn: FunctionScope, nodes: list[ast.stmt]) -> list[_native.Stmt]:
    """The statements of a block, each with the labels before it."""
    outer, fn.out = fn.out, []
    labels: list[Label] = []
    for node in nodes:
        found = _label(fn, node)
        if found is not None:
            labels.append(found)
            continue
        _labelled(fn, labels, as_assignment(fn, node))
        labels = []
    for label in labels:
        _dangling(fn, label, "no statement follows in its block")
    lowered, fn.out = fn.out, outer
    return lowered


def _label(fn: FunctionScope, node: ast.stmt) -> Label | None:
    """The name in `parpy.label('name')`, with its place; None for other statements."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    binding = fn.resolve(call.func)
    if binding is None or binding.value is not operators.label:
        return None
    fn.rely_on(binding)
    if len(call.args) == 1 and not call.keywords:
        name = call.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value:
            if "\0" not in name.value and is_text(name.value):
                return name.value, call
            fn.error(
                "P020",
                call,
                f"the label {name.value!r} has characters that cannot be encoded as text",
                "write for example parpy.label('N')",
            )
            return "", call
    fn.error("P020", call, "a label takes one non-empty string constant", "write for example parpy.label('N')")
    return "", call


def _labelled(fn: FunctionScope, labels: list[Label], node: ast.stmt) -> None:
    """Lowers the statement after these labels. A for loop has one label, and a statement over slices
    one label for each of its dimensions."""
    over_slices = _runs_over_slices(fn, node)
    if labels and over_slices and isinstance(node, ast.Return) and not isinstance(node.value, ast.Tuple):
        assert node.value is not None
        fn.whole_value = node.value
        var = fn.hold(lower(fn, node.value), node.value)
        fn.module.set_labels(fn.out[-1], [name for name, _ in labels])
        return_value(fn, node, fn.module.read(var, fn.span(node.value)))
        return
    if labels and not over_slices:
        if isinstance(node, ast.For):
            *others, last = labels
            labels = [last]
            for label in others:
                _dangling(fn, label, "another label follows")
        else:
            for label in labels:
                _dangling(fn, label, "the next statement is neither a for loop nor a statement over slices")
            labels = []
    pragma = pragma_of(fn, node)
    check_promises(fn, pragma)
    asked = pragma_labels(fn, node, pragma)
    before = len(fn.out)
    around, fn.tensor_pragma = fn.tensor_pragma, pragma if isinstance(pragma, StatementPragma) else None
    statement(fn, node)
    fn.tensor_pragma = around
    names = [name for name, _ in labels]
    if not all(names):
        return
    if asked and names and not isinstance(node, ast.For):
        _dangling(fn, labels[0], "the same statement has a pragma of dimensions")
    names = [*names, *asked] or _shape_labels(fn, node)
    if any(names) and len(fn.out) > before:
        loops = fn.lowered_loops.get(node) if isinstance(node, ast.For) else None
        for each in loops or [fn.out[-1]]:
            fn.module.set_labels(each, names)


def _shape_labels(fn: FunctionScope, node: ast.stmt) -> list[str]:
    """The labels of loops and dimensions that run over extents with symbols, which count under
    `implicit_shape_labels` (normalize_labels.h); '' for a loop or dimension without a symbol."""
    if not fn.symbols:
        return []
    names = []
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
        names = [_range_name(fn, node.iter.args)]
    elif isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        names = _slice_names(fn, target) + _reduced_names(fn, node.value)
    return [f"shape {name}" if name else "" for name in names]


def _constant(node: ast.expr) -> int | None:
    return integer_constant(node, limit=1 << 62)


def _range_name(fn: FunctionScope, arguments: list[ast.expr]) -> str:
    """The name of the symbol that equals the number of iterations up to a constant; '' if there is none."""
    ends = arguments[:2]
    if not ends or (len(arguments) == 3 and _constant(arguments[2]) not in (1, -1)):
        return ""
    names = [_extent_name(fn, end) for end in ends if _constant(end) is None]
    return names[0] if len(names) == 1 else ""


def _slice_names(fn: FunctionScope, node: ast.expr) -> list[str]:
    """The names of the symbols that x[…] runs over, for each dimension with a slice."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return []
    parts = subscripts_of(node)
    names = [
        _part_name(fn, node.value.id, number, part) for number, part in enumerate(parts) if isinstance(part, ast.Slice)
    ]
    annotation = fn.annotations.get(node.value.id)
    if not names or not isinstance(annotation, BufferType):
        return names
    left = range(len(parts), len(annotation.shape))  # the statement runs over dimensions without a subscript
    return names + [_dimension_name(fn, node.value.id, number) for number in left]


def _part_name(fn: FunctionScope, array: str, dimension: int, part: ast.Slice) -> str:
    if part.step is not None and _constant(part.step) != 1:
        return ""
    lower = 0 if part.lower is None else _constant(part.lower)
    upper = -1 if part.upper is None else _constant(part.upper)
    if lower is None or lower < 0 or (upper is not None and upper >= 0):
        return ""
    return _dimension_name(fn, array, dimension) if upper is not None else _extent_name(fn, part.upper)


def _reduced_names(fn: FunctionScope, node: ast.AST) -> list[str]:
    """The names of the dimensions over which the reductions in an expression run, in the order of their loops."""
    names: list[str] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        names = _operand_names(fn, node.left)[-1:] or [""]
    elif isinstance(node, ast.Call) and _reduces(fn, node):
        names = _names_of_reduction(fn, node)
    return names + [name for part in children(node) for name in _reduced_names(fn, part)]


def _names_of_reduction(fn: FunctionScope, call: ast.Call) -> list[str]:
    binding = fn.resolve(call.func)
    known = None if binding is None else intrinsic_of(binding.value)
    method = known is None and isinstance(call.func, ast.Attribute)
    operand = call.func.value if method and isinstance(call.func, ast.Attribute) else (*call.args, call.func)[0]
    names = _operand_names(fn, operand)
    if known is not None and known.op == "matmul":
        return names[-1:] or [""]
    positional = call.args if method else call.args[1:]
    axis = next((keyword.value for keyword in call.keywords if keyword.arg == "axis"), None)
    axis = positional[0] if positional else axis
    if axis is None or is_none(axis):
        return names
    numbers = [integer_constant(part) for part in (axis.elts if isinstance(axis, ast.Tuple) else [axis])]
    reduced = {number % len(names) for number in numbers if number is not None and names}
    return [name for number, name in enumerate(names) if number in reduced]


def _operand_names(fn: FunctionScope, node: ast.expr) -> list[str]:
    """The names of the slices of an expression's operand with the most dimensions."""
    return max((_slice_names(fn, part) for part in walk(node) if isinstance(part, ast.expr)), key=len)


def _extent_name(fn: FunctionScope, node: ast.expr | None) -> str:
    """The name of the symbol that equals an expression up to a constant; '' if there is none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        if _constant(node.right) is not None:
            return _extent_name(fn, node.left)
        added = isinstance(node.op, ast.Add) and _constant(node.left) is not None
        return _extent_name(fn, node.right) if added else ""
    if isinstance(node, ast.Name):
        binding = None if node.id in fn.scope.locals else fn.scope.lookup(node.id)
        symbol = None if binding is None else binding.value
        return node.id if isinstance(symbol, Symbol) and symbol in fn.symbols else ""
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        binding = fn.resolve(node.func)
        is_length = binding is not None and binding.value is builtins.len
        return _dimension_name(fn, node.args[0].id, 0) if is_length else ""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        number = integer_constant(node.slice)
        if isinstance(node.value.value, ast.Name) and number is not None:
            return _dimension_name(fn, node.value.value.id, number)
    return ""


def _dimension_name(fn: FunctionScope, array: str, dimension: int) -> str:
    """The name of the symbol of this dimension in the function; '' if it has none."""
    annotation = fn.annotations.get(array)
    if not isinstance(annotation, BufferType) or not -len(annotation.shape) <= dimension < len(annotation.shape):
        return ""
    found = annotation.shape[dimension]
    return fn.scope.name_of(found) or found.name or "" if isinstance(found, Symbol) else ""


def _runs_over_slices(fn: FunctionScope, node: ast.stmt) -> bool:
    """Whether the statement may run over the elements of arrays. If it assigns a computed value to a name, the types
    decide later."""
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    computed = isinstance(node.value, ast.BinOp | ast.UnaryOp | ast.Call | ast.Compare | ast.IfExp)
    if computed and all(target is None or isinstance(target, ast.Name) for target in targets):
        return True
    return any(
        isinstance(part, ast.Slice | ast.MatMult)
        or (isinstance(part, ast.Constant) and part.value is ...)
        or (isinstance(part, ast.Call) and _reduces(fn, part))
        for part in walk(node)
    )


def _reduces(fn: FunctionScope, call: ast.Call) -> bool:
    """Whether the call is one of a reduction, a contraction, or a method with the name of a reduction."""
    binding = fn.resolve(call.func)
    if binding is None:
        return isinstance(call.func, ast.Attribute) and call.func.attr in REDUCTIONS
    known = intrinsic_of(binding.value)
    return known is not None and (known.lowering == "reduce" or known.op == "matmul")


def _dangling(fn: FunctionScope, label: Label, reason: str) -> None:
    name, place = label
    if name:
        fn.error(
            "P020",
            place,
            f"label '{name}' names no loop: {reason}",
            "write the label directly before the loop or slices that it names",
        )
