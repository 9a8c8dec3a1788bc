// See generality.h.
#include "runtime/calls/generality.h"

#include <algorithm>

#include "runtime/calls/overlap.h"

namespace parpy {

bool never_fixed(ir::Scalar scalar) {
    return ir::is_complex(scalar) || scalar == ir::Scalar::kF16 || scalar == ir::Scalar::kBF16;
}

Generality all_general(std::size_t general, std::size_t count) {
    Generality generality;
    generality.positions.resize(count);
    for (std::size_t i = 0; i < general; ++i)
        generality.positions[i] = {.value = true, .extents = 0xFFFF, .strides = 0xFFFF};
    constexpr std::int64_t kMostThreads = 1024;  // of a block
    if (general > 0) generality.positions[0].small = Generality::kSmall / kMostThreads;
    generality.any = generality.overlaps = general > 0;
    return generality;
}

namespace {

void add(std::uint16_t& set, int bits) {
    set = static_cast<std::uint16_t>(set | bits);
}

}  // namespace

bool ArgumentHistory::note(Arguments arguments, Generality& generality) {
    // One value more than kDistinctValues is kept, which shows that there were too many.
    const auto keep = [](auto& values, auto value) {
        if (values.size() > kDistinctValues) return;
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    };
    if (positions_.size() < arguments.size()) positions_.resize(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        Position& position = positions_[i];
        if (!view.is_array()) {
            if (!never_fixed(view.scalar())) keep(position.values, view.value);
            continue;
        }
        const auto rank = static_cast<std::size_t>(view.rank());
        if (position.extents.size() < rank) {
            position.extents.resize(rank);
            position.strides.resize(rank);
        }
        const bool contiguous = is_contiguous(view);
        for (std::size_t d = 0; d < rank; ++d) {
            keep(position.extents[d], view.extents[d]);
            if (!contiguous) keep(position.strides[d], view.strides[d]);
        }
    }
    return generalize(generality,
                      [](const auto& values) { return values.size() > kDistinctValues; });
}

bool ArgumentHistory::generalize_all(Generality& generality) const {
    return generalize(generality, [](const auto& values) { return values.size() > 1; });
}

template <class Wanted>
bool ArgumentHistory::generalize(Generality& generality, const Wanted& wanted) const {
    const Generality before = generality;
    generality.positions.resize(std::max(generality.positions.size(), positions_.size()));
    for (std::size_t i = 0; i < positions_.size(); ++i) {
        const Position& from = positions_[i];
        Generality::Position& to = generality.positions[i];
        to.value = to.value || (wanted(from.values) && !from.pinned.value);
        for (std::size_t d = 0; d < from.extents.size(); ++d) {
            const int bit = 1 << d;
            if (wanted(from.extents[d])) add(to.extents, bit & ~from.pinned.extents);
            if (wanted(from.strides[d])) add(to.strides, bit & ~from.pinned.strides);
        }
        generality.any = generality.any || to.any();
    }
    return generality.any && generality != before;
}

void ArgumentHistory::pin(const Generality& refused, const Generality& kept) {
    for (std::size_t i = 0; i < positions_.size() && i < refused.positions.size(); ++i) {
        const Generality::Position& position = refused.positions[i];
        const Generality::Position known =
            i < kept.positions.size() ? kept.positions[i] : Generality::Position{};
        Generality::Position& pinned = positions_[i].pinned;
        pinned.value = pinned.value || (position.value && !known.value);
        add(pinned.extents, position.extents & ~known.extents);
        add(pinned.strides, position.strides & ~known.strides);
    }
}

}  // namespace parpy
