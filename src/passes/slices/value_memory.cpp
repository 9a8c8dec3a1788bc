// See value_memory.h.
#include "passes/slices/value_memory.h"

#include <algorithm>

#include "passes/slices/slice_shapes.h"

namespace parpy {

using namespace ir;

void row_major(Builder& b, Var& array, Body& out) {
    IndexMath math(b, Scalar::kI64);
    Expr* stride = math.number(1);
    for (std::size_t i = array.dims.size(); i-- > 0;) {
        Dim& dim = array.dims[i];
        dim.stride = constant_integer(stride);
        if (!dim.stride) {
            dim.stride_var = b.scalar(array.name + "_stride" + std::to_string(i), Scalar::kI64);
            out.push_back(b.assign(dim.stride_var, b.convert(stride, Scalar::kI64)));
        }
        stride = math.multiply(dim.stride ? math.number(*dim.stride) : b.var(dim.stride_var),
                               b.extent(dim));
    }
}

bool known_at_entry(const Expr& expr, const Function& function, const Uses& uses) {
    bool known = invariant(expr, uses) && uses_of(expr).loaded.empty();
    for (const Var* var : uses_of(expr).read) {
        known = known && std::ranges::count(function.params, var) != 0;
    }
    return known;
}

}  // namespace parpy
