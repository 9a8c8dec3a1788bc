// Headers that CUDA C++ written for nvcc includes and NVRTC lacks: types and constants of the C
// library, and CUDA's own names, whose contents are built into NVRTC.
#pragma once

#include <span>

namespace parpy {

struct DeviceHeader {
    const char* name;  // as in #include: math.h
    const char* text;
};
[[nodiscard]] std::span<const DeviceHeader> device_headers();

}  // namespace parpy
