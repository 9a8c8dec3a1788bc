// See distances.h. The ranges of the distances decide most questions; ISL answers the others.
#include "analysis/memory/distances.h"

#include "analysis/integers/constraint_system.h"

namespace parpy {

using namespace ir;

Distances::Distances(const Accesses& accesses, const std::vector<const For*>& nest)
    : accesses_(accesses) {
    for (const For* loop : nest)
        nest_.push_back(accesses.loop_of(loop));
    for_each_pair_in(accesses, nest_.back(), [&](const Access& a, const Access& b, Memory memory) {
        add(a, b, memory);
        if (&a != &b) add(b, a, memory);
    });
}

ConstraintSystem Distances::pair(const Distance& distance) {
    const int loop = nest_[distance.carrier];
    ConstraintSystem system(accesses_, loop);
    system.happens(*distance.source, 0);
    system.happens(*distance.sink, 1);
    system.ordered();
    same_place_.require(system, loop, *distance.source, *distance.sink, distance.memory);
    return system;
}

void Distances::add(const Access& source, const Access& sink, Memory memory) {
    for (std::size_t carrier = 0; carrier < nest_.size(); ++carrier) {
        Distance found{carrier, &source, &sink, memory, {}};
        ConstraintSystem system = pair(found);
        const bool decided = !sets_.exhausted();
        if (decided && system.solve(sets_) == ConstraintSystem::Outcome::kNever) continue;
        for (std::size_t place = 0; place < nest_.size(); ++place) {
            IntegerSets::Range& range = found.by_loop.emplace_back();
            if (place < carrier) range = {0, 0};
            if (place < carrier || !decided) continue;
            const Affine& value = instance(place).value;
            range = system.range(sets_, {{&value, 1}, {&value, 0, -1}});
        }
        all_.push_back(std::move(found));
    }
}

bool Distances::advances(const Distance& distance, const std::vector<std::int64_t>& coefficients) {
    ConstraintSystem system = pair(distance);
    std::vector<ConstraintSystem::Part> behind;
    for (std::size_t place = 0; place < nest_.size(); ++place) {
        const std::int64_t factor = coefficients[place];
        if (factor == 0 || place < distance.carrier) continue;
        behind.push_back({&instance(place).value, 0, factor});
        behind.push_back({&instance(place).value, 1, -factor});
    }
    system.require(behind, 0, false);
    return !sets_.exhausted() && system.solve(sets_) == ConstraintSystem::Outcome::kNever;
}

}  // namespace parpy
