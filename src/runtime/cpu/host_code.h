// The host part of a program, in this process: compiled by the embedded Clang or read from the disk
// cache, and linked. Every back end's Executable has one.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/context.h"
#include "runtime/cpu/cpp_compiler.h"
#include "runtime/executable.h"

namespace parpy {

struct HostCode {
    // NAME_slots of the program (abi.h).
    using Entry = int (*)(ParpyContext*, const std::uint64_t* slots);

    std::unique_ptr<LoadedObject> object;  // owns the code that `entry` points into
    Entry entry = nullptr;
};

// `entry` is null and `error` set on failure. Thread-safe.
[[nodiscard]] HostCode load_host_code(const Program& program, const Options& options,
                                      RuntimeError& error);

}  // namespace parpy
