// Locates the foreign function of a compiler error in generated text at its call in the program.
#pragma once

#include <optional>

#include "ir/ir.h"
#include "support/diagnostic.h"
#include "support/runtime_error.h"

namespace parpy {

// The error with the place of the call; nothing if it mentions no foreign function.
[[nodiscard]] std::optional<Diagnostic> located_at_call(const RuntimeError& error,
                                                        const ir::Module& module);

}  // namespace parpy
