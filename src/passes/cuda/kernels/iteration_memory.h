// Device memory that passes scalars of one iteration of a loop over blocks from kernel to kernel:
// an element for each iteration. Part of split_kernels.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/builder.h"

namespace parpy {

class IterationMemory {
public:
    explicit IterationMemory(ir::Module& module) : builder_(module) {}

    // Store and load the scalar in the innermost of `loops`, outermost first; the host must know
    // the numbers of iterations at the entry.
    [[nodiscard]] ir::Stmt* keep(ir::Var* scalar, const std::vector<const ir::For*>& loops);
    [[nodiscard]] ir::Stmt* fetch(ir::Var* scalar, const std::vector<const ir::For*>& loops);

    // The statements that allocate the memory, for the beginning of the entry.
    [[nodiscard]] const ir::Body& made() const { return made_; }

private:
    ir::Var* memory_of(ir::Var* scalar, const std::vector<const ir::For*>& loops);
    ir::Expr* number(const std::vector<const ir::For*>& loops);

    ir::Builder builder_;
    std::unordered_map<const ir::Var*, ir::Var*> memory_;
    ir::Body made_;
};

}  // namespace parpy
