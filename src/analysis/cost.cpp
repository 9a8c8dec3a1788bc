// See cost.h. Counts operators and memory accesses, times the trip counts around them. Figures are
// those of one 3 GHz core on vectorised code in cache, the common form of compiled loops.
#include "analysis/cost.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tile.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kGuessedTrips = 64;
constexpr double kLoad = 0.25, kGather = 1.0, kSimple = 0.1, kDivide = 1.0, kElementary = 2.5,
                 kLibrary = 20, kCallCost = 5;

constexpr std::int64_t kGuessedSteps = 256;
constexpr double kFused = 0.15;  // per 32 bytes of a vector

double cost(const Expr& expr) {
    double sum = 0;
    bool gathers = false;
    for (const Expr* operand : expr.operands) {
        sum += cost(*operand);
        for_each_expr(*operand, [&](const Expr& e) { gathers |= e.op == Op::kLoad; });
    }
    switch (expr.op) {
        case Op::kConst:
        case Op::kVar:
        case Op::kArray:
        case Op::kExtent:
        case Op::kRegister:
            return 0;
        case Op::kLoad:
            if (is_row(expr)) return sum;
            return sum + (gathers ? kGather : kLoad);
        case Op::kDiv:
        case Op::kQuotient:
        case Op::kRemainder:
        case Op::kSqrt:
        case Op::kReciprocal:
            return sum + kDivide;
        case Op::kFloorDiv:
        case Op::kMod:
            return sum + 3 * kDivide;
        case Op::kErf:
        case Op::kErfc:
        case Op::kGamma:
        case Op::kLgamma:
        case Op::kFmod:
        case Op::kGcd:
        case Op::kLcm:
            return sum + kLibrary;
        case Op::kTile:
            return sum +
                   cost_of_step(shape_of_tile(expr), expr.operands[kTileSums]->type.scalar) *
                       static_cast<double>(
                           constant_integer(expr.operands[kTileSteps]).value_or(kGuessedSteps));
        case Op::kCall: {
            double inside = 0;
            for_each_expr(expr.callee->body, [&](const Expr&) { inside += kSimple; });
            return sum + kCallCost + inside;
        }
        default:
            return sum + (rule(expr.op) == TypeRule::kFloat || expr.op == Op::kPow ? kElementary
                                                                                   : kSimple);
    }
}

double cost(const Body& body);

double cost(const Stmt& stmt) {
    double sum = 0;
    for_each_slot(stmt, [&](const Expr* slot) { sum += cost(*slot); });
    if (const auto* loop = stmt.as<For>()) {
        const auto begin = constant_integer(loop->begin);
        const auto end = constant_integer(loop->end);
        const auto step = constant_integer(loop->step);
        double trips = kGuessedTrips;
        if (begin && end && step && *step != 0) {
            trips = std::max(0.0, static_cast<double>(*end - *begin) / static_cast<double>(*step));
        }
        return sum + trips * (cost(loop->body) + 2 * kSimple);
    }
    if (const auto* loop = stmt.as<While>()) {
        return kGuessedTrips * (sum + cost(loop->body));
    }
    if (stmt.kind == StmtKind::kStore) {
        return sum + 2 * kLoad;
    }
    double inside = 0;
    for_each_body(stmt, [&](const Body& body) { inside = std::max(inside, cost(body)); });
    return sum + inside + kSimple;
}

double cost(const Body& body) {
    double sum = 0;
    for (const Stmt* stmt : body) {
        sum += cost(*stmt);
    }
    return sum;
}

}  // namespace

double cost_of(const Stmt& stmt) {
    return cost(stmt);
}

double cost_of_operators(const Expr& expr) {
    double sum = cost(expr);
    for_each_expr(expr, [&](const Expr& e) {
        if (e.op == Op::kLoad) sum -= cost(e);
    });
    return sum;
}

double cost_of_step(const TileShape& shape, Scalar type) {
    const auto bytes = static_cast<double>(shape.lanes * size_in_bytes(type));
    return static_cast<double>(shape.rows * shape.vectors) * std::max(1.0, bytes / 32) * kFused;
}

bool is_elementary(Op op) {
    switch (op) {
        case Op::kPow:
            return true;
        case Op::kErf:
        case Op::kErfc:
        case Op::kGamma:
        case Op::kLgamma:
        case Op::kCopysign:
        case Op::kNextafter:
        case Op::kDegrees:
        case Op::kRadians:
        case Op::kFma:
        case Op::kRsqrt:
            return false;
        default:
            return rule(op) == TypeRule::kFloat;
    }
}

}  // namespace parpy
