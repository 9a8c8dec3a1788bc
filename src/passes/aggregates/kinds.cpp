// See kinds.h.
#include "passes/aggregates/kinds.h"

#include <algorithm>

#include "ir/ops.h"
#include "support/escape.h"

namespace parpy {

std::size_t Kind::leaf_count() const {
    if (is_tuple() || is_record() || is_single()) {
        std::size_t count = 0;
        for (const Kind& part : parts)
            count += part.leaf_count();
        return count;
    }
    if (is_optional()) return parts[0].leaf_count() + 1;
    return form == Form::kNone ? 0 : 1;
}

std::optional<std::size_t> Kind::place_of_name(const std::string& name) const {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
}

const Kind* Kind::member(const std::string& name) const {
    const auto found = std::ranges::find(members, name, &std::pair<std::string, Kind>::first);
    return found == members.end() ? nullptr : &found->second;
}

bool is_member(const ir::Expr& record, const std::string& name) {
    return record.index == 1 && (name.starts_with('@') || name.ends_with("()"));
}

Kind bound_to(Kind function, Kind self) {
    function.bound = true;
    function.parts.insert(function.parts.begin() + static_cast<std::ptrdiff_t>(function.defaults),
                          std::move(self));
    return function;
}

std::optional<std::string> attribute_of(const ir::Expr& expr) {
    switch (expr.op) {
        case ir::Op::kTranspose:
            return expr.operands.size() == 1 ? std::optional("T") : std::nullopt;
        case ir::Op::kShape:
            return ir::is_stride(expr) ? "strides" : "shape";
        case ir::Op::kRank:
            return "ndim";
        case ir::Op::kSize:
            return "size";
        case ir::Op::kReal:
            return "real";
        case ir::Op::kImag:
            return "imag";
        default:
            return std::nullopt;
    }
}

FieldName field_name(const ir::Expr& field) {
    using enum FieldName::Use;
    const std::string& text = *field.text;
    const FieldName::Use use = text.starts_with('=')   ? kAssigned
                               : text.starts_with('+') ? kUpdated
                                                       : kRead;
    return {use, use == kRead ? text : text.substr(1)};
}

namespace {

// Whether it is a number, or a tuple of numbers.
bool has_numbers_alone(const Kind& kind) {
    if (kind.is_tuple()) return std::ranges::all_of(kind.parts, has_numbers_alone);
    return kind.is_number() && kind.rank <= 0;
}

}  // namespace

Kind joined(const Kind& a, const Kind& b) {
    using enum Kind::Form;
    if (a.form == kNothing || a == b) return b;
    if (b.form == kNothing) return a;
    if (a.form == kMixed || b.form == kMixed) return a.form == kMixed ? a : b;
    if (a.is_single() || b.is_single()) {
        const bool alike = a.is_function() && b.is_function() && a.function == b.function &&
                           a.bound == b.bound && a.cells == b.cells &&
                           a.parts.size() == b.parts.size();
        if (!alike) return Kind::mixed({a, b});
        Kind both = a;
        both.lent = a.lent || b.lent;
        for (std::size_t i = 0; i < a.parts.size(); ++i)
            both.parts[i] = joined(a.parts[i], b.parts[i]);
        return both;
    }
    const auto value_of = [](const Kind& kind) {
        return kind.form == kOptional ? kind.parts[0] : kind.form == kNone ? Kind() : kind;
    };
    const auto may_be_none = [](const Kind& kind) {
        return kind.form == kOptional || kind.form == kNone;
    };
    if (may_be_none(a) || may_be_none(b)) {
        const Kind value = joined(value_of(a), value_of(b));
        return has_numbers_alone(value) ? Kind::optional(value) : Kind::mixed();
    }
    if (a.form != b.form) return Kind::mixed();
    if (a.form == kNumber) return Kind::number(Kind::kUnknownRank);
    if (a.form != kTuple && a.form != kRecord) return Kind::mixed();
    if (a.parts.size() != b.parts.size()) return Kind::mixed();
    if (a.is_record() && (a.text != b.text || a.names != b.names)) return Kind::mixed();
    Kind both = a;
    if (a.names != b.names || a.text != b.text) {
        both.names.clear();
        both.members.clear();
        both.text.clear();
    }
    for (std::size_t i = 0; i < a.parts.size(); ++i)
        both.parts[i] = joined(a.parts[i], b.parts[i]);
    return both;
}

bool has_optional(const Kind& kind) {
    return kind.is_optional() || std::ranges::any_of(kind.parts, has_optional);
}

Kind any_part(const Kind& tuple) {
    Kind any;
    for (const Kind& part : tuple.parts)
        any = joined(any, part);
    return tuple.parts.empty() ? Kind::number() : any;
}

Kind without_ranks(const Kind& kind) {
    if (kind.is_number()) return Kind::number(Kind::kUnknownRank);
    Kind result = kind;
    for (Kind& part : result.parts)
        part = without_ranks(part);
    return result;
}

Kind unnamed(const Kind& kind) {
    Kind result = kind;
    if (kind.is_tuple()) {
        result.names.clear();
        result.members.clear();
        result.text.clear();
    }
    for (Kind& part : result.parts)
        part = unnamed(part);
    return result;
}

std::optional<Nest> nest_of(const Kind& kind) {
    if (kind.is_number()) return Nest{{}, kind.rank};
    if (!kind.is_tuple()) return std::nullopt;
    if (kind.parts.empty()) return Nest{{0}, 0};
    const std::optional<Nest> first = nest_of(kind.parts[0]);
    if (!first ||
        !std::ranges::all_of(kind.parts, [&](const Kind& part) { return nest_of(part) == first; }))
        return std::nullopt;
    Nest nest{{static_cast<std::int64_t>(kind.parts.size())}, first->rank};
    nest.extents.insert(nest.extents.end(), first->extents.begin(), first->extents.end());
    return nest;
}

namespace {

// The frontend gives lambdas such names.
bool is_lambda(const ir::Function& function) {
    return function.name.starts_with("nameless");
}

}  // namespace

std::string called(const ir::Function& function) {
    return is_lambda(function) ? "the lambda" : "'" + function.name + "'";
}

std::string a_kind(const Kind& kind) {
    switch (kind.form) {
        case Kind::Form::kTuple:
            return "a tuple of " + std::to_string(kind.parts.size()) +
                   (kind.parts.size() == 1 ? " element" : " elements");
        case Kind::Form::kRecord:
            return kind.text == "dict" ? "a dict" : "an object of the class '" + kind.text + "'";
        case Kind::Form::kNone:
            return "None";
        case Kind::Form::kNothing:
            return "something else";
        case Kind::Form::kOptional:
            return a_kind(kind.parts[0]) + " or None";
        case Kind::Form::kFunction:
            return is_lambda(*kind.function) ? "a lambda"
                                             : "the function " + called(*kind.function);
        case Kind::Form::kText:
            return "the string '" + one_line(kind.text) + "'";
        case Kind::Form::kDtype:
            return "the type " + ir::to_string(ir::Type::of(*kind.scalar));
        case Kind::Form::kNumber:
            return kind.rank > 0    ? "an array"
                   : kind.rank == 0 ? "a number"
                                    : "a number or an array";
        default:
            return "values of several kinds";
    }
}

std::optional<bool> equal_singles(const Kind& a, const Kind& b) {
    using enum Kind::Form;
    if (!a.is_single() && !b.is_single()) return std::nullopt;
    for (const Kind* each : {&a, &b}) {
        if (each->form == kMixed || each->form == kNothing) return std::nullopt;
    }
    if (a.form == kText && b.form == kText) return a.text == b.text;
    if (a.is_function() && b.is_function()) {
        if (a.function != b.function) return false;
        return a.parts.empty() && b.parts.empty() && a.cells == b.cells ? std::optional(true)
                                                                        : std::nullopt;
    }
    if (a.form == kDtype || b.form == kDtype) return a.scalar && a.scalar == b.scalar;
    return false;
}

bool has_single(const Kind& kind) {
    return kind.is_single() || std::ranges::any_of(kind.parts, has_single);
}

bool KindsHere::merge(const KindsHere& other) {
    if (!other.reachable) return false;
    if (!reachable) {
        *this = other;
        return true;
    }
    bool changed = false;
    // A name of a function has another value, or none, on a path where it is missing.
    for (auto& [var, kind] : of) {
        if (!kind.is_single() || other.of.contains(var)) continue;
        kind = Kind::mixed({kind, Kind()});
        changed = true;
    }
    for (const auto& [var, kind] : other.of) {
        const bool only_there = kind.is_single() && !of.contains(var);
        Kind& here = of[var];
        Kind both = only_there ? Kind::mixed({kind, Kind()}) : joined(here, kind);
        if (both == here) continue;
        here = std::move(both);
        changed = true;
    }
    return changed;
}

}  // namespace parpy
