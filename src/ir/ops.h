// Derives facts about operators from the rows of ops.def, such as the result type of each in a
// typed program. Shared by the builder, the parser and the verifier, so that they cannot disagree.
#pragma once

#include <optional>
#include <span>

#include "ir/ir.h"

namespace parpy::ir {

// The type that `expr` must have, given the types of its operands (and its variable or callee). A
// leaf that has its own type (kConst, kConvert) keeps it. Unknown if an operand's type is unknown
// or does not suit the operator; only for typed programs: no promotion takes place.
[[nodiscard]] Type typed_result(const Expr& expr);

// The float whose values are the parts of a complex type, and back. Other types are returned as is.
[[nodiscard]] Scalar real_part_of(Scalar scalar);
[[nodiscard]] Scalar complex_of(Scalar scalar);

// The traits of the rows of ops.def, which explains them.
[[nodiscard]] bool is_infix(Op op);
[[nodiscard]] bool is_comparison(Op op);
[[nodiscard]] bool picks_one(Op op);
[[nodiscard]] bool has_branches(Op op);
[[nodiscard]] bool takes_complex(Op op);
[[nodiscard]] bool has_effects(Op op);
[[nodiscard]] bool is_aggregate(Op op);
[[nodiscard]] bool is_of_slices(Op op);
[[nodiscard]] bool is_static(Op op);

// The dimensions of a product of two arrays with at least one dimension: the second one has at most
// two, or both are stacks of matrices in their last dimensions.
[[nodiscard]] int product_rank(int left, int right);

// Whether the operator may be the `update` of an Assign or Store.
[[nodiscard]] bool is_update(Op op);
// Whether the expression contains such an operator.
// Twice the exponent, if it is a constant of which powers are few products, a root or a quotient.
[[nodiscard]] std::optional<int> simple_power(const Expr& exponent);
[[nodiscard]] bool has_effects(const Expr& expr);
[[nodiscard]] bool has_slices(const Expr& expr);

// The operand's dimension for each dimension of a kTranspose.
[[nodiscard]] std::vector<std::size_t> transposed_axes(const Expr& expr, std::size_t rank);

// The load inside transpositions and new shapes.
[[nodiscard]] const Expr& viewed(const Expr& expr);
// Whether a kExtent or kShape gives distances in memory, in bytes, instead of sizes.
[[nodiscard]] bool is_stride(const Expr& expr);

// Whether the expression is a load of slices whose subscripts are numbers and slices, as a NumPy
// view, also with permuted axes or another shape.
[[nodiscard]] bool is_view(const Expr& expr);

// Whether it is a kLoad of array type: the part of an array that fewer subscripts than dimensions
// select, as an argument of a foreign function, which receives the address of its first element.
[[nodiscard]] bool is_row(const Expr& expr);
// A row whose last subscript is its begin in that dimension, such as the argument x[i, b:].
[[nodiscard]] bool is_open_row(const Expr& expr);
// The array that an argument passes, all of it or a row; null for numbers.
[[nodiscard]] Var* array_passed(const Expr& argument);

[[nodiscard]] std::string_view text(Register reg);
[[nodiscard]] std::optional<Register> register_from_text(std::string_view text);

// Whether the operator is defined on operands of these kinds (ops.def).
[[nodiscard]] bool suits(const Expr& e);

}  // namespace parpy::ir
