// Device code that others compiled, linked to ours: nvJitLink, found like NVRTC (nvrtc.h). No GPU
// and no driver are needed for that.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/runtime_error.h"

namespace parpy::cuda {

// Whether a file, by its ending, is one of device code: .ptx .cubin .fatbin .o .a .ltoir.
[[nodiscard]] bool is_device_code(std::string_view file);

// A cubin of `image` (relocatable, a cubin or PTX of NVRTC) and the files that define what it
// calls. Empty and `error` set, with the linker's own messages, on failure. Thread-safe.
[[nodiscard]] std::string link_device_code(std::string_view image,
                                           std::span<const std::string> files,
                                           const std::string& architecture, RuntimeError& error);

}  // namespace parpy::cuda
