"""Copies of syntax trees."""

from __future__ import annotations

import ast

from parpy.syntax.walks import copy_of


def test_operators_are_shared_whatever_is_noted_at_them():
    """Python has one object for each operator of all trees: a note at it leads to other trees, or back to this one."""
    tree = ast.parse("a in b").body[0]
    assert isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Compare)
    operator = tree.value.ops[0]
    operator.note = tree
    try:
        copied = copy_of(tree)
    finally:
        del operator.note
    assert ast.dump(copied) == ast.dump(tree)
    assert copied.value is not tree.value and copied.value.ops[0] is operator
