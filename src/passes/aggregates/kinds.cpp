// See kinds.h.
#include "passes/aggregates/kinds.h"

#include <algorithm>

namespace parpy {

std::size_t Kind::leaf_count() const {
    if (form == Form::kTuple) {
        std::size_t count = 0;
        for (const Kind& part : parts)
            count += part.leaf_count();
        return count;
    }
    return form == Form::kNone ? 0 : form == Form::kOptional ? 2 : 1;
}

bool is_aggregate(ir::Op op) {
    using enum ir::Op;
    return op == kTuple || op == kItem || op == kNone || op == kShape || op == kLength ||
           op == kSame || op == kIn || op == kField || op == kArrayOf || op == kEllipsis;
}

Kind joined(const Kind& a, const Kind& b) {
    using enum Kind::Form;
    if (a.form == kNothing || a == b) return b;
    if (b.form == kNothing) return a;
    const auto number_of = [](const Kind& kind) {
        return kind.form == kOptional ? kind.parts[0] : kind.form == kNumber ? kind : Kind();
    };
    const auto may_be_none = [](const Kind& kind) {
        return kind.form == kOptional || kind.form == kNone;
    };
    if (may_be_none(a) || may_be_none(b)) {
        const auto fits = [&](const Kind& kind) {
            const Kind number = number_of(kind);
            return kind.form == kNone || (number.form == kNumber && number.rank <= 0);
        };
        if (!fits(a) || !fits(b)) return Kind::mixed();
        return Kind::optional(joined(number_of(a), number_of(b)));
    }
    if (a.form != b.form) return Kind::mixed();
    if (a.form == kNumber) return Kind::number(Kind::kUnknownRank);
    if (a.form != kTuple || a.parts.size() != b.parts.size()) return Kind::mixed();
    std::vector<Kind> parts;
    for (std::size_t i = 0; i < a.parts.size(); ++i)
        parts.push_back(joined(a.parts[i], b.parts[i]));
    return Kind::tuple(std::move(parts));
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

std::string a_kind(const Kind& kind) {
    switch (kind.form) {
        case Kind::Form::kTuple:
            return "a tuple of " + std::to_string(kind.parts.size()) +
                   (kind.parts.size() == 1 ? " element" : " elements");
        case Kind::Form::kNone:
            return "None";
        case Kind::Form::kOptional:
            return "a number or None";
        case Kind::Form::kNumber:
            return kind.rank > 0    ? "an array"
                   : kind.rank == 0 ? "a number"
                                    : "a number or an array";
        default:
            return "values of several kinds";
    }
}

bool KindsHere::merge(const KindsHere& other) {
    if (!other.reachable) return false;
    if (!reachable) {
        *this = other;
        return true;
    }
    bool changed = false;
    for (const auto& [var, kind] : other.of) {
        Kind& here = of[var];
        Kind both = joined(here, kind);
        if (both == here) continue;
        here = std::move(both);
        changed = true;
    }
    return changed;
}

}  // namespace parpy
