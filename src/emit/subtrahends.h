// How often a subscript subtracts something that varies: where it does so more than once, NVRTC
// takes the element for another one, however the subscript is spelled (docs/explanation/gpu.md).
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace parpy {

class Subtrahends {
public:
    Subtrahends() = default;
    explicit Subtrahends(const ir::Function& function);

    // In factor * subscript, with variables replaced by what is assigned to them: a product with a
    // constant below -1 counts as two, whatever its other factor is, and so does the counter of a
    // loop that steps by less than -1. Never less than that, and 2 at most.
    [[nodiscard]] int count(const ir::Expr& subscript, std::int64_t factor) const;

private:
    [[nodiscard]] int of_variable(const ir::Var& var, std::int64_t factor) const;
    [[nodiscard]] int of_values(const ir::Var& var, std::int64_t factor) const;

    std::unordered_map<const ir::Var*, std::vector<const ir::Expr*>> values_;  // null: an update
    std::unordered_map<const ir::Var*, const ir::Expr*> steps_;                // of loops
    mutable std::map<std::pair<const ir::Var*, std::int64_t>, int> known_;
};

}  // namespace parpy
