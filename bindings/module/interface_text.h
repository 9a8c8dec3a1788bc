// The first part of the text that print_compiled shows: the interface of the program. It is a
// comment for the compiler; compile_string reads it back (python/parpy/calls/interface.py, which
// adds defaults of parameters and a checksum).
//
//     // ---- interface ----
//     // axpy(a, x, y)                        the parameters of the Python function
//     // back end: cpu
//     // a: float = 2.5                       a value that the text was made for
//     // x: f64[64, 32] strides [32, 1]       an array; strides count elements
//     // y: f64[64] strides [1] written
//     // z: f32[?, ?] strides [?, 1] limit 2147418112   any sizes up to that (ir::Var::limit)
//     // returns: (i64, f64)                  the result; without parentheses: one number
//     // slots: x, y, result 0, result 1      the arguments of the entry function, in order
//     // place 0: P424 k.py:7:9: message      where it can fail (parpy_fail)
#pragma once

#include <string>
#include <vector>

#include "parpy/compile.h"

namespace parpy {

inline constexpr std::string_view kInterfaceMarker = "// ---- interface ----";

// `parameters`: those of the Python function. `arguments`: the names of the arguments of
// `signature`, "x", "d['k']" or "global w".
[[nodiscard]] std::string interface_text(const Program& program, const Signature& signature,
                                         const std::vector<std::string>& parameters,
                                         const std::vector<std::string>& arguments,
                                         const std::vector<Source>& sources, Backend backend);

}  // namespace parpy
