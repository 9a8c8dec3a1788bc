// How large a contraction is: what the choice of its tile rests on.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/contractions/contractions.h"
#include "analysis/traffic.h"

namespace parpy {

// What is known of sizes: of constants all, of others an estimate.
struct ContractionSizes {
    double rows = 0, columns = 0, products = 0;  // of a step: all products
    double outer = 1;                            // runs of the loops around
    bool serial = false;                         // on one worker
    bool known_rows = false, known_columns = false, known_products = false;
};

[[nodiscard]] ContractionSizes sizes_of(const Contraction& contraction, const Traffic& traffic);

// Trips of a loop of the contraction, where constant.
[[nodiscard]] std::optional<std::int64_t> constant_trips(const Contraction& contraction,
                                                         const ir::For& loop);
// Columns of all rows together.
[[nodiscard]] std::optional<std::int64_t> constant_columns(const Contraction& contraction);
// Products that are added to each sum, all rows together, where that is a constant.
[[nodiscard]] std::optional<std::int64_t> constant_products(const Contraction& contraction);

}  // namespace parpy
