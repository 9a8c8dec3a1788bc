// Headers that CUDA C++ written for nvcc includes and NVRTC has not: the types and constants of the
// C library's, and the names of CUDA's own, whose contents NVRTC knows by itself.
#pragma once

#include <span>

namespace parpy {

struct DeviceHeader {
    const char* name;  // as it is included: math.h
    const char* text;
};
[[nodiscard]] std::span<const DeviceHeader> device_headers();

}  // namespace parpy
