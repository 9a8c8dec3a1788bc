// Whether the elements of an array lie side by side, as C that gets a pointer to them expects.
#pragma once

#include <optional>
#include <span>

#include "ir/ir.h"

namespace parpy {

// In the order of C, along these dimensions of an array; nothing if the call alone knows. Kernels
// written by hand (`by_hand`) are compiled for arrays of any size that do, and for others of any
// strides; of those that they capture or make, sizes and strides are known.
[[nodiscard]] std::optional<bool> lie_side_by_side(std::span<const ir::Dim> dims, bool by_hand);

}  // namespace parpy
