// The kinds of values that a surface program computes, before types are known: which expressions
// are numbers or arrays, tuples, None, functions, texts or types. Found by data flow (KindWalk),
// asked by lower_aggregates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace parpy {

struct Kind {
    enum class Form : std::uint8_t {
        kNothing,   // no path gives a value
        kNumber,    // a number or an array, of `rank` dimensions
        kTuple,     // of `parts`, which may have `names`
        kRecord,    // an object or a dict with the attributes `parts`, `names`
        kNone,      // Python's None
        kOptional,  // `parts[0]`, a number or a tuple of numbers, or None, as the program finds out
        kFunction,  // `function`
        kText,      // `text`
        kDtype,     // the type of numbers `scalar`
        kMixed,     // another form on another path
    };
    Form form = Form::kNothing;
    int rank = 0;  // kNumber; kUnknownRank: not known
    // kTuple, kRecord, kOptional. kFunction: the values of parameters that have some: the defaults,
    // where it is `bound` its first one, and, where it comes from another function, what it reads
    // of that one, its last. kMixed: two that meet, where one of them is a function, a text or a
    // type.
    std::vector<Kind> parts;
    // kRecord; of the elements of named tuples. A method "f()" and a property "@f" are functions
    // whose first parameter is the object; "*x" is an array of one element, the number x.
    std::vector<std::string> names;
    // Of named tuples: methods and properties, which have no values of their own but constants.
    std::vector<std::pair<std::string, Kind>> members;
    // kFunction
    const ir::Function* function = nullptr;
    std::size_t defaults = 0;
    // kFunction among `members`: the numbers that are its defaults.
    std::vector<std::pair<ir::Type, ir::Constant>> constants;
    // What it reads of the function that made it, while that one runs: the variables themselves,
    // which may change until it is called.
    std::vector<const ir::Var*> cells;
    bool bound = false;  // it is a method of an object
    // It reads variables of functions that are still running when the one that has it returns.
    bool lent = false;
    // kNumber: the array of one element that holds an attribute which may be assigned to.
    bool cell = false;
    std::string text;                  // kText; kRecord: the class; of named tuples its number
    std::optional<ir::Scalar> scalar;  // kDtype; kText: the type that it names, if it names one
    bool python = false;               // kDtype: int or float, whose calls give numbers of Python

    static constexpr int kUnknownRank = -1;
    [[nodiscard]] static Kind number(int rank = 0) { return of(Form::kNumber, {}, rank); }
    [[nodiscard]] static Kind tuple(std::vector<Kind> parts) {
        return of(Form::kTuple, std::move(parts));
    }
    [[nodiscard]] static Kind none() { return of(Form::kNone); }
    [[nodiscard]] static Kind mixed(std::vector<Kind> met = {}) {
        return of(Form::kMixed, std::move(met));
    }
    [[nodiscard]] static Kind optional(Kind number) {
        return of(Form::kOptional, {std::move(number)});
    }
    [[nodiscard]] static Kind of(Form form, std::vector<Kind> parts = {}, int rank = 0) {
        Kind made;
        made.form = form;
        made.rank = rank;
        made.parts = std::move(parts);
        return made;
    }

    [[nodiscard]] bool is_number() const { return form == Form::kNumber; }
    [[nodiscard]] bool is_tuple() const { return form == Form::kTuple; }
    [[nodiscard]] bool is_record() const { return form == Form::kRecord; }
    [[nodiscard]] bool is_none() const { return form == Form::kNone; }
    [[nodiscard]] bool is_optional() const { return form == Form::kOptional; }
    [[nodiscard]] bool is_function() const { return form == Form::kFunction; }
    // An object of a class with the method __call__.
    [[nodiscard]] bool is_callable_object() const {
        return is_record() && place_of_name("__call__()").has_value();
    }
    // For what there is one value alone, which the kind says: a function, a text, a type.
    [[nodiscard]] bool is_single() const {
        return is_function() || form == Form::kText || form == Form::kDtype;
    }
    // For a function: how many of its last parameters get what it reads of another function.
    [[nodiscard]] std::size_t captured() const {
        return cells.empty() ? parts.size() - own_parts() : cells.size();
    }
    // For a function: how many `parts` are values of its own parameters.
    [[nodiscard]] std::size_t own_parts() const { return defaults + (bound ? 1 : 0); }
    // The place of the attribute of this name, nothing where there is none.
    [[nodiscard]] std::optional<std::size_t> place_of_name(const std::string& name) const;
    // The method "f()" or the property "@f" of a named tuple; null where there is none.
    [[nodiscard]] const Kind* member(const std::string& name) const;
    // How many variables hold such a value. An optional one has another one, the last: whether it
    // is there.
    [[nodiscard]] std::size_t leaf_count() const;
    friend bool operator==(const Kind&, const Kind&) = default;
};

// The attribute of an object that the operator, one of arrays and numbers, may ask for instead:
// "T", "shape"; nothing of others.
[[nodiscard]] std::optional<std::string> attribute_of(const ir::Expr& expr);

// How a kField names its attribute.
struct FieldName {
    // "=x" is what an assignment to x writes: the array that holds the number; "+x" may also be an
    // array that is changed in place.
    enum class Use : std::uint8_t { kRead, kAssigned, kUpdated };
    Use use = Use::kRead;
    std::string name;
};
[[nodiscard]] FieldName field_name(const ir::Expr& field);
// Whether an operand of a kRecord of this name is one of the `members` of a named tuple.
[[nodiscard]] bool is_member(const ir::Expr& record, const std::string& name);

// What holds where one path gives `a` and another `b`.
[[nodiscard]] Kind joined(const Kind& a, const Kind& b);
// For an element of the tuple, whichever it is; of an empty one a number.
[[nodiscard]] Kind any_part(const Kind& tuple);
// A function that is a method of an object of the kind `self`.
[[nodiscard]] Kind bound_to(Kind function, Kind self);
// The same kind with numbers and arrays of any rank alike.
[[nodiscard]] Kind without_ranks(const Kind& kind);
// The same kind with named tuples as plain ones.
[[nodiscard]] Kind unnamed(const Kind& kind);
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
// "a number", "an array", "a tuple of 2 elements", "None", "the function 'f'", "an object of the
// class 'C'", "a dict"; of kNothing "something else".
[[nodiscard]] std::string a_kind(const Kind& kind);
// "'f'", "the lambda".
[[nodiscard]] std::string called(const ir::Function& function);
// Whether the two are equal, where one is a function, a text or a type; nothing where that is not
// known.
[[nodiscard]] std::optional<bool> equal_singles(const Kind& a, const Kind& b);
// Whether such a value is in it.
[[nodiscard]] bool has_single(const Kind& kind);

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
