// The differences between the targets of the C-family printer, as data: how operators, types,
// registers and qualifiers are spelled, and the prelude of helper snippets. The printer
// (emit/emit.h) has no branch on a target; a new C-family target is a new Dialect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/ir.h"
#include "parpy/options.h"

namespace parpy {

// The precedence of a spelling, as in C++.
enum class Precedence : std::uint8_t {
    kAssignment,
    kTernary,
    kLogicalOr,
    kLogicalAnd,
    kBitwiseOr,
    kBitwiseXor,
    kBitwiseAnd,
    kEquality,
    kRelational,
    kShift,
    kAdditive,
    kMultiplicative,
    kUnary,
    kPostfix,
};

// Sets of element types.
using Scalars = std::uint32_t;
[[nodiscard]] constexpr Scalars set_of(ir::Scalar scalar) {
    return Scalars{1} << static_cast<unsigned>(scalar);
}
template <class... S>
[[nodiscard]] constexpr Scalars set_of(ir::Scalar first, S... rest) {
    return set_of(first) | set_of(rest...);
}
inline constexpr Scalars kBools = set_of(ir::Scalar::kBool);
inline constexpr Scalars kSigned =
    set_of(ir::Scalar::kI8, ir::Scalar::kI16, ir::Scalar::kI32, ir::Scalar::kI64);
inline constexpr Scalars kUnsigned =
    set_of(ir::Scalar::kU8, ir::Scalar::kU16, ir::Scalar::kU32, ir::Scalar::kU64);
inline constexpr Scalars kIntegers = kSigned | kUnsigned;
inline constexpr Scalars kHalves = set_of(ir::Scalar::kF16, ir::Scalar::kBF16);
inline constexpr Scalars kF32s = kHalves | set_of(ir::Scalar::kF32);  // computed in f32
inline constexpr Scalars kF64s = set_of(ir::Scalar::kF64);
inline constexpr Scalars kFloats = kF32s | kF64s;
inline constexpr Scalars kComplexes = set_of(ir::Scalar::kC64, ir::Scalar::kC128);
inline constexpr Scalars kReals = kIntegers | kFloats;
inline constexpr Scalars kAll = kBools | kReals | kComplexes;

// A further condition of a row on its operands.
enum class When : std::uint8_t {
    kAlways,
    kSecondIsTwo,       // the second operand is the constant 2
    kShiftInRange,      // the second operand is a constant in [0, bits of the type)
    kSecondIsPositive,  // the second operand is a positive constant
    kNotIndex,          // a value is data: not only loop variables, extents and constants
};

// The type of a row's C++ expression: usually that of its operands after C++'s own promotions,
// which the printer narrows where the context needs it.
enum class Yields : std::uint8_t {
    kPromoted,  // i8 i16 u8 u16 bool: int; f16 bf16: float; others: the type itself
    kExact,     // the operator's IR type
    kFloat,     // f16 bf16: float; others: the type itself (float functions)
};

// `text` contains $0, $1, $2 for the operands, $t for the C++ name of the operator's IR type, and
// $h for twice the second operand, a constant. Rows that bind like a call get operands of exactly
// their IR type; others get only the value.
struct Spelling {
    ir::Op op;
    Scalars types;  // of the first operand
    std::string_view text;
    Precedence precedence = Precedence::kPostfix;
    Yields yields = Yields::kExact;
    When when = When::kAlways;
};

// The rows of a float function: a 32-bit version, also for 16-bit floats, and a 64-bit version.
// clang-format off
#define FLOATS(op, f32, f64) \
    {op, kF32s, f32, Precedence::kPostfix, Yields::kFloat}, {op, kF64s, f64}
// clang-format on

// A named piece of prelude. A program contains the snippets whose names are in its text, in the
// order of the table, and the snippets that these name in turn.
struct Snippet {
    std::string_view name;
    std::string_view text;
};

// The name of a scalar type in all dialects.
[[nodiscard]] std::string_view type_name(ir::Scalar scalar);

struct Dialect {
    std::string_view name;
    std::array<std::string_view, 17> registers;  // by Register; int or i64 values
    std::array<std::string_view, 9> barriers;    // by BarrierScope, as statements;
                                                 // kCopies: the text before the number
    std::span<const Spelling> functions = {};    // elementary ones, before `operators`
    std::span<const Spelling> operators;         // before the common rows of c_family.cpp
    bool has_double = true;
    bool reports_failures = true;   // kernels can report failed checks
    bool contracts = false;         // kernels copy to shared memory while they compute (kCopies)
    bool overlaps_launches = true;  // a kernel may begin while the one before it ends
    bool wraps_by_helpers = false;  // signed overflow is undefined: wrapping_operators() precede
    std::span<const Spelling> any_order;     // inside reductions of kVector loops
    std::span<const Snippet> prelude;        // before the common snippets
    std::string_view recursive_qualifiers;   // of the user's functions that call themselves
    std::string_view leave;                  // statement: ends the thread
    std::string_view grid_barrier_or_leave;  // replaces the barrier in programs that can fail
    std::string_view shared_qualifier;       // of arrays in Space::kShared
    std::string_view copied_qualifier;       // of the arrays of these that are copied to (kCopies)
    // The qualifier of array parameters that share no memory. Empty on GPUs: threads exchange
    // elements through arrays, which the qualifier forbids, and NVRTC miscompiles code that it
    // allows (docs/explanation/gpu.md).
    std::string_view restrict_qualifier;
    // A function around values that the compiler must not trace: subscripts that fall
    // (subtrahends.h) and the starts of counters (counter_starts.h). Empty if it may trace all.
    std::string_view hidden_value = {};
    // A function around 64-bit numbers that are rounded to fewer bits and may be constants chosen
    // by a condition (chosen_constants.h). Empty if rounding needs no such function.
    std::string_view recomputed = {};
    std::string_view independent_loop;        // line before a loop of level kVector
    std::string_view unrolled_loop;           // line before a loop to be unrolled completely
    std::span<const ir::Scalar> atomic_adds;  // its types; atomic_update() handles all types
    std::string_view preamble;                // first lines of device text
    std::string_view kernel_head;             // $0: the name
    std::string_view bounded_kernel_head;     // … $1: the most threads of a block
    std::string_view cluster_head = {};       // before the name, $0: blocks in x, y and z
    std::string_view kernel_argument;         // after each parameter of a kernel, $0: its number
    std::string_view kernel_scalar;           // type of a kernel's scalar parameters, $0: by value
    std::string_view array_qualifier;         // before the type of arrays in Space::kGlobal
    std::string_view kernel_parameters;       // further ones of every kernel, separated by ", "
};

[[nodiscard]] const Dialect& cpu_dialect();
[[nodiscard]] const Dialect& cuda_dialect();
// The CUDA dialect with the elementary functions of the CPU, bit for bit.
[[nodiscard]] const Dialect& settled_cuda_dialect();
[[nodiscard]] const Dialect& metal_dialect();

// The dialect of a back end's device part; null if kernels are host code as well. `settled`: the
// dialect whose results have the same bits on all back ends.
[[nodiscard]] const Dialect* device_dialect(Backend backend, bool settled = false);

// The dialects of all back ends, each once.
[[nodiscard]] std::span<const Dialect* const> all_dialects();

// The dialect of a back end's kernels.
[[nodiscard]] const Dialect& kernel_dialect(Backend backend);

// Signed arithmetic on data that wraps although C++ leaves overflow undefined (c_family.cpp).
[[nodiscard]] std::span<const Spelling> wrapping_operators();

// Rows and snippets that every C-family target shares (c_family.cpp).
[[nodiscard]] std::span<const Spelling> c_family_operators();
[[nodiscard]] std::span<const Snippet> c_family_prelude();

}  // namespace parpy
