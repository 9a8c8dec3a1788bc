// CUDA C++ on the CPU: adds the simulator's prelude before a program's device text and a table of
// its kernels after it. The text itself is unchanged. The result is for compile_cpp with
// CppOptions::simulated; runtime/sim/simulator.h runs it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace parpy::sim {

// The name of the variable that describes a kernel (runtime/sim/simulator.h: Kernel).
[[nodiscard]] std::string kernel_symbol(std::string_view kernel);

struct SimulatorText {
    std::string text;
    std::size_t prelude;  // the length of its beginning, CppOptions::prelude
};

// Compiler messages and __LINE__ count lines from the first line of `device`.
[[nodiscard]] SimulatorText simulator_text(std::string_view device,
                                           std::span<const std::string> kernels,
                                           std::string_view file_name);

}  // namespace parpy::sim
