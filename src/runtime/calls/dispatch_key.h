// The signature that a call is compiled for, and the key under which its program is found. Both are
// made from the arguments and from the Generality that says which parts are run-time values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parpy/options.h"
#include "runtime/calls/generality.h"
#include "runtime/calls/overlap.h"

namespace parpy {

// Larger run-time integers have programs of their own: legality is proved for smaller ones.
inline constexpr std::int64_t kLargestGeneral = std::int64_t{1} << 47;

// Whether the places of overlapping arrays, which have no general form, are fixed.
enum class Scope : std::uint8_t {
    kOwn,     // fixed: the program is legal for every call that has the key (and satisfies
              // Program::requirements)
    kShared,  // open: each call must be checked individually
};

// The arguments as the compiler sees them: fixed values are present, run-time values absent.
// `aliased` has a bit per argument that overlaps others; all values of these are fixed under kOwn.
[[nodiscard]] Signature make_signature(Arguments arguments, const Generality& generality,
                                       std::uint64_t aliased, Scope scope = Scope::kOwn);

// The words of a key: per argument its header, then its value, or its extents and strides.
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

// Whether no number of the argument exceeds `most` in magnitude, in the sense of ir::Var::limit.
[[nodiscard]] bool is_small(const ArgumentView& view, std::int64_t most);

// Whether the program under `key` runs these arguments, decided without building their own key.
// False where extents or strides are general.
[[nodiscard]] bool answers(std::span<const std::uint64_t> key, Arguments arguments,
                           const Generality& generality);

}  // namespace parpy
