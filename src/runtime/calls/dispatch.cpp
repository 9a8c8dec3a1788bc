// Keys, the table and the generalisation policy. The table is open-addressed with atomic cells; the
// table and the Generality that keys are built with form one State, replaced as a whole when either
// changes. States and entries live as long as the Specializations, because a reader may hold any of
// them.
#include "runtime/calls/dispatch.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "runtime/cpu/fork_gate.h"

namespace parpy {
namespace {

std::uint64_t hash_words(std::span<const std::uint64_t> words) {
    std::uint64_t hash = words.size();
    for (std::uint64_t word : words) {
        hash = (hash + word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return hash;
}

bool same_words(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    return std::ranges::equal(a, b);
}

// A hash that is the same for all calls whose arguments have the same types, ranks and devices.
std::uint64_t hash_types(Arguments arguments) {
    std::uint64_t hash = arguments.size();
    for (const ArgumentView& view : arguments)
        hash = (hash + view.header) * 0x9E3779B97F4A7C15u;
    return hash;
}

}  // namespace

// ---------------------------------------------------------------- one specialisation

Specialization::Specialization(std::shared_ptr<Executable> executable, Arguments arguments,
                               std::uint64_t aliased, Generality generality, Scope scope)
    : executable_(std::move(executable)),
      written_(arguments.size() + result_count(executable_->program), false),
      generality_(std::move(generality)),
      scope_(scope) {
    fixed_shapes_ = std::ranges::none_of(generality_.positions, [](const auto& position) {
        return position.extents != 0 || position.strides != 0;
    });
    fixed_ = fixed_shapes_ && std::ranges::none_of(generality_.positions, [](const auto& position) {
                 return position.value;
             });
    for (const Slot& slot : executable_->program.slots) {
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
                item.shift = static_cast<std::uint8_t>(std::countr_zero(
                    static_cast<unsigned>(ir::size_in_bytes(arguments[slot.argument].scalar()))));
                break;
            case Slot::Kind::kScalar:
                // Too wide for a slot, which has a pointer to the value instead.
                item.fill = slot.scalar == ir::Scalar::kC128 ? Fill::kAddress : Fill::kValue;
                break;
        }
        recipe_.push_back(item);
    }
    // A shared program allows any overlap of these arguments.
    const auto free = [&](std::uint32_t i) {
        return scope == Scope::kShared && (aliased & argument_bit(i)) != 0;
    };
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            if (arguments[i].is_array() && arguments[j].is_array() &&
                (written_[i] || written_[j]) && !(free(i) && free(j))) {
                exclusive_.emplace_back(j, i);
            }
        }
    }
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        if (fixed_shapes_) {
            ranges_.push_back(view.is_array() ? byte_range(view) : ByteRange{});
        } else if (view.is_array() && written_[i] && !free(i)) {
            spread_.push_back(i);
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
        if (fixed_shapes_ ? intersect(a, ranges_[i], b, ranges_[j])
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

// ---------------------------------------------------------------- the table

struct Specializations::Entry {
    std::vector<std::uint64_t> key;
    std::uint64_t hash = 0;
    std::shared_ptr<const Specialization> value;  // null: such calls have programs of their own
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
};

Specializations::Specializations(Options o, std::uint64_t written, Generality generality)
    : options(std::move(o)), written_(written), given_(generality.any), state_(nullptr) {
    generality.by_size = proved_.by_size = options.automatic;
    publish(std::move(generality), 16);
}

Specializations::~Specializations() = default;

void Specializations::publish(Generality generality) {
    made_.clear();
    publish(std::move(generality), state_.load(std::memory_order_relaxed)->capacity);
}

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
    if (entry == nullptr || !answers(entry->key, arguments, state.generality)) {
        const Key key(arguments, state.generality, 0);
        if (entry == nullptr || !same_words(entry->key, key.words())) {
            entry = look_up(state, key.words());
        }
    }
    if (entry != nullptr && entry->value == nullptr) return find_fixed(state, arguments);
    if (entry != nullptr && !entry->value->overlap(arguments)) {
        return entry->value->accepts(arguments) ? entry->value.get() : find_fixed(state, arguments);
    }
    const std::uint64_t aliased = overlapping(arguments, written_);
    if (aliased != 0) {
        const Key aliased_key(arguments, state.generality, aliased);
        entry = look_up(state, aliased_key.words());
        if (entry != nullptr && entry->value != nullptr && entry->value->accepts(arguments))
            return entry->value.get();
        if (entry != nullptr) return find_fixed(state, arguments);
    }
    return remembers_.load(std::memory_order_relaxed) ? find_fixed(state, arguments) : nullptr;
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

// Makes values that keep changing run-time values; true if there were any. The call must have no
// specialisation yet.
bool Specializations::generalize(Arguments arguments) {
    Generality generality = state_.load(std::memory_order_relaxed)->generality;
    const bool changed = history_.note(arguments, generality) ||
                         (crowded(arguments) && history_.generalize_all(generality));
    if (changed) publish(std::move(generality));
    return changed;
}

// Replaces programs by size by programs for all sizes, if there are too many of them.
bool Specializations::take_together(Arguments arguments) {
    Generality generality = state_.load(std::memory_order_relaxed)->generality;
    const bool parted = generality.any && generality.by_size;
    if (!parted || !crowded(arguments, kMostBySize)) return false;
    generality.by_size = false;
    publish(std::move(generality));
    return true;
}

bool Specializations::crowded(Arguments arguments, std::size_t most) const {
    const auto made = made_.find(hash_types(arguments));
    return made != made_.end() && made->second >= most;
}

namespace {

bool needs_sizes(const Specializations::Failure& failure) {
    return std::ranges::any_of(failure.diagnostics.all(), [](const Diagnostic& d) {
        return d.code == Code::kP222 || d.code == Code::kP227;
    });
}

// Whether the program is at fault, not the compiler or the machine.
bool is_refusal(const Specializations::Failure& failure) {
    return failure.diagnostics.has_errors() && !failure.error.failed() &&
           std::ranges::none_of(failure.diagnostics.all(), [](const Diagnostic& d) {
               return code_flavour(d.code) == Flavour::kInternal;
           });
}

}  // namespace

const Specialization* Specializations::find_or_build(Arguments arguments, const Build& build,
                                                     const Check& check, Failure& failure) {
    const BehindForkGate gate;
    std::unique_lock lock(mutex_);
    while (!failure.failed()) {
        const State& state = *state_.load(std::memory_order_relaxed);
        if (const Specialization* found = find(state, arguments)) return found;
        if (!fixed_ && generalize(arguments)) continue;

        const std::uint64_t aliased = overlapping(arguments, written_);
        const Key general(arguments, state.generality, aliased);
        const bool refused = look_up(state, general.words()) != nullptr;
        const bool special = refused || aliased != 0;
        if (!special && take_together(arguments)) continue;
        failure = {};  // the failure of a program that does not serve the call
        std::shared_ptr<const Specialization> made;
        if (sharing_ && special && crowded(arguments)) {
            made = share(arguments, aliased, build, check, failure, lock);
        } else {
            // A call that the general program does not accept is compiled for its own values.
            made = make(arguments, refused ? Generality{} : state.generality, aliased, Scope::kOwn,
                        build, failure, lock);
        }
        if (made != nullptr && made->accepts(arguments)) return made.get();
    }
    return nullptr;
}

std::shared_ptr<const Specialization> Specializations::share(Arguments arguments,
                                                             std::uint64_t aliased,
                                                             const Build& build, const Check& check,
                                                             Failure& failure,
                                                             std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const bool allowed = check(make_signature(arguments, {}, aliased), failure);
    lock.lock();
    if (!allowed) return nullptr;
    const Generality generality = state_.load(std::memory_order_relaxed)->generality;
    auto made = make(arguments, generality, aliased, Scope::kShared, build, failure, lock);
    if (failure.failed()) {  // no shared program: such calls have programs of their own
        failure = {};
        sharing_ = false;
    }
    // The program assumes other relations between sizes: some are equal that are stretched here.
    if (made != nullptr && !made->accepts(arguments)) {
        return make(arguments, {}, aliased, Scope::kOwn, build, failure, lock);
    }
    if (made != nullptr && entries_.size() < kMostRemembered) {
        remembers_.store(true, std::memory_order_relaxed);
        insert(Key(arguments, {}, aliased).words(), made);
    }
    return made;
}

std::shared_ptr<const Specialization> Specializations::make(Arguments arguments,
                                                            const Generality& generality,
                                                            std::uint64_t aliased, Scope scope,
                                                            const Build& build, Failure& failure,
                                                            std::unique_lock<std::mutex>& lock) {
    const Key key(arguments, generality, aliased, scope);
    if (const Entry* known = look_up(*state_.load(std::memory_order_relaxed), key.words())) {
        return known->value;
    }
    const auto same = [&](const auto& other) { return same_words(other->key, key.words()); };
    if (auto other = std::find_if(pending_.begin(), pending_.end(), same);
        other != pending_.end()) {
        const std::shared_ptr<Pending> pending = *other;
        built_.wait(lock, [&] { return pending->done; });
        failure = pending->failure;
        return nullptr;
    }

    auto pending = std::make_shared<Pending>();
    pending->key.assign(key.words().begin(), key.words().end());
    pending_.push_back(pending);
    ++builds_;
    if (scope == Scope::kOwn) ++made_[hash_types(arguments)];
    lock.unlock();
    std::shared_ptr<const Specialization> made;
    try {
        Options chosen = options;
        if (scope == Scope::kShared) {
            chosen.legality = Legality::kTrust;  // each call is checked
            chosen.automatic = false;            // proofs may depend on the call
        }
        const Signature signature = make_signature(arguments, generality, aliased, scope);
        if (auto executable = build(signature, chosen, failure)) {
            made = std::make_shared<Specialization>(std::move(executable), arguments, aliased,
                                                    generality, scope);
        }
    } catch (const std::exception& fault) {
        failure.error = {Code::kP900, fault.what(), {}};
    }
    lock.lock();
    std::erase(pending_, pending);
    pending->done = true;
    const bool general = scope == Scope::kOwn && generality.any;
    if (made == nullptr && general && needs_sizes(failure)) {
        // The program needs to know these sizes after all: they stay fixed from now on.
        failure = {};
        history_.pin(generality, proved_);
        fixed_ = generality == proved_;
        publish(fixed_ ? Generality{} : proved_);
    } else if (made == nullptr && general && !given_ && is_refusal(failure) &&
               !same_words(key.words(), Key(arguments, {}, aliased).words())) {
        // A verdict must not depend on earlier calls: each call's own values decide.
        failure = {};
        insert(key.words(), nullptr);
    } else if (made == nullptr && !failure.failed()) {
        failure.error.message = "compilation failed without a message";
    }
    pending->failure = failure;
    if (made != nullptr) {
        if (scope == Scope::kOwn && generality.any) proved_ = generality;
        if (aliased != 0 && !generality.any && !made->overlap(arguments)) {
            // Only arrays that are not written overlap: this program serves the plain key, too.
            insert(Key(arguments, generality, 0).words(), made);
        }
        insert(key.words(), made);
    }
    built_.notify_all();
    return made;
}

Specializations::Info Specializations::info() const {
    const std::lock_guard lock(mutex_);
    const State& state = *state_.load(std::memory_order_relaxed);
    return {entries_.size(), builds_, state.generality};
}

}  // namespace parpy
