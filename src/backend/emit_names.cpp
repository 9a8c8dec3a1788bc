// Identifiers: what may not be used, and how a clash is resolved.

#include "backend/emit_names.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace parpy {
namespace {

// Keywords of C++ and CUDA, names the generated text uses itself, and the C library functions that
// compilers know by name.
constexpr auto kReserved = std::to_array<std::string_view>({
    "NULL",         "abs",          "acos",         "acosf",
    "acosh",        "acoshf",       "alignas",      "alignof",
    "alloca",       "and",          "and_eq",       "args",
    "asin",         "asinf",        "asinh",        "asinhf",
    "asm",          "atan",         "atan2",        "atan2f",
    "atanf",        "atanh",        "atanhf",       "atomicAdd",
    "atomicCAS",    "auto",         "bitand",       "bitor",
    "blockDim",     "blockIdx",     "bool",         "break",
    "bzero",        "calloc",       "case",         "catch",
    "cbrt",         "cbrtf",        "ceil",         "ceilf",
    "char",         "char16_t",     "char32_t",     "char8_t",
    "class",        "clock_t",      "co_await",     "co_return",
    "co_yield",     "compl",        "concept",      "const",
    "const_cast",   "consteval",    "constexpr",    "constinit",
    "context",      "continue",     "copysign",     "cos",
    "cosf",         "cosh",         "coshf",        "cudaError_t",
    "cudaEvent_t",  "cudaStream_t", "decltype",     "default",
    "delete",       "dim3",         "do",           "double",
    "dynamic_cast", "else",         "enum",         "erf",
    "erfc",         "erfcf",        "erff",         "erfinv",
    "exit",         "exp",          "exp2",         "exp2f",
    "expf",         "explicit",     "expm1",        "expm1f",
    "export",       "extern",       "fabs",         "fabsf",
    "false",        "fdim",         "float",        "floor",
    "floorf",       "fma",          "fmaf",         "fmax",
    "fmaxf",        "fmin",         "fminf",        "fmod",
    "fmodf",        "for",          "fprintf",      "frame",
    "free",         "frexp",        "friend",       "gamma",
    "goto",         "gridDim",      "hypot",        "hypotf",
    "if",           "index",        "inline",       "int",
    "isfinite",     "isinf",        "isnan",        "j0",
    "j1",           "jn",           "labs",         "ldexp",
    "lgamma",       "lgammaf",      "linux",        "log",
    "log10",        "log10f",       "log1p",        "log1pf",
    "log2",         "log2f",        "logf",         "long",
    "lround",       "main",         "malloc",       "max",
    "memchr",       "memcmp",       "memcpy",       "memmove",
    "memset",       "min",          "modf",         "mutable",
    "namespace",    "nearbyint",    "new",          "nextafter",
    "noexcept",     "not",          "not_eq",       "nullptr",
    "operator",     "or",           "or_eq",        "pow",
    "powf",         "printf",       "private",      "protected",
    "public",       "puts",         "register",     "reinterpret_cast",
    "remainder",    "requires",     "return",       "rindex",
    "rint",         "rintf",        "round",        "roundf",
    "scanf",        "short",        "signbit",      "signed",
    "sin",          "sinf",         "sinh",         "sinhf",
    "size_t",       "sizeof",       "slots",        "sprintf",
    "sqrt",         "sqrtf",        "static",       "static_assert",
    "static_cast",  "stderr",       "stdin",        "stdout",
    "strcmp",       "strcpy",       "strlen",       "struct",
    "switch",       "tan",          "tanf",         "tanh",
    "tanhf",        "template",     "tgamma",       "tgammaf",
    "this",         "threadIdx",    "thread_local", "throw",
    "true",         "trunc",        "truncf",       "try",
    "typedef",      "typeid",       "typename",     "union",
    "unix",         "unsigned",     "using",        "va_list",
    "virtual",      "void",         "volatile",     "warpSize",
    "wchar_t",      "while",        "xor",          "xor_eq",
    "y0",           "y1",           "yn",
});
static_assert(std::ranges::is_sorted(kReserved));

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

}  // namespace

std::string c_identifier(std::string_view name) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    for (const char c : name) {
        if (is_word(c)) {
            out += c;
        } else if (static_cast<unsigned char>(c) >= 0x80) {  // Python's identifiers are Unicode
            const auto byte = static_cast<unsigned char>(c);
            out += 'u';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += '_';
        }
    }
    if (out.empty() || is_digit(out.front())) {
        out.insert(out.begin(), '_');
    }
    // C++ leaves such names to compilers: __func__, _Float16, __device__.
    const bool of_compiler =
        out.starts_with("__") || (out[0] == '_' && out[1] >= 'A' && out[1] <= 'Z');
    if (of_compiler) {
        out.insert(0, "u");
    } else if (std::ranges::binary_search(kReserved, std::string_view(out))) {
        out += '_';
    }
    return out;
}

ScopedNames::ScopedNames(const Dialect& dialect, const std::unordered_set<std::string>& taken,
                         const std::unordered_set<std::string>& written)
    : written_(written), used_(taken) {
    for (const auto prelude : {dialect.prelude, c_family_prelude()}) {
        for (const Snippet& snippet : prelude) {
            used_.emplace(snippet.name);
        }
    }
    push();
}

void ScopedNames::pop() {
    for (const std::string& name : scopes_.back().names) {
        used_.erase(name);
    }
    for (const auto& [base, before] : std::views::reverse(scopes_.back().next)) {
        next_[base] = before;
    }
    for (const Undo& undo : scopes_.back().undo) {
        if (undo.before.empty()) {
            names_.erase(undo.var);
        } else {
            names_[undo.var] = undo.before;
        }
    }
    scopes_.pop_back();
}

std::string ScopedNames::invent(std::string_view wish) {
    const std::string base = c_identifier(wish);
    std::string name = base;
    if (!used_.insert(name).second) {
        int& next = next_.try_emplace(base, 1).first->second;
        scopes_.back().next.emplace_back(base, next);
        do {
            name = base + "_" + std::to_string(next++);
        } while (!used_.insert(name).second);
    }
    scopes_.back().names.push_back(name);
    return name;
}

const std::string& ScopedNames::declare(const ir::Var* var) {
    std::string wish = var->name;
    const std::size_t end = wish.find_last_not_of("0123456789");
    if (end != std::string::npos && end > 0 && end + 1 < wish.size() && wish[end] == '_' &&
        !written_.contains(wish) && written_.contains(wish.substr(0, end))) {
        wish.resize(end);
    }
    std::string name = invent(wish);
    std::string& slot = names_[var];
    scopes_.back().undo.push_back({var, slot});
    slot = std::move(name);
    return slot;
}

const std::string& ScopedNames::of(const ir::Var* var) const {
    return names_.at(var);
}

}  // namespace parpy
