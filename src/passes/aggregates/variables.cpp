// The variables that hold a value, and small expressions (lower_aggregates.h).
#include <algorithm>

#include "ir/visit.h"
#include "passes/aggregates/lowering.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

// ------------------------------------------------------------ variables

Parts Lowering::read(Expr& e) {
    const Kind kind = kind_of(*e.var, here_);
    if (kind.is_number()) return {kind, {&e}};
    if (kind.form == Kind::Form::kMixed && !kind.parts.empty()) return {kind, {&e}};
    if (kind.form == Kind::Form::kMixed || kind.form == Kind::Form::kNothing) {
        fail_mixed(e);
        return poison(e.span);
    }
    return read(e.var, kind, e.span);
}

Parts Lowering::read(Var* name, const Kind& kind, Span span) {
    Parts parts{kind, {}};
    for (Var* each : variables(name, kind))
        parts.leaves.push_back(var(each, span));
    return parts;
}

std::vector<Var*> Lowering::variables(Var* name, const Kind& kind) {
    std::vector<Var*> found;
    variables(name, kind, "", found);
    return found;
}

void Lowering::variables(Var* name, const Kind& kind, const std::string& place,
                         std::vector<Var*>& found) {
    if (kind.is_tuple()) {
        for (std::size_t i = 0; i < kind.parts.size(); ++i)
            variables(name, kind.parts[i], place + "_" + std::to_string(i), found);
        return;
    }
    if (kind.is_record()) {
        for (std::size_t i = 0; i < kind.parts.size(); ++i) {
            std::string part = kind.names[i];
            std::erase_if(part,
                          [](char c) { return c == '(' || c == ')' || c == '@' || c == '*'; });
            variables(name, kind.parts[i], place + "_" + part, found);
        }
        return;
    }
    if (kind.is_single()) {
        for (std::size_t i = 0; i < kind.parts.size(); ++i) {
            const auto& params = kind.function->params;
            const std::size_t first = params.size() - kind.captured() - kind.defaults;
            const bool is_self = kind.bound && i == kind.defaults;
            const std::size_t at = first + i - (i < kind.own_parts() ? 0 : kind.bound ? 1 : 0);
            variables(name, kind.parts[i],
                      place + "_" + (is_self ? params.front() : params[at])->name, found);
        }
        return;
    }
    if (kind.is_none()) return;
    if (kind.is_optional()) {
        variables(name, kind.parts[0], place, found);
        variables(name, Kind::number(), place + "_is_set", found);
        return;
    }
    const auto part = [&](const std::string& of_name) {
        Var*& own = places_[name][of_name];
        if (own == nullptr) own = make_variable(name->name + of_name, name->span, name->shown());
        return own;
    };
    found.push_back(place.empty() ? name : part(place));
}

Var* Lowering::make_variable(const std::string& wanted, Span span, const std::string& shown) {
    std::string name = wanted;
    for (int count = 2; !names_.insert(name).second; ++count)
        name = wanted + "_" + std::to_string(count);
    Var* made = module_.make_var(name, Type::unknown(), span);
    if (name != shown) made->user_name = shown;
    return made;
}

Expr* Lowering::held(Expr* value, Span span, std::size_t at) {
    Var* name = make_variable("tmp", span, "tmp");
    out_->insert(out_->begin() + static_cast<std::ptrdiff_t>(at), assigned(name, value, span));
    return var(name, span);
}

Assign* Lowering::assigned(Var* name, Expr* value, Span span) {
    auto* assign = module_.make<Assign>(span);
    assign->var = name;
    assign->value = value;
    return assign;
}

// The value in variables that are not assigned any more, and constants.
Parts Lowering::held(Parts value, Span span) {
    for (Expr*& leaf : value.leaves) {
        if (leaf->op != Op::kConst) leaf = held(leaf, span, out_->size());
    }
    return value;
}

void Lowering::set(Var* name, Parts value, Span span) {
    const std::vector<Var*> targets = variables(name, value.kind);
    const auto of_target = [&](const Expr& e) {
        return e.var != nullptr && std::ranges::find(targets, e.var) != targets.end();
    };
    bool interferes = false;  // a later part reads a variable that an earlier one assigns
    for (std::size_t i = 1; i < targets.size(); ++i) {
        const bool itself = value.leaves[i]->op == Op::kVar && value.leaves[i]->var == targets[i];
        interferes = interferes || (!itself && any_expr(*value.leaves[i], of_target));
    }
    if (interferes) value = held(std::move(value), span);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (value.leaves[i]->op == Op::kVar && value.leaves[i]->var == targets[i]) continue;
        out_->push_back(assigned(targets[i], value.leaves[i], span));
    }
    here_.of[name] = std::move(value.kind);
}

// The value in the form of one that may be None, or has parts that may be.
Parts Lowering::as_kind(Parts value, const Kind& kind, Span span) {
    if (!has_optional(kind) || value.kind == kind) return value;
    if (kind.is_optional()) {
        if (value.kind.is_none()) {
            Parts none{kind, {}};
            while (none.leaves.size() < kind.leaf_count())
                none.leaves.push_back(truth(false, span));
            return none;
        }
        const bool is_there = !value.kind.is_optional();
        if (value.leaves.size() + (is_there ? 1 : 0) != kind.leaf_count()) return value;
        if (is_there) value.leaves.push_back(truth(true, span));
        return {kind, std::move(value.leaves)};
    }
    const bool has_parts = value.kind.is_tuple() || value.kind.is_record();
    if (!has_parts || value.kind.parts.size() != kind.parts.size()) return value;
    Parts result{value.kind, {}};
    result.kind.parts.clear();
    for (std::size_t i = 0; i < kind.parts.size(); ++i) {
        Parts part = as_kind(part_of(value, i), kind.parts[i], span);
        result.kind.parts.push_back(std::move(part.kind));
        result.leaves.insert(result.leaves.end(), part.leaves.begin(), part.leaves.end());
    }
    return result;
}

// Ends `stmts`, from which a path leads to a place where these kinds hold: values that may be None
// there are assigned to their variables.
void Lowering::become(const KindsHere& there, Body& stmts) {
    if (!here_.reachable) return;
    Body* const outer = std::exchange(out_, &stmts);
    std::vector<Var*> names;
    for (const auto& [name, kind] : there.of) {
        const auto found = here_.of.find(name);
        const bool has_value =
            found != here_.of.end() && found->second.form != Kind::Form::kNothing;
        if (has_value && has_optional(kind) && found->second != kind)
            names.push_back(const_cast<Var*>(name));
    }
    std::ranges::sort(names, {}, &Var::name);
    for (Var* name : names) {
        const Kind& kind = there.of.at(name);
        set(name, as_kind(read(name, here_.of.at(name), name->span), kind, name->span), name->span);
    }
    out_ = outer;
}

// ------------------------------------------------------------ small pieces

Expr* Lowering::surface(Op op, std::vector<Expr*> operands, Span span) {
    return module_.make_expr(op, Type::unknown(), span, std::move(operands));
}

Expr* Lowering::number(std::int64_t value, Span span) {
    Expr* made = module_.make_expr(Op::kConst, Type::weak_of(Scalar::kI64), span);
    made->constant.value = value;
    return made;
}

Expr* Lowering::truth(bool value, Span span) {
    Expr* made = module_.make_expr(Op::kConst, Type::of(Scalar::kBool), span);
    made->constant.value = value;
    return made;
}

Expr* Lowering::var(Var* name, Span span) {
    Expr* made = surface(Op::kVar, {}, span);
    made->var = name;
    return made;
}

Expr* Lowering::extent(Var* array, Span span, int axis) {
    Expr* made = surface(Op::kExtent, {}, span);
    made->var = array;
    made->index = axis;
    return made;
}

Diagnostic* Lowering::fail(Code code, Span span, std::string message, std::string help) {
    const bool follows = code == Code::kP017 || code == Code::kP204 || code == Code::kP217;
    if (follows && poisoned_) return nullptr;
    poisoned_ = poisoned_ || code == Code::kP022 || code == Code::kP024 || code == Code::kP211;
    return report_once(context_.diagnostics, code, span, std::move(message), std::move(help));
}

Parts Lowering::poison(Span span, const Kind& kind) {
    Parts parts{kind, {}};
    while (parts.leaves.size() < kind.leaf_count())
        parts.leaves.push_back(number(0, span));
    return parts;
}

}  // namespace parpy
