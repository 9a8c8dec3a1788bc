// Where a pass that restructures loops acts, by its variable of the environment: tests and
// comparisons disable it, or have it act wherever it can.
#pragma once

#include <cstdint>

#include "support/environment.h"

namespace parpy {

// The variables that passes ask about. Whatever is remembered about a program depends on them.
inline constexpr const char* kRestructuringVariables[] = {"PARPY_BLOCK_STEPS", "PARPY_SCANS",
                                                          "PARPY_TIME_TILES", "PARPY_WAVES"};

enum class Wanted : std::uint8_t { kNever, kWhereFaster, kAlways };

// `variable` is one of the above. 0: kNever; 2: kAlways; any other value, or none: kWhereFaster.
[[nodiscard]] inline Wanted wanted_by(const char* variable) {
    const std::uint64_t value = environment_number(variable).value_or(1);
    return value == 0 ? Wanted::kNever : value == 2 ? Wanted::kAlways : Wanted::kWhereFaster;
}

}  // namespace parpy
