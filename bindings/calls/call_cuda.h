// A call of a CUDA specialisation: device arrays in place on the caller's stream, host arrays
// copied in, and back where they are written, with one synchronisation.
#pragma once

#include <cstdint>
#include <optional>

#include "arrays/array_intake.h"
#include "arrays/returned_arrays.h"
#include "runtime/calls/dispatch.h"

namespace parpy {

// `stream`: opts.stream. `results`: null for programs that return no arrays; they are NumPy's if no
// argument is on a device. `slots` has room for the specialisation's. Called with the GIL held.
[[nodiscard]] RuntimeError run_on_cuda(const Specialization& specialization, Arguments arguments,
                                       const Intake& intake, std::optional<std::uint64_t> stream,
                                       std::uint64_t* slots, ReturnedArrays* results);

}  // namespace parpy
