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

// Calls fn(a, b, relation of their arrays) for each unordered pair of accesses inside `loop`, one
// of which writes, to memory that is not apart. An access is also paired with itself. Arrays of a
// single iteration of `loop` do not count.
template <class F>
void for_each_pair_in(const Accesses& accesses, int loop, F&& fn) {
    std::vector<const Access*> inside;
    for (const Access& access : accesses.all()) {
        const bool counts =
            accesses.inside(access.loop, loop) && !accesses.local_to(access.array, loop);
        if (counts) inside.push_back(&access);
    }
    for (std::size_t i = 0; i < inside.size(); ++i) {
        for (std::size_t j = i; j < inside.size(); ++j) {
            const Access& a = *inside[i];
            const Access& b = *inside[j];
            if (!a.writes() && !b.writes()) continue;
            const Memory memory = relation(*a.array, *b.array);
            if (memory != Memory::kApart) fn(a, b, memory);
        }
    }
}

}  // namespace parpy
