// What the compiler knows about a call and decides for it, without running it: parpy.explain.
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
        std::string key;   // what a mapping calls it: a label of its own, else its place, "i@7"
        std::string text;  // its line of source
        std::uint32_t line = 0;
        int depth = 0;  // loops around it
        std::string variable;
        std::optional<std::int64_t> first, step;  // of its range, where they are constants
        double trips = 0;  // iterations of one execution; an estimate unless `exact`
        bool exact = false;
        std::string verdict;      // proved, reduction, refuted, unknown
        std::string reason;       // what stands in the way
        std::string witness;      // refuted: "iteration i=0 writes a[1], iteration i=1 reads a[1]"
        bool atomic = false;      // its updates of elements are atomic
        LoopPar mapping;          // threads 0: sequential
        std::string level;        // sequential, workers, vector, blocks, threads
        std::string contraction;  // that it is one, and how it is computed, or why it is none
        std::string steps;        // that it runs over blocks of the steps that the text has
        std::string time_tiles;   // of a loop over time: how it is computed in tiles, or why not
    };
    // A loop as a kernel runs it, which may be a part of a nest, brought down to fewer levels.
    struct Placed {
        std::size_t loop = 0;  // index in `loops`
        std::string level;
        std::int64_t threads = 0;  // of this level, in all its blocks
        std::int64_t blocks = 1;   // that it is spread over
    };
    struct Kernel {
        std::string name;
        std::vector<Placed> loops;                     // in the order in which they are nested
        std::array<std::int64_t, 3> grid{}, block{};   // grid 0: known when it is launched
        std::array<std::int64_t, 3> cluster{1, 1, 1};  // blocks
    };
    struct Array {
        std::string name;
        double read = 0, written = 0;  // bytes of the smallest box that holds what is touched
    };

    std::vector<Loop> loops;      // in the order in which they are nested
    bool restructured = false;    // which is not that of the text
    std::vector<Kernel> kernels;  // CUDA
    std::vector<Array> arrays;
    std::vector<std::string> inlined;  // arrays of its own whose elements are computed where used
    bool gpu_code = false;  // array code outside of mapped loops runs on the GPU (kGpuCode)
    double flops = 0;       // operations on floating-point numbers
    // What the call would report: refusals, performance notes.
    Diagnostics diagnostics;
};

// `diagnostics` holds what keeps the call from being compiled at all. Arguments are those of
// compile().
[[nodiscard]] Explanation explain(const ir::Module& surface, const Signature& signature,
                                  const Options& options, Diagnostics& diagnostics);

}  // namespace parpy
