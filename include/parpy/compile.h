// The compiler as one function: surface IR, the types and shapes of a call, options → readable
// source. Uses no Python, hardware or file system. src/compile.cpp holds the pipeline.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"
#include "support/diagnostic.h"

namespace parpy {

// The form in which a run-time argument reaches the generated entry function: each is one 8-byte
// slot, in this order.
struct Slot {
    enum class Kind : std::uint8_t { kPointer, kScalar, kExtent, kStride };
    Kind kind{};
    std::size_t argument = 0;              // index in the Signature
    int dimension = 0;                     // kExtent, kStride
    ir::Scalar scalar = ir::Scalar::kI64;  // kScalar: the C type in the slot (its low bytes)
    bool written = false;                  // kPointer: the program may store to it
};

// An array that the program may make and return (parpy_result) as the value of this argument. The
// slot of the argument, if it has one, then receives a number.
struct ResultArray {
    std::size_t argument = 0;  // index in the Signature
    ir::Scalar scalar{};
    int rank = 0;
    std::optional<std::size_t> given;  // set: no array is made, the result is this argument,
                                       // or the result of this number after the arguments
};

// The sum of coefficient * (an integer argument or an extent of an array), plus constant, is >= 0.
struct ArgumentBound {
    struct Term {
        Slot::Kind kind{};  // kScalar or kExtent
        std::size_t argument = 0;
        int dimension = 0;
        std::int64_t coefficient = 0;
    };
    std::vector<Term> terms;
    std::int64_t constant = 0;
};

// Generated source. `host` is always C++ for the embedded Clang; `device` is CUDA C++ or Metal C++,
// empty on the CPU. print_compiled shows `text` and compile_string reads it back: both parts, each
// behind its marker line (emit/emit.h).
struct Program {
    std::string name;  // the function's; the host part exports `<name>` and `<name>_slots`
    std::string device, host, text;
    std::vector<std::string> kernels;  // CUDA: in order of their launch index
    bool by_hand = false;              // the user wrote the kernels; no loop became one
    std::vector<Slot> slots;
    std::vector<ResultArray> results;
    std::string result_form;  // Function::result_form; its numbers and arrays are the arguments
                              // that follow those of the call
    // The calls for which the program is legal: one bound of each item must hold.
    std::vector<std::vector<ArgumentBound>> requirements;
    std::vector<ir::Site> sites;  // where the program can fail; parpy_fail receives their numbers
    // Kernels that one call should not launch often: the launch index, and the site that says
    // why.
    std::vector<std::pair<int, std::size_t>> counted;
};

// The number of numbers and arrays that the program returns.
[[nodiscard]] inline std::size_t result_count(const Program& program) {
    const auto count = [&](char form) { return std::ranges::count(program.result_form, form); };
    return static_cast<std::size_t>(count('.') + 2 * count('?'));
}

// Called after every pass that changed the program, with its IR text and the seconds it took.
using Trace = std::function<void(std::string_view pass, double seconds, const std::string& ir)>;

// Compiles the entry function of `surface` for `signature`. On errors the sink holds them and the
// returned Program is empty. Never throws for a user's mistake; several threads may call it.
[[nodiscard]] Program compile(const ir::Module& surface, const Signature& signature,
                              const Options& options, Diagnostics& diagnostics,
                              const Trace& trace = {});

}  // namespace parpy
