// From the arguments of a call to compiled code: the key of a specialisation, the table that finds
// it, the policy that generalises what keeps changing, and the filling of run-time slots. Knows
// nothing of Python: the bindings hand in ArgumentViews and a function that compiles. One
// Specializations object serves one function under one set of options. Readers take no lock;
// writers hold one mutex, and of several threads that need the same key one compiles while the
// others wait.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "parpy/options.h"
#include "runtime/executable.h"
#include "runtime/overlap.h"
#include "support/diagnostic.h"

namespace parpy {

// Which parts of each argument are run-time values, per position.
struct Generality {
    struct Position {
        bool value = false;         // a scalar's value
        std::uint16_t extents = 0;  // bit per dimension
        std::uint16_t strides = 0;
        [[nodiscard]] bool any() const { return value || extents != 0 || strides != 0; }
        friend bool operator==(const Position&, const Position&) = default;
    };
    std::vector<Position> positions;
    bool any = false;
};

// What is compiled for the arguments: values where they are fixed, nothing where they are general.
// `aliased` has a bit per argument; of those everything is fixed, down to where they lie.
[[nodiscard]] Signature make_signature(Arguments arguments, const Generality& generality,
                                       std::uint64_t aliased);

// A program ready to run and how its slots are filled.
class Specialization {
public:
    Specialization(std::shared_ptr<Executable> executable, Arguments arguments, bool fixed);

    // The slots in order. `pointers`, if given, replaces the data pointers, one per argument.
    void fill(Arguments arguments, std::uint64_t* slots, void* const* pointers = nullptr) const;
    // A pair of arrays of which one is written overlaps in this call, though compiled as if not.
    [[nodiscard]] bool overlap(Arguments arguments) const;
    // The call satisfies what the program was found legal under (Program::requirements).
    [[nodiscard]] bool accepts(Arguments arguments) const;

    [[nodiscard]] const Executable& executable() const { return *executable_; }
    [[nodiscard]] std::size_t slot_count() const { return recipe_.size(); }
    [[nodiscard]] bool writes(std::size_t argument) const { return written_[argument]; }
    // No run-time values: every call does about the same work.
    [[nodiscard]] bool fixed() const { return fixed_; }

    // Whether the interpreter lock is worth releasing around a run; see JitFunction.
    mutable std::atomic<std::uint32_t> sample{0};
    mutable std::atomic<bool> brief{false};

private:
    enum class Fill : std::uint8_t { kPointer, kValue, kAddress, kExtent, kStride };
    struct Item {
        Fill fill{};
        std::uint8_t dimension = 0;
        std::uint8_t shift = 0;  // kStride: log2 of the element size
        std::uint32_t argument = 0;
    };
    std::shared_ptr<Executable> executable_;
    std::vector<Item> recipe_;
    std::vector<bool> written_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> exclusive_;  // pairs that must not overlap
    std::vector<std::uint32_t> spread_;  // written arrays with run-time strides
    std::vector<ByteRange> ranges_;      // fixed shapes: of each argument; else empty
    bool fixed_ = true;
};

// What a call is looked up by: per argument its header, then its value, or its extents and strides.
class Key {
public:
    Key(Arguments arguments, const Generality& generality, std::uint64_t aliased);
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;
    [[nodiscard]] std::span<const std::uint64_t> words() const { return {words_, size_}; }

private:
    static constexpr std::size_t kInline = 120;
    std::uint64_t* words_ = nullptr;
    std::size_t size_ = 0;
    std::array<std::uint64_t, kInline> inline_;  // not initialised
    std::vector<std::uint64_t> heap_;
};

class Specializations {
public:
    // Distinct values a scalar, extent or stride may take before it becomes a run-time argument.
    static constexpr std::size_t kDistinctValues = 3;
    // Integers beyond this are never run-time arguments: that is what legality is proved for.
    static constexpr std::int64_t kLargestGeneral = std::int64_t{1} << 47;

    // `written`: the arguments that the function may store to.
    Specializations(Options options, std::uint64_t written);
    ~Specializations();
    Specializations(const Specializations&) = delete;
    Specializations& operator=(const Specializations&) = delete;

    const Options options;

    // The specialisation for a call, or nullptr if none was made yet. Takes no lock.
    [[nodiscard]] const Specialization* find(Arguments arguments) const;

    struct Failure {
        Diagnostics diagnostics;
        RuntimeError error;
        std::string source;  // the generated text, where `error` is about it
    };
    // Makes an executable for a signature, or reports why not.
    using Build = std::function<std::shared_ptr<Executable>(const Signature&, Failure&)>;
    // find(), else builds and inserts. nullptr and `failure` set if the build failed.
    [[nodiscard]] const Specialization* find_or_build(Arguments arguments, const Build& build,
                                                      Failure& failure);

    struct Info {
        std::size_t specializations = 0;
        std::size_t builds = 0;
        Generality generality;
    };
    [[nodiscard]] Info info() const;

private:
    const std::uint64_t written_;
    struct Entry;
    struct State;
    struct Pending;

    [[nodiscard]] const Entry* look_up(const State& state,
                                       std::span<const std::uint64_t> key) const;
    [[nodiscard]] const Specialization* find(const State& state, Arguments arguments) const;
    // Of a call that the specialisation `general` does not accept.
    [[nodiscard]] const Specialization* find_fixed(const State& state, Arguments arguments) const;
    void insert(std::span<const std::uint64_t> key, std::shared_ptr<const Specialization> value);
    void publish(Generality generality, std::size_t capacity);
    [[nodiscard]] bool generalize(Arguments arguments);

    std::atomic<const State*> state_;
    mutable std::atomic<const Entry*> recent_{nullptr};

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable built_;
    std::vector<std::unique_ptr<const State>>
        states_;  // the current one last; readers may hold any
    std::vector<std::unique_ptr<const Entry>> entries_;
    std::vector<std::shared_ptr<Pending>> pending_;
    // Per position: distinct values seen of the scalar, of each extent, of each stride.
    struct History {
        std::vector<std::uint64_t> values;
        std::vector<std::vector<std::int64_t>> extents, strides;
    };
    std::vector<History> history_;
    bool fixed_ = false;  // nothing is generalised
    std::size_t builds_ = 0;
};

}  // namespace parpy
