// The arithmetic of a reduction: the value that its partial results start from, how two of them
// combine, and how the lanes of a warp combine theirs. Part of legalize_cuda_reductions.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"

namespace parpy {

// Whether the statement updates the target: `target op= …`.
[[nodiscard]] bool updates(const ir::Stmt& stmt, const ir::Reduction& target);

// The type that the updates of the target in `body` are computed in: the widest of their types.
[[nodiscard]] ir::Scalar computed_in(const ir::Body& body, const ir::Reduction& target);

// The type in which a GPU accumulates values of type `element`: f32 for sums and products of
// halves, otherwise `element`.
[[nodiscard]] ir::Scalar accumulator_of(ir::Op op, ir::Scalar element);

// The neutral value of `op`: combining it with x gives x. Min and max of floats skip NaN
// (infer_reductions), so for NaN this does not hold; fmin and fmax start from NaN.
[[nodiscard]] ir::Expr* identity(ir::Builder& builder, ir::Op op, ir::Scalar type);

// Whether the reduced element exists even if the loop has no iteration that updates it. `ranges`
// are those of the function that contains the loop.
[[nodiscard]] bool always_exists(const Intervals& ranges, const ir::Reduction& target);

// The operator by which an update in the loop changes its thread's partial value: that of the
// update, except that the partial values of `-=` add up.
[[nodiscard]] ir::Op combining(ir::Op update);

// Makes, once for each operator and type, the helper function that combines the partial values of a
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
