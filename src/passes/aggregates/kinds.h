// The kinds of values that a surface program computes, before types are known: which expressions
// are numbers or arrays, tuples, None, functions, texts or types. KindWalk finds them by data flow,
// for lower_aggregates.
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
    // The parts of a kTuple, kRecord or kOptional. kFunction: values for its parameters, namely the
    // defaults, the object if it is `bound`, and last, if it came from another function, the
    // variables captured there. kMixed: the two kinds that meet, where one of them is a function, a
    // text or a type.
    std::vector<Kind> parts;
    // Attributes of a kRecord; elements of a named tuple. A method "f()" and a property "@f" are
    // functions whose first parameter is the object; "*x" is an array of one element, the number x.
    std::vector<std::string> names;
    // Methods and properties of a named tuple, which are no elements of it.
    std::vector<std::pair<std::string, Kind>> members;
    // kFunction
    const ir::Function* function = nullptr;
    std::size_t defaults = 0;
    // kFunction among `members`: the numbers that are its defaults.
    std::vector<std::pair<ir::Type, ir::Constant>> constants;
    // The variables that it captures of the function that made it, while that one runs: they may
    // change until it is called.
    std::vector<const ir::Var*> cells;
    bool bound = false;  // it is a method of an object
    // It captures variables of a caller, so the function that has it as an argument may not return
    // it.
    bool lent = false;
    // kNumber: the array of one element that holds an attribute which may be assigned to.
    bool cell = false;
    std::string text;                  // kText; kRecord: the class; named tuples: their number
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
    // A function, a text or a type: the kind determines the value.
    [[nodiscard]] bool is_single() const {
        return is_function() || form == Form::kText || form == Form::kDtype;
    }
    // The number of a function's last parameters that receive captured variables.
    [[nodiscard]] std::size_t captured() const {
        return cells.empty() ? parts.size() - own_parts() : cells.size();
    }
    // The number of a function's `parts` that are defaults or the object.
    [[nodiscard]] std::size_t own_parts() const { return defaults + (bound ? 1 : 0); }
    // The place of the attribute of this name, nothing if there is none.
    [[nodiscard]] std::optional<std::size_t> place_of_name(const std::string& name) const;
    // The method "f()" or the property "@f" of a named tuple; null if there is none.
    [[nodiscard]] const Kind* member(const std::string& name) const;
    // The number of variables that hold such a value. The last one of an optional value is whether
    // it is there.
    [[nodiscard]] std::size_t leaf_count() const;
    friend bool operator==(const Kind&, const Kind&) = default;
};

// The attribute that an operator of arrays, such as kTranspose, reads if its operand is an object:
// "T", "shape"; nothing for other operators.
[[nodiscard]] std::optional<std::string> attribute_of(const ir::Expr& expr);

// The attribute that a kField names.
struct FieldName {
    // "=x" is the target of an assignment to x, the array that holds the number; "+x" may also be
    // an array that is changed in place.
    enum class Use : std::uint8_t { kRead, kAssigned, kUpdated };
    Use use = Use::kRead;
    std::string name;
};
[[nodiscard]] FieldName field_name(const ir::Expr& field);
// Whether an operand of a kRecord of this name is one of the `members` of a named tuple.
[[nodiscard]] bool is_member(const ir::Expr& record, const std::string& name);

// The kind of a value that is `a` on one path and `b` on another.
[[nodiscard]] Kind joined(const Kind& a, const Kind& b);
// The kind of any element of the tuple; a number if it is empty.
[[nodiscard]] Kind any_part(const Kind& tuple);
// A function that is a method of an object of the kind `self`.
[[nodiscard]] Kind bound_to(Kind function, Kind self);
// The same kind without the ranks of numbers and arrays.
[[nodiscard]] Kind without_ranks(const Kind& kind);
// The same kind with plain tuples for named ones.
[[nodiscard]] Kind unnamed(const Kind& kind);
// Whether the kind is or contains an optional one.
[[nodiscard]] bool has_optional(const Kind& kind);
// The layout of an array of the elements of nested tuples: the number of elements along each
// dimension, and the rank of each element.
struct Nest {
    std::vector<std::int64_t> extents;
    int rank = 0;
    friend bool operator==(const Nest&, const Nest&) = default;
};
// Nothing if the tuples differ in length, or an element is neither a number nor an array.
[[nodiscard]] std::optional<Nest> nest_of(const Kind& kind);
// "a number", "an array", "a tuple of 2 elements", "None", "the function 'f'", "an object of the
// class 'C'", "a dict"; "something else" for kNothing.
[[nodiscard]] std::string a_kind(const Kind& kind);
// "'f'", "the lambda".
[[nodiscard]] std::string called(const ir::Function& function);
// Whether the values are equal, where one is a function, a text or a type; nothing if that is
// unknown.
[[nodiscard]] std::optional<bool> equal_singles(const Kind& a, const Kind& b);
// Whether the kind is or contains a function, a text or a type.
[[nodiscard]] bool has_single(const Kind& kind);

// The kinds of variables at one place of a function. A variable without an entry has no value yet,
// or is a parameter that is a number.
struct KindsHere {
    bool reachable = true;
    std::unordered_map<const ir::Var*, Kind> of;

    // Joins the kinds of another path that leads here. Returns whether that changes anything.
    bool merge(const KindsHere& other);
    friend bool operator==(const KindsHere&, const KindsHere&) = default;
};

}  // namespace parpy
