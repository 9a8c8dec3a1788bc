// The typing rule of every operator: that of NumPy >= 2 (NEP 50), as the interpreter applies it to
// the same line. Pure functions from operand types to result type; infer_types.cpp walks programs
// with them.
//
// A weak bool is Python's: an integer in arithmetic (True + True == 2), whereas a strong bool is
// np.bool_ (logical or).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy {

struct Operand {
    ir::Type type;  // weak where the value is a Python scalar
    std::optional<ir::Constant> constant;
    int rank = 0;  // dimensions; `type` is that of one element
};

struct Typing {
    ir::Type result;        // unknown: an operand's type is unknown, or there is an error
    ir::Type operand;       // the type that all operands are converted to
    ir::Op op{};            // the operator to use (np.bool_: + is |)
    bool identity = false;  // the result is the (converted) first operand
    bool exact = false;     // a comparison of i64 with u64: no common type holds both
    Code code = Code::kP200;
    std::string error, help;  // `error` empty: none
};

// The types of every operator but leaves, loads, extents, calls, kConvert and the kernel-only ones.
// kSelect: joins the last two operands; the caller checks the condition.
[[nodiscard]] Typing type_operation(ir::Op op, std::span<const Operand> operands);

// Whether the operator is a power of floats or complex numbers with a simple exponent that the
// program's text has: an argument with that value, which may become one of run time, gives the bits
// of the general power.
[[nodiscard]] bool is_simple_power(const Typing& typing, const ir::Expr& exponent);

// The type of a variable (or conditional expression) whose value is `a` or `b`. An unknown type is
// neutral; a constant that the other side's integer type does not hold widens it.
[[nodiscard]] ir::Type join(const ir::Type& a, const Operand& b);
// The same for two values, either of which may be such a constant.
[[nodiscard]] ir::Type join(const Operand& a, const Operand& b);

// Whether integer type `scalar` (or bool) holds `value`; a u64 constant is a non-negative value.
[[nodiscard]] bool holds(ir::Scalar scalar, std::int64_t value);
[[nodiscard]] std::optional<std::int64_t> integer_value(const Operand& operand);
// Whether one is np.uint64 and the other a Python integer computed at run time, which may be
// negative.
[[nodiscard]] bool have_no_common_type(const Operand& a, const Operand& b);
// "-128 to 127"
[[nodiscard]] std::string range_text(ir::Scalar scalar);

// The type in the user's terms: "int", "float", "bool", "float32", "array of float64 with 2
// dimensions".
[[nodiscard]] std::string python_name(const ir::Type& type);
// ... behind its article: "an int", "a float32".
[[nodiscard]] std::string a_python_name(const ir::Type& type);
// The operator as in Python text: "+", "np.sin", "~".
[[nodiscard]] std::string python_name(ir::Op op);

}  // namespace parpy
