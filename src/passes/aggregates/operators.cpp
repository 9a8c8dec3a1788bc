// See lower_aggregates.h. Operators of classes: `p + q` is `p.__add__(q)`, or `q.__radd__(p)`,
// where the class of an object or of a named tuple has such a method.
#include <algorithm>
#include <array>
#include <string>

#include "ir/visit.h"
#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

namespace {

struct OperatorRow {
    Op op;
    std::string_view method;
    std::string_view reflected;  // of the second operand; empty: it has one operand
};

constexpr std::array kOperators = {
    OperatorRow{Op::kAdd, "__add__", "__radd__"},
    OperatorRow{Op::kSub, "__sub__", "__rsub__"},
    OperatorRow{Op::kMul, "__mul__", "__rmul__"},
    OperatorRow{Op::kDiv, "__truediv__", "__rtruediv__"},
    OperatorRow{Op::kFloorDiv, "__floordiv__", "__rfloordiv__"},
    OperatorRow{Op::kMod, "__mod__", "__rmod__"},
    OperatorRow{Op::kPow, "__pow__", "__rpow__"},
    OperatorRow{Op::kMatMul, "__matmul__", "__rmatmul__"},
    OperatorRow{Op::kBitAnd, "__and__", "__rand__"},
    OperatorRow{Op::kBitOr, "__or__", "__ror__"},
    OperatorRow{Op::kBitXor, "__xor__", "__rxor__"},
    OperatorRow{Op::kShl, "__lshift__", "__rlshift__"},
    OperatorRow{Op::kShr, "__rshift__", "__rrshift__"},
    OperatorRow{Op::kNeg, "__neg__", ""},
    OperatorRow{Op::kPos, "__pos__", ""},
    OperatorRow{Op::kInvert, "__invert__", ""},
    OperatorRow{Op::kAbs, "__abs__", ""},
    OperatorRow{Op::kLength, "__len__", ""},
    OperatorRow{Op::kPyBool, "__bool__", ""},
    OperatorRow{Op::kPyFloat, "__float__", ""},
    OperatorRow{Op::kPyInt, "__int__", ""},
    OperatorRow{Op::kEq, "__eq__", "__eq__"},
    OperatorRow{Op::kNe, "__ne__", "__ne__"},
    OperatorRow{Op::kLt, "__lt__", "__gt__"},
    OperatorRow{Op::kLe, "__le__", "__ge__"},
    OperatorRow{Op::kGt, "__gt__", "__lt__"},
    OperatorRow{Op::kGe, "__ge__", "__le__"},
};

const OperatorRow* row_of(Op op) {
    const auto* found = std::ranges::find(kOperators, op, &OperatorRow::op);
    return found == kOperators.end() ? nullptr : found;
}

}  // namespace

bool has_method(const Kind& kind, std::string_view method) {
    const std::string name = std::string(method) + "()";
    return kind.place_of_name(name).has_value() || kind.member(name) != nullptr;
}

bool has_attribute(const Kind& kind, const std::string& name) {
    if (!kind.is_record() && !kind.is_tuple()) return false;
    return name.empty() || kind.place_of_name(name) || kind.place_of_name("*" + name) ||
           kind.place_of_name("@" + name) || kind.member("@" + name) != nullptr ||
           has_method(kind, name);
}

bool has_operators(const Module& module) {
    const auto is_operator = [](const Expr* name) {
        return name->op == Op::kText &&
               std::ranges::any_of(kOperators, [&](const OperatorRow& row) {
                   return *name->text == std::string(row.method) + "()" ||
                          *name->text == std::string(row.reflected) + "()";
               });
    };
    return std::ranges::any_of(module.functions, [&](const Function* function) {
        return any_expr(function->body, [&](const Expr& e) {
            return e.op == Op::kRecord && std::ranges::any_of(e.operands, is_operator);
        });
    });
}

namespace {

// Whether the second operand's method may be called since the first one has none. A tuple has an
// order and sums of its own, and a number of NumPy's makes an array of a tuple.
bool may_reflect(const Expr& first, const Kind& a, const Kind& b) {
    if (b.is_record()) return (a.is_number() && a.rank <= 0) || a.is_record();
    return b.is_tuple() && a.is_number() && first.op == Op::kConst;
}

}  // namespace

std::optional<OperatorMethod> operator_method(const Expr& e, const Kind& a, const Kind& b) {
    const OperatorRow* row = row_of(e.op);
    if (row == nullptr) return {};
    if (has_method(a, row->method)) return OperatorMethod{0, std::string(row->method), false};
    const bool reflects = !row->reflected.empty() && may_reflect(*e.operands[0], a, b);
    if (reflects && has_method(b, row->reflected))
        return OperatorMethod{1, std::string(row->reflected), false};
    if (e.op != Op::kNe || !a.is_record()) return {};
    if (has_method(a, "__eq__")) return OperatorMethod{0, "__eq__", true};
    return {};
}

// The kind of a + b by a method; nothing where there is none.
std::optional<Kind> KindWalk::of_operator(const Expr& e, const KindsHere& here) const {
    if (!operators_ || row_of(e.op) == nullptr) return {};
    const bool one = e.operands.size() == 1;
    const Kind a = of(*e.operands[0], here), b = one ? Kind() : of(*e.operands[1], here);
    const auto method = operator_method(e, a, b);
    if (!method) {
        const bool plain = !one && a.is_number() && b.is_number() && e.op != Op::kMatMul;
        if (!plain) return {};
        return Kind::number(a.rank < 0 || b.rank < 0 ? Kind::kUnknownRank
                                                     : std::max(a.rank, b.rank));
    }
    if (method->is_opposite) return Kind::number();
    Expr apply;
    apply.op = Op::kApply;
    apply.operands = {e.operands[method->owner]};
    if (!one) apply.operands.push_back(e.operands[1 - method->owner]);
    return applied(of_field(method->owner == 0 ? a : b, method->method, here), apply, here);
}

// The argument of the method: NumPy's numbers become Python's before they meet an object.
Expr* Lowering::given_to(const OperatorMethod& method, Expr* other, Span span) {
    const bool is_named = other->op == Op::kLoad || other->op == Op::kVar;
    if (method.owner == 0 || !is_named || other->var->type.is_unknown()) return other;
    const Scalar scalar = other->var->type.scalar;
    if (is_float(scalar)) return surface(Op::kPyFloat, {other}, span);
    const bool fits = is_integer(scalar) && scalar != Scalar::kU64;
    return fits ? surface(Op::kPyInt, {other}, span) : other;
}

// The same as a call of the method; null where there is none.
Expr* Lowering::operator_call(const Expr& e) {
    if (!instances_.has_operators() || row_of(e.op) == nullptr) return nullptr;
    const bool one = e.operands.size() == 1;
    const Kind a = walk_.of(*e.operands[0], here_);
    const auto method = operator_method(e, a, one ? Kind() : walk_.of(*e.operands[1], here_));
    if (!method) return nullptr;
    Expr* field = surface(Op::kField, {e.operands[method->owner]}, e.span);
    field->text = std::make_shared<const std::string>(method->method);
    Expr* call = surface(Op::kApply, {field}, e.span);
    if (!one) call->operands.push_back(given_to(*method, e.operands[1 - method->owner], e.span));
    return method->is_opposite ? surface(Op::kNot, {call}, e.span) : call;
}

}  // namespace parpy
