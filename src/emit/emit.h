// The one C-family printer. It prints a legalised module as text; a difference between targets is a
// row of its dialect table (src/dialects), never a branch here.
#pragma once

#include "parpy/compile.h"

namespace parpy {

// Marker lines of Program::text; compile_string splits at them.
inline constexpr std::string_view kDeviceMarker = "// ---- device code ----";
inline constexpr std::string_view kHostMarker = "// ---- host code ----";

// Begins the line that lists the external functions without a header. The simulator declares these
// itself; other programs do without.
inline constexpr std::string_view kKnownMarker = "// functions that the compiler knows: ";

// `module` must satisfy Profile::kTarget for `backend`.
[[nodiscard]] Program emit_program(const ir::Module& module, Backend backend,
                                   const Options& options);

}  // namespace parpy
