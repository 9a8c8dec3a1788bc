// Runs emitted CUDA text on the CPU, for tests: the text is compiled as C++ behind a prologue that
// gives CUDA's words a meaning, and the threads of a block are fibers that run from barrier to
// barrier in random order, so that a missing barrier shows. Blocks run one after the other; a grid
// whose blocks wait for one another would not end.
#pragma once

#include <string>

namespace emulator {

// A shared library as bytes; empty and `log` set where the text does not compile.
std::string compile(const std::string& cuda_text, std::string& log);

// nullptr if `image` is not one of ours.
void* load(const std::string& image);
// Null if there is no such kernel.
void* find_kernel(void* library, const char* name);
// Null if there is no such variable.
void* find_variable(void* library, const char* name);
// Copies of the arguments of a kernel, which nobody frees: for launches that run later.
void copy_arguments(void* library, const char* name, void** arguments, void** copies);
// False and `message` set where threads wait at barriers for ever.
bool launch(void* library, void* kernel, const unsigned grid[3], const unsigned block[3],
            void** arguments, std::string& message);

}  // namespace emulator
