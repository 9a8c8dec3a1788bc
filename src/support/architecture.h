// The names of NVIDIA's GPU architectures.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace parpy {

// The compute capability of "sm_90" or "sm_90a": 90. 0 if the name is not of this form.
[[nodiscard]] inline int compute_capability(std::string_view architecture) {
    int number = 0;
    architecture.remove_prefix(std::min<std::size_t>(3, architecture.size()));
    std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
    return number;
}

}  // namespace parpy
