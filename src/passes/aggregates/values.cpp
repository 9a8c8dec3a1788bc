// Expressions of lower_aggregates: tuples as their parts, and operators on them.
#include <algorithm>

#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/aggregates/lowering.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

bool reads(const Expr& expr) {
    return any_expr(expr, [](const Expr& e) { return e.op == Op::kLoad || has_effects(e.op); });
}

bool acts(const Body& body, std::size_t from) {
    return std::ranges::any_of(
        body.begin() + static_cast<std::ptrdiff_t>(from), body.end(), [](const Stmt* stmt) {
            return any_stmt(Body{const_cast<Stmt*>(stmt)}, [](const Stmt& s) {
                bool found = s.kind != StmtKind::kAssign && s.kind != StmtKind::kIf;
                for_each_slot(s, [&](const Expr* e) { found = found || has_effects(*e); });
                return found;
            });
        });
}

}  // namespace

std::string name_of(const Expr& expr) {
    if (expr.op == Op::kVar) return expr.var->shown();
    if (expr.op == Op::kField) {
        const std::string owner = name_of(*expr.operands[0]);
        return owner.empty() ? owner : owner + "." + field_name(expr).name;
    }
    if (expr.op != Op::kLoad) return {};
    std::string name = expr.var->shown();
    for (const Expr* index : expr.operands) {
        const auto place = constant_integer(index);
        if (!place) return {};
        name += "[" + std::to_string(*place) + "]";
    }
    return name;
}

std::string shown(const Expr& expr) {
    const std::string name = name_of(expr);
    return name.empty() ? name : "'" + name + "'";
}

// Other known conditions leave a choice the type that its two values give it.
bool Lowering::chooses_by_kinds(const Expr& e) const {
    const bool chooses = e.op == Op::kSelect || e.op == Op::kAnd || e.op == Op::kOr;
    return chooses &&
           any_expr(
               *e.operands[0],
               [](const Expr& part) { return part.op == Op::kRank || part.op == Op::kLength; }) &&
           walk_.truth(*e.operands[0], here_);
}

bool Lowering::concerns(const Expr& expr) const {
    return any_expr(expr, [&](const Expr& e) {
        return is_aggregate(e.op) || e.op == Op::kCall || chooses_by_kinds(e) ||
               (e.var != nullptr && !kind_of(*e.var, here_).is_number());
    });
}

std::vector<Parts> Lowering::lower_all(const std::vector<Expr*>& operands) {
    std::vector<Parts> all;
    for (Expr* operand : operands) {
        const std::size_t at = out_->size();
        Parts parts = lower(operand);
        std::size_t place = at;
        for (Parts& earlier : all) {
            for (Expr*& leaf : earlier.leaves) {
                if (out_->size() == at || !reads(*leaf) || !acts(*out_, place)) continue;
                leaf = held(leaf, leaf->span, place++);
            }
        }
        all.push_back(std::move(parts));
    }
    return all;
}

std::vector<Expr*> Lowering::numbers(const std::vector<Expr*>& operands) {
    std::vector<Parts> all = lower_all(operands);
    std::vector<Expr*> result;
    for (std::size_t i = 0; i < all.size(); ++i)
        result.push_back(number_in(std::move(all[i]), *operands[i]));
    return result;
}

// An error where the value is None when the program runs.
Parts Lowering::there(Parts parts, const Expr& written) {
    if (!parts.kind.is_optional()) return parts;
    const std::string name = shown(written);
    const bool tuple = parts.kind.parts[0].is_tuple();
    b_.span = written.span;
    FailBuilder failing(b_, Code::kP434);
    failing.site().message = (name.empty() ? "a value" : name) + " is None, but is used as a " +
                             (tuple ? "tuple" : "number");
    Stmt* failure = failing.make();
    Expr* none = surface(Op::kNot, {parts.leaves.back()}, written.span);
    out_->push_back(b_.if_(none, {failure}));
    parts.leaves.pop_back();
    return {Kind(parts.kind.parts[0]), std::move(parts.leaves)};
}

Expr* Lowering::number_in(Parts parts, const Expr& written) {
    if (parts.kind.is_number()) return parts.leaves.front();
    const std::string name = shown(written);
    if (parts.kind.is_optional() && parts.kind.parts[0].is_number())
        return there(std::move(parts), written).leaves.front();
    switch (parts.kind.form) {
        case Kind::Form::kTuple:
            fail(Code::kP204, written.span,
                 name.empty() ? a_kind(parts.kind) + " is used as a number"
                              : "the tuple " + name + " is used as a number",
                 "take an element" + (name.empty() ? " of it" : ", " + name_of(written) + "[0]"));
            break;
        case Kind::Form::kRecord:
            fail(Code::kP204, written.span,
                 (name.empty() ? "this" : name) + " is " + a_kind(parts.kind) +
                     ", but is used as a number",
                 "read an attribute, or an entry of a dict");
            break;
        case Kind::Form::kText:
            if (written.op == Op::kText) {
                fail(Code::kP018, written.span, "a string has no value in compiled code",
                     "use a number instead");
            } else {
                fail(Code::kP204, written.span,
                     (name.empty() ? "this" : name) + " is " + a_kind(parts.kind) +
                         ", but is used as a number",
                     "compare it: if " + (name.empty() ? "mode" : name_of(written)) + " == \"…\"");
            }
            break;
        case Kind::Form::kFunction:
        case Kind::Form::kDtype:
            fail(Code::kP103, written.span,
                 (name.empty() ? "this" : name) + " is " + a_kind(parts.kind) + ", not a value",
                 parts.kind.is_function()
                     ? "call it" + (name.empty() ? "" : ": " + name_of(written) + "(…)")
                     : "convert a number to it, or make an array of it");
            break;
        case Kind::Form::kNone:
            fail(Code::kP204, written.span,
                 (name.empty() ? "None" : name + " is None here, but") + " is used as a number",
                 name.empty()
                     ? "use a number"
                     : "compare it before it is used: if " + name_of(written) + " is not None");
            break;
        default:
            fail_mixed(written, parts.kind);
            break;
    }
    return number(0, written.span);
}

// Reports a name, or a value, that has different kinds on different paths.
void Lowering::fail_mixed(const Expr& written, const Kind& kind) {
    Diagnostic* made = nullptr;
    if (kind.is_optional()) {
        const std::string name = shown(written);
        made =
            fail(Code::kP217, written.span, (name.empty() ? "this" : name) + " is " + a_kind(kind),
                 "compare it before it is used: if " + (name.empty() ? "p" : name_of(written)) +
                     " is not None");
    } else if (!kind.parts.empty()) {
        const std::string name = shown(written);
        const Kind& first = kind.parts[0];
        const bool calls = first.is_function() || kind.parts[1].is_function();
        made =
            fail(Code::kP217, written.span,
                 (name.empty() ? "this" : name) + " is " + a_kind(first) + " or " +
                     a_kind(kind.parts[1]) + ", depending on the path that leads here",
                 first.form == Kind::Form::kNothing || kind.parts[1].form == Kind::Form::kNothing
                     ? "assign such a value on every path"
                 : calls ? "call each of them in the branch that knows it: y = f(x) if c else g(x)"
                         : "choose by a number or a bool, or compare in the branch that knows it");
    } else if (written.op == Op::kShape) {
        fail(Code::kP026, written.span, "the number of dimensions of this array is not known here",
             "take one extent, x.shape[0], or all of them: n, m = x.shape");
    } else if (const std::string name = shown(written); !name.empty()) {
        made = fail(Code::kP217, written.span,
                    name + " is a tuple, a number or None, depending on the path that leads here",
                    "give each of them a name of its own");
    } else {
        made = fail(Code::kP217, written.span,
                    "the kind of this value depends on the path that leads here",
                    "give each kind of value a name of its own");
    }
    if (made != nullptr) made->python_may_call = true;
}

Parts Lowering::lower(Expr* expr) {
    if (!concerns(*expr)) return {walk_.of(*expr, here_), {expr}};
    Expr& e = *expr;
    if (const auto name = attribute_of(e)) {
        Expr* owner = e.var != nullptr ? var(e.var, e.span) : e.operands[0];
        const Kind kind = walk_.of(*owner, here_);
        if (kind.is_record() || (kind.is_tuple() && has_attribute(kind, *name))) {
            Expr* read = surface(Op::kField, {owner}, e.span);
            read->text = std::make_shared<const std::string>(*name);
            return field(*read);
        }
    }
    if (Expr* call = operator_call(e)) return lower(call);
    switch (e.op) {
        case Op::kTuple: {
            Parts all;
            std::vector<Kind> kinds;
            for (Parts& part : lower_all(e.operands)) {
                kinds.push_back(std::move(part.kind));
                all.leaves.insert(all.leaves.end(), part.leaves.begin(), part.leaves.end());
            }
            all.kind = Kind::tuple(std::move(kinds));
            return all;
        }
        case Op::kNone:
            return {Kind::none(), {}};
        case Op::kText:
        case Op::kDtype:
            return {walk_.of(e, here_), {}};
        case Op::kFunction:
            return function_value(e);
        case Op::kApply:
            return apply(e);
        case Op::kConvertLike:
        case Op::kTypesEqual: {
            if (const auto known = walk_.truth(e, here_); known && e.op == Op::kTypesEqual)
                return {Kind::number(), {truth(*known, e.span)}};
            const Kind kind = walk_.of(e, here_);
            std::vector<Parts> sides = lower_all(e.operands);
            if (e.op == Op::kConvertLike && sides[1].kind.is_none())  // dtype=None
                return {kind, {number_in(std::move(sides[0]), *e.operands[0])}};
            for (std::size_t i = 0; i < sides.size(); ++i)
                e.operands[i] = of_type(std::move(sides[i]), *e.operands[i]);
            return {kind, {expr}};
        }
        case Op::kVar:
            return read(e);
        case Op::kItem:
            return item(e);
        case Op::kLoad:
            return subscript(e);
        case Op::kShape:
            return shape(e);
        case Op::kLength:
            return length(e);
        case Op::kExtent:
        case Op::kRank:
        case Op::kSize:
            fail(Code::kP204, e.span,
                 "'" + e.var->shown() + "' is " + a_kind(kind_of(*e.var, here_)) +
                     ", which has no shape",
                 kind_of(*e.var, here_).is_tuple() ? "take its length: len(" + e.var->shown() + ")"
                                                   : "");
            return poison(e.span);
        case Op::kArrayOf:
            return array_of(e);
        case Op::kSnapshot: {
            Parts value = lower(e.operands[0]);
            if (value.kind.is_number() && value.kind.rank <= 1)
                value.leaves.front() = surface(Op::kNumpy, {value.leaves.front()}, e.span);
            return value;
        }
        case Op::kSame:
            return {Kind::number(), {same(e)}};
        case Op::kHas:
            return {Kind::number(), {truth(walk_.truth(e, here_).value_or(false), e.span)}};
        case Op::kIn:
            if (const auto known = walk_.truth(e, here_))
                return {Kind::number(), {truth(*known, e.span)}};
            return membership(e);
        case Op::kRecord: {
            Parts all{walk_.of(e, here_), {}};
            std::vector<Expr*> values;
            for (std::size_t i = 2; i < e.operands.size(); i += 2) {
                if (!is_member(e, *e.operands[i - 1]->text)) values.push_back(e.operands[i]);
            }
            for (Parts& part : lower_all(values))
                all.leaves.insert(all.leaves.end(), part.leaves.begin(), part.leaves.end());
            return all;
        }
        case Op::kField:
            return field(e);
        case Op::kFull:
        case Op::kReshape:
            return shaped(e);
        case Op::kAtomic:
            return atomic(e);
        case Op::kSelect:
        case Op::kAnd:
        case Op::kOr:
            return choose(e);
        case Op::kNot:
        case Op::kPyBool:
            if (const auto known = walk_.truth(e, here_))
                return {Kind::number(), {truth(*known, e.span)}};
            if (!walk_.of(*e.operands[0], here_).is_number()) {
                e.operands[0] = condition(e.operands[0]);
                return {Kind::number(), {expr}};
            }
            break;
        case Op::kEq:
        case Op::kNe:
        case Op::kLt:
        case Op::kLe:
        case Op::kGt:
        case Op::kGe:
            if (walk_.of(*e.operands[0], here_).is_tuple() ||
                walk_.of(*e.operands[1], here_).is_tuple()) {
                return compare(e);
            }
            if (e.op == Op::kEq || e.op == Op::kNe) {
                if (const auto known = walk_.truth(e, here_))
                    return {Kind::number(), {truth(*known, e.span)}};
                for (const Expr* side : e.operands) {
                    const Kind kind = walk_.of(*side, here_);
                    if (kind.form != Kind::Form::kMixed || kind.parts.empty()) continue;
                    fail_mixed(*side, kind);
                    return {Kind::number(), {truth(false, e.span)}};
                }
                for (const Expr* side : e.operands) {
                    const Kind kind = walk_.of(*side, here_);
                    if (kind.is_none() || kind.is_optional()) return compare_with_none(e);
                }
            }
            break;
        case Op::kMin:
        case Op::kMax:
            if (walk_.of(e, here_).is_tuple()) return extreme(e);
            break;
        case Op::kAdd:
        case Op::kMul:
            if (walk_.of(e, here_).is_tuple()) return joined_tuples(e);
            break;
        case Op::kCall:
            return call(e);
        default:
            break;
    }
    const Kind kind = walk_.of(e, here_);
    e.operands = numbers(e.operands);
    return {kind, {expr}};
}

Expr* Lowering::lowered(Expr* expr) {
    return number_in(lower(expr), *expr);
}

// Like `lowered`, for a value of which only the truth matters: None has one as well.
Expr* Lowering::condition(Expr* expr) {
    if (has_method(walk_.of(*expr, here_), "__bool__"))
        expr = surface(Op::kPyBool, {expr}, expr->span);
    Parts value = lower(expr);
    if (value.kind.is_tuple()) return truth(!value.kind.parts.empty(), expr->span);
    if (!value.kind.is_optional()) return number_in(std::move(value), *expr);
    if (value.kind.parts[0].is_tuple())
        return value.kind.parts[0].parts.empty() ? truth(false, expr->span) : value.leaves.back();
    Expr* holds = surface(Op::kPyBool, {value.leaves[0]}, expr->span);
    return surface(Op::kAnd, {value.leaves.back(), holds}, expr->span);
}

}  // namespace parpy
