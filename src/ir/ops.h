// Derives facts about operators from the rows of ops.def, such as the result type of each in a
// typed program. Shared by the builder, the parser and the verifier, so that they cannot disagree.
#pragma once

#include <span>

#include "ir/ir.h"

namespace parpy::ir {

// The type that `expr` must have, given the types of its operands (and its variable or callee). Of
// leaves that say their type themselves (kConst, kConvert) it is that type. Unknown if an operand's
// type is unknown or does not suit the operator; only for typed programs: no promotion takes place.
[[nodiscard]] Type typed_result(const Expr& expr);

// The float whose values are the parts of a complex type, and back. Other types are returned as is.
[[nodiscard]] Scalar real_part_of(Scalar scalar);
[[nodiscard]] Scalar complex_of(Scalar scalar);

// The traits of the table's rows, which ops.def explains.
[[nodiscard]] bool is_infix(Op op);
[[nodiscard]] bool is_comparison(Op op);
[[nodiscard]] bool picks_one(Op op);
[[nodiscard]] bool has_branches(Op op);
[[nodiscard]] bool takes_complex(Op op);
[[nodiscard]] bool has_effects(Op op);
[[nodiscard]] bool is_aggregate(Op op);
[[nodiscard]] bool is_of_slices(Op op);
[[nodiscard]] bool is_static(Op op);

// The dimensions of a product of arrays that have some: the second one has two at most, or
// both are matrices along their last dimensions.
[[nodiscard]] int product_rank(int left, int right);

// Operators that may stand as `update` of an Assign or Store.
[[nodiscard]] bool is_update(Op op);
// Anywhere inside.
[[nodiscard]] bool has_effects(const Expr& expr);
[[nodiscard]] bool has_slices(const Expr& expr);

// Which dimension of the operand each one of a kTranspose is.
[[nodiscard]] std::vector<std::size_t> transposed_axes(const Expr& expr, std::size_t rank);

// The load under transpositions and new shapes.
[[nodiscard]] const Expr& viewed(const Expr& expr);
// Whether a kExtent or kShape is that of the distances in memory, in bytes, instead of the sizes.
[[nodiscard]] bool is_stride(const Expr& expr);

// A load of slices that names elements of its array by numbers alone, as a view of NumPy does, also
// with other axes or another shape.
[[nodiscard]] bool is_view(const Expr& expr);

// A kLoad of array type: the part of the array that its subscripts, fewer than the dimensions,
// name, as an argument of a foreign function, which gets the address of its first element.
[[nodiscard]] bool is_row(const Expr& expr);
// A row whose last subscript is where it begins in that dimension: what x[i, b:] hands over.
[[nodiscard]] bool is_open_row(const Expr& expr);
// The array that an argument hands over, all of it or a row; null for numbers.
[[nodiscard]] Var* array_passed(const Expr& argument);

[[nodiscard]] std::string_view text(Register reg);
[[nodiscard]] std::optional<Register> register_from_text(std::string_view text);

// Whether the operands are of the kinds that the operator is defined on (ops.def).
[[nodiscard]] bool suits(const Expr& e);

}  // namespace parpy::ir
