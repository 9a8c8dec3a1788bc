// The embedded Clang: header-free C++ text to machine code in this process, a few milliseconds a
// kernel. Knows nothing of IR. Used for CPU kernels and for the host part of every back end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/executable.h"

namespace parpy {

struct CppOptions {
    bool fast_math = false;
    std::vector<std::string> includes, extra_flags;
};

// Names the compiler, its version, pass list and the host processor: part of every cache key.
[[nodiscard]] std::string cpp_compiler_identity();

// Compiles one translation unit to an object file image; empty and `error` set on failure, with
// Clang's own messages. Thread-safe; never ends the process.
[[nodiscard]] std::string compile_cpp(std::string_view source, std::string_view file_name,
                                      const CppOptions& options, RuntimeError& error);

// An object file linked into this process (ORC/JITLink), with the runtime ABI's functions resolved.
class LoadedObject {
public:
    virtual ~LoadedObject() = default;
    [[nodiscard]] virtual void* symbol(std::string_view name) const = 0;  // nullptr if absent
};
[[nodiscard]] std::unique_ptr<LoadedObject> load_object(std::string_view object,
                                                        RuntimeError& error);

}  // namespace parpy
