// Compares the arguments of each call of a function with its annotations, which the frontend writes
// as conditions before the body. Errors are reported at the call. A condition on run-time arguments
// of the entry becomes a requirement of the program. Other conditions on run-time values stay in
// the function.
#include <algorithm>

#include "ir/builder.h"
#include "ir/clone.h"
#include "passes/checks/check_sites.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

namespace {

const Fail* fail_of(const Stmt& stmt) {
    const auto* test = stmt.as<If>();
    const bool form = test != nullptr && test->then_body.empty() && test->else_body.size() == 1;
    return form ? test->else_body.front()->as<Fail>() : nullptr;
}

// A Python number fits every type that it converts to without loss of meaning.
bool fits(const Type& given, Scalar wanted) {
    if (given.scalar == wanted) return true;
    if (!given.weak || given.scalar == Scalar::kBool) return false;
    if (given.scalar == Scalar::kI64) return wanted != Scalar::kBool;
    return is_complex(wanted) || (given.scalar == Scalar::kF64 && is_float(wanted));
}

// An integer in the terms of the caller: a constant, or a variable.
struct Side {
    std::optional<std::int64_t> value;
    const Var* var = nullptr;

    [[nodiscard]] bool known() const { return value || var != nullptr; }
    [[nodiscard]] bool of_the_call() const {
        return value || (var != nullptr && var->origin.kind != Origin::Kind::kNone);
    }
};

class Judge {
public:
    // `parts`: the parts of arrays that names refer to.
    Judge(const Instance& callee, const Expr& call, const std::vector<ArgumentKey>& key,
          const std::unordered_map<const Var*, const Expr*>& parts)
        : callee_(callee), call_(call), key_(key), parts_(parts) {}

    std::size_t number_of(const Var* param) const {
        return static_cast<std::size_t>(std::ranges::find(callee_.inputs, param) -
                                        callee_.inputs.begin());
    }

    // The parameter that the check concerns.
    const Var* subject(const Expr& e) const {
        if (e.var != nullptr) return e.var;
        return e.operands.empty() ? nullptr : subject(*e.operands[0]);
    }

    std::optional<Type> type(const Expr& e) const {
        if (e.op == Op::kConvert) return e.type;
        if (e.op == Op::kPos) return type(*e.operands[0]);
        const std::size_t number = number_of(e.var);
        return number < key_.size() ? std::optional(key_[number].type) : std::nullopt;
    }

    Side side(const Expr& e) const {
        Side out;
        if (const auto* value = std::get_if<std::int64_t>(&e.constant.value);
            e.op == Op::kConst && value != nullptr) {
            out.value = *value;
        } else if (e.op == Op::kSub) {
            const Side a = side(*e.operands[0]), b = side(*e.operands[1]);
            if (a.value && b.value) out.value = *a.value - *b.value;
        } else if (const std::size_t number = e.var == nullptr ? key_.size() : number_of(e.var);
                   number < key_.size()) {
            const ArgumentKey& given = key_[number];
            const auto axis = static_cast<std::size_t>(e.index);
            if (e.op == Op::kRank) {
                out.value = given.type.is_array() ? given.type.rank : 0;
            } else if (e.op == Op::kExtent && axis < given.dims.size()) {
                const Var* array = call_.operands[number]->var;
                out.value = given.dims[axis].extent;
                if (!out.value) out.var = array->dims[axis].extent_var;
            } else if (e.op == Op::kExtent) {
                return extent_of_part(call_.operands[number]->var, axis);
            } else if (e.op == Op::kVar && given.type.is_scalar()) {
                return number_given(*call_.operands[number]);
            }
        }
        return out;
    }

private:
    // The extent of a part that has the whole dimension.
    Side extent_of_part(const Var* name, std::size_t axis) const {
        Side out;
        const auto part = parts_.find(name);
        if (part == parts_.end()) return out;
        const Expr& load = *part->second;
        std::size_t number = 0, taken = 0;
        for (const Expr* index : load.operands) {
            const bool slice = index->op == Op::kSlice, added = index->op == Op::kNewAxis;
            if ((slice || added) && number++ == axis) {
                if (!slice || !index->operands.empty()) return out;
                if (load.var->dims.empty()) return extent_of_part(load.var, taken);
                out.value = load.var->dims[taken].extent;
                if (!out.value) out.var = load.var->dims[taken].extent_var;
                return out;
            }
            taken += added ? 0 : 1;
        }
        return out;
    }

    static Side number_given(const Expr& argument) {
        Side out;
        out.value = constant_integer(&argument);
        if (argument.op == Op::kConvert && argument.operands[0]->type.is(Scalar::kI64))
            return number_given(*argument.operands[0]);
        const bool is_i64 = argument.op == Op::kVar && argument.type.is(Scalar::kI64);
        // Other variables may have another value in the next call.
        if (is_i64 && argument.var->origin.kind != Origin::Kind::kNone) out.var = argument.var;
        return out;
    }

    const Instance& callee_;
    const Expr& call_;
    const std::vector<ArgumentKey>& key_;
    const std::unordered_map<const Var*, const Expr*>& parts_;
};

void require_equal(Module& module, const Side& a, const Side& b) {
    for (const std::int64_t sign : {1, -1}) {
        ParameterBound bound;
        for (const auto& [side, factor] : {std::pair(&a, sign), std::pair(&b, -sign)}) {
            if (side->value) {
                bound.constant += factor * *side->value;
            } else {
                bound.terms.emplace_back(side->var, factor);
            }
        }
        if (std::ranges::find(module.requirements, Requirement{bound}) == module.requirements.end())
            module.requirements.push_back({bound});
    }
}

}  // namespace

bool is_declared_check(const Module& module, const Stmt& stmt) {
    const Fail* fail = fail_of(stmt);
    return fail != nullptr && module.sites[fail->site].code == Code::kP231;
}

bool asks_for_number(const Stmt& check) {
    const Expr& condition = *check.as<If>()->condition;
    return condition.op == Op::kTypesEqual && condition.operands[0]->op == Op::kPos;
}

bool asks_for_type(const Stmt& check) {
    const Expr& condition = *check.as<If>()->condition;
    if (condition.op != Op::kTypesEqual) return false;
    const Expr& first = *condition.operands[0];
    return first.op == Op::kPos || (first.op == Op::kVar && first.var->type.is_unknown());
}

std::vector<DeclaredCheck> take_declared_checks(const Module& module, Function& function) {
    std::vector<DeclaredCheck> checks;
    const auto end = std::ranges::find_if_not(
        function.body, [&](const Stmt* stmt) { return is_declared_check(module, *stmt); });
    for (auto at = function.body.begin(); at != end; ++at)
        checks.push_back({(*at)->as<If>()});
    function.body.erase(function.body.begin(), end);
    return checks;
}

void Typer::check_declared(const Expr& call, const std::vector<ArgumentKey>& key,
                           Instance& callee) {
    const Judge judge(callee, call, key, parts_);
    const Var* refused = nullptr;
    for (DeclaredCheck& check : callee.checks) {
        const Expr& condition = *check.stmt->condition;
        const Expr &left = *condition.operands[0], &right = *condition.operands[1];
        const Var* subject = judge.subject(left);
        const std::size_t number = judge.number_of(subject);
        if (subject == refused || number >= call.operands.size()) continue;
        const Site& site = context_.module.sites[fail_of(*check.stmt)->site];
        const auto refuse = [&](const std::string& what) {
            refused = subject;
            if (Diagnostic* error = report(
                    Code::kP231, call.operands[number]->span,
                    "argument '" + subject->shown() + "' of '" + callee.source->name + "' " + what,
                    "pass such an argument, or change the annotation")) {
                error->notes.push_back({check.stmt->span, site.help});
            }
        };
        if (condition.op == Op::kTypesEqual) {
            const auto given = judge.type(left), wanted = judge.type(right);
            const bool good = !given || !wanted || wanted->is_unknown() ||
                              (left.op == Op::kPos ? fits(*given, wanted->scalar)
                                                   : given->scalar == wanted->scalar);
            if (!good) {
                refuse((left.op == Op::kPos
                            ? "is " + a_python_name(*given)
                            : "has elements of type " + python_name(Type::of(given->scalar))) +
                       ", not " + python_name(Type::of(wanted->scalar)));
            }
            continue;
        }
        const Type& type = key[number].type;
        if (left.op == Op::kVar && (!type.is_scalar() || !is_integer(type.scalar))) {
            refuse("is " + a_python_name(type) + ", not an integer");
            continue;
        }
        const Side a = judge.side(left), b = judge.side(right);
        if (a.value && b.value) {
            if (*a.value == *b.value) continue;
            const std::string wanted = std::to_string(*b.value);
            if (left.op == Op::kVar) {
                refuse("is " + std::to_string(*a.value) + ", not " + wanted);
            } else if (left.op == Op::kExtent) {
                refuse("has the extent " + std::to_string(*a.value) + " in dimension " +
                       std::to_string(left.index) + ", not " + wanted);
            } else {
                refuse("is " + a_python_name(type) + ", not an array of " + wanted +
                       (wanted == "1" ? " dimension" : " dimensions"));
            }
        } else if (a.known() && a.var == b.var) {
            continue;
        } else if (a.of_the_call() && b.of_the_call()) {
            require_equal(context_.module, a, b);
        } else {
            check.open = true;
        }
    }
}

// Checks the type of a number in a body that was inlined.
void Typer::check_type(const If& check) {
    const Expr& first = *check.condition->operands[0];
    const Expr& number = first.op == Op::kPos ? *first.operands[0] : first;
    const Expr& wanted = *check.condition->operands[1];
    const Type& given = number.var->type;
    const Type& type = wanted.op == Op::kConvert ? wanted.type : wanted.var->type;
    if (given.is_unknown() || type.is_unknown()) return;
    if (given.is_array() ? given.scalar == type.scalar : fits(given, type.scalar)) return;
    const Site& site = context_.module.sites[fail_of(check)->site];
    if (Diagnostic* error = report(Code::kP231, number.span,
                                   site.message + ": " + a_python_name(given) + ", not " +
                                       python_name(Type::of(type.scalar)),
                                   "pass such an argument, or change the annotation")) {
        error->notes.push_back({check.span, site.help});
    }
}

void put_open_checks(Module& module, Instance& instance) {
    Body front;
    for (const DeclaredCheck& check : instance.checks) {
        if (!check.open || !instance.rewritten) continue;
        Builder b(module, check.stmt->span);
        const auto typed = [&](const Expr& e) -> Expr* {
            if (e.op == Op::kExtent && e.var->dims.empty()) return b.extent(e.var, e.index);
            if (e.op == Op::kExtent) {
                const Dim& dim = e.var->dims.at(static_cast<std::size_t>(e.index));
                return dim.extent ? b.integer(*dim.extent) : b.var(dim.extent_var);
            }
            if (e.op == Op::kVar && e.var->constant == nullptr)
                return b.convert(b.var(e.var), Scalar::kI64);
            return b.integer(e.op == Op::kVar ? std::get<std::int64_t>(e.var->constant->value)
                                              : *constant_integer(&e));
        };
        const Expr& condition = *check.stmt->condition;
        Expr* left = typed(*condition.operands[0]);
        Expr* right = typed(*condition.operands[1]);
        const Site& known = module.sites[fail_of(*check.stmt)->site];
        FailBuilder fail(b, Code::kP231);
        fail.site().message = known.message + ": " + fail.value(b.convert(left, Scalar::kI64)) +
                              ", not " + fail.value(b.convert(right, Scalar::kI64));
        fail.site().help = known.help;
        Stmt* failure = fail.make();
        Expr* equal = b.binary(Op::kEq, clone(module, left), clone(module, right));
        front.push_back(b.if_(equal, {}, {failure}));
    }
    Body& body = instance.function->body;
    body.insert(body.begin(), front.begin(), front.end());
}

}  // namespace parpy
