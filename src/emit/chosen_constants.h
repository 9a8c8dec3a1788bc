// Finds numbers that may be constants chosen by a condition. If such a number is an f64, ptxas may
// confuse its rounding to a narrower type with another one (docs/explanation/gpu.md).
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace parpy {

class ChosenConstants {
public:
    ChosenConstants() = default;
    explicit ChosenConstants(const ir::Function& function);

    // Follows variables, and elements of arrays that the function stores, to the values assigned to
    // them. Never false where the compiler of the text could find two constants.
    [[nodiscard]] bool may_be(const ir::Expr& value) const;

private:
    // The inputs of an expression: constants and counters; conditions besides; or other data.
    enum class Source : std::uint8_t { kFixed, kChosen, kData };

    [[nodiscard]] Source source(const ir::Expr& value) const;
    [[nodiscard]] Source of_variable(const ir::Var& var) const;
    [[nodiscard]] Source of_values(const ir::Var& var) const;

    bool kernel_ = false;  // other functions may be inlined, with constants for arguments
    std::unordered_map<const ir::Var*, std::vector<const ir::Expr*>> values_;  // null: anything
    std::unordered_map<const ir::Var*, const ir::For*> loops_;
    mutable std::unordered_map<const ir::Var*, Source> known_;
};

}  // namespace parpy
