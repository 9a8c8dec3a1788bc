// Kinds of the results of function values, and of their captured variables (kind_walk.h).
#include <algorithm>

#include "passes/aggregates/kind_walk.h"

namespace parpy {

using namespace ir;

Kind KindWalk::of_applied(const Expr& expr, const KindsHere& here) const {
    if (const Expr* whole = replaced_tuple(expr)) {
        Kind kind = of(*whole, here);
        for (std::size_t i = 1; kind.is_tuple() && i < expr.operands.size(); ++i) {
            if (const auto place = kind.place_of_name(*expr.operands[i]->text))
                kind.parts[*place] = of(*expr.operands[i]->operands[0], here);
        }
        if (kind.is_tuple() && !kind.names.empty()) return kind;
    }
    Kind called = of(*expr.operands[0], here);
    if (called.is_callable_object()) called = of_field(called, "__call__", here);
    return applied(called, expr, here);
}

// The kind of what the call gives, whose operand 0 is of the kind `called`.
Kind KindWalk::applied(const Kind& called, const Expr& expr, const KindsHere& here) const {
    const Kind function = carried(called, here);
    if (!function.is_function())
        return expr.operands.size() > 1 && function.form == Kind::Form::kDtype
                   ? of(*expr.operands[1], here)
                   : Kind::number();
    const Bound bound = bound_arguments(expr, function);
    if (!bound.problem.empty()) return Kind::number();
    std::vector<Kind> kinds;
    for (const Bound::Place& place : bound.places)
        kinds.push_back(place.is_part ? function.parts[place.at]
                                      : carried(of(*expr.operands[place.at], here), here));
    kinds.insert(kinds.end(),
                 function.parts.begin() + static_cast<std::ptrdiff_t>(function.own_parts()),
                 function.parts.end());
    return result_of_(*function.function, kinds);
}

const Expr* replaced_tuple(const Expr& apply) {
    const Expr& called = *apply.operands[0];
    const auto is_named = [](const Expr* e) { return e->op == Op::kNamed; };
    const bool replaces = called.op == Op::kField && *called.text == "_replace" &&
                          std::all_of(apply.operands.begin() + 1, apply.operands.end(), is_named);
    return replaces ? called.operands[0] : nullptr;
}

// The kind of an attribute of an object, which may be a method, or the result of a property.
Kind KindWalk::of_field(const Kind& owner, const std::string& name, const KindsHere& here) const {
    if (const auto place = owner.place_of_name(name)) return owner.parts[*place];
    if (owner.place_of_name("*" + name)) return Kind::number();
    if (const auto place = owner.place_of_name(name + "()"))
        return bound_to(carried(owner.parts[*place], here), carried(owner, here));
    if (const Kind* method = owner.member(name + "()")) {
        Kind function = *method;
        function.constants.clear();
        return bound_to(std::move(function), carried(owner, here));
    }
    const auto place = owner.place_of_name("@" + name);
    const Kind* const property = place ? &owner.parts[*place] : owner.member("@" + name);
    if (property == nullptr) return Kind::number();
    const Kind function = carried(*property, here);
    std::vector<Kind> kinds{carried(owner, here)};
    kinds.insert(kinds.end(), function.parts.begin(), function.parts.end());
    return result_of_(*function.function, kinds);
}

namespace {

Kind carried_at(const Kind& kind, const KindsHere& here, int depth) {
    Kind result = kind;
    if (depth > KindWalk::kMostFunctions) return Kind::mixed();
    if (kind.is_tuple() || kind.is_record() || kind.is_function()) {
        for (Kind& part : result.parts)
            part = carried_at(part, here, depth + 1);
    }
    for (const Var* cell : kind.cells)
        result.parts.push_back(carried_at(kind_of(*cell, here), here, depth + 1));
    result.cells.clear();
    result.lent = false;
    return result;
}

}  // namespace

Kind KindWalk::carried(const Kind& kind, const KindsHere& here) {
    return has_single(kind) ? carried_at(kind, here, 0) : kind;
}

Bound bound_arguments(const Expr& apply, const Kind& function) {
    Bound bound;
    const auto& params = function.function->params;
    const std::string name = called(*function.function);
    const std::size_t captured = function.captured();
    const std::size_t count = params.size() >= captured ? params.size() - captured : 0;
    const std::size_t first = function.bound && count > 0 ? 1 : 0;
    const auto shown = [&] {
        std::string all;
        for (std::size_t i = first; i < count; ++i)
            all += (i > first ? ", " : "") + params[i]->shown();
        return "its parameters are (" + all + ")";
    };
    std::vector<std::size_t> given(count, 0);
    std::size_t positional = first;
    for (std::size_t i = 1; i < apply.operands.size(); ++i) {
        const Expr& argument = *apply.operands[i];
        std::size_t place = positional;
        if (argument.op == Op::kNamed) {
            for (place = first; place < count && params[place]->shown() != *argument.text;)
                ++place;
            if (place == count)
                return {{}, name + " has no parameter '" + *argument.text + "'", shown()};
        } else if (++positional > count) {
            continue;
        }
        if (given[place] != 0)
            return {{},
                    name + " gets two values for parameter '" + params[place]->shown() + "'",
                    "leave one out"};
        given[place] = i;
    }
    if (positional > count)
        return {{},
                name + " takes " + std::to_string(count - first) +
                    (count - first == 1 ? " argument" : " arguments") + ", not " +
                    std::to_string(positional - first),
                shown()};
    if (first > 0) bound.places.push_back({true, function.defaults});
    for (std::size_t i = first; i < count; ++i) {
        if (given[i] == 0 && i + function.defaults < count)
            return {{},
                    name + " gets no value for its parameter '" + params[i]->shown() + "'",
                    shown()};
        bound.places.push_back(given[i] == 0 ? Bound::Place{true, i + function.defaults - count}
                                             : Bound::Place{false, given[i]});
    }
    return bound;
}

}  // namespace parpy
