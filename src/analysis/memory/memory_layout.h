// Places of arrays in memory: whether two arrays share bytes, and the address of an element.
#pragma once

#include <optional>
#include <vector>

#include "analysis/integers/affine.h"
#include "ir/ir.h"

namespace parpy {

enum class Memory : std::uint8_t {
    kApart,
    kSameElements,  // subscripts are equal exactly where the elements are the same
    kSameBytes,     // compare byte addresses
    kUnclear,
};
[[nodiscard]] Memory relation(const ir::Var& a, const ir::Var& b);

// The offset in the memory that the array shares with others, or else from its own element [0, …].
// Nothing if the strides are not constants.
[[nodiscard]] std::optional<Affine> byte_address(const ir::Var& array,
                                                 const std::vector<Affine>& indices);

}  // namespace parpy
