// The facts and decisions of the compiler about a call, without running it: parpy.explain.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"
#include "support/diagnostic.h"

namespace parpy {

struct Explanation {
    struct Loop {
        std::string key;   // its key in a mapping: a label of its own, else its place, "i@7"
        std::string text;  // the loop's line of source
        std::uint32_t line = 0;
        int depth = 0;  // the number of loops around it
        std::string variable;
        std::optional<std::int64_t> first, step;  // of the range, if they are constants
        double trips = 0;  // iterations of one execution; an estimate unless `exact`
        bool exact = false;
        std::string verdict;      // proved, reduction, refuted, unknown
        std::string reason;       // the obstacle to running in parallel
        std::string witness;      // refuted: "iteration i=0 writes a[1], iteration i=1 reads a[1]"
        bool atomic = false;      // the updates of elements are atomic
        LoopPar mapping;          // threads 0: sequential
        std::string level;        // sequential, workers, vector, blocks, threads
        std::string contraction;  // how a contraction is computed, or why the loop is none
        std::string steps;        // set if the loop runs over blocks of the text's steps
        std::string waves;        // set if the loop runs over waves of independent iterations
        std::string time_tiles;   // loops over time: how tiles compute it, or why not
        std::string flattened;    // set if its iterations are counted together with those inside
    };
    // A loop of a kernel, which may be part of a nest that is flattened into fewer levels.
    struct Placed {
        std::size_t loop = 0;  // index in `loops`
        std::string level;
        std::int64_t threads = 0;  // of this level, in all blocks
        std::int64_t blocks = 1;   // over which the loop is spread
    };
    struct Kernel {
        std::string name;
        std::vector<Placed> loops;                     // outermost first
        std::array<std::int64_t, 3> grid{}, block{};   // grid 0: known at the launch only
        std::array<std::int64_t, 3> cluster{1, 1, 1};  // blocks
    };
    struct Array {
        std::string name;
        double read = 0, written = 0;  // bytes of the smallest box around the touched elements
    };

    std::vector<Loop> loops;      // in the order of nesting
    bool restructured = false;    // the nests differ from those of the text
    std::vector<Kernel> kernels;  // CUDA
    std::vector<Array> arrays;
    std::vector<std::string> inlined;  // not stored: their elements are computed at each use
    bool gpu_code = false;  // array code outside of mapped loops runs on the GPU (kGpuCode)
    double flops = 0;       // operations on floating-point numbers
    // The diagnostics that the call would report: refusals, performance notes.
    Diagnostics diagnostics;
};

// `diagnostics` receives the errors that keep the call from being compiled. All other arguments are
// those of compile().
[[nodiscard]] Explanation explain(const ir::Module& surface, const Signature& signature,
                                  const Options& options, Diagnostics& diagnostics);

}  // namespace parpy
