// The facts of parpy/halo.h, found in a program.
#pragma once

#include <optional>
#include <string>

#include "ir/ir.h"
#include "parpy/halo.h"

namespace parpy {

// For the entry of a program of profile kLoops, before its loops are mapped. `arguments`: so many
// are the call's; those behind them hold the numbers that it returns, which are no arrays of the
// user.
[[nodiscard]] Halos halos_of(ir::Module& module,
                             std::optional<std::size_t> arguments = std::nullopt);

// What the nests and serial statements of `Halos::nodes` are made of, in their order.
struct HaloLeaf {
    ir::Stmt* stmt = nullptr;
    std::vector<ir::Var*> arrays;   // of Halos::Loop::arrays, of the outermost loop
    std::vector<ir::Var*> reduced;  // of Halos::Loop::reduced
    // Nests: the loop's variable is factor * counter + offset; 0 where it is something else.
    std::int64_t factor = 0, offset = 0;
};
[[nodiscard]] Halos halos_of(ir::Module& module, std::optional<std::size_t> arguments,
                             std::vector<HaloLeaf>& leaves);

// One line for each loop, array and axis: for parpy-opt.
[[nodiscard]] std::string text_of(const Halos& halos);

}  // namespace parpy
