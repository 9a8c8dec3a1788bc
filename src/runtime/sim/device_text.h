// CUDA C++ on the CPU: puts the simulator's prelude in front of a program's device text and a table
// of its kernels behind it. The text itself stays as it is. The result is compiled by compile_cpp
// with CppOptions::simulated; runtime/sim/simulator.h runs it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace parpy::sim {

// For the variable that describes a kernel (runtime/sim/simulator.h: Kernel).
[[nodiscard]] std::string kernel_symbol(std::string_view kernel);

// Compiler messages and __LINE__ count from the first line of `device`.
[[nodiscard]] std::string simulator_text(std::string_view device,
                                         std::span<const std::string> kernels,
                                         std::string_view file_name);

}  // namespace parpy::sim
