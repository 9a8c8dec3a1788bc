"""The languages whose functions ParPy compiles, as tables of lowering functions.

These are loops and kernels written by hand. CudaPy is a third language over the same tables (cudapy/_frontend.py).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..library import ListedArray
from .calls import (
    axes,
    calls,
    compositions,
    creation,
    folds,
    functions,
    generators,
    instances,
    python_methods,
    reductions,
)
from .expressions import conditions, expressions, tuples
from .kernels import hints, kernels, memory, vectors
from .lowering import Language, LowerExpression, LowerIntrinsic, LowerStatement
from .statements import assignments, labels, loops, nested_functions, raises, returns, statements

EXPRESSIONS: dict[type[ast.expr], LowerExpression] = {
    ast.Constant: expressions.lower_constant,
    ast.Name: expressions.lower_name,
    ast.Attribute: expressions.lower_attribute,
    ast.BinOp: expressions.lower_binary,
    ast.UnaryOp: expressions.lower_unary,
    ast.Compare: expressions.lower_compare,
    ast.BoolOp: conditions.lower_bool_op,
    ast.IfExp: conditions.lower_ternary,
    ast.Subscript: expressions.lower_subscript,
    ast.Tuple: tuples.lower_tuple,
    ListedArray: tuples.new_array,
    ast.Call: calls.lower_call,
    ast.Lambda: nested_functions.lower_lambda,
    ast.NamedExpr: assignments.lower_named,
}

STATEMENTS: dict[type[ast.stmt], LowerStatement] = {
    ast.Assign: assignments.lower_assign,
    ast.AugAssign: assignments.lower_augmented,
    ast.AnnAssign: assignments.lower_annotated,
    ast.For: loops.lower_for,
    ast.While: loops.lower_while,
    ast.Break: loops.lower_break,
    ast.Continue: loops.lower_continue,
    ast.If: statements.lower_if,
    ast.With: statements.lower_with,
    ast.Expr: statements.lower_expression,
    ast.Assert: statements.lower_assert,
    ast.Raise: raises.lower_raise,
    ast.Pass: statements.lower_pass,
    ast.Return: returns.lower_return,
    ast.FunctionDef: nested_functions.lower_definition,
}

# By the name of the lowering in the rows of intrinsics.py and vocabulary/device.py.
INTRINSICS: dict[str, LowerIntrinsic] = {
    # functions of numbers
    "op": functions.lower_op,
    "dot": functions.lower_dot,
    "ufunc": functions.lower_ufunc,
    "float_op": functions.lower_float_op,
    "complex_op": functions.lower_complex_op,
    "float": functions.lower_float,
    "complex": functions.lower_complex,
    "round": functions.lower_round,
    "whole": functions.lower_whole,
    "extreme": folds.lower_extreme,
    "sum": folds.lower_sum,
    "truths": generators.lower_truths,
    "index_fold": functions.lower_index_fold,
    "float_fold": functions.lower_float_fold,
    "fabs": functions.lower_fabs,
    "log": functions.lower_log,
    "logical": functions.lower_logical,
    "where": functions.lower_where,
    "clip": functions.lower_clip,
    "outer": functions.lower_outer,
    "filled": creation.lower_filled,
    "copy": creation.lower_copy,
    "listed": creation.lower_array,
    "axes": axes.lower_axes,
    "attribute": axes.lower_attribute,
    "size": axes.lower_size,
    "expanded": axes.lower_expanded,
    # functions that are composed of other operators
    "pair": compositions.lower_pair,
    "composed": compositions.lower_composed,
    "counted": compositions.lower_counted,
    "power": compositions.lower_power,
    "dist": compositions.lower_dist,
    "prod": compositions.lower_prod,
    # functions that are not elementwise
    "reduce": reductions.lower_reduce,
    "reduce_first": reductions.lower_reduce_first,
    "deviation": reductions.lower_deviation,
    "ptp": reductions.lower_ptp,
    "count_nonzero": reductions.lower_count_nonzero,
    "convert": calls.lower_convert,
    "convert_to": calls.lower_convert_to,
    "backend_is": calls.lower_backend_is,
    "types_equal": calls.lower_types_equal,
    "static_fail": calls.lower_static_fail,
    "inline": calls.lower_inline,
    "len": calls.lower_len,
    "isinstance": instances.lower_isinstance,
    "tuple_method": python_methods.lower_tuple_method,
    "misplaced_label": calls.lower_misplaced_label,
    "misplaced_range": calls.lower_misplaced_range,
    "vidx": calls.lower_vidx,
    # functions of kernels
    "array": memory.lower_array,
    "const_array": memory.lower_array,
    "grid": kernels.lower_grid,
    "this_grid": kernels.lower_this_grid,
    "barrier": kernels.lower_barrier,
    "device_op": kernels.lower_device_op,
    "exchange": kernels.lower_exchange,
    "match_all": kernels.lower_match_all,
    "vote_equal": kernels.lower_vote_equal,
    "lanemask_lt": kernels.lower_lanemask_lt,
    "atomic": kernels.lower_atomic,
    "compare_and_swap": kernels.lower_compare_and_swap,
    "hinted": hints.lower_hinted,
    "vector": vectors.lower_vector,
}

LOOPS = Language("loops", EXPRESSIONS, STATEMENTS, INTRINSICS, labels.lower_block)
KERNELS = replace(LOOPS, name="kernels", kernel=True, records=True)
