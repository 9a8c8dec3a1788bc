// The condition that two accesses touch the same memory, as constraints on the iterations in which
// they do. Where it cannot be written down, the system is marked as inexact and has more solutions.
#pragma once

#include <vector>

#include "analysis/integers/constraint_system.h"
#include "analysis/memory/accesses.h"
#include "analysis/memory/delinearization.h"
#include "analysis/memory/memory_layout.h"

namespace parpy {

class SamePlace {
public:
    SamePlace(const Accesses& accesses, IntegerSets& sets) : delinearization_(accesses, sets) {}

    // Pairs of subscripts of two accesses to one array: they are equal in pairs where iterations of
    // `loop` touch the same element.
    [[nodiscard]] std::vector<Delinearization::Pair> subscripts(const Access& a, const Access& b,
                                                                int loop);

    // Requires that `a` in copy 0 and `b` in copy 1 touch the same memory. `memory`: the relation
    // of their arrays, which are not apart; `loop`: that of the system.
    void require(ConstraintSystem& system, int loop, const Access& a, const Access& b,
                 Memory memory);

private:
    Delinearization delinearization_;
};

}  // namespace parpy
