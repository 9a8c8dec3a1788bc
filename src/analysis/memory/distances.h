// How far apart conflicting iterations of a perfect nest of loops are: the question behind every
// transformation that replaces the order of such a nest. Every pair of accesses that may touch one
// byte counts, updates included, if one of the two writes. Scalars are left to the caller.
#pragma once

#include <optional>
#include <vector>

#include "analysis/integers/integer_sets.h"
#include "analysis/memory/accesses.h"
#include "analysis/memory/memory_layout.h"
#include "analysis/memory/same_place.h"
#include "ir/ir.h"

namespace parpy {

// Iterations of a nest, the earlier one with `source` and the later one with `sink`, that may touch
// the same place. They are in the same iteration of the loops around `carrier`.
struct Distance {
    std::size_t carrier = 0;  // the loop that tells the two apart first, by its place in the nest
    const Access* source = nullptr;
    const Access* sink = nullptr;
    Memory memory = Memory::kUnclear;
    // By loop: the variable in the later iteration minus that in the earlier one, as far as known.
    std::vector<IntegerSets::Range> by_loop;
};

class Distances {
public:
    // `nest`: loops of the entry that are reached, the outermost first, each of which contains
    // nothing but the next one. Nothing on elements is loaded in their bounds.
    Distances(const Accesses& accesses, const std::vector<const ir::For*>& nest);

    // Where two iterations conflict, one of these describes them.
    [[nodiscard]] const std::vector<Distance>& all() const { return all_; }

    // Whether the sum of `coefficients` * the loops' variables, by the place in the nest, is surely
    // greater in the later iteration.
    [[nodiscard]] bool advances(const Distance& distance,
                                const std::vector<std::int64_t>& coefficients);

private:
    [[nodiscard]] ConstraintSystem pair(const Distance& distance);
    [[nodiscard]] const LoopInstance& instance(std::size_t place) const {
        return accesses_.loops()[static_cast<std::size_t>(nest_[place])];
    }
    void add(const Access& source, const Access& sink, Memory memory);

    const Accesses& accesses_;
    IntegerSets sets_;
    SamePlace same_place_{accesses_, sets_};
    std::vector<int> nest_;
    std::vector<Distance> all_;
};

}  // namespace parpy
