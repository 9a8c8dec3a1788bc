// See same_bits.h.
#include "passes/scans/same_bits.h"

#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

bool is_exact(const Expr& expr) {
    return !any_expr(expr, [](const Expr& e) {
        switch (e.op) {
            case Op::kConst:
            case Op::kVar:
            case Op::kLoad:
            case Op::kConvert:
            case Op::kIndex:
            case Op::kSelect:
            case Op::kNot:
            case Op::kNeg:
            case Op::kPos:
            case Op::kAbs:
            case Op::kSqrt:
            case Op::kSquare:
            case Op::kFma:
            case Op::kReal:
            case Op::kImag:
            case Op::kConj:
            case Op::kComplex:
                return false;
            default:
                return e.op == Op::kPow || (!is_infix(e.op) && !picks_one(e.op));
        }
    });
}

}  // namespace parpy
