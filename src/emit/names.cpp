// Identifiers: the reserved ones, and the resolution of clashes.

#include "emit/names.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace parpy {
namespace {

// Keywords of C++ and CUDA, names that NVRTC declares by itself, names in generated text and
// preludes, and the C library functions that compilers know by name.
// clang-format off
constexpr auto kReserved = std::to_array<std::string_view>({
    "MAJOR_VERSION", "MINOR_VERSION", "NULL", "PATCH_LEVEL", "WordOf", "abs", "acos", "acosf",
    "acosh", "acoshf", "alignas", "alignof", "all", "alloca", "and", "and_eq", "any", "args",
    "asin", "asinf", "asinh", "asinhf", "asm", "assert", "atan", "atan2", "atan2f", "atanf",
    "atanh", "atanhf", "auto", "ballot", "bitand", "bitor", "blockDim", "blockIdx", "bool", "break",
    "bzero", "calloc", "case", "catch", "cbrt", "cbrtf", "ceil", "ceilf", "char", "char16_t",
    "char32_t", "char8_t", "class", "clock", "clock64", "clock_t", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "context", "continue", "copysign", "copysignf", "cos", "cosf", "cosh", "coshf", "cospi",
    "cospif", "cudalibraryHostUniversalFunctionAndDataTable", "cyl_bessel_i0", "cyl_bessel_i0f",
    "cyl_bessel_i1", "cyl_bessel_i1f", "dadd", "decltype", "default", "delete", "dim3", "dmul",
    "do", "double", "double2int", "double2ll", "double2uint", "double2ull", "dsub", "dynamic_cast",
    "else", "enum", "erf", "erfc", "erfcf", "erfcinv", "erfcinvf", "erfcx", "erfcxf", "erff",
    "erfinv", "erfinvf", "exit", "exp", "exp10", "exp10f", "exp2", "exp2f", "expf", "explicit",
    "expm1", "expm1f", "export", "extern", "fabs", "fabsf", "false", "fdim", "fdimf", "fdivide",
    "fdividef", "float", "float2double", "floor", "floorf", "fma", "fmaf", "fmax", "fmaxf", "fmin",
    "fminf", "fmod", "fmodf", "for", "fprintf", "frame", "free", "frexp", "frexpf", "friend",
    "gamma", "goto", "gridDim", "grid_arrivals", "has_failed", "hypot", "hypotf", "if", "ilogb",
    "ilogbf", "index", "inline", "int", "int2double", "isfinite", "isinf", "isnan", "j0", "j0f",
    "j1", "j1f", "jn", "jnf", "labs", "ldexp", "ldexpf", "lgamma", "lgammaf", "libraryPropertyType",
    "libraryPropertyType_t", "linux", "ll2double", "llabs", "llmax", "llmin", "llrint", "llrintf",
    "llround", "llroundf", "log", "log10", "log10f", "log1p", "log1pf", "log2", "log2f", "logb",
    "logbf", "logf", "long", "lrint", "lrintf", "lround", "lroundf", "main", "malloc", "max",
    "memchr", "memcmp", "memcpy", "memmove", "memset", "min", "modf", "modff", "mutable",
    "namespace", "nan", "nanf", "nearbyint", "nearbyintf", "new", "nextafter", "nextafterf",
    "noexcept", "norm", "norm3d", "norm3df", "norm4d", "norm4df", "normcdf", "normcdff",
    "normcdfinv", "normcdfinvf", "normf", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "pow", "powf", "printf", "private", "protected", "ptrdiff_t", "public", "puts", "rcbrt",
    "rcbrtf", "register", "reinterpret_cast", "remainder", "remainderf", "remquo", "remquof",
    "replace_atomically", "report_failure", "requires", "return", "rhypot", "rhypotf", "rindex",
    "rint", "rintf", "rnorm", "rnorm3d", "rnorm3df", "rnorm4d", "rnorm4df", "rnormf", "round",
    "roundf", "rsqrt", "rsqrtf", "scalbln", "scalblnf", "scalbn", "scalbnf", "scanf", "short",
    "signbit", "signed", "simulated_stack", "sin", "sincos", "sincosf", "sincospi", "sincospif",
    "sinf", "sinh", "sinhf", "sinpi", "sinpif", "size_t", "sizeof", "slots", "sprintf", "sqrt",
    "sqrtf", "static", "static_assert", "static_cast", "std", "stderr", "stdin", "stdout", "strcmp",
    "strcpy", "strlen", "struct", "switch", "syncthreads_and", "syncthreads_count",
    "syncthreads_or", "tan", "tanf", "tanh", "tanhf", "template", "tgamma", "tgammaf", "this",
    "threadIdx", "thread_local", "throw", "true", "trunc", "truncf", "try", "typedef", "typeid",
    "typename", "typeof", "uint2double", "ull2double", "ullmax", "ullmin", "umax", "umin", "union",
    "unix", "unsigned", "using", "va_list", "virtual", "void", "volatile", "warpSize", "wchar_t",
    "while", "xor", "xor_eq", "y0", "y0f", "y1", "y1f", "yn", "ynf",
});
// clang-format on
static_assert(std::ranges::is_sorted(kReserved));

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

// Whether it is a vector type such as int4, ulonglong2, double4_16a.
bool is_vector_type(std::string_view name) {
    for (const std::string_view ending : {"_16a", "_32a"}) {
        if (name.ends_with(ending)) name.remove_suffix(ending.size());
    }
    if (name.empty() || name.back() < '1' || name.back() > '4') return false;
    name.remove_suffix(1);
    if (name == "float" || name == "double") return true;
    if (name.starts_with('u')) name.remove_prefix(1);
    return name == "char" || name == "short" || name == "int" || name == "long" ||
           name == "longlong";
}

// Whether the name is in one of these families: the vector types of CUDA, its types, atomic
// functions and textures, and ParPy's own names.
bool is_of_a_family(std::string_view name) {
    const auto begins = [&](std::string_view prefix) {
        return name.starts_with(prefix) && name.size() > prefix.size();
    };
    const auto begins_word = [&](std::string_view prefix) {
        return begins(prefix) && is_upper(name[prefix.size()]);
    };
    for (const std::string_view prefix : {"tex", "surf"}) {
        if (!begins(prefix)) continue;
        const std::string_view rest = name.substr(prefix.size());
        const bool is_sized = rest.size() > 1 && rest[0] >= '1' && rest[0] <= '3' && rest[1] == 'D';
        if (is_sized || rest.starts_with("Cubemap")) return true;
    }
    return is_vector_type(name) || (begins("make_") && is_vector_type(name.substr(5))) ||
           begins_word("cuda") || begins_word("atomic") || name.starts_with("CUDA") ||
           (begins("CU") && name[2] >= 'a' && name[2] <= 'z') || name.starts_with("parpy_") ||
           name.starts_with("PARPY_");
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
    // C++ reserves such names for compilers: __func__, _Float16, __device__.
    const bool of_compiler = out.starts_with("__") || (out[0] == '_' && is_upper(out[1]));
    if (of_compiler) {
        out.insert(0, "u");
    } else if (std::ranges::binary_search(kReserved, std::string_view(out)) ||
               is_of_a_family(out)) {
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
