// Runs a kTile in the reference interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ir/eval/eval.h"
#include "ir/tile.h"

namespace parpy::ir {

// An element, and the number of elements of its array's memory before and after it.
struct TilePlace {
    std::byte* at = nullptr;
    std::int64_t before = 0, behind = 0;
};
[[nodiscard]] TilePlace place_in(const ArrayView& view, const std::byte* at);

// Runs a kTile; the callbacks give its numbers and the places of its elements as they are needed.
// Returns the error if it leaves an array. Stops once a callback has failed (`failed`).
[[nodiscard]] std::optional<std::string> run_tile(
    const Expr& tile, const std::function<std::int64_t(TileOperand)>& number,
    const std::function<TilePlace(TileOperand)>& place, const std::function<bool()>& failed);

}  // namespace parpy::ir
