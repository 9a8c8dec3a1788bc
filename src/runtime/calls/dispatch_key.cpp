// See dispatch_key.h.
#include "runtime/calls/dispatch_key.h"

#include <bit>
#include <cstdlib>

namespace parpy {

namespace {

bool is_wide(const ArgumentView& view) {
    constexpr std::int64_t kLargest = kLargestGeneral;
    if (!ir::is_integer(view.scalar())) return false;
    if (view.scalar() == ir::Scalar::kU64) return view.value > std::uint64_t{kLargest};
    const auto value = static_cast<std::int64_t>(view.value);
    return value > kLargest || value < -kLargest;
}

std::int64_t small_at(const Generality& generality, std::size_t i) {
    return i < generality.positions.size() ? generality.positions[i].small : Generality::kSmall;
}

// The dimensions of at most one element: they are stretched, or have no minimum, so they need
// programs of their own. Kernels written by hand, which accept any arrays, have no such operations.
unsigned tiny_extents(const ArgumentView& view, const Generality& generality) {
    if (generality.overlaps) return 0;
    unsigned dimensions = 0;
    for (int d = 0; d < view.rank(); ++d)
        dimensions |= view.extents[d] <= 1 ? 1u << d : 0;
    return dimensions;
}

// The word of a key for a size that is a run-time value; 0 where programs are for all sizes.
std::uint64_t size_word(std::int64_t value, bool by_size) {
    return by_size ? static_cast<std::uint64_t>(SizeClass(value).number() + 1) : 0;
}

std::uint64_t general_word(const ArgumentView& view, bool by_size) {
    return ir::is_integer(view.scalar()) ? size_word(static_cast<std::int64_t>(view.value), by_size)
                                         : 0;
}

// The bits in the header of a key for a value that is a run-time value.
std::uint64_t general_value(const ArgumentView& view, std::int64_t small) {
    return ArgumentView::kGeneralValue | (is_wide(view) ? ArgumentView::kWide : 0) |
           (is_small(view, small) ? ArgumentView::kSmall : 0);
}

}  // namespace

bool is_small(const ArgumentView& view, std::int64_t most) {
    if (!view.is_array()) {
        if (!ir::is_integer(view.scalar())) return false;
        const auto value = static_cast<std::int64_t>(view.value);
        return view.scalar() == ir::Scalar::kU64 ? view.value <= static_cast<std::uint64_t>(most)
                                                 : value <= most && value >= -most;
    }
    const int size_bits = std::countr_zero(static_cast<unsigned>(ir::size_in_bytes(view.scalar())));
    std::int64_t distance = 0;
    for (int d = 0; d < view.rank(); ++d) {
        const std::int64_t extent = view.extents[d],
                           stride = std::abs(view.strides[d]) >> size_bits;
        if (extent > most || stride > most) return false;
        distance += extent * stride;  // no overflow: both have 31 bits
        if (distance > most) return false;
    }
    return true;
}

Signature make_signature(Arguments arguments, const Generality& generality, std::uint64_t aliased,
                         Scope scope) {
    const bool shared = scope == Scope::kShared;
    const bool open = shared || generality.overlaps;
    const bool by_size = generality.by_size && !shared;
    Signature signature;
    signature.reserve(arguments.size());
    std::vector<ir::Placement> placed;
    if (aliased != 0 && !open) placed = placements(arguments, aliased);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        const bool overlaps = view.is_array() && (aliased & argument_bit(i)) != 0;
        const bool fixed = overlaps && !open;
        const Generality::Position general =
            generality.any && !fixed ? generality.positions[i] : Generality::Position{};
        Argument& argument = signature.emplace_back();
        const ir::Scalar scalar = view.scalar();
        if (!view.is_array()) {
            argument.type = view.is_weak() ? ir::Type::weak_of(scalar) : ir::Type::of(scalar);
            if (general.value || never_fixed(scalar)) {
                argument.wide = is_wide(view);
                if (is_small(view, small_at(generality, i)))
                    argument.limit = small_at(generality, i);
                if (by_size && ir::is_integer(scalar))
                    argument.typical = SizeClass(static_cast<std::int64_t>(view.value)).typical();
                continue;
            }
            if (scalar == ir::Scalar::kF64) {
                argument.real = std::bit_cast<double>(view.value);
            } else if (scalar == ir::Scalar::kF32) {
                argument.real = std::bit_cast<float>(static_cast<std::uint32_t>(view.value));
            } else {
                argument.integer = static_cast<std::int64_t>(view.value);
            }
            continue;
        }
        argument.type = ir::Type::array(scalar, view.rank());
        argument.type.weak = view.is_weak();
        argument.read_only = view.read_only();
        argument.aliased = overlaps;
        if (fixed) argument.placement = placed[i];
        argument.dims.resize(static_cast<std::size_t>(view.rank()));
        const std::int64_t size = ir::size_in_bytes(scalar);
        if (general.any() && is_small(view, general.small)) argument.limit = general.small;
        const unsigned extents = general.extents & ~tiny_extents(view, generality);
        const bool contiguous = extents != 0 && is_contiguous(view);
        bool known = true;         // all faster dimensions have known extents
        std::int64_t product = 1;  // of these
        for (int d = view.rank() - 1; d >= 0; --d) {
            Argument::Dim& dim = argument.dims[static_cast<std::size_t>(d)];
            const bool general_extent = (extents >> d & 1) != 0;
            if (!general_extent) {
                dim.extent = view.extents[d];
            } else if (by_size) {
                dim.typical = SizeClass(view.extents[d]).typical();
            }
            if (contiguous) {
                if (known) dim.stride = product;
            } else if ((general.strides >> d & 1) == 0) {
                dim.stride = view.strides[d] / size;
            }
            known = known && !general_extent;
            product *= view.extents[d];
        }
    }
    return signature;
}

Key::Key(Arguments arguments, const Generality& generality, std::uint64_t aliased, Scope scope) {
    const bool shared = scope == Scope::kShared;
    const bool open = shared || generality.overlaps;
    const bool by_size = generality.by_size && !shared;
    words_ = inline_.data();
    std::vector<ir::Placement> placed;
    if (aliased != 0 && !open) placed = placements(arguments, aliased);
    std::size_t most = 2 * placed.size();
    for (const ArgumentView& view : arguments)
        most += 2 + 2 * static_cast<std::size_t>(view.rank());
    if (most > kInline) {
        heap_.resize(most);
        words_ = heap_.data();
    }
    std::uint64_t* word = words_;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        std::uint64_t* header = word++;
        *header = view.header;
        if (shared) *header |= ArgumentView::kShared;
        if (!view.is_array()) {
            const bool general =
                never_fixed(view.scalar()) || (generality.any && generality.positions[i].value);
            if (general) *header |= general_value(view, small_at(generality, i));
            *word++ = general ? general_word(view, by_size) : view.value;
            continue;
        }
        const bool overlaps = (aliased & argument_bit(i)) != 0;
        const bool fixed = overlaps && !open;
        if (overlaps) *header |= ArgumentView::kAliased;
        if (fixed) {
            *word++ = placed[i].group;
            *word++ = static_cast<std::uint64_t>(placed[i].offset);
        }
        const auto rank = static_cast<std::size_t>(view.rank());
        for (std::size_t d = 0; d < rank; ++d) {
            word[d] = static_cast<std::uint64_t>(view.extents[d]);
            word[rank + d] = static_cast<std::uint64_t>(view.strides[d]);
        }
        if (generality.any && !fixed && generality.positions[i].any()) {
            const Generality::Position& general = generality.positions[i];
            const unsigned dims = (1u << rank) - 1;
            const unsigned extents = general.extents & dims & ~tiny_extents(view, generality);
            unsigned strides = general.strides & dims;
            if (extents != 0 && is_contiguous(view)) {
                *header |= ArgumentView::kContiguous;
                strides = dims;
            }
            if (is_small(view, general.small)) *header |= ArgumentView::kSmall;
            *header |= std::uint64_t{extents} << ArgumentView::kGeneralExtentsShift;
            *header |= std::uint64_t{strides} << ArgumentView::kGeneralStridesShift;
            for (std::size_t d = 0; d < rank; ++d) {
                if ((extents >> d & 1) != 0) word[d] = size_word(view.extents[d], by_size);
                if ((strides >> d & 1) != 0) word[rank + d] = 0;
            }
        }
        word += 2 * rank;
    }
    size_ = static_cast<std::size_t>(word - words_);
}

bool answers(std::span<const std::uint64_t> key, Arguments arguments,
             const Generality& generality) {
    const std::uint64_t* word = key.data();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        const std::uint64_t header = *word++;
        if (!view.is_array()) {
            const bool same = view.header == header && view.value == *word;
            const bool general =
                (view.header | general_value(view, small_at(generality, i))) == header &&
                general_word(view, generality.by_size) == *word;
            if (!same && !general) return false;
            ++word;
            continue;
        }
        if (view.header != header) return false;
        const auto rank = static_cast<std::size_t>(view.rank());
        for (std::size_t d = 0; d < rank; ++d) {
            if (word[d] != static_cast<std::uint64_t>(view.extents[d]) ||
                word[rank + d] != static_cast<std::uint64_t>(view.strides[d])) {
                return false;
            }
        }
        word += 2 * rank;
    }
    return true;
}

}  // namespace parpy
