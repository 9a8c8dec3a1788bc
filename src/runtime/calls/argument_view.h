// One argument of a call in the runtime's form, whatever object the caller passed.
#pragma once

#include <cstdint>
#include <span>

#include "ir/type.h"

namespace parpy {

inline constexpr int kMaxRank = 16;

// One argument of one call, read from the caller's object; memory is borrowed for the call.
struct ArgumentView {
    // Left uninitialised: a call makes an array of these and sets the fields that it needs.
    std::uint64_t header;         // the kind of argument: the constants below
    void* data;                   // arrays: element [0, …, 0]
    const std::int64_t* extents;  // arrays: one per dimension
    const std::int64_t* strides;  // arrays: in bytes, multiples of the element size
    std::uint64_t value;          // scalars: as a slot holds it (abi.h)
    std::uint64_t imaginary;  // c128 scalars: the bits of the imaginary part, directly after value

    static constexpr std::uint64_t kWeak = 1u << 4;
    static constexpr std::uint64_t kArray = 1u << 5;
    static constexpr std::uint64_t kReadOnly = 1u << 6;
    static constexpr std::uint64_t kOnDevice = 1u << 7;
    // Only in keys: the argument overlaps another; its strides follow from its extents; its value
    // is a run-time value, and the bits further up name the run-time extents and strides (0 in the
    // key); the key is of Scope::kShared; the value is larger than kLargestGeneral; all run-time
    // values are small (Generality::Position).
    static constexpr std::uint64_t kAliased = 1u << 8;
    static constexpr std::uint64_t kContiguous = 1u << 9;
    static constexpr std::uint64_t kGeneralValue = 1u << 10;
    static constexpr std::uint64_t kShared = 1u << 11;
    static constexpr std::uint64_t kWide = 1u << 12;
    static constexpr std::uint64_t kSmall = 1u << 13;
    static constexpr int kRankShift = 16;
    static constexpr int kDeviceShift = 24;
    static constexpr int kGeneralExtentsShift = 32;
    static constexpr int kGeneralStridesShift = 48;

    [[nodiscard]] static constexpr std::uint64_t scalar_header(ir::Scalar scalar, bool weak) {
        return static_cast<std::uint64_t>(scalar) | (weak ? kWeak : 0);
    }
    [[nodiscard]] static constexpr std::uint64_t array_header(ir::Scalar element, int rank) {
        return static_cast<std::uint64_t>(element) | kArray |
               (static_cast<std::uint64_t>(rank) << kRankShift);
    }
    [[nodiscard]] ir::Scalar scalar() const { return static_cast<ir::Scalar>(header & 15); }
    [[nodiscard]] bool is_array() const { return (header & kArray) != 0; }
    [[nodiscard]] bool is_weak() const { return (header & kWeak) != 0; }
    [[nodiscard]] bool read_only() const { return (header & kReadOnly) != 0; }
    [[nodiscard]] bool on_device() const { return (header & kOnDevice) != 0; }
    [[nodiscard]] int rank() const { return static_cast<int>(header >> kRankShift & 255); }
    [[nodiscard]] int device() const { return static_cast<int>(header >> kDeviceShift & 255); }
};
using Arguments = std::span<const ArgumentView>;

}  // namespace parpy
