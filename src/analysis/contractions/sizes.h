// The size of a contraction, from which its tile is chosen.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/contractions/contractions.h"
#include "analysis/traffic.h"

namespace parpy {

// The sizes; constants are exact, all other sizes are estimates.
struct ContractionSizes {
    double rows = 0, columns = 0, products = 0;  // products: of all ranges of a step
    double outer = 1;                            // runs of the loops around
    bool serial = false;                         // runs on one worker
    bool known_rows = false, known_columns = false;
};

[[nodiscard]] ContractionSizes sizes_of(const Contraction& contraction, const Traffic& traffic);

// Trips of a loop of the contraction; nothing if they are not constant.
[[nodiscard]] std::optional<std::int64_t> constant_trips(const Contraction& contraction,
                                                         const ir::For& loop);
// The columns of all rows together; nothing if they are not constant.
[[nodiscard]] std::optional<std::int64_t> constant_columns(const Contraction& contraction);
// Products added to each sum, over all rows; nothing if they are not constant.
[[nodiscard]] std::optional<std::int64_t> constant_products(const Contraction& contraction);

}  // namespace parpy
