// The embedded Clang: compiles header-free C++ text to machine code in this process, in a few
// milliseconds per kernel. Independent of the IR. For CPU kernels and host parts of every back end.
//
// The language is C++20 without exceptions, RTTI and standard headers, and with defined results for
// all operations of kernels: signed overflow wraps, float to integer saturates (NaN: 0), pointers
// of different types may alias (say __restrict where they do not), loops may run for ever. Floating
// point is strict IEEE: no contraction, no reassociation.
//
// Which code vectorises (measured: row reductions of 1000 f32, AVX-512):
//   loops       `for (long i = a; i < b; i += 1)`, unit step, `<`. Other steps: count iterations.
//   sums        in a block that starts with `#pragma clang fp reassociate(on)`, `s += x`.
//   max, min    declare  float parpy_max(float, float) __asm__("llvm.maximum.f32")
//               __attribute__((const));  (minimum, f64 likewise) and write `m = parpy_max(m, x)`.
//               NaN propagates, the sign of a zero result is unspecified (np.maximum).
//               Python's max, which skips NaN: `m = parpy_max(m, x == x ? x : -INFINITY)`.
//   helpers     `static inline`; straight-line bodies with __builtin_fma, __builtin_rint, …
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parpy/options.h"
#include "support/runtime_error.h"

namespace parpy {

struct CppOptions {
    bool fast_math = false;
    bool line_tables = false;  // for profilers and debuggers; costs 5 % of the compile time
    // The simulator's text (runtime/sim): CUDA's rules hold, so signed overflow is undefined.
    bool simulated = false;
    bool watched = false;  // the simulator's text: it reports its accesses to the simulator
    // The number of bytes at the beginning of the text that many texts have in common: whole lines,
    // which Clang parses once for all of them. No part of a key: it changes no result.
    std::size_t prelude = 0;
    // The text includes files: the system's C and C++ headers are searched as well. compile_cpp
    // sets it for text with #include.
    bool headers = false;
    std::vector<std::string> includes;     // directories
    std::vector<std::string> extra_flags;  // in cc1's spelling: -DNAME=1, -fno-unroll-loops, …
};

// Everything but the text (and the files that it includes) that an object file depends on: the
// compiler, its version, flags and pass list, and the host processor. Part of every cache key.
[[nodiscard]] std::string cpp_compiler_identity(const CppOptions& options);

// The version of the embedded Clang, "19.1.7", and its processor, "znver4".
[[nodiscard]] std::string cpp_compiler_version();
[[nodiscard]] std::string host_processor();

// The vectors that compile_cpp's code may use. PARPY_VECTOR_BYTES limits them to shorter ones.
[[nodiscard]] VectorUnit host_vectors();

// Compiles one translation unit to an object file image; empty and `error` set on failure, with
// Clang's own messages. Thread-safe; never ends the process.
[[nodiscard]] std::string compile_cpp(std::string_view source, std::string_view file_name,
                                      const CppOptions& options, RuntimeError& error);

// An object file linked into this process (ORC/JITLink) with the functions of the runtime ABI.
class LoadedObject {
public:
    virtual ~LoadedObject() = default;
    [[nodiscard]] virtual void* symbol(std::string_view name) const = 0;  // nullptr if absent
};

// Links `object` against the runtime ABI, `libraries` (file names or sonames, searched first to
// last) and the C and math libraries. nullptr and `error` set on failure. Thread-safe.
[[nodiscard]] std::unique_ptr<LoadedObject> load_object(std::string_view object,
                                                        std::span<const std::string> libraries,
                                                        RuntimeError& error);

}  // namespace parpy
