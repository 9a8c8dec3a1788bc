// Links device code of third parties to ours: nvJitLink, found like NVRTC (nvrtc.h). Needs neither
// a GPU nor a driver.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "support/runtime_error.h"

namespace parpy::cuda {

// Whether the file has an ending of device code: .ptx .cubin .fatbin .o .a .ltoir.
[[nodiscard]] bool is_device_code(std::string_view file);

// The cubin of `image` (relocatable cubin or PTX from NVRTC), linked with the files that define the
// functions it calls. Empty and `error` set, with the linker's messages, on failure. Thread-safe.
[[nodiscard]] std::string link_device_code(std::string_view image,
                                           std::span<const std::string> files,
                                           const std::string& architecture, RuntimeError& error);

}  // namespace parpy::cuda
