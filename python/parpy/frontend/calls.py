"""Lowers calls: of functions that compiled code knows by itself (intrinsics.py), by one method
`lower_<lowering>` each, and of other jit functions, which become helper functions of the module.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from .. import _native
from ..calls.callback import Callback
from ..calls.external import External
from ..calls.options import CompileBackend
from ..syntax.names import Binding, is_array, is_scalar, source_of
from ..syntax.source import FunctionSource
from ..types import TypeVar
from ..vocabulary.operators import scalar_name
from .arrays import integer_constant
from .compositions import Compositions
from .intrinsics import REDUCTIONS, Intrinsic, intrinsic_of
from .record_paths import has_slice
from .scope import ArrayForm, Forms, RecordForm, describe
from .uses import TupleForm

_NONE = TupleForm((), is_none=True)

# As the core numbers them.
_BACKENDS = [CompileBackend.Cpu, CompileBackend.Cuda, CompileBackend.Metal]


class Calls(Compositions):
    """Calls in one function."""

    def call(self, node: ast.Call) -> _native.Expr:
        method = self._reduction_method(node) or self._conjugate(node)
        if method is not None:
            return method
        binding = self.called(node)
        if binding is None:
            return self.poison(node)
        intrinsic = intrinsic_of(binding.value)
        if intrinsic is not None:
            if not self.fits(node, intrinsic):
                return self.poison(node)
            method = getattr(self, f"lower_{intrinsic.lowering}")
            result: _native.Expr = method(node, intrinsic)
            return result
        if self.is_function(binding.value):
            return self.call_function(node, source_of(binding.value))
        if isinstance(binding.value, External):
            return self._call_external(node, binding.value)
        self._not_callable(binding, node)
        return self.poison(node)

    def called(self, node: ast.Call) -> Binding | None:
        """What the call calls; None after an error. Compiled code relies on it from here on."""
        binding = self.resolve(node.func)
        if binding is not None:
            self.rely_on(binding)
        elif isinstance(node.func, ast.Name) and node.func.id not in self.scope.locals:
            self.find(node.func)
        elif isinstance(node.func, ast.Attribute) and self.resolve(node.func.value) is None:
            self._method(node, node.func)
        elif isinstance(node.func, ast.Attribute):
            self.lower(node.func)
        else:
            self.error(
                "P022",
                node.func,
                "the called function must be known when the caller is compiled",
                "call a global function by its name",
            )
        return binding

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        name = func.attr
        if self.starts_undefined(func):
            self.lower(func)
            return
        fix = "call a function instead"
        if name == "astype":
            fix = "convert with the type's name: np.float32(x)"
        self.error("P022", node, f"the method '{name}' cannot be compiled", fix)

    def _method_of_value(self, node: ast.Call) -> ast.Attribute | None:
        """The method that is called if its owner is an array or a number."""
        func = node.func
        if not isinstance(func, ast.Attribute) or self.resolve(func) is not None or self.starts_undefined(func):
            return None
        owner = self.resolve(func.value)
        return func if owner is None or is_array(owner.value) or is_scalar(owner.value) else None

    def _reduction_method(self, node: ast.Call) -> _native.Expr | None:
        """x[:].sum(axis=1) and its kin; None for other calls."""
        func = self._method_of_value(node)
        if func is None or func.attr not in REDUCTIONS:
            return None
        intrinsic = Intrinsic(func.attr, "reduce", func.attr, 0, 1, ("axis", "keepdims"))
        if not self.fits(node, intrinsic):
            return self.poison(node)
        return self._reduce(node, intrinsic.op, func.value, node.args)

    def _conjugate(self, node: ast.Call) -> _native.Expr | None:
        """z.conjugate(); None for other calls."""
        func = self._method_of_value(node)
        if func is None or func.attr != "conjugate" or node.args or node.keywords:
            return None
        return self.module.op("conj", [self.lower(func.value)], self.span(node))

    def lower_reduce(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """parpy.sum(x[:, :], axis=1), np.sum(…)."""
        return self._reduce(node, intrinsic.op, node.args[0], node.args[1:])

    def _reduce(self, node: ast.Call, name: str, operand: ast.expr, more: list[ast.expr]) -> _native.Expr:
        given = dict(zip(("axis", "keepdims"), more, strict=False))
        for keyword in node.keywords:
            assert keyword.arg is not None
            if keyword.arg in given:
                self.error("P023", keyword, f"'{name}' gets two values for '{keyword.arg}'", "leave one out")
            given[keyword.arg] = keyword.value
        axes = self._axes(given["axis"]) if "axis" in given else []
        keepdims = given.get("keepdims")
        keeps = isinstance(keepdims, ast.Constant) and keepdims.value is True
        if keepdims is not None and not (isinstance(keepdims, ast.Constant) and isinstance(keepdims.value, bool)):
            self.error("P023", keepdims, "'keepdims' must be True or False itself", "write keepdims=True")
        return self.module.reduce(name, self.lower(operand), axes, keeps, self.span(node))

    def _axes(self, node: ast.expr) -> list[int]:
        """The constants of `axis`; none: all axes."""
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        axes = [integer_constant(part) for part in parts]
        if not axes or None in axes:
            self.error(
                "P023",
                node,
                "'axis' must be an integer constant or a tuple of them",
                "write for example axis=1, axis=-1 or axis=(0, 1)",
            )
        return [axis for axis in axes if axis is not None]

    def _not_callable(self, binding: Binding, node: ast.Call) -> None:
        shown = ast.unparse(node.func)
        value = binding.value
        if isinstance(value, Callback):
            message = f"'{shown}' is a callback, which compiled code cannot call here"
            fix = "call it on a line of its own in a function that Python calls, outside of parallel loops"
        elif inspect.isfunction(value):
            message = f"'{shown}' is an ordinary Python function"
            fix = f"decorate '{shown}' with @parpy.jit"
            if self.program.kernel:
                fix = f"decorate '{shown}' with @cuda.jit(device=True); functions for cudapy.compile are listed there"
            if str(value.__module__).partition(".")[0] in ("math", "numpy", "scipy"):
                message, fix = f"the function '{shown}' cannot be compiled", "write it out"
        elif callable(value):
            message = f"{describe(value)} cannot be compiled"
            fix = "math.*, element-wise np.* functions and jit functions can be called"
        else:
            message, fix = f"'{shown}' is {describe(value)}, which cannot be called", ""
        self.error("P022", node, message, fix)

    # ------------------------------------------------------------ known functions

    def fits(self, node: ast.Call, intrinsic: Intrinsic) -> bool:
        """Whether number and kind of the arguments are what the function takes."""
        name, least, most = intrinsic.name, intrinsic.least, intrinsic.most
        if intrinsic.lowering.startswith("misplaced_"):
            return True
        starred = next((a for a in node.args if isinstance(a, ast.Starred)), None)
        if starred is not None:
            self.error("P023", starred, f"'{name}' cannot take a starred argument", "write it out")
            return False
        unknown = next((k for k in node.keywords if k.arg not in intrinsic.keywords), None)
        if unknown is not None:
            word = unknown.arg
            shown = f"keyword argument '{word}'" if word else "keyword arguments from a dict"
            self.error(
                "P023",
                unknown,
                f"'{name}' takes no {shown} in compiled code",
                f"{' and '.join(map(repr, intrinsic.keywords))} can be given"
                if intrinsic.keywords
                else "pass positional arguments only",
            )
            return False
        count = len(node.args)
        if least <= count <= most:
            return True
        fix = f"leave out {count - most} of them" if count > most else "add what is missing"
        if name in ("min", "max") and count == 1:
            fix = f"give {name} the values one by one, or write the loop that finds it"
        self.error("P023", node, f"'{name}' takes {_counted(least, most)}, not {count}", fix)
        return False

    def lower_convert(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """np.float32(x) and its kin."""
        return self._convert(node, node.args[0], intrinsic.op)

    def _convert(self, node: ast.Call, value: ast.expr, scalar: str) -> _native.Expr:
        span = self.span(node)
        known = self.whole(value)
        if scalar == "u64" and isinstance(known, int) and 2**63 <= known < 2**64:
            return self.module.constant_u64(known, span)
        return self.module.convert(self.lower(value), scalar, span)

    def lower_convert_to(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """parpy.builtin.convert(x, type)."""
        wanted = self.resolve(node.args[1])
        value = None if wanted is None else wanted.value
        if isinstance(value, TypeVar) or self.is_dtype(node.args[1]):
            span = self.span(node)
            return self.module.op("convert_like", [self.lower(node.args[0]), self.type_operand(node.args[1])], span)
        python = {int: "int", float: "float", bool: "truth"}
        if isinstance(value, type) and value in python:
            return self.module.op(python[value], [self.lower(node.args[0])], self.span(node))
        scalar = scalar_name(value)
        if scalar is None:
            self.error(
                "P023",
                node.args[1],
                "'convert' needs a scalar type that is known when the function is compiled",
                "write for example convert(x, np.float32)",
            )
            return self.poison(node)
        return self._convert(node, node.args[0], scalar)

    # ------------------------------------------------------------ decided when compiled

    def lower_backend_is(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """static_backend_eq(parpy.CompileBackend.Cuda)."""
        binding = self.resolve(node.args[0])
        value = None if binding is None else binding.value
        if binding is None or not isinstance(value, CompileBackend) or value is CompileBackend.Auto:
            self.error(
                "P023",
                node.args[0],
                "'static_backend_eq' needs a back end that is known when the function is compiled",
                "write for example static_backend_eq(parpy.CompileBackend.Cuda)",
            )
            return self.poison(node)
        self.rely_on(binding)
        span = self.span(node)
        number = _BACKENDS.index(CompileBackend.Cuda if value is CompileBackend.Sim else value)
        return self.module.op("backend_is", [self.module.constant(number, span)], span)

    def lower_types_equal(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """static_types_eq(x.dtype, parpy.types.F32)."""
        return self.module.op("types_equal", [self.type_operand(part) for part in node.args], self.span(node))

    def type_operand(self, node: ast.expr) -> _native.Expr:
        """Something that has the type that `node` stands for."""
        span = self.span(node)
        if isinstance(node, ast.Attribute) and self.is_dtype(node):
            view = self.view_of(node.value) if self.is_view(node.value) else None
            array = self.array(node.value) if view is None else view.array
            return self.poison(node) if array is None else self.module.read(array, span)
        binding = self.resolve(node)
        if binding is None:
            if isinstance(node, ast.Name) and node.id in self.scope.locals:
                return self.lower(node)
        else:
            self.rely_on(binding)
            if isinstance(binding.value, TypeVar) and binding.value in self.symbols:
                name, _ = self.symbols[binding.value]
                given = self.given_views.get(name)
                return self.module.read(self.variable(name, node) if given is None else given.array, span)
            known = {int: "i64", float: "f64", bool: "bool", complex: "c128"}
            scalar = known.get(binding.value) if isinstance(binding.value, type) else None
            scalar = scalar or scalar_name(binding.value)
            if scalar is not None:
                return self.module.convert(self.module.constant(0, span), scalar, span)
        self.error(
            "P023",
            node,
            "this is no type that is known when the function is compiled",
            "write a type of parpy.types, the dtype of an array, or a parameter",
        )
        return self.poison(node)

    def lower_static_fail(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        text = node.args[0]
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            self.error("P023", text, "'static_fail' takes a string constant", "write the message out")
            return self.poison(node)
        self.out.append(self.module.fail("P232", text.value, [], self.span(node)))
        return self.poison(node)

    # ------------------------------------------------------------ external functions

    def _call_external(self, node: ast.Call, function: External) -> _native.Expr:
        """A call of C++ that a header declares."""
        given = self.bound(node, function.__wrapped__)
        if given is None:
            return self.poison(node)
        given = {name: self.as_pointed(argument) for name, argument in given.items()}
        lowered = self.lower_arguments(given, function.parameters)
        known = self.program.externals.get(function)
        if known is None:
            known = self._declare(function, node)
        for name, parameter in inspect.signature(function.__wrapped__, follow_wrapped=False).parameters.items():
            if name not in lowered:
                lowered[name] = self.default(parameter, function.__name__, node)
        return self.module.call(known, [lowered[name] for name in function.parameters], self.span(node))

    def as_pointed(self, argument: ast.expr) -> ast.expr:
        """An argument of a foreign function, which gets the address of the elements of a view: `row` is `row[:]`. Of a
        kernel a part, `x[i, b:]`, is a view first, which begins inside of the array."""
        if self.program.kernel and has_slice(argument) and self.is_view(argument) and not self.is_record(argument):
            argument = self.named_view(argument)
        if not isinstance(argument, ast.Name) or argument.id not in self.views:
            return argument
        everything = ast.copy_location(ast.Slice(), argument)
        return ast.copy_location(ast.Subscript(argument, everything, ast.Load()), argument)

    def _declare(self, function: External, node: ast.Call) -> _native.Function:
        # Its source is the line that includes the header, one for all functions of it.
        index = self.program.includes.get(function.include)
        if index is None:
            name = f"{function.header or function.ext_name}.cu"
            index = self.program.includes[function.include] = self.module.add_source(name, function.include, 1)
        place = (index, 1, 1, 1, 1)
        # A kernel written by hand says itself which threads make the call.
        threads = 0 if self.program.kernel else function.threads
        types = list(function.types)
        made = self.module.foreign(function.ext_name, types, function.result, "c", place, function.place, threads)
        self.program.externals[function] = made
        return made

    def lower_inline(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """parpy.builtin.inline(f(x)): the call, marked."""
        argument = node.args[0]
        if isinstance(argument, ast.Call):
            binding = self.resolve(argument.func)
            if binding is not None and self.is_function(binding.value):
                self.rely_on(binding)
                call = self.call_function(argument, source_of(binding.value))
                if self.calls and self.calls[-1][0] is call:
                    self.module.set_inline(call)
                return call
        self.error("P023", argument, "'inline' takes a call of a jit function", "write inline(f(x))")
        return self.poison(node)

    def lower_len(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        argument = node.args[0]
        span = self.span(node)
        if isinstance(argument, ast.Attribute) and argument.attr == "shape" and self.is_array_name(argument.value):
            view = self.view_of(argument.value) if self.is_view(argument.value) else None
            if view is not None:
                return self.view_rank(view, node)
            array = self.array(argument.value)
            return self.poison(node) if array is None else self.module.rank(array, span)
        known = self.tuple_of(argument)
        form = self.tuple_form(argument)
        if known is not None or form is not None:
            return self.module.constant(len(known or (() if form is None else form.parts)), span)
        if not isinstance(argument, ast.Name) and not self.is_array_name(argument):
            self.refuse_shape(argument)
            return self.poison(node)
        if self.is_view(argument):
            view = self.view_of(argument)
            return self.poison(node) if view is None else self.view_extent(view, 0, node)
        array = self.array(argument)
        return self.poison(node) if array is None else self.module.extent(array, 0, span)

    def lower_misplaced_label(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        self.error(
            "P020",
            node,
            "a label is used as a value",
            "write it as a line of its own in front of the loop that it names",
        )
        return self.poison(node)

    def lower_misplaced_range(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        self.error(
            "P011",
            node,
            "'range' stands outside the head of a for loop",
            "write for i in range(…)",
        )
        return self.poison(node)

    # ------------------------------------------------------------ jit functions

    def helper(self, source: FunctionSource, forms: Forms = ()) -> Calls:
        """The surface function for a called jit function, made once per module and forms of arguments."""
        own = source if source.alternatives or source.arrays else None  # what it checks is its own
        known = self.program.helpers.get((source.function, own, forms))
        if known is None:
            known = type(self)(self.program, source, False)
            known.forms = forms
            self.program.helpers[source.function, own, forms] = known
            self.program.pending.append(known)
        assert isinstance(known, Calls)
        return known

    def call_function(self, node: ast.Call, source: FunctionSource) -> _native.Expr:
        bound = self._bind(node, source)
        if bound is None:
            return self.poison(node)
        operands, forms = bound
        callee = self.helper(source, forms)
        span = self.span(node)
        call = self.module.call(callee.function, operands, span)
        self.calls.append((call, callee, span))
        return self.as_declared(call, source, "return", node)

    def as_declared(self, value: _native.Expr, source: FunctionSource, name: str, node: ast.expr) -> _native.Expr:
        """A number that the function gets or gives, of the type that it declares."""
        wanted = source.declared.get(name)
        if wanted == "bool":
            return self.module.op("truth", [value], self.span(node))
        return value if wanted in (None, "void") else self.module.convert(value, wanted, self.span(node))

    def _bind(self, node: ast.Call, source: FunctionSource) -> tuple[list[_native.Expr], Forms] | None:
        """The arguments of the call in the order of the callee's parameters, and the forms of those that are no single
        value; None after an error."""
        given = self.given(node, source)
        if given is None:
            return None
        name = source.function.__name__
        parameters = inspect.signature(source.function, follow_wrapped=False).parameters
        taken: dict[str, tuple[ArrayForm | RecordForm | TupleForm, list[_native.Expr]]] = {}
        lowered: dict[str, _native.Expr] = {}
        whole = {each: argument for each, argument in given.items() if not self._comes_apart(argument, source, each)}
        in_order = len(whole) < len(given) and any(map(self.has_effects, given.values()))
        for each, argument in given.items():
            if each not in whole:
                apart = self._taken_apart(argument, source, each, in_order)
                if apart is None:
                    return None
                taken[each] = apart
            elif in_order:
                lowered[each] = self.lower_settled(argument)()
        lowered = lowered if in_order else self.lower_arguments(whole, parameters)
        nones = [each.name for each in parameters.values() if each.name not in given and each.default is None]
        taken |= {each: (_NONE, []) for each in nones if self.program.kernel and self.has_views}
        forms = tuple((each, taken[each][0]) for each in parameters if each in taken)
        operands = []
        for parameter in parameters.values():
            if parameter.name in taken:
                operands += taken[parameter.name][1]
            elif parameter.name in lowered:
                operands.append(self.as_declared(lowered[parameter.name], source, parameter.name, node))
            else:
                operands.append(self.default(parameter, name, node))
        return operands, forms

    def _comes_apart(self, argument: ast.expr, source: FunctionSource, parameter: str) -> bool:
        return (
            self.is_none(argument)
            or self.tuple_form(argument) is not None
            or self.is_record_argument(argument, source, parameter)
            or self.is_view_argument(argument, source, parameter)
        )

    def _taken_apart(
        self, argument: ast.expr, source: FunctionSource, parameter: str, settled: bool
    ) -> tuple[ArrayForm | RecordForm | TupleForm, list[_native.Expr]] | None:
        """The form of a view, tuple or record, and the values that it consists of: those of now, if `settled`. None
        after an error."""
        if self.is_none(argument):
            return _NONE, []
        if (tuple_form := self.tuple_form(argument)) is not None:
            values = self.tuple_values(argument, settled)
            return tuple_form, values
        form: ArrayForm | RecordForm
        if self.is_record_argument(argument, source, parameter):
            apart = self.record_apart(argument, source, parameter)
            if apart is None:
                return None
            form, variables = apart
        else:
            view = self.view_of(argument) if self.is_view(argument) else self.make_view(argument)
            if view is None:
                return None
            form, variables = self.view_form(view), [view.array, *view.variables]
        return form, [self.module.read(var, self.span(argument)) for var in variables]

    def tuple_form(self, node: ast.expr) -> TupleForm | None:
        """The form of the tuple that `node` is; None if it is none."""
        raise NotImplementedError

    def tuple_values(self, node: ast.expr, settled: bool = False) -> list[_native.Expr]:
        """The numbers in a tuple, evaluated from the left; `settled`: what they are now, whatever is written later."""
        raise NotImplementedError

    def given(self, node: ast.Call, source: FunctionSource) -> dict[str, ast.expr] | None:
        return self.bound(node, source.function)

    def bound(self, node: ast.Call, function: Callable[..., Any]) -> dict[str, ast.expr] | None:
        """The arguments of the call by parameter, in the order of the call; None after an error."""
        name = function.__name__
        parameters = inspect.signature(function, follow_wrapped=False).parameters
        kinds = inspect.Parameter
        positional = [
            p.name for p in parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        given: dict[str, ast.expr] = {}
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                self.error("P105", argument, "a starred argument cannot be compiled", "write it out")
                return None
            if index >= len(positional):
                self.error(
                    "P105",
                    node,
                    f"'{name}' takes {_counted(len(positional), len(positional))}, not {len(node.args)}",
                    f"its parameters are ({', '.join(parameters)})",
                )
                return None
            given[positional[index]] = argument
        for keyword in node.keywords:
            word = keyword.arg
            if word is None:
                self.error("P105", keyword, "arguments from a dict cannot be compiled", "write them out")
                return None
            if word not in parameters or parameters[word].kind is kinds.POSITIONAL_ONLY:
                self.error(
                    "P105",
                    keyword,
                    f"'{name}' has no parameter '{word}'",
                    f"its parameters are ({', '.join(parameters)})",
                )
                return None
            if word in given:
                self.error(
                    "P105",
                    keyword,
                    f"'{name}' gets two values for parameter '{word}'",
                    "leave one out",
                )
                return None
            given[word] = keyword.value
        for parameter in parameters.values():
            if parameter.name not in given and parameter.default is kinds.empty:
                self.error(
                    "P105",
                    node,
                    f"'{name}' gets no value for its parameter '{parameter.name}'",
                    f"its parameters are ({', '.join(parameters)})",
                )
                return None
        return given

    def default(self, parameter: inspect.Parameter, name: str, node: ast.Call) -> _native.Expr:
        value: Any = parameter.default
        if is_scalar(value):
            return self.number(value, node)
        self.error(
            "P106",
            node,
            f"the default of parameter '{parameter.name}' of '{name}' is {describe(value)}, not a number",
            f"pass '{parameter.name}' in the call",
        )
        return self.poison(node)


def _counted(least: int, most: int) -> str:
    if least == most:
        return f"{least} argument" + ("" if least == 1 else "s")
    if most > 9:
        return f"at least {least} arguments"
    return f"{least} to {most} arguments"
