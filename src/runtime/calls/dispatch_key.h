// The signature that a call is compiled for, and the key by which it is looked up. Both are made of
// its arguments and of which parts of them are run-time values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parpy/options.h"
#include "runtime/calls/generality.h"
#include "runtime/calls/overlap.h"

namespace parpy {

// Run-time integers beyond this have programs of their own: legality is proved for smaller ones.
inline constexpr std::int64_t kLargestGeneral = std::int64_t{1} << 47;

// Where arrays that overlap lie has no general form that the compiler can reason about.
enum class Scope : std::uint8_t {
    kOwn,     // is fixed: the program is legal for every call that has the key (and satisfies
              // Program::requirements)
    kShared,  // is left open: each call is to be checked on its own
};

// What is compiled for the arguments: values where they are fixed, nothing where they are general.
// `aliased` has a bit per argument that overlaps others; of those kOwn fixes everything.
[[nodiscard]] Signature make_signature(Arguments arguments, const Generality& generality,
                                       std::uint64_t aliased, Scope scope = Scope::kOwn);

// Per argument its header, then its value, or its extents and strides.
class Key {
public:
    Key(Arguments arguments, const Generality& generality, std::uint64_t aliased,
        Scope scope = Scope::kOwn);
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

// Nothing of it is of a greater magnitude than `most`, as ir::Var::limit has it.
[[nodiscard]] bool is_small(const ArgumentView& view, std::int64_t most);

// Whether what is compiled under `key` runs these arguments, told without building their own key.
// Says no where extents or strides are general.
[[nodiscard]] bool answers(std::span<const std::uint64_t> key, Arguments arguments,
                           const Generality& generality);

}  // namespace parpy
