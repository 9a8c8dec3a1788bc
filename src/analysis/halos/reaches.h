// The row of a loop, and the distances of subscripts from it (halos.h).
#pragma once

#include "analysis/halos/halos.h"
#include "analysis/integers/integer_sets.h"
#include "analysis/memory/accesses.h"
#include "support/span.h"

namespace parpy {

class Reaches {
public:
    Reaches(const Accesses& accesses, int loop, const std::vector<Source>& sources);

    [[nodiscard]] const Affine& row() const { return row_; }
    [[nodiscard]] int counter() const { return counter_; }
    // The value of the loop's variable.
    [[nodiscard]] const Affine& value() const {
        return accesses_.loops()[static_cast<std::size_t>(loop_)].value;
    }

    // The reach of an access in the loop.
    [[nodiscard]] Halos::Reach of(const Access& access, std::size_t axis);

private:
    void choose_row();
    [[nodiscard]] bool depends(const Affine& a, bool (*on)(const Reaches&, int)) const;
    [[nodiscard]] std::optional<IntegerSets::Range> range(const Access& access,
                                                          const Affine& difference,
                                                          std::optional<std::int64_t> least,
                                                          std::optional<std::int64_t> greatest);

    const Accesses& accesses_;
    const int loop_;
    const int counter_;
    const std::vector<Source>& sources_;
    IntegerSets sets_;
    Affine row_;
};

// The least reach that covers both; a reach that is not a block wins.
void join(std::optional<Halos::Reach>& into, const Halos::Reach& reach);

// The access as the source spells it; of a store, the target. Only the first of several lines.
[[nodiscard]] std::string access_text(const std::vector<Source>& sources, const Access& access);

}  // namespace parpy
