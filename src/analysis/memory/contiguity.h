// Whether the elements of an array are contiguous, as C functions expect that receive a pointer.
#pragma once

#include <optional>
#include <span>

#include "ir/ir.h"

namespace parpy {

// Whether these dimensions are contiguous in C order; nothing if only the call knows. Kernels
// written by hand (`by_hand`) are compiled for contiguous arrays of any size, and for others of any
// strides; sizes and strides of the arrays that they capture or make are known.
[[nodiscard]] std::optional<bool> lie_side_by_side(std::span<const ir::Dim> dims, bool by_hand);

}  // namespace parpy
