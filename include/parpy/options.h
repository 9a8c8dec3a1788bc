// Options of one compilation in the core. The Python class parpy.CompileOptions is validated and
// converted to this once per distinct options object. All members are part of the cache key unless
// their comment says otherwise; no call changes them.
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
// The checks of a running program: subscripts; also conflicts between iterations of parallel loops;
// all, with reads of variables without a value.
enum class Check : std::uint8_t { kNothing, kBounds, kRaces, kAll };

// The vector unit of a CPU, which decides the sizes of the tiles of sums.
struct VectorUnit {
    std::int64_t bytes = 64;      // of a vector
    std::int64_t registers = 32;  // for vectors
    bool fuses = true;            // one instruction multiplies and adds
    friend bool operator==(const VectorUnit&, const VectorUnit&) = default;
};

struct Options {
    Backend backend = Backend::kCpu;
    Mapping mapping;
    bool automatic = false;    // the compiler chooses the mapping; `mapping` is empty
    bool restructure = false;  // loops may be fused and interchanged; implied by automatic
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
    std::string cuda_arch = "sm_90";  // of the device that is present, else sm_90
    VectorUnit vectors;               // CPU: of the processor that is present

    [[nodiscard]] bool checks_assertions() const { return assertions || check != Check::kNothing; }
    [[nodiscard]] bool restructures() const { return restructure || automatic; }
    [[nodiscard]] bool checks_races() const {
        return check == Check::kRaces || check == Check::kAll;
    }
    friend bool operator==(const Options&, const Options&) = default;
};

// One argument of the call for which a specialisation is made.
struct Argument {
    struct Dim {
        std::optional<std::int64_t> extent;  // empty: generalised, passed at run time
        std::optional<std::int64_t> stride;  // in elements; empty: the same
        std::int64_t typical = 0;            // extents passed at run time: as in ir::Var
        friend bool operator==(const Dim&, const Dim&) = default;
    };
    ir::Type type;  // scalars: weak for Python int/float/complex; arrays: elem and rank
    std::optional<std::int64_t> integer;  // scalars specialised by value: bool and integers
    std::optional<double> real;           //   floats
    std::vector<Dim> dims;
    bool read_only = false;
    bool aliased = false;                    // its memory overlaps that of another argument
    std::optional<ir::Placement> placement;  // aliased: its place, if known
    bool wide = false;  // integers passed at run time: beyond what legality is reasoned about with
    std::int64_t limit = 0;    // run-time extents and integers: as in ir::Var
    std::int64_t typical = 0;  // integers passed at run time: as in ir::Var
    friend bool operator==(const Argument&, const Argument&) = default;
};

// One Argument per parameter of the entry function, including captured globals (which follow the
// declared parameters).
using Signature = std::vector<Argument>;

}  // namespace parpy
