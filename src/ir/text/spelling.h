// The spelling of the words of the IR's text form: literals, array types, and the names that tell
// the variables of one function apart. For print.cpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/ir.h"

namespace parpy::ir {

// The names of Space.
inline constexpr std::array<std::string_view, 8> kSpaces = {
    "global", "local", "shared", "scratch", "result", "dynamic", "work", "zeroed"};

// Which literals have no type suffix: those of the default types i64, f64 and c128, or in a surface
// program of their weak counterparts, or in messages all.
enum class Literals { kTyped, kSurface, kAll };

// A constant as text that parses back to it; floats have the fewest digits with this property.
[[nodiscard]] std::string literal(const Type& type, const Constant& value, Literals literals);

// The names of the variables of one function: their own, with a suffix if another variable has it.
class Names {
public:
    std::string operator()(const Var& var);

private:
    std::unordered_map<const Var*, std::string> names_;
    std::unordered_set<std::string> used_;
    std::unordered_map<std::string, int> next_;  // all smaller suffixes of the name are taken
};

// `f64[10, 20]`; `f64[n, 20; s, 1]` with strides if they differ from a C-contiguous array's;
// `f64[:, :]` if the layout is not known yet.
[[nodiscard]] std::string array_type(const Var& var, Names& names);

// The properties that replace a foreign function's body: ` target(cuda) result(first) threads(32)`.
[[nodiscard]] std::string foreign_properties(const Function& function);
// The text ` cluster(4, 1, 1)`, or nothing.
[[nodiscard]] std::string cluster_text(const Launch& launch);

// `# requires n - m >= 1`: a comment, since the passes find requirements anew.
[[nodiscard]] std::string requirement_text(const Requirement& requirement);

// Binding strength in the text, weakest first; mirrors Python's grammar (and parse.cpp).
enum Precedence {
    kTernary,
    kOrLevel,
    kAndLevel,
    kNotLevel,
    kComparison,
    kBitOrLevel,
    kBitXorLevel,
    kBitAndLevel,
    kShift,
    kSum,
    kProduct,
    kUnary,
    kPower,
    kPrimary,
};

[[nodiscard]] Precedence precedence_of(Op op);

}  // namespace parpy::ir
