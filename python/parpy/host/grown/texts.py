"""How a loop uses the characters of texts: where it only compares them, they are numbers in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Container, Set

from ...syntax.walks import walk

_OPERATORS = ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE


class Texts:
    """The characters that a loop reads from texts with these names. `outside`: the names that are used outside of the
    loop."""

    def __init__(self, node: ast.AST, names: Set[str], outside: Container[str]) -> None:
        self.names = names
        self.characters: set[ast.AST] = set()  # the subscripts whose values are compared or get a name
        self._variables: set[str] = set()  # the names that only get characters
        if not names:
            return
        nodes = list(walk(node))
        given: dict[str, list[bool]] = {}
        for part in nodes:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                is_one = len(part.targets) == 1 and self._is_subscript(part.value)
                given.setdefault(part.targets[0].id, []).append(is_one)
            elif isinstance(part, ast.For):
                for target, name in self.walked(part) or []:
                    if isinstance(target, ast.Name) and name is not None:
                        given.setdefault(target.id, []).append(True)
        names_in = [part for part in nodes if isinstance(part, ast.Name)]
        stores = [part.id for part in names_in if not isinstance(part.ctx, ast.Load)]
        self._variables = {
            name
            for name, values in given.items()
            if all(values) and stores.count(name) == len(values) and name not in outside
        }
        compared = {each for part in nodes if self._uses_characters(part) for each in walk(part)}
        loads = [part for part in names_in if isinstance(part.ctx, ast.Load) and part.id in self._variables]
        self._variables -= {part.id for part in loads if part not in compared}
        for part in nodes:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                if part.targets[0].id in self._variables:
                    self.characters.add(part.value)
            elif self._uses_characters(part):
                self.characters.update(each for each in walk(part) if isinstance(each, ast.Subscript))

    def _is_subscript(self, node: ast.expr) -> bool:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return name in self.names and not isinstance(index, ast.Slice)
        return False

    def _is_character(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._variables
        return self._is_subscript(node) or (isinstance(node, ast.Constant) and _is_letter(node.value))

    def _uses_characters(self, node: ast.AST) -> bool:
        return (isinstance(node, ast.Compare) and self.compares(node)) or self.numbers(node) is not None

    def numbers(self, node: ast.AST) -> ast.expr | None:
        """The character of which the node gives the number: `ord(s[i])`."""
        match node:
            case ast.Call(func=ast.Name(id="ord"), args=[given], keywords=[]) if self._is_character(given):
                return None if isinstance(given, ast.Constant) else given
        return None

    def compares(self, node: ast.Compare) -> bool:
        """Whether the node compares a character with another one, or with those of a literal text."""
        sides = (node.left, *node.comparators)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            if len(sides) > 2:
                return False
            letters = getattr(sides[1], "value", None)
            of_text = isinstance(sides[1], ast.Constant) and isinstance(letters, str) and letters != ""
            return of_text and self._is_character(sides[0]) and not isinstance(sides[0], ast.Constant)
        plain = all(isinstance(each, ast.Constant) for each in sides)
        compares = all(isinstance(each, _OPERATORS) for each in node.ops)
        return compares and all(map(self._is_character, sides)) and not plain

    def with_codes(self, node: ast.Compare) -> ast.Compare:
        """The comparison with numbers in place of literal characters."""
        other = node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            letters: str = getattr(other, "value", "")
            codes: list[ast.expr] = [ast.Constant(ord(letter)) for letter in letters]
            node.comparators = [ast.copy_location(ast.Tuple(codes, ast.Load()), other)]
            return ast.fix_missing_locations(node)
        node.left, node.comparators = _as_code(node.left), [*map(_as_code, node.comparators)]
        return node

    def gets_characters(self, name: str) -> bool:
        """Whether the variable only gets characters, which are only compared."""
        return name in self._variables

    def walked(self, node: ast.For) -> list[tuple[ast.expr, str | None]] | None:
        """The targets of a loop over texts, each with its text, and with None for the places that enumerate counts;
        None for other loops."""
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        names: list[str | None] = []
        match node.iter:
            case ast.Name(id=name):
                names = [name]
            case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=name)], keywords=[]):
                names = [None, name]
            case ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]):
                names = [each.id if isinstance(each, ast.Name) else "" for each in args]
        found = [name for name in names if name is not None]
        fits = bool(found) and len(targets) == len(names) and all(isinstance(each, ast.Name) for each in targets)
        is_pair = isinstance(node.target, ast.Tuple) == (len(names) > 1)
        if not fits or not is_pair or not all(name in self.names for name in found):
            return None
        return [*zip(targets, names, strict=True)]


def _is_letter(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1


def _as_code(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant):
        return ast.copy_location(ast.Constant(ord(str(node.value))), node)
    return node
