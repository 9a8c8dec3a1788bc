// Which functions of numbers are called for each element of arrays: `x[:] = f(x[:], y[:])`.
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

    // Whether it computes a number from numbers alone, and nobody notices that it runs.
    bool computes_numbers(const ir::Function& callee);
    // How the call of such a function is made for arguments that `arrays` says are arrays.
    enum class Way : std::uint8_t {
        kOnce,    // for the arrays: it returns one of them, or changes it
        kEither,  // with each element it gives what it gives with the arrays
        kEach,    // for each element: by their values it decides what it does
    };
    Way way(const ir::Function& callee, const std::vector<bool>& arrays);
    // Notes that it is called for each element.
    void add(const ir::Function& callee) { known_.insert(&callee); }
    // Whether nothing is noticed of an evaluation of the expression, as far as calls of such
    // functions are concerned.
    [[nodiscard]] bool acts(const ir::Expr& expr) const;

private:
    const ir::Module& module_;
    std::unordered_map<const ir::Function*, bool> computes_numbers_;
    std::map<std::pair<const ir::Function*, std::vector<bool>>, Way> ways_;
    std::unordered_set<const ir::Function*> known_;
};

}  // namespace parpy
