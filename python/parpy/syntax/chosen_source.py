"""Sources of functions that were made of others: some of their names are constants."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType

from .source import FunctionSource


class ChosenSource(FunctionSource):
    """A function for certain constant arguments: a function of the other ones."""

    __slots__ = ("constants", "node")

    def __init__(
        self,
        whole: FunctionSource,
        node: ast.FunctionDef,
        function: FunctionType,
        constants: Mapping[str, object],
    ) -> None:
        self.function, self.name, self.text, self.first_line = function, whole.name, whole.text, whole.first_line
        kept = node_parameters(node)
        self.declared = {name: kind for name, kind in whole.declared.items() if name in kept or name == "return"}
        self.arrays, self.shown, self.alternatives = whole.arrays, whole.shown, ()
        self.defaults = whole.defaults
        self.chosen = {}
        self.node = node
        self.constants = dict(constants)  # whose identity no other object gets meanwhile

    def written(self) -> ast.FunctionDef:
        return self.node

    tree = written

    @property
    def unparsed(self) -> bool:
        return False


def node_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
