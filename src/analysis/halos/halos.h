// The facts of parpy/halo.h, found in a program.
#pragma once

#include <optional>
#include <string>

#include "ir/ir.h"
#include "parpy/halo.h"

namespace parpy {

// Requires the entry of a program of profile kLoops, before its loops are mapped. The call passes
// the first `arguments` parameters; the parameters after them hold the numbers that the program
// returns, which are no arrays of the user.
[[nodiscard]] Halos halos_of(ir::Module& module,
                             std::optional<std::size_t> arguments = std::nullopt);

// The statement of each nest and serial statement in `Halos::nodes`, in their order.
struct HaloLeaf {
    ir::Stmt* stmt = nullptr;
    std::vector<ir::Var*> arrays;   // in the order of the outermost loop's Halos::Loop::arrays
    std::vector<ir::Var*> reduced;  // in the order of Halos::Loop::reduced
    // Nests: the loop's variable is factor * counter + offset; both are 0 if it is not linear.
    std::int64_t factor = 0, offset = 0;
};
[[nodiscard]] Halos halos_of(ir::Module& module, std::optional<std::size_t> arguments,
                             std::vector<HaloLeaf>& leaves);

// One line for each loop, array and axis: for parpy-opt.
[[nodiscard]] std::string text_of(const Halos& halos);

}  // namespace parpy
