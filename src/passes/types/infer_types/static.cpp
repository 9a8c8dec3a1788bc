// Decides conditions that the call determines before it runs, such as those on the back end and
// types. It runs for each function when the types of its arguments are known, before those of its
// variables are inferred, so that branches that are not taken need not have valid types.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

const bool* truth_of(const Expr& expr) {
    return expr.op == Op::kConst ? std::get_if<bool>(&expr.constant.value) : nullptr;
}

bool has_static(const Expr& expr) {
    return is_static(expr.op) || expr.op == Op::kRank ||
           std::ranges::any_of(expr.operands, [](const Expr* e) { return has_static(*e); });
}

class StaticFolder {
public:
    StaticFolder(PassContext& context, Function& function)
        : context_(context), function_(function) {}

    void run() {
        bool any = false;
        for_each_expr(function_.body,
                      [&](const Expr& e) { any = any || is_static(e.op) || e.op == Op::kRank; });
        if (any) body(function_.body);
    }

private:
    void body(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            if (is_declared_check(context_.module, *stmt) && asks_for_type(*stmt)) {
                out.push_back(stmt);  // when types are known
                continue;
            }
            for_each_slot(*stmt, [&](Expr*& slot) { fold(slot); });
            auto* branch = stmt->as<If>();
            const bool* taken = branch != nullptr ? truth_of(*branch->condition) : nullptr;
            if (taken != nullptr) {
                Body& kept = *taken ? branch->then_body : branch->else_body;
                body(kept);
                out.insert(out.end(), kept.begin(), kept.end());
                if (!kept.empty() && kept.back()->as<Return>() != nullptr) break;
                continue;
            }
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    void fold(Expr*& slot) {
        // Other conditions leave the result the type of both branches.
        const bool chooses = slot->op == Op::kSelect && has_static(*slot->operands[0]);
        for (Expr*& operand : slot->operands) {
            const bool outer =
                std::exchange(chooses_, chooses_ || (chooses && &operand == slot->operands.data()));
            fold(operand);
            chooses_ = outer;
        }
        Expr& e = *slot;
        switch (e.op) {
            case Op::kBackendIs:
                slot = constant(e, backend_is(e));
                break;
            case Op::kTypesEqual:
                if (const auto types = both(e)) slot = constant(e, types->first == types->second);
                break;
            case Op::kConvertLike:
                if (is_decided_later(*e.operands[1])) break;
                if (const auto wanted = scalar_of(*e.operands[1])) {
                    slot = context_.module.make_expr(Op::kConvert, Type::of(*wanted), e.span,
                                                     {e.operands[0]});
                }
                break;
            case Op::kPyBool:
                if (truth_of(*e.operands[0]) != nullptr) slot = e.operands[0];
                break;
            case Op::kNot:
                if (const bool* value = truth_of(*e.operands[0])) slot = constant(e, !*value);
                break;
            case Op::kAnd:
            case Op::kOr:
                // The first operand decides, or the second one is the result.
                if (const bool* value = truth_of(*e.operands[0])) {
                    slot = *value == (e.op == Op::kAnd) ? e.operands[1] : e.operands[0];
                }
                break;
            case Op::kSelect:
                if (const bool* value = truth_of(*e.operands[0]); value != nullptr && chooses) {
                    slot = e.operands[*value ? 1 : 2];
                }
                break;
            case Op::kRank:
                if (e.var->type.is_array()) slot = constant(e, std::int64_t{e.var->type.rank});
                if (e.var->type.is_scalar()) slot = constant(e, std::int64_t{0});
                break;
            case Op::kAdd:
            case Op::kSub:
            case Op::kEq:
            case Op::kLt:
            case Op::kLe:
                compute(slot);
                break;
            case Op::kNe:
            case Op::kGt:
            case Op::kGe:  // a statement is dropped after its mistakes have been reported
                if (chooses_) compute(slot);
                break;
            default:
                break;
        }
    }

    // Folds an operator on small integers, such as numbers of dimensions.
    void compute(Expr*& slot) {
        const Expr& e = *slot;
        const auto a = small_of(*e.operands[0]), b = small_of(*e.operands[1]);
        if (!a || !b) return;
        switch (e.op) {
            case Op::kAdd:
                slot = constant(e, *a + *b);
                break;
            case Op::kSub:
                slot = constant(e, *a - *b);
                break;
            case Op::kEq:
                slot = constant(e, *a == *b);
                break;
            case Op::kNe:
                slot = constant(e, *a != *b);
                break;
            case Op::kGt:
                slot = constant(e, *a > *b);
                break;
            case Op::kGe:
                slot = constant(e, *a >= *b);
                break;
            case Op::kLt:
                slot = constant(e, *a < *b);
                break;
            default:
                slot = constant(e, *a <= *b);
                break;
        }
    }

    static std::optional<std::int64_t> small_of(const Expr& e) {
        constexpr std::int64_t kMost = std::int64_t{1} << 40;
        const auto* value = e.op == Op::kConst && e.type.scalar == Scalar::kI64
                                ? std::get_if<std::int64_t>(&e.constant.value)
                                : nullptr;
        if (value == nullptr || *value < -kMost || *value > kMost) return std::nullopt;
        return *value;
    }

    Expr* constant(const Expr& e, std::int64_t value) {
        Expr* made = context_.module.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), e.span);
        made->constant.value = value;
        return made;
    }

    Expr* constant(const Expr& e, bool value) {
        Expr* made = context_.module.make_expr(Op::kConst, Type::of(Scalar::kBool), e.span);
        made->constant.value = value;
        return made;
    }

    bool backend_is(const Expr& e) const {
        const auto* number = std::get_if<std::int64_t>(&e.operands[0]->constant.value);
        const Backend backend = text_of(context_.options.backend);
        return number != nullptr && *number == static_cast<std::int64_t>(backend);
    }

    // A computed value has a type only when those of variables are known: the typer decides then.
    std::optional<std::pair<Scalar, Scalar>> both(const Expr& e) {
        const auto a = known_scalar(*e.operands[0]);
        const auto b = known_scalar(*e.operands[1]);
        return a && b ? std::optional(std::pair(*a, *b)) : std::nullopt;
    }

    // The typer knows the elements of computed arrays.
    bool is_decided_later(const Expr& e) {
        if (e.op == Op::kAdd) {
            return !known_type(e) && std::ranges::all_of(e.operands, [&](const Expr* each) {
                return known_type(*each) || is_decided_later(*each);
            });
        }
        const bool named = e.op == Op::kVar || e.op == Op::kLoad || e.op == Op::kArray;
        return named && e.var->type.is_unknown() && !known_type(e);
    }

    std::optional<Scalar> scalar_of(const Expr& e) {
        const auto found = known_scalar(e);
        if (!found) {
            report_once(context_.diagnostics, Code::kP213, e.span,
                        "this type is known only after the types of variables are inferred",
                        "use the type of a parameter or of an array, x.dtype");
        }
        return found;
    }

    std::optional<Scalar> known_scalar(const Expr& e) {
        const auto found = known_type(e);
        return found ? std::optional(found->scalar) : std::nullopt;
    }

    // The type of the expression, if it is known; weak for a Python number.
    std::optional<Type> known_type(const Expr& e) {
        if (e.op == Op::kConvert) return Type::of(e.type.scalar);
        if (e.op == Op::kAdd) {  // the type that holds both
            const auto a = known_type(*e.operands[0]), b = known_type(*e.operands[1]);
            return a && b ? std::optional(promote(*a, *b)) : std::nullopt;
        }
        const bool named = e.op == Op::kVar || e.op == Op::kLoad || e.op == Op::kArray;
        if (!named) return std::nullopt;
        if (e.var->type.is_scalar()) return e.var->type;
        if (e.var->type.is_unknown()) return elements_of(*e.var);
        return Type::of(e.var->type.scalar);
    }

    // The element type that all assignments of the name agree on: names of arrays, of parts of
    // them, of parameters and of constants. It is weak if all of them are numbers of Python.
    std::optional<Type> elements_of(const Var& name) {
        if (given_.empty()) {
            for_each_stmt(function_.body, [&](const Stmt& stmt) {
                if (const auto* assign = stmt.as<Assign>())
                    given_[assign->var].push_back(assign->value);
            });
        }
        std::optional<Type> found;
        std::unordered_set<const Var*> seen{&name};
        std::vector<const Expr*> values = given_[&name];
        while (!values.empty()) {
            const Expr& value = *values.back();
            values.pop_back();
            if (value.op == Op::kSelect) {
                values.insert(values.end(), value.operands.begin() + 1, value.operands.end());
                continue;
            }
            const bool named = value.op == Op::kVar || value.op == Op::kLoad;
            if (named && value.var->type.is_unknown()) {
                const auto& more = given_[value.var];
                if (more.empty()) return std::nullopt;
                if (seen.insert(value.var).second)
                    values.insert(values.end(), more.begin(), more.end());
                continue;
            }
            const bool is_known =
                value.op == Op::kConst ||
                (named && (value.var->type.is_array() || value.var->type.is_scalar()));
            Type type = Type::of(named ? value.var->type.scalar : value.type.scalar);
            type.weak =
                named ? value.var->type.is_scalar() && value.var->type.weak : value.type.weak;
            if (!is_known || found.value_or(type).scalar != type.scalar) return std::nullopt;
            type.weak = type.weak && found.value_or(type).weak;
            found = type;
        }
        return found;
    }

    PassContext& context_;
    Function& function_;
    bool chooses_ = false;  // in the condition of a choice between two values
    std::unordered_map<const Var*, std::vector<const Expr*>> given_;  // by the assignments
};

}  // namespace

bool asks_for_types(const Expr& condition) {
    if (condition.op == Op::kTypesEqual) return true;
    const bool combines = condition.op == Op::kAnd || condition.op == Op::kOr ||
                          condition.op == Op::kNot || condition.op == Op::kPyBool;
    return combines && std::ranges::all_of(condition.operands, [](const Expr* e) {
               return truth_of(*e) != nullptr || asks_for_types(*e);
           });
}

void fold_static(PassContext& context, Function& function) {
    StaticFolder(context, function).run();
}

}  // namespace parpy
