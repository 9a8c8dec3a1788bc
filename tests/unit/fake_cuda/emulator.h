// Runs emitted CUDA text on the CPU, for tests: the text is compiled as C++ behind a prologue that
// gives CUDA's words a meaning, and the threads of a block are fibers that run from barrier to
// barrier in random order, so that a missing barrier shows. Blocks run one after the other; a grid
// whose blocks wait for one another would not end.
#pragma once

#include <string>

namespace emulator {

// Returns a shared library as bytes; empty, with `log` set, if the text does not compile.
std::string compile(const std::string& cuda_text, std::string& log);

// Null if `image` was not made by compile().
void* load(const std::string& image);
// Null if there is no such kernel.
void* find_kernel(void* library, const char* name);
// Null if there is no such variable.
void* find_variable(void* library, const char* name);
// Copies the arguments of a kernel, for launches that run later. Nobody frees the copies.
void copy_arguments(void* library, const char* name, void** arguments, void** copies);
// Returns false and sets `message` if threads wait at barriers for ever.
bool launch(void* library, void* kernel, const unsigned grid[3], const unsigned block[3],
            void** arguments, std::string& message);

}  // namespace emulator
