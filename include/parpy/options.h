// Options of one compilation, as the core sees them. The Python class parpy.CompileOptions is
// converted to this, validated, once per distinct options object. Everything here is part of the
// cache key; nothing here is ever changed by a call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"
#include "parpy/mapping.h"
#include "support/backend.h"

namespace parpy {

enum class Legality : std::uint8_t { kCheck, kStrict, kTrust };
// What is checked while a program runs: subscripts; iterations of parallel loops as well; and
// variables without a value.
enum class Check : std::uint8_t { kNothing, kBounds, kRaces, kAll };

// What tiles of sums are cut to on a CPU.
struct VectorUnit {
    std::int64_t bytes = 64;      // of a vector
    std::int64_t registers = 32;  // for vectors
    bool fuses = true;            // has an instruction that fuses a product into an addition
    friend bool operator==(const VectorUnit&, const VectorUnit&) = default;
};

struct Options {
    Backend backend = Backend::kCpu;
    Mapping mapping;
    bool automatic = false;    // the compiler chooses the mapping; `mapping` is empty
    bool restructure = false;  // loops may be fused and change places; implied by automatic
    Legality legality = Legality::kCheck;
    Check check = Check::kNothing;
    bool assertions = false;  // implied by check
    bool fast_math = false;
    bool deterministic = false;
    bool debug_print = false;  // not part of the key
    bool use_cuda_graphs = false;
    bool use_cuda_thread_block_clusters = false;
    std::int64_t max_thread_blocks_per_cluster = 8;
    std::int64_t max_unroll_count = 1;
    bool implicit_shape_labels = false;
    std::optional<ir::Scalar> force_int_size;
    std::optional<ir::Scalar> force_float_size;
    std::vector<std::string> includes, libs, extra_flags;
    std::string cuda_arch = "sm_90";  // of the device present; sm_90 where there is none
    VectorUnit vectors;               // CPU: of the processor present

    [[nodiscard]] bool checks_assertions() const { return assertions || check != Check::kNothing; }
    [[nodiscard]] bool restructures() const { return restructure || automatic; }
    [[nodiscard]] bool checks_races() const {
        return check == Check::kRaces || check == Check::kAll;
    }
    friend bool operator==(const Options&, const Options&) = default;
};

// One argument of the call that a specialisation is made for.
struct Argument {
    struct Dim {
        std::optional<std::int64_t> extent;  // empty: generalised, passed at run time
        std::optional<std::int64_t> stride;  // in elements; empty likewise
        std::int64_t typical = 0;            // extents passed at run time: as of ir::Var
        friend bool operator==(const Dim&, const Dim&) = default;
    };
    ir::Type type;  // scalars: weak for Python int/float/complex; arrays: elem and rank
    std::optional<std::int64_t> integer;  // scalars specialised by value: bool and integers
    std::optional<double> real;           //   floats
    std::vector<Dim> dims;
    bool read_only = false;
    bool aliased = false;                    // its memory overlaps that of another argument
    std::optional<ir::Placement> placement;  // aliased: how, where it is known
    bool wide = false;  // integers passed at run time: beyond what legality is reasoned about with
    std::int64_t limit = 0;    // of what is passed at run time, as of ir::Var
    std::int64_t typical = 0;  // integers passed at run time: likewise
    friend bool operator==(const Argument&, const Argument&) = default;
};

// One per parameter of the entry function, captured globals (which trail the declared ones)
// included.
using Signature = std::vector<Argument>;

}  // namespace parpy
