// Reads the text of one part of a call. It is one of the sources of the part's module, so that
// every copy of the module remains the part's. python/parpy/scale/plan.py writes it.
//
// Steps are separated by `;`, in the order of the nests of halos() and of the statements beside
// them: `low:high`, the rows that the part computes, low … high - 1, either of which may be
// missing; then words: `+array:action` and `-array:action`, a call of parpy_part_array before the
// step or behind it, for an array of the step by its number; `#reduced:before:behind`, calls of
// parpy_part_f64 or parpy_part_i64 for a number that the step reduces, by its number in
// Halos::Loop::reduced; `*array:action:steps`, a call of parpy_part_array before each group of so
// many iterations of the loop over time around the step.
//
// The first step of such a loop may have `~low:high`: in the first iteration of each group it
// computes the rows low … high - 1 first, then there are the calls of `=array:action`, and then it
// computes its other rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace parpy {

struct PartStep {
    std::optional<std::int64_t> low, high;
    struct Exchange {
        std::int64_t array = 0, action = 0;
        bool behind = false;
    };
    std::vector<Exchange> exchanges;
    struct Spaced {
        std::int64_t array = 0, action = 0, steps = 1;
    };
    std::vector<Spaced> spaced;
    struct Awaited {
        std::int64_t array = 0, action = 0;
    };
    std::vector<Awaited> awaited;
    struct Rows {
        std::optional<std::int64_t> low, high;
    };
    std::optional<Rows> interior;
    struct Number {
        std::int64_t reduced = 0, before = 0, behind = 0;  // the actions
    };
    std::vector<Number> numbers;
};

inline constexpr std::string_view kPartSource = "<part of a call>";  // the name of the source

// Null if the program is that of the whole call.
[[nodiscard]] const std::string* part_text(const ir::Module& module);
// Nothing if the text is malformed.
[[nodiscard]] std::optional<std::vector<PartStep>> parse_part(std::string_view text);

}  // namespace parpy
