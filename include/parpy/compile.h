// The compiler in one call: surface IR, the types and shapes of a call, options → readable source.
// No Python, no hardware, no file system. src/compile.cpp holds the pipeline.
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

// How a run-time argument reaches the generated entry function: one 8-byte slot each, in this
// order.
struct Slot {
    enum class Kind : std::uint8_t { kPointer, kScalar, kExtent, kStride };
    Kind kind{};
    std::size_t argument = 0;              // index in the Signature
    int dimension = 0;                     // kExtent, kStride
    ir::Scalar scalar = ir::Scalar::kI64;  // kScalar: the C type the slot holds (its low bytes)
    bool written = false;                  // kPointer: the program may store to it
};

// An array that the program may make and return (parpy_result) as the value of this argument, whose
// slot, if there is one, takes a number.
struct ResultArray {
    std::size_t argument = 0;  // index in the Signature
    ir::Scalar scalar{};
    int rank = 0;
    std::optional<std::size_t> given;  // the program makes none: the result is this argument itself
};

// sum coefficient * (an integer argument, or an extent of an array) + constant >= 0.
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
// empty on the CPU. `text` is what print_compiled shows and compile_string takes back: both parts,
// each behind its marker line (emit/emit.h).
struct Program {
    std::string name;  // of the function; the host part exports `<name>` and `<name>_slots`
    std::string device, host, text;
    std::vector<std::string> kernels;  // CUDA: in order of their launch index
    bool by_hand = false;              // the kernels are the user's own, not made of loops
    std::vector<Slot> slots;
    std::vector<ResultArray> results;
    std::string result_form;  // Function::result_form; its numbers and arrays are the arguments
                              // behind those of the call
    // For which calls the program is legal: of each item one bound must hold.
    std::vector<std::vector<ArgumentBound>> requirements;
    std::vector<ir::Site> sites;  // where it can fail; the numbers that parpy_fail is called with
    // For kernels that one call should not launch often: the launch index, and the site that says
    // why.
    std::vector<std::pair<int, std::size_t>> counted;
};

// How many numbers and arrays it returns.
[[nodiscard]] inline std::size_t result_count(const Program& program) {
    const auto count = [&](char form) { return std::ranges::count(program.result_form, form); };
    return static_cast<std::size_t>(count('.') + 2 * count('?'));
}

// Called after every pass that changed the program, with its IR text and the seconds it took.
using Trace = std::function<void(std::string_view pass, double seconds, const std::string& ir)>;

// Compiles the entry function of `surface` for `signature`. On errors the sink holds them and the
// returned Program is empty. Never throws for a user's mistake; safe to call from several threads.
[[nodiscard]] Program compile(const ir::Module& surface, const Signature& signature,
                              const Options& options, Diagnostics& diagnostics,
                              const Trace& trace = {});

}  // namespace parpy
