"""Lowers the functions of `math`, `cmath` and NumPy that are composed of other operators, by one method of _Composer
each.

Each argument is evaluated once: a number is held in a temporary. Slices and whole arrays cannot be held, so they are
lowered again for each use.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from ... import _native
from ...syntax.names import source_of
from ...syntax.walks import walk
from ..expressions.arrays import outside_items
from ..expressions.constants import constant_of, whole_number
from ..expressions.effects import has_effects
from ..expressions.evaluation import lower_all, lower_held
from ..lowering import lower
from ..scope import FunctionScope
from .functions import lower_float_fold, lower_op
from .intrinsics import Intrinsic

Term = Callable[[], _native.Expr]
_MOST_COUNTED = 2000  # results for larger arguments exceed 64 bits anyway, and Python would compute them slowly


def lower_composed(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return _Composer(fn, node).compose(intrinsic.op)


def lower_pair(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """divmod(a, b)"""
    return fn.op("tuple", node, *(make() for make in _Composer(fn, node).pair(intrinsic.op)))


def lower_counted(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """math.comb, math.perm, math.factorial: a constant for constants, otherwise a call of a function in counting.py."""
    known = [whole_number(fn, part) for part in node.args]
    if not all(isinstance(value, int) and 0 <= value <= _MOST_COUNTED for value in known):
        return _Composer(fn, node, held=True).counted(intrinsic)
    return constant_of(fn, getattr(math, intrinsic.op)(*known), node)


def lower_power(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """pow(a, b) is a ** b; pow(a, b, m) is a constant for constants, otherwise a call of counting.power."""
    if len(node.args) == 2:
        return lower_op(fn, node, intrinsic)
    known = [whole_number(fn, part) for part in node.args]
    try:
        return constant_of(fn, pow(*known), node)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _Composer(fn, node, held=True).power()


def lower_dist(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """math.dist((x, y), (a, b))."""
    points = [_elements(fn, part) for part in node.args]
    if len(points[0]) != len(points[1]):
        fn.error("P023", node, "the two points of 'math.dist' have different numbers of coordinates")
    pairs = [ast.copy_location(ast.BinOp(a, ast.Sub(), b), node) for a, b in zip(*points, strict=False)]
    if not pairs:
        return fn.poison(node)
    call = ast.copy_location(ast.Call(node.func, list[ast.expr](pairs), []), node)
    return lower_float_fold(fn, call, Intrinsic("math.dist", "float_fold", "hypot", 1, len(pairs)))


def lower_prod(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """math.prod((a, b, c))."""
    result = fn.module.constant(1, fn.span(node))
    for value in lower_all(fn, _elements(fn, node.args[0])):
        result = fn.module.op("*", [result, value], fn.span(node))
    return result


def _elements(fn: FunctionScope, node: ast.expr) -> list[ast.expr]:
    items = outside_items(fn, node)
    if items is not None:
        return items
    fn.error("P023", node, "this is not a tuple whose elements are known when the function is compiled", "write (a, b)")
    return []


class _Composer:
    """Makes the expressions of one call. `held` requires that all arguments are held, as numbers."""

    def __init__(self, fn: FunctionScope, node: ast.Call, held: bool = False) -> None:
        self.fn = fn
        self.node = node
        self.span = fn.span(node)
        self.held = held
        self.arrays = not held and any(self._may_be_array(part) for part in node.args)

    def compose(self, name: str) -> _native.Expr:
        named = {str(each.arg): self._argument(each.value) for each in self.node.keywords}
        return _COMPOSED[name](self, *map(self._argument, self.node.args), **named)

    def pair(self, name: str) -> list[Term]:
        return list(_PAIRS[name](self, *map(self._argument, self.node.args)))

    def counted(self, intrinsic: Intrinsic) -> _native.Expr:
        from ...vocabulary import counting

        numbers = [self.let("int", self.term("as_index", self._argument(part))) for part in self.node.args]
        if len(numbers) == 1 and intrinsic.op == "perm":
            numbers *= 2
        shown = ", ".join(f"{{{place}}}" for place in range(len(self.node.args)))
        call = f"{intrinsic.name}({shown})"
        for number in numbers:
            self._refuse("P427", self.term("<", number, 0), f"{call}: the integers must not be negative", numbers)
        result = self._called(getattr(counting, intrinsic.op), numbers)
        self._refuse("P428", self.term("<", result, 0), f"{call} needs more than 64 bits", numbers)
        return result()

    def power(self) -> _native.Expr:
        from ...vocabulary import counting

        numbers = [self.let("int", self.term("as_index", self._argument(part))) for part in self.node.args]
        modulus, call = numbers[2], "pow({0}, {1}, {2})"
        self._refuse("P427", self.term("==", modulus, 0), f"{call}: the modulus is zero", numbers)
        self._refuse(
            "P428", self.term("==", modulus, -(2**63)), f"{call}: the modulus needs more than 64 bits", numbers
        )
        result = self._called(counting.power, numbers)
        missing = self.term("==", result, modulus)
        self._refuse("P427", missing, f"{call}: the base has no inverse for this modulus", numbers)
        return result()

    def _called(self, function: object, numbers: list[Term]) -> Term:
        """The result of a call of a jit function, held in a temporary."""
        callee = self.fn.helper(source_of(function))
        value = self.fn.module.call(callee.function, [number() for number in numbers], self.span)
        self.fn.calls.append((value, callee, self.span))
        return self._held(value, self.node)

    def _refuse(self, code: str, test: Term, text: str, numbers: list[Term]) -> None:
        """Ends the program with an error if `test` is true."""
        module = self.fn.module
        values = [number() for number in numbers[: len(self.node.args)]]
        fail = module.fail(code, text, values, self.span)
        self.fn.out.append(module.if_(test(), [fail], [], self.span))

    # ------------------------------------------------------------ terms

    def _may_be_array(self, node: ast.expr) -> bool:
        if has_effects(self.fn, node):
            return False
        parts = list(walk(node))
        if any(isinstance(part, ast.Slice) for part in parts):
            return True
        if self.fn.kernel and not any(self._names_array(part) for part in parts):
            return False  # only names of arrays are arrays in kernels
        return not any(isinstance(part, ast.Subscript | ast.Call | ast.IfExp | ast.BoolOp) for part in parts)

    def _names_array(self, part: ast.AST) -> bool:
        """Whether the node is the name of an array of the kernel, or of a parameter that may be an array."""
        if not isinstance(part, ast.Name):
            return False
        return part.id in self.fn.parameters or self.fn.program.uses.takes_array(self.fn.source, part.id)

    def _argument(self, node: ast.expr) -> Term:
        if self.held:
            return lower_held(self.fn, node)
        if self._may_be_array(node):
            return lambda: lower(self.fn, node)
        return self._held(lower(self.fn, node), node)

    def _held(self, value: _native.Expr, node: ast.expr) -> Term:
        var = self.fn.hold(value, node)
        return lambda: self.fn.module.read(var, self.span)

    def let(self, name: str, *operands: Term | bool | int | float) -> Term:
        """The term, held in a temporary unless the arguments may be arrays."""
        term = self.term(name, *operands)
        return term if self.arrays else self._held(term(), self.node)

    def term(self, name: str, *operands: Term | bool | int | float) -> Term:
        return lambda: self.op(name, *operands)

    def op(self, name: str, *operands: Term | bool | int | float) -> _native.Expr:
        module = self.fn.module
        values = [o() if callable(o) else module.constant(o, self.span) for o in operands]
        return module.op(name, values, self.span)

    def constant(self, value: float, scalar: str) -> Term:
        module = self.fn.module
        return lambda: module.convert(module.constant(value, self.span), scalar, self.span)

    def like(self, value: Term, *operands: Term) -> _native.Expr:
        """`value` in the float type of a NumPy function of the operands."""
        return self.op("numpy", self.term("select", True, self.term("float", value), self._float_of(*operands)))

    def _float_of(self, *operands: Term) -> Term:
        """A number with the float type of a NumPy function of the operands."""
        return self.term("numpy", self.term("copysign", operands[0], operands[-1]))

    # ------------------------------------------------------------ functions with two results

    def pair_divmod(self, x: Term, y: Term) -> tuple[Term, Term]:
        return self.term("//", x, y), self.term("%", x, y)

    def pair_np_divmod(self, x: Term, y: Term) -> tuple[Term, Term]:
        return self.term("numpy", self.term("//", x, y)), self.term("numpy", self.term("%", x, y))

    def pair_polar(self, z: Term) -> tuple[Term, Term]:
        x, y = self._parts(z)
        return self.term("abs", self.term("complex", x, y)), self.term("atan2", y, x)

    def pair_modf(self, x: Term) -> tuple[Term, Term]:
        return self._modf(self.let("float", x))

    def pair_np_modf(self, x: Term) -> tuple[Term, Term]:
        return self._modf(self.let("numpy", self.term("copysign", x, x)))

    def _modf(self, x: Term) -> tuple[Term, Term]:
        whole = self.let("trunc", x)
        rest = self.term("select", self.term("isinf", x), 0.0, self.term("-", x, whole))
        return self.term("copysign", rest, x), whole

    def pair_frexp(self, x: Term) -> tuple[Term, Term]:
        return self._frexp(self.let("float", x))

    def pair_np_frexp(self, x: Term) -> tuple[Term, Term]:
        part, power = self._frexp(self.let("float", x))
        module = self.fn.module
        return (lambda: self.like(part, x)), (lambda: module.convert(power(), "i32", self.span))

    def _frexp(self, x: Term) -> tuple[Term, Term]:
        """frexp by the logarithm. The estimated power may be off by one or two, which `_above` corrects."""
        size = self.let("abs", x)
        ordinary = self.let("and", self.term("isfinite", x), self.term("!=", x, 0.0))
        small = self.let("<", size, 2.0**-1000)
        normal = self.term("select", small, self.term("*", size, 2.0**54), size)
        number = self.let("select", ordinary, normal, 1.0)
        guess = self.let("min", self.term("max", self.term("floor", self.term("log2", number)), -1021.0), 1021.0)
        scaled = self.let("*", number, self.term("exp2", self.term("neg", guess)))
        above = self.let("select", self.term(">=", scaled, 4.0), 3.0, self._above(scaled))
        part = self.term("copysign", self.term("*", scaled, self.term("exp2", self.term("neg", above))), x)
        power = self.term("int", self.term("+", guess, above))
        power = self.term("-", power, self.term("select", small, 54, 0))
        return self.let("select", ordinary, part, x), self.let("select", ordinary, power, 0)

    def _above(self, scaled: Term) -> Term:
        below = self.term("select", self.term(">=", scaled, 0.5), 0.0, -1.0)
        near = self.term("select", self.term(">=", scaled, 1.0), 1.0, below)
        return self.term("select", self.term(">=", scaled, 2.0), 2.0, near)

    # ------------------------------------------------------------ functions of `math`: Python floats

    def isclose(self, x: Term, y: Term, rel_tol: Term | None = None, abs_tol: Term | None = None) -> _native.Expr:
        """math.isclose. An infinity is close only to itself."""
        for each in self.node.keywords:
            if not isinstance(each.value, ast.Constant):
                tolerance = rel_tol if each.arg == "rel_tol" else abs_tol
                assert tolerance is not None
                self._refuse("P427", self.term("<", tolerance, 0), "math.isclose: a tolerance is negative", [])
        a, b = self.let("float", x), self.let("float", y)
        gap = self.let("abs", self.term("-", a, b))
        most = self.let("max", self.term("abs", a), self.term("abs", b))
        near = self.term("<=", gap, self.term("*", most, 1e-9 if rel_tol is None else self.term("float", rel_tol)))
        if abs_tol is not None:
            near = self.term("or", near, self.term("<=", gap, self.term("float", abs_tol)))
        return self.op("or", self.term("==", a, b), self.term("and", near, self.term("isfinite", most)))

    def isqrt(self, x: Term) -> _native.Expr:
        """math.isqrt. The float root is off by one at most; the test avoids squares, which may exceed 64 bits."""
        number = self.let("as_index", x)
        root = self.let("int", self.term("sqrt", self.term("float", number)))
        more = self.let("+", root, 1)
        less = self.term("-", root, 1)
        grown = self.term("<=", more, self.term("//", number, more))
        shrunk = self.term(">", root, self.term("//", number, root))
        return self.op("select", shrunk, less, self.term("select", grown, more, root))

    def ldexp(self, x: Term, power: Term) -> _native.Expr:
        return self.op("float", self._scaled(x, self.let("as_index", power)))

    def remainder(self, x: Term, y: Term) -> _native.Expr:
        """math.remainder, exact as fmod: the rest of the magnitudes, or the distance to the next multiple."""
        a, size = self.let("float", x), self.let("abs", self.term("float", y))
        whole = self.let("abs", a)
        rest = self.let("fmod", whole, size)
        missing = self.let("-", size, rest)
        half = self.term("*", 0.5, self.term("-", whole, rest))
        even = self.term("-", rest, self.term("*", 2.0, self.term("fmod", half, size)))
        down = self.term("select", self.term(">", rest, missing), self.term("neg", missing), even)
        nearest = self.term("select", self.term("<", rest, missing), rest, down)
        return self.op("float", self.term("*", self.term("copysign", 1.0, a), nearest))

    def ulp(self, x: Term) -> _native.Expr:
        size = self.let("abs", self.term("float", x))
        above = self.let("nextafter", size, math.inf)
        below = self.term("-", size, self.term("nextafter", size, 0.0))
        gap = self.term("select", self.term("isinf", above), below, self.term("-", above, size))
        return self.op("float", self.term("select", self.term("isinf", size), size, gap))

    # ------------------------------------------------------------ functions of `cmath`: Python complex numbers

    def _parts(self, z: Term) -> tuple[Term, Term]:
        return self.let("float", self.term("real", z)), self.let("float", self.term("imag", z))

    def complex_phase(self, z: Term) -> _native.Expr:
        x, y = self._parts(z)
        return self.op("atan2", y, x)

    def complex_rect(self, size: Term, angle: Term) -> _native.Expr:
        """cmath.rect. For the angle 0 the imaginary part is 0 for any size, and for the size 0 the result is 0 for any
        angle."""
        r, phi = self.let("float", size), self.let("float", angle)
        along = self.let("==", phi, 0.0)
        directed = self.let("isfinite", phi)
        empty = self.let("==", r, 0.0)
        real, imag = self.term("*", r, self.term("cos", phi)), self.term("*", r, self.term("sin", phi))
        flat = self.term("select", self.term("isnan", r), 0.0, self.term("*", self.term("copysign", 1.0, r), phi))
        sized = self.term("select", self.term("isinf", r), math.inf, math.nan)
        lost = self.term("select", empty, 0.0, sized), self.term("select", empty, 0.0, math.nan)
        known = self.term("select", along, r, real), self.term("select", along, flat, imag)
        parts = (self.term("select", directed, *pair) for pair in zip(known, lost, strict=True))
        return self.op("complex", *parts)

    def complex_log(self, z: Term, base: Term | None = None) -> _native.Expr:
        """Whether the numbers are complex ones of Python."""
        log = self._log(z)
        return log() if base is None else self.op("/", log, self._log(base))

    def _log(self, z: Term) -> Term:
        return self.term("log", self.term("complex", *self._parts(z)))

    # ------------------------------------------------------------ functions of NumPy

    def np_ldexp(self, x: Term, power: Term) -> _native.Expr:
        return self.like(self._scaled(x, self.let("as_index", self.term("+", power, 0))), x)

    def _scaled(self, x: Term, power: Term) -> Term:
        """x * 2**power, rounded once: after a step that may round, the next step can only lead to 0."""
        most = self.term("int", self.term("min", power, 2200))
        left = self.let("max", most, -2200)
        first, rest = self._step(left)
        second, third = self._step(rest)
        value = self._times_power(self.term("float", x), first)
        further = self._times_power(self._times_power(value, second), third)
        return self.term("select", self.term("==", rest, 0), value, further)

    def _step(self, power: Term) -> tuple[Term, Term]:
        """An exponent in the range of normal numbers, and the rest of `power`."""
        step = self.let("select", self.term("<", power, -1022), -969, self.term("min", power, 1023))
        return step, self.let("-", power, step)

    def _times_power(self, x: Term, power: Term) -> Term:
        return self.let("*", x, self.term("exp2", self.term("float", power)))

    def logaddexp(self, x: Term, y: Term) -> _native.Expr:
        return self._added_logs(x, y, "exp", 1.0, math.log(2))

    def logaddexp2(self, x: Term, y: Term) -> _native.Expr:
        return self._added_logs(x, y, "exp2", 1 / math.log(2), 1.0)

    def _added_logs(self, x: Term, y: Term, exp: str, unit: float, log_of_2: float) -> _native.Expr:
        """np.logaddexp: the maximum plus log1p of the scaled smaller operand, computed in at least 32 bits."""
        zero = self.term("select", True, self.constant(-0.0, "f32"), self._float_of(x, y))
        a, b = self.let("+", x, zero), self.let("+", y, zero)
        far = self.term("neg", self.term("abs", self.term("-", a, b)))
        added = self.term("*", self.term("log1p", self.term(exp, far)), unit)
        equal = self.term("+", a, log_of_2)  # also if both are infinite
        unequal = self.term("+", self.term("maximum", a, b), added)
        return self.like(self.term("select", self.term("==", a, b), equal, unequal), x, y)

    def heaviside(self, x: Term, y: Term) -> _native.Expr:
        positive = self.term("select", self.term(">", x, 0), 1.0, self.term("float", x))  # NaN stays NaN
        other = self.term("select", self.term("<", x, 0), 0.0, positive)
        return self.like(self.term("select", self.term("==", x, 0), self.term("float", y), other), x, y)

    def float_power(self, x: Term, y: Term) -> _native.Expr:
        one = self.constant(1.0, "f64")
        return self.op("**", self.term("*", x, one), self.term("*", y, one))

    def bitwise_count(self, x: Term) -> _native.Expr:
        """np.bitwise_count: adds up the bits of the magnitude in pairs, nibbles and bytes; a product adds the bytes."""
        module, span = self.fn.module, self.span
        size = self.term("abs", self.term("as_index", self.term("+", x, 0)))
        bits = self.let("pos", lambda: module.convert(size(), "u64", span))
        pairs = self.let("-", bits, self.term("&", self.term(">>", bits, 1), 0x5555555555555555))
        upper = self.term("&", self.term(">>", pairs, 2), 0x3333333333333333)
        nibbles = self.let("+", self.term("&", pairs, 0x3333333333333333), upper)
        octets = self.term("&", self.term("+", nibbles, self.term(">>", nibbles, 4)), 0x0F0F0F0F0F0F0F0F)
        count = self.op(">>", self.term("*", octets, 0x0101010101010101), 56)
        return module.convert(count, "u8", span)

    def spacing(self, x: Term) -> _native.Expr:
        """np.spacing: the distance to the neighbour away from 0 or, for float16, to the next greater number."""
        a = self.let("numpy", self.term("copysign", x, x))
        one = self.term("select", True, 1.0, a)
        wider = self.term("or", self.term("!=", self.term("+", one, 2.0**-20), 1.0), self.term("isinf", a))
        away = self.term("and", self.term("<", a, 0), wider)
        toward = self.term("select", away, -math.inf, math.inf)
        return self.op("-", self.term("nextafter", a, toward), a)


# The methods by the operators of the rows whose lowering is "composed" or "pair".
_COMPOSED: dict[str, Callable[..., _native.Expr]] = {
    "isclose": _Composer.isclose,
    "isqrt": _Composer.isqrt,
    "ldexp": _Composer.ldexp,
    "remainder": _Composer.remainder,
    "ulp": _Composer.ulp,
    "complex_phase": _Composer.complex_phase,
    "complex_rect": _Composer.complex_rect,
    "complex_log": _Composer.complex_log,
    "np_ldexp": _Composer.np_ldexp,
    "logaddexp": _Composer.logaddexp,
    "logaddexp2": _Composer.logaddexp2,
    "heaviside": _Composer.heaviside,
    "float_power": _Composer.float_power,
    "bitwise_count": _Composer.bitwise_count,
    "spacing": _Composer.spacing,
}
_PAIRS: dict[str, Callable[..., tuple[Term, Term]]] = {
    "divmod": _Composer.pair_divmod,
    "np_divmod": _Composer.pair_np_divmod,
    "polar": _Composer.pair_polar,
    "modf": _Composer.pair_modf,
    "np_modf": _Composer.pair_np_modf,
    "frexp": _Composer.pair_frexp,
    "np_frexp": _Composer.pair_np_frexp,
}
