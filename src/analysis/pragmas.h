// Reads the requests of `#pragma` comments about loops. The frontend writes them as labels that no
// user can write, "pragma@7:5:24 parallel simd block=128", so that they move together with labels;
// a mapping by hand replaces them (normalize_labels).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "parpy/options.h"

namespace parpy {

struct Pragma {
    bool parallel = false;            // iterations are independent, or reduce
    bool simd = false;                // the same, on one worker
    bool sequential = false;          // in order, even if proved independent
    std::int64_t block = 0;           // threads that run the loop side by side; 0: not given
    std::int64_t warps = 0;           // of a worker
    std::vector<std::string> shared;  // variables that all workers share
    Span span;                        // of the comment; invalid where there is none

    [[nodiscard]] bool spreads() const { return (parallel || simd) && !sequential; }
    // Whether it requests an order or sizes, which a loop that takes the place of this one would
    // not have. Shared variables are reduced, or check_pragmas asks for the order.
    [[nodiscard]] bool asks_for_more() const { return sequential || block > 0 || warps > 0; }
};

[[nodiscard]] bool is_pragma(std::string_view label);
// The pragmas of a loop, merged.
[[nodiscard]] Pragma pragma_of(const ir::Stmt& stmt);
[[nodiscard]] bool has_pragma(const ir::Stmt& stmt);
// Removes them. The loop must no longer depend on what they claim.
void drop_pragmas(ir::Stmt& stmt);
[[nodiscard]] bool has_pragmas(const ir::Module& module);
// Whether the pragmas of two loops request the same.
[[nodiscard]] bool ask_alike(const ir::Stmt& a, const ir::Stmt& b);

// The options for compiling the program: its pragmas map loops as the automatic mode does, within
// the limits that they set, unless a mapping by hand takes their place.
[[nodiscard]] Options with_pragmas(const ir::Module& surface, const Options& options);

}  // namespace parpy
