// Counts the varying terms that a subscript subtracts: if there is more than one, NVRTC confuses
// the element with another one, whatever the spelling of the subscript (docs/explanation/gpu.md).
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

    // The count for factor * subscript, where variables are followed to the values assigned to
    // them. A product with a constant below -1 counts as two, whatever its other factor is, and so
    // does the counter of a loop that steps by less than -1. Never too small, and at most 2.
    [[nodiscard]] int count(const ir::Expr& subscript, std::int64_t factor) const;

private:
    [[nodiscard]] int of_variable(const ir::Var& var, std::int64_t factor) const;
    [[nodiscard]] int of_values(const ir::Var& var, std::int64_t factor) const;

    std::unordered_map<const ir::Var*, std::vector<const ir::Expr*>> values_;  // null: an update
    std::unordered_map<const ir::Var*, const ir::Expr*> steps_;                // of loops
    mutable std::map<std::pair<const ir::Var*, std::int64_t>, int> known_;
};

}  // namespace parpy
