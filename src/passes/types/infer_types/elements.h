// Finds the functions of numbers that are called for each element of arrays: `x[:] = f(x[:],
// y[:])`.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ir.h"

namespace parpy {

class ElementFunctions {
public:
    explicit ElementFunctions(const ir::Module& module) : module_(module) {}

    // Whether it computes a number from numbers alone, without side effects.
    bool computes_numbers(const ir::Function& callee);
    // How a call of such a function with arrays at the places `arrays` is made.
    enum class Way : std::uint8_t {
        kOnce,    // once for whole arrays: it returns one of them, or changes it
        kEither,  // either way: each element's result is that of the arrays
        kEach,    // for each element: their values decide its control flow
    };
    Way way(const ir::Function& callee, const std::vector<bool>& arrays);
    // Notes that it is called for each element.
    void add(const ir::Function& callee) { known_.insert(&callee); }
    // Whether evaluating the expression has a side effect; calls of the noted functions have none.
    [[nodiscard]] bool acts(const ir::Expr& expr) const;

private:
    const ir::Module& module_;
    std::unordered_map<const ir::Function*, bool> computes_numbers_;
    std::map<std::pair<const ir::Function*, std::vector<bool>>, Way> ways_;
    std::unordered_set<const ir::Function*> known_;
};

}  // namespace parpy
