// The pass runner: runs a table of passes over a module, times each, dumps the module after passes
// that changed it, verifies, and stops at the first pass that reports an error.
#pragma once

#include <span>
#include <string_view>

#include "ir/ir.h"
#include "ir/verify.h"
#include "parpy/compile.h"
#include "support/diagnostic.h"

namespace parpy {

struct PassContext {
    ir::Module& module;
    const Options& options;
    const Signature& signature;  // of the entry; only specialize_arguments reads it
    Diagnostics& diagnostics;
};

struct Pass {
    std::string_view name;  // as in --pass and tests/golden: "fold-constants"
    void (*run)(PassContext&);
    ir::Profile after;                             // that the verifier checks after the pass
    std::string_view why_here;                     // the order constraint, a sentence
    bool (*wanted)(const PassContext&) = nullptr;  // null: always
};

// Runs the passes that are wanted. False if a pass reported an error (the rest did not run).
bool run_passes(PassContext& context, std::span<const Pass> passes, const Trace& trace = {});

// The passes of a back end, in order (compile.cpp).
[[nodiscard]] std::span<const Pass> pipeline(Backend backend);
// A pass by name, from the pipeline of `backend` if it is there: for parpy-opt.
[[nodiscard]] const Pass* find_pass(std::string_view name, Backend backend);

}  // namespace parpy
