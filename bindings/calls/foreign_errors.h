// Where the program calls the foreign function that a compiler of generated text complains about.
#pragma once

#include <optional>

#include "ir/ir.h"
#include "support/diagnostic.h"
#include "support/runtime_error.h"

namespace parpy {

// The error with the place of the call; nothing where it speaks of no foreign function.
[[nodiscard]] std::optional<Diagnostic> located_at_call(const RuntimeError& error,
                                                        const ir::Module& module);

}  // namespace parpy
