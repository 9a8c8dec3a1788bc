// Keys, the table and the generalisation policy. The table is open-addressed with atomic cells; it
// and the Generality that keys are built with form one State, replaced as a whole when either
// changes. States and entries live as long as the Specializations, because a reader may hold any of
// them.
#include "runtime/dispatch.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace parpy {
namespace {

// Scalars whose value is no part of a Signature: always run-time values.
bool never_fixed(ir::Scalar scalar) {
    return ir::is_complex(scalar) || scalar == ir::Scalar::kF16 || scalar == ir::Scalar::kBF16;
}

// An integer scalar that stays a constant of the program however often it changes.
bool too_large(const ArgumentView& view) {
    constexpr std::int64_t kLargest = Specializations::kLargestGeneral;
    const auto value = static_cast<std::int64_t>(view.value);
    return ir::is_integer(view.scalar()) && (value > kLargest || value < -kLargest);
}

std::uint64_t hash_words(std::span<const std::uint64_t> words) {
    std::uint64_t hash = words.size();
    for (std::uint64_t word : words) {
        hash = (hash + word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return hash;
}

bool same_words(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

Signature make_signature(Arguments arguments, const Generality& generality, std::uint64_t aliased) {
    Signature signature;
    signature.reserve(arguments.size());
    std::vector<ir::Placement> placed;
    if (aliased != 0) placed = placements(arguments, aliased);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        const bool fixed = view.is_array() && (aliased & argument_bit(i)) != 0;
        const Generality::Position general =
            generality.any && !fixed ? generality.positions[i] : Generality::Position{};
        Argument& argument = signature.emplace_back();
        const ir::Scalar scalar = view.scalar();
        if (!view.is_array()) {
            argument.type = view.is_weak() ? ir::Type::weak_of(scalar) : ir::Type::of(scalar);
            if ((general.value && !too_large(view)) || never_fixed(scalar)) continue;
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
        argument.read_only = view.read_only();
        argument.aliased = fixed;
        if (fixed) argument.placement = placed[i];
        argument.dims.resize(static_cast<std::size_t>(view.rank()));
        const std::int64_t size = ir::size_in_bytes(scalar);
        const bool contiguous = general.extents != 0 && is_contiguous(view);
        bool known = true;         // the extents of all faster dimensions are
        std::int64_t product = 1;  // of them
        for (int d = view.rank() - 1; d >= 0; --d) {
            Argument::Dim& dim = argument.dims[static_cast<std::size_t>(d)];
            const bool general_extent = (general.extents >> d & 1) != 0;
            if (!general_extent) dim.extent = view.extents[d];
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

// ---------------------------------------------------------------- one specialisation

Specialization::Specialization(std::shared_ptr<Executable> executable, Arguments arguments,
                               bool fixed)
    : executable_(std::move(executable)), written_(arguments.size(), false), fixed_(fixed) {
    for (const Slot& slot : executable_->program.slots) {
        const ArgumentView& view = arguments[slot.argument];
        Item item;
        item.argument = static_cast<std::uint32_t>(slot.argument);
        item.dimension = static_cast<std::uint8_t>(slot.dimension);
        switch (slot.kind) {
            case Slot::Kind::kPointer:
                item.fill = Fill::kPointer;
                if (slot.written) written_[slot.argument] = true;
                break;
            case Slot::Kind::kExtent:
                item.fill = Fill::kExtent;
                break;
            case Slot::Kind::kStride:
                item.fill = Fill::kStride;
                item.shift = static_cast<std::uint8_t>(
                    std::countr_zero(static_cast<unsigned>(ir::size_in_bytes(view.scalar()))));
                break;
            case Slot::Kind::kScalar:
                // Too wide for a slot, which points to the value instead.
                item.fill = slot.scalar == ir::Scalar::kC128 ? Fill::kAddress : Fill::kValue;
                break;
        }
        recipe_.push_back(item);
    }
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            if (arguments[i].is_array() && arguments[j].is_array() &&
                (written_[i] || written_[j])) {
                exclusive_.emplace_back(j, i);
            }
        }
    }
    if (!fixed_) {
        for (std::uint32_t i = 0; i < arguments.size(); ++i) {
            if (arguments[i].is_array() && written_[i]) spread_.push_back(i);
        }
    }
    if (fixed_) {
        for (const ArgumentView& view : arguments) {
            ranges_.push_back(view.is_array() ? byte_range(view) : ByteRange{});
        }
    }
}

void Specialization::fill(Arguments arguments, std::uint64_t* slots, void* const* pointers) const {
    for (const Item& item : recipe_) {
        const ArgumentView& view = arguments[item.argument];
        switch (item.fill) {
            case Fill::kPointer:
                *slots =
                    reinterpret_cast<std::uint64_t>(pointers ? pointers[item.argument] : view.data);
                break;
            case Fill::kValue:
                *slots = view.value;
                break;
            case Fill::kAddress:
                static_assert(offsetof(ArgumentView, imaginary) ==
                              offsetof(ArgumentView, value) + 8);
                *slots = reinterpret_cast<std::uint64_t>(&view.value);
                break;
            case Fill::kExtent:
                *slots = static_cast<std::uint64_t>(view.extents[item.dimension]);
                break;
            case Fill::kStride:
                *slots = static_cast<std::uint64_t>(view.strides[item.dimension] >> item.shift);
                break;
        }
        ++slots;
    }
}

bool Specialization::overlap(Arguments arguments) const {
    for (auto [i, j] : exclusive_) {
        const ArgumentView& a = arguments[i];
        const ArgumentView& b = arguments[j];
        if (fixed_ ? intersect(a, ranges_[i], b, ranges_[j])
                   : intersect(a, byte_range(a), b, byte_range(b))) {
            return true;
        }
    }
    return std::any_of(spread_.begin(), spread_.end(),
                       [&](std::uint32_t i) { return overlaps_itself(arguments[i]); });
}

bool Specialization::accepts(Arguments arguments) const {
    const auto holds = [&](const ArgumentBound& bound) {
        __extension__ __int128 sum = bound.constant;
        for (const ArgumentBound::Term& term : bound.terms) {
            const ArgumentView& view = arguments[term.argument];
            const std::int64_t value = term.kind == Slot::Kind::kExtent
                                           ? view.extents[term.dimension]
                                           : static_cast<std::int64_t>(view.value);
            sum += static_cast<decltype(sum)>(term.coefficient) * value;
        }
        return sum >= 0;
    };
    const auto& requirements = executable_->program.requirements;
    return std::all_of(requirements.begin(), requirements.end(), [&](const auto& alternatives) {
        return std::any_of(alternatives.begin(), alternatives.end(), holds);
    });
}

// ---------------------------------------------------------------- keys

Key::Key(Arguments arguments, const Generality& generality, std::uint64_t aliased) {
    words_ = inline_.data();
    std::vector<ir::Placement> placed;
    if (aliased != 0) placed = placements(arguments, aliased);
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
        if (!view.is_array()) {
            const bool general =
                never_fixed(view.scalar()) ||
                (generality.any && generality.positions[i].value && !too_large(view));
            if (general) *header |= ArgumentView::kGeneralValue;
            *word++ = general ? 0 : view.value;
            continue;
        }
        const bool fixed = (aliased & argument_bit(i)) != 0;
        if (fixed) {
            *header |= ArgumentView::kAliased;
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
            const unsigned extents = general.extents & dims;
            unsigned strides = general.strides & dims;
            if (extents != 0 && is_contiguous(view)) {
                *header |= ArgumentView::kContiguous;
                strides = dims;
            }
            *header |= std::uint64_t{extents} << ArgumentView::kGeneralExtentsShift;
            *header |= std::uint64_t{strides} << ArgumentView::kGeneralStridesShift;
            for (std::size_t d = 0; d < rank; ++d) {
                if ((extents >> d & 1) != 0) word[d] = 0;
                if ((strides >> d & 1) != 0) word[rank + d] = 0;
            }
        }
        word += 2 * rank;
    }
    size_ = static_cast<std::size_t>(word - words_);
}

namespace {

// Whether what is compiled under `key` runs these arguments, told without building their own key.
// Says no where extents or strides are general.
bool answers(std::span<const std::uint64_t> key, Arguments arguments) {
    const std::uint64_t* word = key.data();
    for (const ArgumentView& view : arguments) {
        const std::uint64_t header = *word++;
        if (!view.is_array()) {
            const bool same = view.header == header && view.value == *word;
            const bool general = (view.header | ArgumentView::kGeneralValue) == header;
            if (!same && (!general || too_large(view))) return false;
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

}  // namespace

// ---------------------------------------------------------------- the table

struct Specializations::Entry {
    std::vector<std::uint64_t> key;
    std::uint64_t hash = 0;
    std::shared_ptr<const Specialization> value;
};

struct Specializations::State {
    Generality generality;
    std::size_t capacity = 0;  // a power of two, at least twice the entries
    std::unique_ptr<std::atomic<const Entry*>[]> cells;

    void place(const Entry* entry) const {
        std::size_t cell = entry->hash & (capacity - 1);
        while (cells[cell].load(std::memory_order_relaxed) != nullptr) {
            cell = (cell + 1) & (capacity - 1);
        }
        cells[cell].store(entry, std::memory_order_release);
    }
};

struct Specializations::Pending {
    std::vector<std::uint64_t> key;
    bool done = false;
    Failure failure;
    bool failed = false;
};

Specializations::Specializations(Options o, std::uint64_t written)
    : options(std::move(o)), written_(written), state_(nullptr) {
    publish({}, 16);
}

Specializations::~Specializations() = default;

void Specializations::publish(Generality generality, std::size_t capacity) {
    auto state = std::make_unique<State>();
    state->generality = std::move(generality);
    state->capacity = capacity;
    state->cells = std::make_unique<std::atomic<const Entry*>[]>(capacity);
    for (const auto& entry : entries_)
        state->place(entry.get());
    state_.store(state.get(), std::memory_order_release);
    states_.push_back(std::move(state));
}

const Specializations::Entry* Specializations::look_up(const State& state,
                                                       std::span<const std::uint64_t> key) const {
    const std::uint64_t hash = hash_words(key);
    for (std::size_t cell = hash & (state.capacity - 1);;
         cell = (cell + 1) & (state.capacity - 1)) {
        const Entry* entry = state.cells[cell].load(std::memory_order_acquire);
        if (entry == nullptr) return nullptr;
        if (entry->hash == hash && same_words(entry->key, key)) {
            recent_.store(entry, std::memory_order_release);
            return entry;
        }
    }
}

const Specialization* Specializations::find(const State& state, Arguments arguments) const {
    const Entry* entry = recent_.load(std::memory_order_acquire);
    if (entry == nullptr || !answers(entry->key, arguments)) {
        const Key key(arguments, state.generality, 0);
        if (entry == nullptr || !same_words(entry->key, key.words())) {
            entry = look_up(state, key.words());
        }
    }
    if (entry != nullptr && !entry->value->overlap(arguments)) {
        return entry->value->accepts(arguments) ? entry->value.get() : find_fixed(state, arguments);
    }
    const std::uint64_t aliased = overlapping(arguments, written_);
    if (aliased == 0) return nullptr;
    const Key aliased_key(arguments, state.generality, aliased);
    entry = look_up(state, aliased_key.words());
    if (entry == nullptr || entry->value->accepts(arguments)) {
        return entry != nullptr ? entry->value.get() : nullptr;
    }
    return find_fixed(state, arguments);
}

const Specialization* Specializations::find_fixed(const State& state, Arguments arguments) const {
    const Entry* entry =
        look_up(state, Key(arguments, {}, overlapping(arguments, written_)).words());
    return entry != nullptr ? entry->value.get() : nullptr;
}

const Specialization* Specializations::find(Arguments arguments) const {
    return find(*state_.load(std::memory_order_acquire), arguments);
}

void Specializations::insert(std::span<const std::uint64_t> key,
                             std::shared_ptr<const Specialization> value) {
    auto entry = std::make_unique<Entry>();
    entry->key.assign(key.begin(), key.end());
    entry->hash = hash_words(key);
    entry->value = std::move(value);
    const State& state = *state_.load(std::memory_order_relaxed);
    const Entry* placed = entry.get();
    entries_.push_back(std::move(entry));
    if (entries_.size() * 2 > state.capacity) {
        publish(state.generality, state.capacity * 2);
    } else {
        state.place(placed);
    }
}

// Notes the values of a call that has no specialisation yet. True if a value became a run-time one.
bool Specializations::generalize(Arguments arguments) {
    const auto changes = [](auto& values, auto value) {
        if (values.size() > kDistinctValues) return false;
        if (std::find(values.begin(), values.end(), value) != values.end()) return false;
        values.push_back(value);
        return values.size() > kDistinctValues;
    };
    if (history_.size() < arguments.size()) history_.resize(arguments.size());
    Generality generality = state_.load(std::memory_order_relaxed)->generality;
    generality.positions.resize(arguments.size());
    bool changed = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        History& history = history_[i];
        Generality::Position& position = generality.positions[i];
        if (!view.is_array()) {
            if (view.scalar() == ir::Scalar::kBool || never_fixed(view.scalar())) continue;
            if (changes(history.values, view.value)) position.value = changed = true;
            continue;
        }
        const auto rank = static_cast<std::size_t>(view.rank());
        if (history.extents.size() < rank) {
            history.extents.resize(rank);
            history.strides.resize(rank);
        }
        const bool contiguous = is_contiguous(view);
        for (std::size_t d = 0; d < rank; ++d) {
            if (changes(history.extents[d], view.extents[d])) {
                position.extents = static_cast<std::uint16_t>(position.extents | 1u << d);
                changed = true;
            }
            if (!contiguous && changes(history.strides[d], view.strides[d])) {
                position.strides = static_cast<std::uint16_t>(position.strides | 1u << d);
                changed = true;
            }
        }
    }
    if (!changed) return false;
    generality.any = true;
    publish(std::move(generality), state_.load(std::memory_order_relaxed)->capacity);
    return true;
}

namespace {

bool needs_sizes(const Specializations::Failure& failure) {
    return std::ranges::any_of(failure.diagnostics.all(), [](const Diagnostic& d) {
        return d.code == Code::kP222 || d.code == Code::kP227;
    });
}

}  // namespace

const Specialization* Specializations::find_or_build(Arguments arguments, const Build& build,
                                                     Failure& failure) {
    std::unique_lock lock(mutex_);
    for (;;) {
        const State& state = *state_.load(std::memory_order_relaxed);
        if (const Specialization* found = find(state, arguments)) return found;
        if (!fixed_ && generalize(arguments)) continue;

        const std::uint64_t aliased = overlapping(arguments, written_);
        // What the general program does not accept is compiled for its own values.
        const Generality none;
        const Entry* general = look_up(state, Key(arguments, state.generality, aliased).words());
        const Generality& generality = general != nullptr ? none : state.generality;
        const Key key(arguments, generality, aliased);
        const auto same = [&](const auto& other) { return same_words(other->key, key.words()); };
        if (auto other = std::find_if(pending_.begin(), pending_.end(), same);
            other != pending_.end()) {
            const std::shared_ptr<Pending> pending = *other;
            built_.wait(lock, [&] { return pending->done; });
            if (pending->failed) {
                failure = pending->failure;
                return nullptr;
            }
            continue;
        }

        auto pending = std::make_shared<Pending>();
        pending->key.assign(key.words().begin(), key.words().end());
        pending_.push_back(pending);
        ++builds_;
        lock.unlock();
        std::shared_ptr<const Specialization> made;
        try {
            const Signature signature = make_signature(arguments, generality, aliased);
            if (auto executable = build(signature, failure)) {
                const auto& positions = generality.positions;
                const bool fixed =
                    std::none_of(positions.begin(), positions.end(),
                                 [](const auto& position) { return position.any(); });
                made = std::make_shared<Specialization>(std::move(executable), arguments, fixed);
            }
        } catch (const std::exception& fault) {
            failure.error = {Code::kP900, fault.what(), {}};
        }
        lock.lock();
        std::erase(pending_, pending);
        pending->done = true;
        if (made == nullptr && state.generality.any && needs_sizes(failure)) {
            // What is known of the sizes is needed after all: this function stays specialised.
            failure = {};
            fixed_ = true;
            publish({}, state_.load(std::memory_order_relaxed)->capacity);
            built_.notify_all();
            continue;
        }
        pending->failed = made == nullptr;
        if (made == nullptr) {
            pending->failure = failure;
        } else {
            if (aliased != 0 && !generality.any && !made->overlap(arguments)) {
                // Only arrays that are not written overlap: the plain key is answered by it too.
                insert(Key(arguments, generality, 0).words(), made);
            }
            insert(key.words(), made);
        }
        built_.notify_all();
        if (made != nullptr && generality.any && !made->accepts(arguments)) continue;
        return made.get();
    }
}

Specializations::Info Specializations::info() const {
    const std::lock_guard lock(mutex_);
    const State& state = *state_.load(std::memory_order_relaxed);
    return {entries_.size(), builds_, state.generality};
}

}  // namespace parpy
