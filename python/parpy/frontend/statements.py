"""Lowers Python statements: one method for each kind of ast node, labels, and loops over ranges."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import _native
from ..syntax.paths import leaves
from ..syntax.text import as_text
from ..vocabulary import operators
from .arrays import first_name, integer_constant, mask_rank, string_key
from .expressions import BINARY, is_literal
from .labels import Label
from .loops import Loops

# What to say of statements outside the language: what it is, and the way out.
_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.FunctionDef: ("a nested function", "define it outside and decorate it with @parpy.jit"),
    ast.AsyncFunctionDef: ("a nested function", "define it outside as an ordinary function"),
    ast.ClassDef: ("a class", "define it outside of the function"),
    ast.Import: ("an import", "import at the top of the module"),
    ast.ImportFrom: ("an import", "import at the top of the module"),
    ast.Global: ("'global'", "pass an array of one element and assign to it"),
    ast.Nonlocal: ("'nonlocal'", "pass an array of one element and assign to it"),
    ast.Delete: ("'del'", "leave it out; local variables end with the function"),
    ast.Try: ("'try'", "test for the condition with 'if' instead"),
    ast.TryStar: ("'try'", "test for the condition with 'if' instead"),
    ast.Raise: ("'raise'", "store a flag into an array and raise in the caller"),
    ast.AsyncFor: ("'async for'", "use an ordinary for loop"),
    ast.AsyncWith: ("'async with'", "use an ordinary statement"),
    ast.Match: ("'match'", "use if and elif"),
}


class Statements(Loops):
    """Statements of one function."""

    on_device = False  # inside `with parpy.gpu`

    def body(self, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        """The statements of a block, each with the labels in front of it, up to a branch that is known to leave it."""
        outer, self.out, goes_on = getattr(self, "out", []), [], True
        labels: list[Label] = []
        for node in nodes:
            found = self._label(node)
            if found is not None:
                labels.append(found)
                continue
            self.goes_on = True
            self._labelled(labels, node)
            labels = []
            if not (goes_on := self.goes_on or not isinstance(node, ast.If)):
                break
        for label in labels:
            self._dangling(label, "no statement follows in its block")
        lowered, self.out, self.goes_on = self.out, outer, goes_on
        return lowered

    def statement(self, node: ast.stmt) -> None:
        method = _METHODS.get(type(node))
        if method is not None:
            method(self, node)
            return
        what, fix = _REFUSED.get(type(node), (f"'{type(node).__name__}'", ""))
        self.error("P010", self.head(node), f"{what} cannot be compiled", fix)
        self.give_up_on(node)

    def head(self, node: ast.stmt) -> tuple[int, int, int, int, int]:
        """The place of a statement that may hold others: its first line."""
        source, line, column, end_line, end_column = self.span(node)
        if end_line == line:
            return source, line, column, end_line, end_column
        text = self.source.text.split("\n")[line - self.source.first_line]
        return source, line, column, line, len(text.rstrip().encode()) + 1

    # ------------------------------------------------------------ assignment

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1:
            self._assign_one(node.targets[0], node.value, node)
            return
        if self.record_chain(node):
            return
        tuples = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        sliced = any(isinstance(part, ast.Slice) for target in node.targets for part in ast.walk(target))
        if tuples or (sliced and not is_literal(node.value)):
            what = "a tuple" if tuples else "slices"
            self.error(
                "P016",
                node,
                f"a chained assignment to {what} cannot be compiled",
                "write one assignment for each target",
            )
            self.give_up_on(node)
            return
        again = self.held_for(node.targets[0], partial(self.lower, node.value), node.value, node)
        for target in node.targets:
            self.assign_value(target, again(), node)

    def _assign_one(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        value = self.chosen(value)
        if self.kernel_array(target, value) or self.tuple_assignment(target, value):
            return
        if self.view_assignment(target, value) or self.record_copy(target, value, node):
            return
        if isinstance(target, ast.Name) and self.is_grid(value):
            self.grids.add(target.id)
            return
        self.assign(target, value, node)

    def assign(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            self._assign_tuple(target, value, node)
        else:
            self.assign_value(target, self.lower(value), node)

    def assign_value(
        self,
        target: ast.expr,
        value: _native.Expr,
        node: ast.stmt,
        update: str | None = None,
    ) -> None:
        """target = value, or target <update>= value, for a name or an element."""
        span = self.span(node)
        if isinstance(target, ast.Name):
            if update is not None:
                var = self.local(ast.copy_location(ast.Name(target.id, ast.Load()), target))
                if var is None:
                    return
            elif target.id in self.dict_params:
                self.misused_dict(target.id, target)
                return
            elif self.refuses_reuse(target):
                return
            self.assigned.add(target.id)
            self.plain_uses.setdefault(target.id, target)
            var = self.variable(target.id, target)
            self.out.append(self.module.assign(var, value, update, span))
        elif isinstance(target, ast.Subscript):
            if string_key(target) is not None and not self.is_field_of_element(target):
                self.refuse_entry(target)
                return
            if mask_rank(target.slice):
                self._assign_masked(target, value, node, update)
                return
            (array, indices), before = self.apart(lambda: self.element(target))
            sliced = self.over_slices(getattr(node, "value", target))
            if before and update is None and not sliced:  # they may write what the value reads
                value = self.module.read(self.hold(value, target), span)
            self.out.extend(before)
            if array is not None:
                self.out.append(self.module.store(array, indices, value, update, span))
        elif isinstance(target, ast.Starred):
            self.error("P016", target, "a starred target cannot be compiled", "name every element")
        else:
            self.error(
                "P016",
                target,
                "only variables and array elements can be assigned to",
                "assign to a name or to an element x[i]",
            )

    def _assign_masked(self, target: ast.Subscript, value: _native.Expr, node: ast.stmt, update: str | None) -> None:
        """x[x[:] > 0] = value: of each element its old value or the new one is stored."""
        assert isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        if any(isinstance(part, ast.Slice) for part in ast.walk(node.value or target)):
            self.error(
                "P016",
                node,
                "slices are assigned to the elements that a mask selects",
                "write x[:] = np.where(mask, …, x[:]), with slices as large as the mask",
            )
            return
        span = self.span(target)
        array = self.array(target.value)
        if array is None:
            return
        if self.has_effects(node.value or target):  # the mask is evaluated after the value
            value = self.module.read(self.hold(value, target), span)

        def everything() -> list[_native.Expr]:
            return [self.module.slice(None, None, None, span) for _ in range(mask_rank(target.slice))]

        old = self.module.load(array, everything(), span)
        if update is not None:
            value = self.module.op(update, [self.module.load(array, everything(), span), value], self.span(node))
        chosen = self.module.op("select", [self.lower(target.slice), value, old], span)
        self.out.append(self.module.store(array, everything(), chosen, None, self.span(node)))

    def _assign_tuple(self, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
        """All right sides first, then the targets from the left."""
        value = self.spelled_out(value)
        if self.names_views(target, value):
            assert isinstance(value, ast.Tuple | ast.List)
            for one, part in zip(target.elts, value.elts, strict=True):
                if not self.view_assignment(one, part):
                    self.assign(one, part, node)
            return
        if self.record_exchange(target, value, node):
            return
        if self.unpacks_tuples(target, value):
            self._assign_elements(target, self.hidden_tuple(self.held_tuple(value), value), node)
            return
        if self.over_slices(target) or self.over_slices(value):
            self._assign_slices(target, value, node)
            return
        pairs = self._pairs(target, value)
        if pairs is None:
            self.give_up_on(target)
            return
        if len(pairs) == 1 or not _interfere(pairs, self.has_effects):
            for one, make, _ in pairs:
                self.assign_value(one, make(), node)
            return
        held = [self.held_for(one, make, source, node) for one, make, source in pairs]
        for (one, _, _), again in zip(pairs, held, strict=True):
            self.assign_value(one, again(), node)

    def _assign_slices(self, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
        """`x[:2], x[2:4] = x[2:4], x[:2]`: one after the other: a slice by itself is a view in NumPy, which has what is
        stored by then. Nothing may be computed of what an earlier target may change."""
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        names: set[str] = set()
        stored = False
        separate = len(values) == len(target.elts) and not self.has_effects(value)
        for one, part in zip(target.elts, values, strict=False):
            computed = part.slice if isinstance(part, ast.Subscript) and self.over_slices(part) else part
            for read in ast.walk(computed):
                separate &= not (isinstance(read, ast.Name) and read.id in names)
                separate &= not (isinstance(read, ast.Subscript) and stored)
            separate &= isinstance(one, ast.Name | ast.Subscript)
            names |= {first.id for first in [first_name(one)] if isinstance(first, ast.Name)}
            stored |= isinstance(one, ast.Subscript)
        if not separate:
            self.error(
                "P016",
                node,
                "slices in an assignment to several targets cannot be compiled where values are computed of them",
                "write one assignment for each target",
            )
            return
        for one, part in zip(target.elts, values, strict=True):
            self.assign_value(one, self.lower(part), ast.copy_location(ast.Assign([one], part), node))

    def _assign_elements(self, target: ast.Tuple | ast.List, value: ast.expr, node: ast.stmt) -> None:
        """The targets get the elements of a tuple that no target is."""
        for index, one in enumerate(target.elts):
            part = ast.copy_location(ast.Subscript(value, ast.copy_location(ast.Constant(index), value)), one)
            if isinstance(one, ast.Tuple | ast.List):
                self._assign_elements(one, part, node)
            elif not self.tuple_assignment(one, part):
                self.assign_value(one, self.lower(part), node)

    def _pairs(
        self, target: ast.expr, value: ast.expr
    ) -> list[tuple[ast.expr, Callable[[], _native.Expr], ast.expr | None]] | None:
        """Each single target with what makes its value and the expression that is read for it
        (None where it reads no variable that could be a target). None after an error."""
        if not isinstance(target, ast.Tuple | ast.List):
            return [(target, lambda: self.lower(value), value)]
        starred = next((t for t in target.elts if isinstance(t, ast.Starred)), None)
        if starred is not None:
            self.error("P016", starred, "a starred target cannot be compiled", "name every element")
            return None
        count = len(target.elts)
        value = self.spelled_out(value)
        if isinstance(value, ast.Tuple | ast.List):
            if len(value.elts) != count:
                self._unequal(target, count, len(value.elts))
                return None
            nested = [self._pairs(t, v) for t, v in zip(target.elts, value.elts, strict=True)]
            if any(part is None for part in nested):
                return None
            return [pair for part in nested if part is not None for pair in part]
        makers = self.unpack_shape(value, count)
        makers = self.pair(value) if makers is None else makers
        makers = self.unpack_kernel(value, count) if makers is None else makers
        if makers is None:
            self.error(
                "P017",
                value,
                "this value cannot be unpacked into several targets",
                "a tuple, the shape of an array and divmod can",
            )
            return None
        if makers and len(makers) != count:
            self._unequal(target, count, len(makers))
            return None
        if not makers:
            return None
        return [(t, make, None) for t, make in zip(target.elts, makers, strict=True)]

    def _unequal(self, node: ast.expr, targets: int, values: int) -> None:
        self.error(
            "P017",
            node,
            f"{values} value{'' if values == 1 else 's'} cannot be assigned to "
            f"{targets} target{'' if targets == 1 else 's'}",
            "give both sides the same length",
        )

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.MatMult):
            self.error("P011", node, "the update '@=' cannot be compiled", "write x[:, :] = x @ y")
            return
        if isinstance(node.target, ast.Name) and node.target.id not in self.assigned:
            # Python reads the target first.
            self.local(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        value, before = self.apart(lambda: self.lower(node.value))
        if before and isinstance(node.target, ast.Subscript) and self.has_effects(node.value):
            self._update_early(node, node.target, value, before)
        else:
            self.out.extend(before)
            self.assign_value(node.target, value, node, BINARY[type(node.op)])

    def _update_early(
        self, node: ast.AugAssign, target: ast.Subscript, value: _native.Expr, before: list[_native.Stmt]
    ) -> None:
        """An update whose value needs statements `before` it, which may write what Python has read by then: the
        subscripts and, unless they are slices, the old value."""
        array, indices = self.held_element(target)
        if array is None:
            return
        update: str | None = BINARY[type(node.op)]
        if not any(isinstance(part, ast.Slice) for part in ast.walk(target.slice)):
            old = self.module.load(array, indices(), self.span(target))
            old = self.module.read(self.hold(old, target), self.span(target))
            value, update = self.binary(node.op, old, value, target), None
        self.out.extend(before)
        self.out.append(self.module.store(array, indices(), value, update, self.span(node)))

    def _annotated(self, node: ast.AnnAssign) -> None:
        """x: T = value. The annotation is for readers; the type follows from the values."""
        if node.value is not None:
            self._assign_one(node.target, node.value, node)

    # ------------------------------------------------------------ loops and branches

    def _for(self, node: ast.For) -> None:
        self.before_else(node)
        call = self._range(node)
        if call is None:
            self.give_up_on(node.target)
            self._inside(node, node.body)
            return
        begin, end, step = call
        if not isinstance(node.target, ast.Name):
            self.error(
                "P016",
                node.target,
                "the target of a for loop must be a name",
                "assign to the element inside the loop",
            )
            return
        name = node.target.id
        self.refuses_reuse(node.target)
        before = set(self.assigned)
        self.assigned.add(name)
        self.plain_uses.setdefault(name, node.target)
        var = self.variable(name, node.target)
        body = self._inside(node, node.body)
        self.assigned |= before
        span = self.span(node, node.iter)
        self.out.append(self.module.for_(var, begin, end, step, body, span))
        self.leave_too(node)
        self.lower_else(node)

    def _inside(self, loop: ast.For | ast.While, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        self.conditions += 1
        self.loops.append((loop, self.conditions))
        lowered = self.body(nodes)
        self.loops.pop()
        self.conditions -= 1
        return lowered

    def _range(self, node: ast.For) -> tuple[_native.Expr, _native.Expr, _native.Expr] | None:
        """begin, end and step of the loop; None after an error."""
        call = node.iter
        binding = self.resolve(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or binding is None or binding.value is not builtins.range:
            self.error(
                "P013",
                call,
                "a for loop must run over a range",
                "write for i in range(n), and use x[i] in the body",
            )
            return None
        self.rely_on(binding)
        if call.keywords or not 1 <= len(call.args) <= 3:
            found = "keyword arguments" if call.keywords else f"{len(call.args)} arguments"
            self.error(
                "P014",
                call,
                f"'range' takes 1 to 3 arguments, not {found}",
                "write range(stop), range(start, stop) or range(start, stop, step)",
            )
            return None
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                what = "'range' takes no starred argument in compiled code"
                self.error("P014", argument, what, "write range(start, stop, step)")
                return None
        parts = self.lower_all(call.args)
        span = self.span(call)
        if len(parts) == 1:
            parts.insert(0, self.module.constant(0, span))
        if len(parts) == 2:
            parts.append(self.module.constant(1, span))
        elif integer_constant(call.args[2]) == 0:
            self.error(
                "P015",
                call.args[2],
                "range() arg 3 must not be zero",
                "use a positive or negative step",
            )
        return parts[0], parts[1], parts[2]

    def _while(self, node: ast.While) -> None:
        self.before_else(node)
        span = self.span(node, node.test)
        test, before = self.branch(lambda: self.condition(node.test))
        body = self._inside(node, node.body)
        if before:
            # The condition needs statements: they run anew at the head of each iteration.
            leave = self.module.if_(self.module.op("not", [test], span), [self.module.break_(span)], [], span)
            test = self.module.constant(True, span)
            body = [*before, leave, *body]
        self.out.append(self.module.while_(test, body, span))
        self.leave_too(node)
        self.lower_else(node)

    def _if(self, node: ast.If) -> None:
        if (known := self.known_truth(node.test)) is not None:
            taken = node.body if known else node.orelse
            self.out.extend(self.body(taken))
            self.goes_on = self.goes_on and not leaves(taken)
            return
        test = self.condition(node.test)
        before = set(self.assigned)
        self.conditions += 1
        then_body = self.body(node.body)
        after_then, self.assigned = self.assigned, before
        else_body = self.body(node.orelse)
        self.assigned |= after_then
        self.conditions -= 1
        self.goes_on = True
        self.out.append(self.module.if_(test, then_body, else_body, self.span(node, node.test)))

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            context = self.resolve(item.context_expr)
            if context is None or context.value is not operators.gpu:
                self.error(
                    "P021",
                    item.context_expr,
                    "only 'with parpy.gpu' can be compiled",
                    "move other context managers to the caller",
                )
                self.give_up_on(node)
                return
            self.rely_on(context)
            if item.optional_vars is not None:
                self.error(
                    "P021",
                    item.optional_vars,
                    "'with parpy.gpu' gives no value",
                    "leave out 'as'",
                )
        outer, self.on_device = self.on_device, True
        self.out.append(self.module.gpu(self.body(node.body), self.head(node)))
        self.on_device = outer

    # ------------------------------------------------------------ the others

    def _expression(self, node: ast.Expr) -> None:
        """Docstrings and `...` are nothing; calls of jit functions run; elements are read where reads are checked."""
        value = node.value
        if isinstance(value, ast.Constant) and (value.value is ... or isinstance(value.value, str)):
            return
        if self.kernel_statement(node):
            return
        lowered = self.lower(value)
        reads = any(isinstance(part, ast.Subscript) for part in ast.walk(value))
        if self.has_effects(value) or reads:
            self.out.append(self.module.evaluate(lowered, self.span(node)))

    def _return(self, node: ast.Return) -> None:
        value, span = node.value, self.span(node)
        if self.inlined_results is not None:
            self.return_inlined(node)
        elif value is None or (isinstance(value, ast.Constant) and value.value is None):
            self.bare_returns.append(node)
            self.out.append(self.module.return_(None, span))
        elif self.source.declared.get("return") == "void":
            self.refuse_result(node)
        elif self.entry and not self.program.kernel:
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            self._return_to_python(node, value, self.lower_all(parts))
        else:
            self.out.append(self.module.return_(self.lower(value), span))

    def return_value(self, node: ast.Return, value: _native.Expr) -> None:
        """A return of one number, which is computed already."""
        if self.entry and not self.program.kernel:
            assert node.value is not None
            self._return_to_python(node, node.value, [value])
        else:
            self.out.append(self.module.return_(value, self.span(node)))

    def _return_to_python(self, node: ast.Return, value: ast.expr, values: list[_native.Expr]) -> None:
        """The entry stores its results where the caller finds them."""
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        span = self.span(node)
        results = [self.module.variable(self.unique_name("result"), self.span(part)) for part in parts]
        if self.results is None:
            self.results, self.returns_tuple = results, isinstance(value, ast.Tuple)
        elif (len(self.results), self.returns_tuple) != (len(results), isinstance(value, ast.Tuple)):
            self.error(
                "P017",
                value,
                "the function returns another number of values elsewhere",
                "return the same number of values on every path",
            )
            return
        zero = [self.module.constant(0, span) for _ in parts]
        stores = [
            self.module.store(result, [index], value, None, span)
            for result, index, value in zip(self.results, zero, values, strict=True)
        ]
        # Elements of arrays are read on the device.
        self.out.extend(stores if self.on_device else [self.module.gpu(stores, span)])
        if node is not self.node.body[-1]:
            self.out.append(self.module.return_(None, span))

    def _assert(self, node: ast.Assert) -> None:
        message = ""
        if node.msg is not None:
            if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
                message = node.msg.value
            else:
                what = "the message of an assertion must be a string constant"
                self.error("P027", node.msg, what, "write the text out")
        test = self.condition(node.test)
        self.out.append(self.module.assert_(test, as_text(message), self.span(node)))

    def _break(self, node: ast.Break) -> None:
        self.note_break(node)
        self.out.append(self.module.break_(self.span(node)))

    def _continue(self, node: ast.Continue) -> None:
        self.out.append(self.module.continue_(self.span(node)))

    def _pass(self, node: ast.Pass) -> None:
        pass


def _interfere(
    pairs: list[tuple[ast.expr, Callable[[], Any], ast.expr | None]],
    has_effects: Callable[[ast.expr], bool],
) -> bool:
    """Whether assigning an earlier target may change, or be seen by, a later value."""
    names: set[str] = set()
    stored = False
    for target, _, source in pairs:
        if source is not None:
            if has_effects(source):
                return True
            for part in ast.walk(source):
                if isinstance(part, ast.Name) and part.id in names:
                    return True
                if isinstance(part, ast.Subscript) and stored:
                    return True
        if isinstance(target, ast.Name):
            names.add(target.id)
        else:
            stored = True
    return False


_METHODS: dict[type[ast.stmt], Callable[[Statements, Any], None]] = {
    ast.Assign: Statements._assign,
    ast.AugAssign: Statements._augmented,
    ast.AnnAssign: Statements._annotated,
    ast.For: Statements._for,
    ast.While: Statements._while,
    ast.If: Statements._if,
    ast.With: Statements._with,
    ast.Expr: Statements._expression,
    ast.Return: Statements._return,
    ast.Assert: Statements._assert,
    ast.Break: Statements._break,
    ast.Continue: Statements._continue,
    ast.Pass: Statements._pass,
}
