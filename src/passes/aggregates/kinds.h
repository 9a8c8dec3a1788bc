// The kinds of values that a surface program computes, before types are known: which expressions
// are numbers or arrays, tuples or None. Found by data flow (KindWalk), asked by
// lower_aggregates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace parpy {

struct Kind {
    enum class Form : std::uint8_t {
        kNothing,   // no path gives a value
        kNumber,    // a number or an array, of `rank` dimensions
        kTuple,     // of `parts`
        kNone,      // Python's None
        kOptional,  // a number, `parts[0]`, or None, which is known when the program runs
        kMixed,     // another form on another path
    };
    Form form = Form::kNothing;
    int rank = 0;             // kNumber; kUnknownRank: not known
    std::vector<Kind> parts;  // kTuple, kOptional

    static constexpr int kUnknownRank = -1;
    [[nodiscard]] static Kind number(int rank = 0) { return {Form::kNumber, rank, {}}; }
    [[nodiscard]] static Kind tuple(std::vector<Kind> parts) {
        return {Form::kTuple, 0, std::move(parts)};
    }
    [[nodiscard]] static Kind none() { return {Form::kNone, 0, {}}; }
    [[nodiscard]] static Kind mixed() { return {Form::kMixed, 0, {}}; }
    [[nodiscard]] static Kind optional(Kind number) {
        return {Form::kOptional, 0, {std::move(number)}};
    }

    [[nodiscard]] bool is_number() const { return form == Form::kNumber; }
    [[nodiscard]] bool is_tuple() const { return form == Form::kTuple; }
    [[nodiscard]] bool is_none() const { return form == Form::kNone; }
    [[nodiscard]] bool is_optional() const { return form == Form::kOptional; }
    // How many variables hold such a value. An optional one has two: the number, and whether it is
    // there.
    [[nodiscard]] std::size_t leaf_count() const;
    friend bool operator==(const Kind&, const Kind&) = default;
};

// Whether no program has the operator any more when its values have been lowered.
[[nodiscard]] bool is_aggregate(ir::Op op);

// What holds where one path gives `a` and another `b`.
[[nodiscard]] Kind joined(const Kind& a, const Kind& b);
// Of an element of the tuple, whichever it is; of an empty one a number.
[[nodiscard]] Kind any_part(const Kind& tuple);
// The same kind with numbers and arrays of any rank alike.
[[nodiscard]] Kind without_ranks(const Kind& kind);
// Whether there is an optional value in it.
[[nodiscard]] bool has_optional(const Kind& kind);
// How an array of the elements of nested tuples is laid out: as many along each dimension, and the
// dimensions that each element has itself.
struct Nest {
    std::vector<std::int64_t> extents;
    int rank = 0;
    friend bool operator==(const Nest&, const Nest&) = default;
};
// Nothing where the tuples in it differ, or something in it is no number and no array.
[[nodiscard]] std::optional<Nest> nest_of(const Kind& kind);
// "a number", "an array", "a tuple of 2 elements", "None".
[[nodiscard]] std::string a_kind(const Kind& kind);

// The kinds of variables at one place of a function. A variable that is not there has no value yet,
// or is a parameter that is a number.
struct KindsHere {
    bool reachable = true;
    std::unordered_map<const ir::Var*, Kind> of;

    // A path from `other` leads here as well. Whether that changes anything.
    bool merge(const KindsHere& other);
    friend bool operator==(const KindsHere&, const KindsHere&) = default;
};

}  // namespace parpy
