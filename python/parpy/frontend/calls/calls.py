"""Lowers calls of intrinsic functions (intrinsics.py) by the tables of languages.py, and calls of other jit functions,
which become helper functions of the module.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

import numpy as np

from ... import _native
from ...calls.callback import Callback
from ...calls.external import External
from ...calls.options import CompileBackend
from ...library import gives_number, library_function, library_method
from ...syntax.fields import as_call_of_object
from ...syntax.names import Binding, is_of_library, source_of
from ...syntax.patterns import chooses_place, is_c_order, operator_methods
from ...syntax.source import FunctionSource
from ...syntax.starred import packed, takes_rest, without_star
from ...syntax.walks import walk
from ...types import TypeVar
from ...vocabulary.operators import scalar_name
from ..expressions.arrays import is_array_name, subscripts_array
from ..expressions.conditions import choose, lower_ternary
from ..expressions.constants import whole_number
from ..expressions.dtypes import converted_to_elements, is_dtype, type_operand
from ..expressions.effects import acts, has_effects
from ..expressions.entries import entry_or_default, names_in
from ..expressions.evaluation import lower_arguments, lower_settled
from ..expressions.function_values import default_of
from ..expressions.objects import has, initialized_object, new_object
from ..expressions.outputs import Output, accumulated, output_of
from ..expressions.subscripts import array_of, extent_of
from ..forms import Forms, RecordForm
from ..initializers import initialized, is_made_of_fields
from ..kernels.record_paths import has_slice
from ..kernels.records import is_record, is_record_argument, record_apart, record_of, record_rank
from ..lowering import lower
from ..scope import FunctionScope, describe
from .arguments import bound_arguments, fits
from .axes import method_of_axes
from .creation import converted
from .foreign import call_external, call_foreign, foreign_called, is_buffer_of_cffi, is_launch, pointed
from .functions import by_numpy
from .intrinsics import Intrinsic, intrinsic_of
from .python_methods import python_method
from .random_numbers import method_of_generator, origins_of_call
from .reductions import method_of_value, reduction_method

# Methods of arrays that equal functions of NumPy.
_FUNCTIONS = {"dot": np.dot, "clip": np.clip, "round": np.round, "conj": np.conj, "conjugate": np.conj}

# The nodes of subscripts that read nothing and cannot fail.
_SETTLED = (
    ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Add, ast.Sub, ast.Mult, ast.USub, ast.expr_context,
)  # fmt: skip

# The back ends in the order of their numbers in the core.
_BACKENDS = [CompileBackend.Cpu, CompileBackend.Cuda, CompileBackend.Metal]


def lower_call(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """Lowers a call of any kind to a value."""
    if is_launch(fn, node):
        return fn.poison(node)
    if (function := foreign_called(fn, node)) is not None:
        return call_foreign(fn, node, function)
    if node in fn.outputs:
        fn.outputs.remove(node)
        return fn.op("output", node, lower_call(fn, node))
    if fn.kernel and is_buffer_of_cffi(fn, node):
        return pointed(fn, node.args[0])
    if (output := output_of(fn, node)) is not None:
        return _store_to(fn, node, output)
    fn.program.attributes.update(operator_methods(node))
    func = method_of_value(fn, node)
    if func is not None and func.attr in fn.program.like_arrays and not has_effects(fn, func.value):
        return _of_object_or_array(fn, node, func)
    method = _method(fn, node)
    if method is not None:
        return method
    if (entry := entry_or_default(fn, node)) is not None:
        return lower(fn, entry)
    if (made := converted_to_elements(fn, node)) is not None:
        return made
    return _apply(fn, node) if fn.is_applied(node) else _call_named(fn, node)


def _of_object_or_array(fn: FunctionScope, node: ast.Call, func: ast.Attribute) -> _native.Expr:
    """`p.dot(q)`, where classes of the program have a method of this name, as arrays do."""
    fn.program.attributes.add(func.attr)
    is_object = has(fn, func.value, func.attr, node)
    of_object = fn.branch(lambda: _apply(fn, as_call_of_object(node)))
    return choose(fn, is_object, of_object, fn.branch(lambda: _method(fn, node) or _call_named(fn, node)), node)


def _method(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """A call of a method of an array, a number, a generator or a tuple; None for other calls."""
    return (
        method_of_generator(fn, node)
        or reduction_method(fn, node)
        or _method_of_numpy(fn, node)
        or _copy_or_conversion(fn, node)
        or method_of_axes(fn, node)
        or _method_of_library(fn, node)
        or python_method(fn, node)
    )


def _store_to(fn: FunctionScope, node: ast.Call, output: Output) -> _native.Expr:
    """np.add(a, b, out=c): stores to the array c, which is also the value."""
    array, span = array_of(fn, output.target), fn.span(node)
    if array is None:
        return fn.poison(node)
    value = lower(fn, accumulated(fn, output, array))
    if output.where is not None:
        kept = fn.module.read(array, span)
        value = by_numpy(fn, fn.module.op("select", [lower(fn, output.where), value, kept], span), node)
    if output.keeps_kind:
        value = fn.module.op("output", [value], span)
    fn.out.append(fn.module.store(array, [fn.op("ellipsis", node)], value, None, span))
    return fn.module.read(array, span)


def _apply(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """A call of a value, such as a function that is an argument."""
    unpacked = next((a for a in (*node.args, *node.keywords) if isinstance(a, ast.Starred) or _is_dict(a)), None)
    if unpacked is not None:
        what = "a starred argument" if isinstance(unpacked, ast.Starred) else "arguments from a dict"
        fn.error("P105", unpacked, f"{what} cannot be compiled", "write it out")
        return fn.poison(node)
    given = {str(place): argument for place, argument in enumerate(node.args)}
    given |= {str(keyword.arg): keyword.value for keyword in node.keywords}
    fn.passed_on.update(given.values())
    fn.program.applied.add(len(given))
    fn.program.attributes.add("__call__")  # the value may be an object with this method
    called = lower(fn, node.func)
    in_order = any(_may_be_part(fn, each) for each in given.values()) and any(
        has_effects(fn, each) for each in given.values()
    )
    lowered = _in_order(fn, given) if in_order else lower_arguments(fn, given, given, _argument)
    span = fn.span(node)
    operands = [fn.module.named(name, value, span) if not name.isdigit() else value for name, value in lowered.items()]
    return fn.module.op("apply", [called, *operands], span)


def _is_dict(argument: ast.AST) -> bool:
    return isinstance(argument, ast.keyword) and argument.arg is None


def _call_named(fn: FunctionScope, node: ast.Call) -> _native.Expr:
    """A call of an object outside the function, which a name refers to."""
    binding = _called(fn, node)
    if binding is None:
        return fn.poison(node)
    intrinsic = intrinsic_of(binding.value)
    if intrinsic is not None:
        if not fits(fn, node, intrinsic):
            return fn.poison(node)
        return fn.language.intrinsics[intrinsic.lowering](fn, node, intrinsic)
    if fn.is_function(binding.value):
        return call_function(fn, node, source_of(binding.value))
    if not fn.kernel and (written := initialized(binding.value)) is not None:
        whole = call_function(fn, node, written.source)
        return initialized_object(fn, node, binding.value, written.names, whole)
    if is_made_of_fields(binding.value) and (not fn.kernel or issubclass(binding.value, tuple)):
        return new_object(fn, node, binding.value)
    if isinstance(binding.value, External):
        return call_external(fn, node, binding.value)
    known = not fn.kernel or (fn.names_arrays and gives_number(binding.value))
    ours = library_function(binding.value, node, fn.kernel) if known else None
    if ours is not None:
        return call_function(fn, ours[1], ours[0])
    _not_callable(fn, binding, node)
    return fn.poison(node)


def _called(fn: FunctionScope, node: ast.Call) -> Binding | None:
    """The called object; None after an error. The compiled code depends on it from here on."""
    binding = fn.resolve(node.func)
    if binding is not None:
        fn.rely_on(binding)
    elif isinstance(node.func, ast.Name) and node.func.id not in fn.scope.locals:
        fn.find(node.func)
    elif isinstance(node.func, ast.Attribute) and fn.resolve(node.func.value) is None:
        _refuse_method(fn, node, node.func)
    elif isinstance(node.func, ast.Attribute):
        lower(fn, node.func)
    else:
        fn.error(
            "P022",
            node.func,
            "the called function must be known when the caller is compiled",
            "call a global function by its name",
        )
    return binding


def _refuse_method(fn: FunctionScope, node: ast.Call, func: ast.Attribute) -> None:
    name = func.attr
    if fn.starts_undefined(func):
        lower(fn, func)
        return
    fix = "call a function instead"
    if name == "astype":
        fix = "convert with the type alone: x.astype(np.float32)"
    elif name == "copy":
        fix = "write x.copy(), without arguments"
    elif name == "fill":
        fix = "write x[:] = value"
    fn.error("P022", node, f"the method '{name}' cannot be compiled", fix)


def _not_callable(fn: FunctionScope, binding: Binding, node: ast.Call) -> None:
    shown = ast.unparse(node.func)
    value = binding.value
    if isinstance(value, Callback):
        message = f"'{shown}' is a callback, which compiled code cannot call here"
        fix = "call it on a line of its own in a function that Python calls, outside of parallel loops"
    elif inspect.isfunction(value):
        message = f"'{shown}' is an ordinary Python function"
        fix = f"decorate '{shown}' with @parpy.jit"
        if fn.kernel:
            fix = f"decorate '{shown}' with @cuda.jit(device=True); functions for cudapy.compile are listed there"
        elif value.__code__.co_name == "<lambda>":
            message, fix = f"the text of the lambda '{shown}' cannot be found", "define it with 'def'"
        elif hasattr(value, "__wrapped__"):
            message = f"'{shown}' is wrapped by a decorator"
            fix = f"call the function without the decorator, or decorate '{shown}' with @parpy.jit"
        if is_of_library(value):
            message, fix = f"the function '{shown}' cannot be compiled", "write it out"
    elif callable(value):
        message = f"{describe(value)} cannot be compiled"
        fix = "math.*, element-wise np.* functions and jit functions can be called"
    else:
        message, fix = f"'{shown}' is {describe(value)}, which cannot be called", ""
    fn.error("P022", node, message, fix)


# ------------------------------------------------------------ methods of arrays and numbers


def _method_of_numpy(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """z.conjugate(), x.dot(y); None for other calls."""
    func = method_of_value(fn, node)
    function = None if func is None else _FUNCTIONS.get(func.attr)
    intrinsic = None if function is None else intrinsic_of(function)
    if func is None or intrinsic is None:
        return None
    call = ast.copy_location(ast.Call(node.func, [func.value, *node.args], node.keywords), node)
    return (
        fn.language.intrinsics[intrinsic.lowering](fn, call, intrinsic)
        if fits(fn, call, intrinsic)
        else fn.poison(node)
    )


def _copy_or_conversion(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """x.copy() and x.astype(np.float32); None for other calls."""
    func = method_of_value(fn, node)
    if func is None or not fn.names_arrays:
        return None
    given = [*node.args, *(each.value for each in node.keywords)]
    names = {each.arg for each in node.keywords}
    if func.attr == "copy" and (not given or (len(given) == 1 and names <= {"order"} and is_c_order(given[0]))):
        value = by_numpy(fn, lower(fn, func.value), node)
    elif func.attr == "astype" and len(given) == 1 and names <= {"dtype"}:
        value = by_numpy(fn, converted(fn, lower(fn, func.value), given[0]), node)
    else:
        return None
    # The copy is made now, so that later stores of the same statement do not change it.
    return value if node is fn.whole_value else fn.module.read(fn.hold(value, node), fn.span(node))


def _method_of_library(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """x.argmin(), x.cumsum(); None for other calls."""
    func = method_of_value(fn, node)
    known = func is not None and (not fn.kernel or (fn.names_arrays and gives_number(getattr(np, func.attr, None))))
    ours = library_method(func.attr, func.value, node, fn.kernel) if func is not None and known else None
    return None if ours is None else call_function(fn, ours[1], ours[0])


# ------------------------------------------------------------ conversions


def lower_convert(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.float32(x) and conversions to other scalar types."""
    return _convert(fn, node, node.args[0], intrinsic.op)


def _convert(fn: FunctionScope, node: ast.Call, value: ast.expr, scalar: str) -> _native.Expr:
    span = fn.span(node)
    known = whole_number(fn, value)
    if scalar == "u64" and isinstance(known, int) and 2**63 <= known < 2**64:
        return fn.module.constant_u64(known, span)
    return fn.module.convert(lower(fn, value), scalar, span)


def lower_convert_to(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """parpy.builtin.convert(x, type)."""
    wanted = fn.resolve(node.args[1])
    value = None if wanted is None else wanted.value
    if isinstance(value, TypeVar) or is_dtype(fn, node.args[1]):
        span = fn.span(node)
        return fn.module.op("convert_like", [lower(fn, node.args[0]), type_operand(fn, node.args[1])], span)
    python = {int: "int", float: "float", bool: "truth"}
    if isinstance(value, type) and value in python:
        return fn.module.op(python[value], [lower(fn, node.args[0])], fn.span(node))
    scalar = scalar_name(value)
    if scalar is None:
        fn.error(
            "P023",
            node.args[1],
            "'convert' needs a scalar type that is known when the function is compiled",
            "write for example convert(x, np.float32)",
        )
        return fn.poison(node)
    return _convert(fn, node, node.args[0], scalar)


# ------------------------------------------------------------ conditions that are decided at compile time


def lower_backend_is(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """static_backend_eq(parpy.CompileBackend.Cuda)."""
    binding = fn.resolve(node.args[0])
    value = None if binding is None else binding.value
    if binding is None or not isinstance(value, CompileBackend) or value is CompileBackend.Auto:
        fn.error(
            "P023",
            node.args[0],
            "'static_backend_eq' needs a back end that is known when the function is compiled",
            "write for example static_backend_eq(parpy.CompileBackend.Cuda)",
        )
        return fn.poison(node)
    fn.rely_on(binding)
    span = fn.span(node)
    value = CompileBackend.Cuda if value is CompileBackend.Sim else value
    number = _BACKENDS.index(value) if value in _BACKENDS else -1
    return fn.module.op("backend_is", [fn.module.constant(number, span)], span)


def lower_types_equal(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """static_types_eq(x.dtype, parpy.types.F32)."""
    return fn.module.op("types_equal", [type_operand(fn, part) for part in node.args], fn.span(node))


def lower_static_fail(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    text = node.args[0]
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        fn.error("P023", text, "'static_fail' takes a string constant", "write the message out")
        return fn.poison(node)
    is_numpys = str(fn.source.function.__module__).startswith("parpy.library.")
    fn.out.append(fn.module.fail("P232", text.value, [], fn.span(node), python_may_call=is_numpys))
    return fn.poison(node)


# ------------------------------------------------------------ other known functions


def lower_inline(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """parpy.builtin.inline(f(x)): the call, marked for inlining."""
    argument = node.args[0]
    if isinstance(argument, ast.Call) and fn.is_applied(argument):
        applied = _apply(fn, argument)
        fn.module.set_inline(applied)
        return applied
    if isinstance(argument, ast.Call):
        binding = fn.resolve(argument.func)
        if binding is not None and fn.is_function(binding.value):
            fn.rely_on(binding)
            call = call_function(fn, argument, source_of(binding.value))
            if fn.calls and fn.calls[-1][0] is call:
                fn.module.set_inline(call)
            return call
    fn.error("P023", argument, "'inline' takes a call of a jit function", "write inline(f(x))")
    return fn.poison(node)


def lower_len(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    argument = node.args[0]
    span = fn.span(node)
    if isinstance(argument, ast.ListComp) and isinstance(argument.elt, ast.Name | ast.Constant):
        return _count(fn, argument, node)
    if isinstance(argument, ast.Attribute) and argument.attr == "shape" and is_array_name(fn, argument.value):
        if is_record(fn, argument.value):
            record = record_of(fn, argument.value)
            known_rank = None if record is None else record_rank(fn, record, node)
            return fn.poison(node) if known_rank is None else fn.integer(known_rank, node)
        array = array_of(fn, argument.value)
        return fn.poison(node) if array is None else fn.module.rank(array, span)
    keys = names_in(fn, argument)
    known = fn.tuple_of(argument) if keys is None else keys
    if known is not None:
        return fn.integer(len(known), node)
    if is_record(fn, argument):
        return extent_of(fn, argument, 0, node)
    array = array_of(fn, argument)
    return fn.poison(node) if array is None else fn.op("length", node, fn.module.read(array, span))


def _count(fn: FunctionScope, listed: ast.ListComp, node: ast.Call) -> _native.Expr:
    """len([v for v in x if v > 0]), as sum(1 for v in x if v > 0)"""
    ones = ast.copy_location(ast.GeneratorExp(ast.copy_location(ast.Constant(1), node), listed.generators), listed)
    total = intrinsic_of(sum)
    assert total is not None
    return fn.language.intrinsics[total.lowering](fn, ast.copy_location(ast.Call(node.func, [ones], []), node), total)


def lower_misplaced_label(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    fn.error("P020", node, "a label is used as a value", "write it as a line of its own before the loop that it names")
    return fn.poison(node)


def lower_misplaced_range(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    fn.error("P011", node, "'range' is used outside the head of a for loop", "write for i in range(…)")
    return fn.poison(node)


def lower_vidx(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """Refuses a vidx() used as a value. syntax/vectors.py has already turned those in subscripts into slices."""
    fix = "write x[vidx(i, MVL, n)], or v = vidx(i, MVL, n) with one length and one bound, and x[v]"
    fn.error("P011", node, "a vector of subscripts is used as a value", fix)
    return fn.poison(node)


# ------------------------------------------------------------ functions compiled with this one


def call_function(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> _native.Expr:
    """A call of a function that is compiled together with this one."""
    if takes_rest(source.function):
        node, source = packed(node, source.function), without_star(source)
    fn.passed_on.update((*node.args, *(keyword.value for keyword in node.keywords)))
    bound = _bind(fn, node, source)
    if bound is None:
        return fn.poison(node)
    operands, forms, known = bound
    operands += origins_of_call(fn, source, known, node)
    callee = fn.helper(source, forms, known)
    span = fn.span(node)
    call = fn.module.call(callee.function, operands, span)
    fn.calls.append((call, callee, span))
    return as_declared(fn, call, source, "return", node)


def as_declared(
    fn: FunctionScope, value: _native.Expr, source: FunctionSource, name: str, node: ast.expr
) -> _native.Expr:
    """An argument or a result of a function, converted to the type that the function declares for it."""
    wanted = source.declared.get(name)
    if wanted == "bool":
        return fn.module.op("truth", [value], fn.span(node))
    return value if wanted in (None, "void") else fn.module.convert(value, wanted, fn.span(node))


def _bind(
    fn: FunctionScope, node: ast.Call, source: FunctionSource
) -> tuple[list[_native.Expr], Forms, dict[str, Any]] | None:
    """The arguments of the call in the order of the callee's parameters, the forms of records among them, and the facts
    about other arguments for which the frontend specialises the callee; None after an error."""
    given = bound_arguments(fn, node, source.function)
    if given is None:
        return None
    name = source.function.__name__
    parameters = inspect.signature(source.function, follow_wrapped=False).parameters
    taken: dict[str, tuple[RecordForm, list[_native.Expr]]] = {}
    lowered: dict[str, _native.Expr] = {}
    whole = {each: argument for each, argument in given.items() if not is_record_argument(fn, argument, source, each)}
    held = len(whole) < len(given) or any(_may_be_part(fn, each) for each in given.values())
    in_order = held and any(acts(fn, each) for each in given.values())
    for each, argument in given.items():
        if each not in whole:
            apart = record_apart(fn, argument, source, each)
            if apart is None:
                return None
            form, variables = apart
            taken[each] = form, [fn.module.read(var, fn.span(argument)) for var in variables]
        elif in_order:
            lowered |= _in_order(fn, {each: argument})
    lowered = lowered if in_order else lower_arguments(fn, whole, parameters, _argument)
    forms = tuple((each, taken[each][0]) for each in parameters if each in taken)
    operands = []
    for parameter in parameters.values():
        if parameter.name in taken:
            operands += taken[parameter.name][1]
        elif parameter.name in lowered:
            operands.append(as_declared(fn, lowered[parameter.name], source, parameter.name, node))
        else:
            operands.append(default_of(fn, parameter, name, node))
    return operands, forms, _known_of(fn, source, given)


def _known_of(fn: FunctionScope, source: FunctionSource, given: dict[str, ast.expr]) -> dict[str, Any]:
    """The facts for which the frontend specialises the function: the parameters that draw random numbers or are no
    generators, and the axes of functions of the library."""
    if fn.kernel:
        return {}
    known = fn.program.draws.known(source, given, fn.scope)
    if str(source.function.__module__).startswith("parpy.library.") and "axis" in source.function.__code__.co_varnames:
        number = whole_number(fn, given["axis"]) if "axis" in given else 0
        if "axis" in given and number is None and (binding := fn.resolve(given["axis"])) is not None:
            number = binding.value
        if type(number) is int:
            known["axis"] = number
    return known


def _in_order(fn: FunctionScope, given: dict[str, ast.expr]) -> dict[str, _native.Expr]:
    """The arguments, each evaluated before the statement."""
    lowered = {}
    for each, argument in given.items():
        if _may_be_part(fn, argument):
            part = fn.hold(lower(fn, argument), argument)
            lowered[each] = fn.module.read(part, fn.span(argument))
        else:
            lowered[each] = lower_settled(fn, argument)()
    return lowered


def _may_be_part(fn: FunctionScope, argument: ast.expr) -> bool:
    """Whether the argument may be a part of an array whose subscripts must be evaluated in the order of the call."""
    if not isinstance(argument, ast.Subscript) or not subscripts_array(fn, argument):
        return False
    return has_slice(argument) or _reads_in_subscripts(argument)


def _reads_in_subscripts(node: ast.Subscript) -> bool:
    return any(isinstance(part, ast.Call | ast.Subscript) for part in walk(node.slice))


def _argument(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """An argument as a value. Under a condition, a part of an array is held under a name, unless it is an element whose
    subscripts may be evaluated speculatively. In kernels, subscripts that read elements require a name as well."""
    if isinstance(node, ast.IfExp) and chooses_place(node) and not fn.kernel:
        return lower_ternary(fn, node, named=True)
    value = lower(fn, node)
    if not isinstance(node, ast.Subscript) or not subscripts_array(fn, node):
        return value
    if fn.choices:
        held = fn.kernel or has_slice(node) or not _is_settled(node.slice)
    else:
        held = fn.kernel and _reads_in_subscripts(node)
    return fn.module.read(fn.hold(value, node), fn.span(node)) if held else value


def _is_settled(node: ast.expr) -> bool:
    """Whether subscripts may be evaluated speculatively, because they read nothing and cannot fail."""
    return all(isinstance(part, _SETTLED) for part in walk(node))
