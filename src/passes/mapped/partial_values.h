// The arithmetic of a reduction: the value that its partial results start from, how two of them
// combine, and how the lanes of a warp combine theirs. Part of legalize_cuda_reductions.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"

namespace parpy {

// The statement updates the target: `target op= …`.
[[nodiscard]] bool updates(const ir::Stmt& stmt, const ir::Reduction& target);

// The type that the updates of the target below `body` are computed in: the widest of theirs.
[[nodiscard]] ir::Scalar computed_in(const ir::Body& body, const ir::Reduction& target);

// The type in which values of `element` are accumulated on a GPU: sums and products of halves in
// f32, all else in their own type.
[[nodiscard]] ir::Scalar accumulator_of(ir::Op op, ir::Scalar element);

// The neutral value of `op`: combining it with x gives x. For min and max of floats that holds of
// every x but NaN, which they skip (infer_reductions); fmin and fmax start from NaN.
[[nodiscard]] ir::Expr* identity(ir::Builder& builder, ir::Op op, ir::Scalar type);

// The reduced element exists for sure, whether or not the loop has an iteration that updates it.
// `ranges` are those of the function that the loop stands in.
[[nodiscard]] bool always_exists(const Intervals& ranges, const ir::Reduction& target);

// What a update statement inside the loop does to its thread's partial value: as the update, except
// that the partial values of `-=` add up.
[[nodiscard]] ir::Op combining(ir::Op update);

// Makes, once per operator and type, the helper function that combines the partial values of a
// warp; every lane gets the same result, bit for bit.
class WarpReductions {
public:
    explicit WarpReductions(ir::Module& module) : module_(module) {}
    [[nodiscard]] ir::Function* function(ir::Op op, ir::Scalar type, Span span);

private:
    ir::Module& module_;
    std::map<std::pair<ir::Op, ir::Scalar>, ir::Function*> made_;
};

}  // namespace parpy
