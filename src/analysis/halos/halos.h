// The facts of parpy/halo.h, found in a program.
#pragma once

#include <optional>
#include <string>

#include "ir/ir.h"
#include "parpy/halo.h"

namespace parpy {

// Of the entry of a program of profile kLoops, before its loops are mapped. `arguments`: so many
// are the call's; those behind them hold the numbers that it returns, which are no arrays of the
// user.
[[nodiscard]] Halos halos_of(ir::Module& module,
                             std::optional<std::size_t> arguments = std::nullopt);

// One line for each loop, array and axis: for parpy-opt.
[[nodiscard]] std::string text_of(const Halos& halos);

}  // namespace parpy
