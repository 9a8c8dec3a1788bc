// Functions, types and texts as values (lower_aggregates.h).
#include <algorithm>

#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

// Lowers `fn g(d, k) defaults 1`; captured variables are read only when it is called.
Parts Lowering::function_value(Expr& e) {
    Parts value{walk_.of(e, here_), {}};
    std::vector<Expr*> defaults(e.operands.begin(),
                                e.operands.begin() + static_cast<std::ptrdiff_t>(e.index));
    for (Parts& each : lower_all(defaults))
        value.leaves.insert(value.leaves.end(), each.leaves.begin(), each.leaves.end());
    return value;
}

Parts Lowering::carried(Parts value, Span span) {
    if (!has_single(value.kind)) return value;
    Parts result{KindWalk::carried(value.kind, here_), {}};
    carry(value, span, 0, result);
    return result;
}

Kind Lowering::lent(Kind kind) {
    kind.lent = kind.is_function() && kind.captured() > 0;
    for (Kind& part : kind.parts)
        part = lent(std::move(part));
    return kind;
}

const Kind* Lowering::find_lent(const Kind& kind, int depth) const {
    if (kind.lent) return &kind;
    if (depth > KindWalk::kMostFunctions) return nullptr;
    for (const Kind& part : kind.parts) {
        if (const Kind* found = find_lent(part, depth + 1)) return found;
    }
    for (const Var* cell : kind.cells) {
        const auto value = here_.of.find(cell);
        if (value == here_.of.end()) continue;
        if (const Kind* found = find_lent(value->second, depth + 1)) return found;
    }
    return nullptr;
}

// Adds the leaves of the value as another function receives it.
void Lowering::carry(const Parts& value, Span span, int depth, Parts& result) {
    if (depth > KindWalk::kMostFunctions) {
        result.leaves.push_back(number(0, span));
        return;
    }
    if (!value.kind.is_tuple() && !value.kind.is_record() && !value.kind.is_function()) {
        result.leaves.insert(result.leaves.end(), value.leaves.begin(), value.leaves.end());
        return;
    }
    for (std::size_t i = 0; i < value.kind.parts.size(); ++i)
        carry(part_of(value, i), span, depth + 1, result);
    for (const Var* cell : value.kind.cells) {
        auto* name = const_cast<Var*>(cell);
        carry(read(name, kind_of(*name, here_), span), span, depth + 1, result);
    }
}

// Lowers `p._replace(x=1)` of a named tuple: p with other elements.
Parts Lowering::replaced(Expr& e, Expr& whole) {
    std::vector<Expr*> written{&whole};
    for (std::size_t i = 1; i < e.operands.size(); ++i)
        written.push_back(e.operands[i]->operands[0]);
    std::vector<Parts> values = lower_all(written);
    const Kind& kind = values[0].kind;
    std::vector<Parts> parts;
    for (std::size_t i = 0; i < kind.parts.size(); ++i)
        parts.push_back(part_of(values[0], i));
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        const std::string& name = *e.operands[i]->text;
        const auto place = kind.place_of_name(name);
        if (!place) {
            fail(Code::kP105, e.operands[i]->span,
                 a_kind(kind) + " gets a value for '" + name + "', which it does not have",
                 "give values only for the names that it has");
            return poison(e.span);
        }
        parts[*place] = std::move(values[i]);
    }
    Parts result{kind, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        result.kind.parts[i] = parts[i].kind;
        result.leaves.insert(result.leaves.end(), parts[i].leaves.begin(), parts[i].leaves.end());
    }
    return result;
}

// Lowers a call of a value.
Parts Lowering::apply(Expr& e) {
    if (const Expr* whole = replaced_tuple(e)) {
        const Kind kind = walk_.of(*whole, here_);
        if (kind.is_tuple() && !kind.names.empty()) return replaced(e, *e.operands[0]->operands[0]);
    }
    if (const Kind called = walk_.of(*e.operands[0], here_); called.is_callable_object()) {
        e.operands[0] = surface(Op::kField, {e.operands[0]}, e.span);
        e.operands[0]->text = std::make_shared<const std::string>("__call__");
    }
    Expr& written = *e.operands[0];
    const Span span = e.span;
    const auto has_attributes = [](const Kind& kind) {
        return kind.is_record() || kind.is_tuple();
    };
    if (written.op == Op::kField && !has_attributes(walk_.of(*written.operands[0], here_))) {
        (void)lowered(written.operands[0]);
        fail(Code::kP022, span, "the method '" + *written.text + "' cannot be compiled",
             "call a function instead");
        return poison(span);
    }
    Parts called = lower(&written);
    if (called.kind.form == Kind::Form::kMixed) {
        fail_mixed(written, called.kind);
        return poison(span);
    }
    if (called.kind.form == Kind::Form::kDtype && e.operands.size() == 2) {
        const Kind kind = walk_.of(e, here_);
        const Scalar scalar = *called.kind.scalar;
        const bool python = called.kind.python && !is_complex(scalar);
        const Op op = scalar == Scalar::kBool ? Op::kPyBool
                      : !python               ? Op::kConvert
                      : is_float(scalar)      ? Op::kPyFloat
                                              : Op::kPyInt;
        const Type type = op == Op::kConvert ? Type::of(scalar) : Type::unknown();
        return {kind, {module_.make_expr(op, type, span, {lowered(e.operands[1])})}};
    }
    if (!called.kind.is_function()) {
        const std::string name = shown(written);
        const bool known = called.kind.form != Kind::Form::kNumber;
        if (poisoned_) return poison(span);
        fail(Code::kP022, written.span,
             "the called function must be known when the caller is compiled" +
                 (known ? "; " + (name.empty() ? "this" : name) + " is " + a_kind(called.kind)
                        : std::string()),
             "call a global function by its name, or pass a function");
        return poison(span);
    }
    const Bound bound = bound_arguments(e, called.kind);
    if (!bound.problem.empty()) {
        fail(Code::kP105, span, bound.problem, bound.help);
        return poison(span);
    }
    called = carried(std::move(called), span);
    std::vector<Expr*> operands;
    bool named = false;
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        const bool is_named = e.operands[i]->op == Op::kNamed;
        operands.push_back(is_named ? e.operands[i]->operands[0] : e.operands[i]);
        named = named || is_named;
    }
    std::vector<Parts> given = lower_all(operands);
    std::vector<Parts> arguments;
    std::vector<Span> spans;
    for (const Bound::Place& place : bound.places) {
        if (place.is_part) {
            arguments.push_back(part_of(called, place.at));
            spans.push_back(span);
            continue;
        }
        Parts& argument = given[place.at - 1];
        const Expr& here = *operands[place.at - 1];
        if (argument.kind.form == Kind::Form::kMixed) {
            fail_mixed(here, argument.kind);
            return poison(span);
        }
        if (named && argument.kind.is_number() && argument.kind.rank == 0)
            argument = held(std::move(argument), here.span);  // evaluated as they are written
        arguments.push_back(carried(std::move(argument), here.span));
        spans.push_back(here.span);
    }
    for (std::size_t i = called.kind.own_parts(); i < called.kind.parts.size(); ++i) {
        arguments.push_back(part_of(called, i));
        spans.push_back(span);
        if (arguments.back().kind.form != Kind::Form::kMixed) continue;
        const Function& callee = *called.kind.function;
        Expr* name = var(callee.params[arguments.size() - 1], span);
        if (!arguments.back().kind.parts.empty())
            fail_mixed(*name, arguments.back().kind);
        else
            fail(Code::kP022, span,
                 shown(*name) +
                     " is a function that refers to itself, or to a function that refers to it",
                 "give each function a name of its own");
        return poison(span);
    }
    auto& callee = const_cast<Function&>(*called.kind.function);
    return call_of(e, callee, std::move(arguments), spans);
}

// A number of the type of a value or dtype, or of a type that holds the types of all in a tuple.
Expr* Lowering::of_type(Parts value, const Expr& written) {
    if (value.kind.is_tuple() && !value.kind.parts.empty()) {
        Expr* sum = nullptr;
        for (std::size_t i = 0; i < value.kind.parts.size(); ++i) {
            Expr* part = of_type(part_of(value, i), written);
            sum = i == 0 ? part : surface(Op::kAdd, {sum, part}, written.span);
        }
        return sum;
    }
    if (!value.kind.is_single()) return number_in(std::move(value), written);
    if (!value.kind.scalar) {
        fail(Code::kP023, written.span, a_kind(value.kind) + " is not the name of a number type",
             "pass a type: np.float32, or 'f4'");
        return number(0, written.span);
    }
    return module_.make_expr(Op::kConvert, Type::of(*value.kind.scalar), written.span,
                             {number(0, written.span)});
}

}  // namespace parpy
