// print() of device code, as calls of printf: the text between values is the user's.
//
// printf shows as many digits as its format says. Python shows as many as distinguish a number from
// its neighbours; so there are three calls, for numbers that need few digits, one more, or all of
// them. CUDA's printf has at most 32 arguments: the remaining ones go to another call, and the
// output of other threads may come between the two.
#include <array>
#include <string>
#include <vector>

#include "emit/functions.h"
#include "ir/ops.h"
#include "support/escape.h"

namespace parpy {
namespace {

using ir::Expr;
using ir::Scalar;

constexpr std::size_t kSteps = 3;

// Significant digits: enough for most numbers that people write, for most others, and for all.
std::array<int, kSteps> digits_of(Scalar scalar) {
    switch (scalar) {
        case Scalar::kBF16:
            return {2, 3, 4};
        case Scalar::kF16:
            return {3, 4, 5};
        case Scalar::kF32:
        case Scalar::kC64:
            return {7, 8, 9};
        default:
            return {15, 16, 17};
    }
}

constexpr std::size_t kMostArguments = 32;

// A part of the output as a call: one format for each of the three.
struct Piece {
    std::array<std::string, kSteps> formats, arguments;
    std::size_t count = 0;  // of the arguments
};

// The formats and arguments of all calls.
struct Calls {
    std::vector<Piece> pieces{1};
    std::array<std::string, kSteps>
        tests;  // whether this many digits are enough; none for the last step

    // Adds text that printf shows unchanged.
    void text(std::string_view more) {
        for (const char c : more) {
            if (c == '\0') {  // would end the format
                value("%c", "0");
                continue;
            }
            for (std::string& format : pieces.back().formats)
                format += c == '%' ? "%%" : std::string(1, c);
        }
    }
    void value(const std::string& conversion, const std::string& argument) {
        Piece& piece = with_room(1);
        for (std::size_t i = 0; i < kSteps; ++i) {
            piece.formats[i] += conversion;
            piece.arguments[i] += ", " + argument;
        }
    }
    // Adds a number. `sign`: a flag of the format. `whole`: whole numbers end in ".0".
    void number(Scalar scalar, const std::string& name, std::string_view sign, bool whole) {
        const std::array<int, kSteps> digits = digits_of(scalar);
        Piece& piece = with_room(whole ? 2 : 1);
        for (std::size_t i = 0; i < kSteps; ++i) {
            const std::string count = std::to_string(digits[i]);
            piece.formats[i] += "%" + std::string(sign) + "." + count + "g" + (whole ? "%s" : "");
            piece.arguments[i] += ", printable(" + name + ")";
            if (whole) piece.arguments[i] += ", point_zero(" + name + ", " + count + ")";
            tests[i] +=
                (tests[i].empty() ? "" : " && ") + ("digits_tell(" + name + ", " + count + ")");
        }
    }

private:
    Piece& with_room(std::size_t more) {
        if (pieces.back().count + more > kMostArguments) pieces.emplace_back();
        pieces.back().count += more;
        return pieces.back();
    }
};

}  // namespace

void FunctionPrinter::print(const ir::Print& stmt) {
    Calls calls;
    std::vector<std::string> held;
    for (std::size_t i = 0; i < stmt.texts.size(); ++i) {
        calls.text(stmt.texts[i]);
        if (i == stmt.values.size()) break;
        const Expr& value = *stmt.values[i];
        const Scalar scalar = value.type.scalar;
        if (scalar == Scalar::kBool) {
            calls.value("%s", "(" + exprs_.root(value) + ") ? \"True\" : \"False\"");
        } else if (ir::is_complex(scalar) || ir::is_float(scalar)) {
            const std::string name = names_.invent("value");
            held.push_back("const " + std::string(exprs_.type(scalar)) + " " + name + " = " +
                           exprs_.root(value) + ";");
            if (ir::is_complex(scalar)) {
                calls.text("(");
                calls.number(scalar, name + ".re", "", false);
                calls.number(scalar, name + ".im", "+", false);
                calls.text("j)");
            } else {
                calls.number(scalar, name, "", true);
            }
        } else {
            const bool is_signed = ir::is_signed_integer(scalar);
            calls.value(is_signed ? "%lld" : "%llu",
                        (is_signed ? "(long long)" : "(unsigned long long)") +
                            exprs_.exact(value, Precedence::kUnary).text);
        }
    }
    calls.text("\n");
    const auto call = [&](std::size_t step) {
        for (const Piece& piece : calls.pieces)
            line("printf(" + string_literal(piece.formats[step]) + piece.arguments[step] + ");");
    };
    if (held.empty()) return call(0);
    line("{");
    ++depth_;
    for (const std::string& each : held)
        line(each);
    for (std::size_t step = 0; step < kSteps; ++step) {
        const std::string test = "if (" + calls.tests[step] + ") {";
        line(step == 0 ? test : step + 1 < kSteps ? "} else " + test : "} else {");
        ++depth_;
        call(step);
        --depth_;
    }
    line("}");
    --depth_;
    line("}");
}

}  // namespace parpy
