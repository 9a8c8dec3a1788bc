// What the bindings ask about CUDA on this machine. The first question probes the driver; none is asked
// while parpy is imported.
#pragma once

#include <string>

namespace parpy {

[[nodiscard]] std::string cuda_unavailable();   // why CUDA code cannot run here; empty if it can
[[nodiscard]] std::string cuda_architecture();  // "sm_90"; of the device present, else the default

}  // namespace parpy
