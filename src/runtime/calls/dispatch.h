// Finds or builds the compiled code for the arguments of a call: the table of specialisations, and
// the filling of run-time slots. Independent of Python: the bindings pass ArgumentViews and
// functions that compile. One Specializations object serves one function under one set of options.
// Readers lock nothing; writers hold one mutex, and of several threads that need the same key one
// compiles while the others wait.
//
// The number of programs stays bounded however arguments change. Values that keep changing become
// run-time values (generality.h). A call for whose values the general program is not proved legal
// has a program of its own, up to a limit; calls beyond it are checked one by one and share a
// program (Scope::kShared).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "parpy/options.h"
#include "runtime/calls/dispatch_key.h"
#include "runtime/executable.h"
#include "support/diagnostic.h"

namespace parpy {

// A program ready to run, and how to fill its slots.
class Specialization {
public:
    // `aliased`: the arguments compiled as overlapping. `generality`: their run-time parts.
    Specialization(std::shared_ptr<Executable> executable, Arguments arguments,
                   std::uint64_t aliased, Generality generality, Scope scope);

    // Fills the slots in order. `pointers`, if given, replaces the data pointers, one per argument.
    void fill(Arguments arguments, std::uint64_t* slots, void* const* pointers = nullptr) const;
    // Whether two arrays that were compiled as disjoint, one of them written, overlap in this call.
    [[nodiscard]] bool overlap(Arguments arguments) const;
    // Whether the call satisfies the conditions of the program's legality (Program::requirements).
    [[nodiscard]] bool accepts(Arguments arguments) const;

    [[nodiscard]] const Executable& executable() const { return *executable_; }
    [[nodiscard]] std::size_t slot_count() const { return recipe_.size(); }
    [[nodiscard]] bool writes(std::size_t argument) const { return written_[argument]; }
    // Whether there are no run-time values: all calls do about the same work.
    [[nodiscard]] bool fixed() const { return fixed_; }
    // Whether no extent or stride is a run-time value.
    [[nodiscard]] bool has_fixed_shapes() const { return fixed_shapes_; }
    [[nodiscard]] const Generality& generality() const { return generality_; }
    [[nodiscard]] Scope scope() const { return scope_; }
    // Pairs of arrays that must not overlap.
    [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> exclusive() const {
        return exclusive_;
    }
    // The bytes of each argument; empty if shapes are not fixed.
    [[nodiscard]] std::span<const ByteRange> ranges() const { return ranges_; }

    // Whether releasing the interpreter lock during a run is profitable; see JitFunction.
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
    std::vector<std::pair<std::uint32_t, std::uint32_t>> exclusive_;
    std::vector<std::uint32_t> spread_;  // written arrays with run-time strides
    std::vector<ByteRange> ranges_;      // empty where shapes are not fixed
    Generality generality_;
    bool fixed_ = true;
    bool fixed_shapes_ = true;
    Scope scope_;
};

class Specializations {
public:
    // The most specialised programs for arguments of the same types under one Generality; further
    // calls share one.
    static constexpr std::size_t kMostOwn = 16;
    // The same for programs by SizeClass, before they are replaced by one for all sizes.
    static constexpr std::size_t kMostBySize = 64;
    // The most calls that are remembered as checked for a shared program.
    static constexpr std::size_t kMostRemembered = 4096;

    // `written`: the arguments that the function may store to.
    Specializations(Options options, std::uint64_t written, Generality generality = {});
    ~Specializations();
    Specializations(const Specializations&) = delete;
    Specializations& operator=(const Specializations&) = delete;

    const Options options;

    // The specialisation for a call, or nullptr if none was made yet. Locks nothing.
    [[nodiscard]] const Specialization* find(Arguments arguments) const;

    struct Failure {
        Diagnostics diagnostics;
        RuntimeError error;
        std::string source;  // the generated text, if `error` refers to it
        [[nodiscard]] bool failed() const { return diagnostics.has_errors() || error.failed(); }
    };
    // Makes an executable for a signature under options, or reports why not.
    using Build =
        std::function<std::shared_ptr<Executable>(const Signature&, const Options&, Failure&)>;
    // Whether the function may be compiled for a signature; reports why not.
    using Check = std::function<bool(const Signature&, Failure&)>;
    // find(), else builds and inserts. nullptr, with `failure` set, if the call is refused or the
    // build failed.
    [[nodiscard]] const Specialization* find_or_build(Arguments arguments, const Build& build,
                                                      const Check& check, Failure& failure);

    struct Info {
        std::size_t specializations = 0;
        std::size_t builds = 0;
        Generality generality;
    };
    [[nodiscard]] Info info() const;

private:
    const std::uint64_t written_;
    const bool given_;  // `generality` is fixed: kernels are never compiled for values
    struct Entry;
    struct State;
    struct Pending;

    [[nodiscard]] const Entry* look_up(const State& state,
                                       std::span<const std::uint64_t> key) const;
    [[nodiscard]] const Specialization* find(const State& state, Arguments arguments) const;
    // The specialisation of a call that the specialisation `general` does not accept.
    [[nodiscard]] const Specialization* find_fixed(const State& state, Arguments arguments) const;
    void insert(std::span<const std::uint64_t> key, std::shared_ptr<const Specialization> value);
    void publish(Generality generality, std::size_t capacity);
    void publish(Generality generality);  // keeps the capacity
    [[nodiscard]] bool generalize(Arguments arguments);
    [[nodiscard]] bool take_together(Arguments arguments);
    // Whether too many programs were made for arguments of these types.
    [[nodiscard]] bool crowded(Arguments arguments, std::size_t most = kMostOwn) const;
    // The program for a call that shares one, after a check of the call. nullptr without a failure:
    // try again.
    std::shared_ptr<const Specialization> share(Arguments arguments, std::uint64_t aliased,
                                                const Build& build, const Check& check,
                                                Failure& failure,
                                                std::unique_lock<std::mutex>& lock);
    // Builds and inserts, or waits for the thread that does so for the same key. nullptr without a
    // failure: try again.
    std::shared_ptr<const Specialization> make(Arguments arguments, const Generality& generality,
                                               std::uint64_t aliased, Scope scope,
                                               const Build& build, Failure& failure,
                                               std::unique_lock<std::mutex>& lock);

    std::atomic<const State*> state_;
    mutable std::atomic<const Entry*> recent_{nullptr};
    std::atomic<bool> remembers_{false};  // some calls share a program

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable built_;
    std::vector<std::unique_ptr<const State>>
        states_;  // the current one last; readers may hold any
    std::vector<std::unique_ptr<const Entry>> entries_;
    std::vector<std::shared_ptr<Pending>> pending_;
    ArgumentHistory history_;
    Generality proved_;   // the last one for which a program was made
    bool fixed_ = false;  // nothing is generalised any more
    bool sharing_ = true;
    // Programs made under the current Generality, by the types of their arguments.
    std::unordered_map<std::uint64_t, std::size_t> made_;
    std::size_t builds_ = 0;
};

}  // namespace parpy
