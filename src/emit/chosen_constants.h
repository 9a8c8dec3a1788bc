// Which numbers may be constants that a condition chooses. Where such a number is of type f64, a
// rounding of ptxas to a narrower type may take the place of another one (docs/explanation/gpu.md).
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace parpy {

class ChosenConstants {
public:
    ChosenConstants() = default;
    explicit ChosenConstants(const ir::Function& function);

    // With variables, and elements of arrays that the function stores, replaced by what is assigned
    // to them. Never false where the compiler of the text could find two constants.
    [[nodiscard]] bool may_be(const ir::Expr& value) const;

private:
    // What an expression depends on: constants and counters, conditions besides, or other data.
    enum class Source : std::uint8_t { kFixed, kChosen, kData };

    [[nodiscard]] Source source(const ir::Expr& value) const;
    [[nodiscard]] Source of_variable(const ir::Var& var) const;
    [[nodiscard]] Source of_values(const ir::Var& var) const;

    bool kernel_ = false;  // others are put in place of their calls, constants of their arguments
    std::unordered_map<const ir::Var*, std::vector<const ir::Expr*>> values_;  // null: anything
    std::unordered_map<const ir::Var*, const ir::For*> loops_;
    mutable std::unordered_map<const ir::Var*, Source> known_;
};

}  // namespace parpy
