"""Lowers the other statements: branches, assertions, expressions as statements, `with parpy.gpu`."""

from __future__ import annotations

import ast

from ...syntax.patterns import string_key
from ...syntax.text import as_text
from ...syntax.walks import walk
from ...vocabulary import operators
from ..calls.reductions import method_of_value
from ..expressions.conditions import condition
from ..expressions.effects import acts, has_effects, over_slices
from ..expressions.outputs import accumulates, output_of
from ..kernels.kernels import kernel_statement
from ..lowering import block, lower
from ..scope import FunctionScope


def lower_if(fn: FunctionScope, node: ast.If) -> None:
    test = condition(fn, node.test)
    before = set(fn.assigned)
    fn.conditions += 1
    then_body = block(fn, node.body)
    after_then, fn.assigned = fn.assigned, before
    else_body = block(fn, node.orelse)
    fn.assigned |= after_then
    fn.conditions -= 1
    fn.out.append(fn.module.if_(test, then_body, else_body, fn.span(node, node.test)))


def lower_with(fn: FunctionScope, node: ast.With) -> None:
    for item in node.items:
        context = fn.resolve(item.context_expr)
        if context is None or context.value is not operators.gpu:
            fn.error(
                "P021",
                item.context_expr,
                "only 'with parpy.gpu' can be compiled",
                "move other context managers to the caller",
            )
            fn.give_up_on(node)
            return
        fn.rely_on(context)
        if item.optional_vars is not None:
            fn.error("P021", item.optional_vars, "'with parpy.gpu' gives no value", "leave out 'as'")
    outer, fn.on_device = fn.on_device, True
    fn.out.append(fn.module.gpu(block(fn, node.body), fn.head(node)))
    fn.on_device = outer


# ------------------------------------------------------------ the others


def as_assignment(fn: FunctionScope, node: ast.stmt) -> ast.stmt:
    """Rewrites `x.fill(v)` of an array or a slice to x[...] = v, and `np.add(a, b, x)`, also with out=x, to
    x[...] = np.add(a, b); returns other statements unchanged."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not fn.names_arrays:
        return node
    output = None if fn.kernel else output_of(fn, call)
    found = _filled(fn, call) if output is None else (output.target, output.call)
    if found is None or (output is not None and (output.where is not None or accumulates(fn, output.call))):
        return node
    whole, value = found
    if output is not None and output.keeps_kind:
        fn.outputs.add(output.call)
    if not over_slices(fn, whole):
        if output is None and isinstance(whole, ast.Subscript) and string_key(whole) is None:
            return node  # the target may be an element
        whole = ast.Subscript(whole, ast.copy_location(ast.Constant(...), whole))
    return ast.copy_location(ast.Assign([ast.copy_location(whole, found[0])], value), node)


def _filled(fn: FunctionScope, call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """The expressions x and v of a call x.fill(v); None for other calls."""
    func = method_of_value(fn, call)
    fills = func is not None and func.attr == "fill" and len(call.args) == 1 and not call.keywords
    return (func.value, call.args[0]) if fills and func is not None else None


def lower_expression(fn: FunctionScope, node: ast.Expr) -> None:
    """Lowers an expression statement. Docstrings and `...` have no effect; reads of elements remain for checks."""
    value = node.value
    if isinstance(value, ast.Constant) and (value.value is ... or isinstance(value.value, str)):
        return
    if kernel_statement(fn, node):
        return
    if isinstance(value, ast.Tuple):
        for part in value.elts:
            lower_expression(
                fn, ast.copy_location(ast.Expr(part.value if isinstance(part, ast.Starred) else part), node)
            )
        return
    lowered = lower(fn, value)
    if isinstance(value, ast.BinOp) and acts(fn, value):
        fn.hold(lowered, value)  # also if it is a sum of tuples, of which nothing is used
        return
    reads = any(isinstance(part, ast.Subscript) for part in walk(value))
    if has_effects(fn, value) or reads:
        fn.out.append(fn.module.evaluate(lowered, fn.span(node)))


def lower_assert(fn: FunctionScope, node: ast.Assert) -> None:
    message = ""
    if node.msg is not None:
        if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
            message = node.msg.value
        elif isinstance(node.msg, ast.JoinedStr):  # the message shows the expressions of an f-string as text
            message = "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"  # type: ignore[attr-defined]
                for part in node.msg.values
            )
        else:
            what = "the message of an assertion must be a string constant"
            fn.error("P027", node.msg, what, "write the text out")
    test = condition(fn, node.test)
    fn.out.append(fn.module.assert_(test, as_text(message), fn.span(node)))


def lower_pass(fn: FunctionScope, node: ast.Pass) -> None:
    pass
