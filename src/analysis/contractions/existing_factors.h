// Whether the factors exist that tiles of a contraction load, although the nest may not read them.
#pragma once

#include "analysis/contractions/contractions.h"
#include "analysis/uses.h"

namespace parpy {

// Right factors are loaded for all columns and steps of all rows. If a single row reads all of
// them, so does the nest; else every element between those that it reads must exist. `uses`: of the
// nest, whose loops and bounds are known.
[[nodiscard]] bool reads_all(const Contraction& contraction, const Uses& uses);

// Whether the factors of all rows and columns exist, whatever a condition leaves out: elements of
// arrays of constant sizes, at the loops' own variables.
[[nodiscard]] bool has_all_factors(const Contraction& contraction);

}  // namespace parpy
