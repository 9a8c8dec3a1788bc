// The names of NVIDIA's GPU architectures.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace parpy {

// The compute capability of "sm_90" or "sm_90a": 90. 0 if the name is not of this form.
[[nodiscard]] inline int compute_capability(std::string_view architecture) {
    int number = 0;
    architecture.remove_prefix(std::min<std::size_t>(3, architecture.size()));
    std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
    return number;
}

// The shared memory in bytes that a block of such a GPU may have (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability").
[[nodiscard]] inline std::int64_t shared_bytes_of_block(std::string_view architecture) {
    const int number = compute_capability(architecture);
    if (number < 80) return 48 << 10;
    if (number == 80 || number == 87) return 163 << 10;
    return number < 90 || number >= 120 ? 99 << 10 : 227 << 10;
}

}  // namespace parpy
