// The text form of a program, made to be read; parse.h reads it back. Printing a parsed text gives
// the same text again. The grammar is in docs/reference/ir.md; an example:
//
//     entry sum_rows(x: f32[100, 20] @0, y: f32[100] @1 written) -> void:
//         label "N"
//         for i: i64 in range(100) par(threads=100, level=blocks):
//             for j: i64 in range(20) par(threads=32, reduce, level=threads) reducing(+ y[i]):
//                 y[i] += x[i, j] * 2.0f32
#pragma once

#include <string>

#include "ir/ir.h"

namespace parpy::ir {

struct PrintOptions {
    bool spans = false;  // append `@line:column` to every statement that has a span
};

[[nodiscard]] std::string print(const Module& module, const PrintOptions& options = {});

// One statement (with all statements nested in it) or expression, for messages and debugging;
// variables of one name look the same here.
[[nodiscard]] std::string print(const Stmt& stmt);
[[nodiscard]] std::string print(const Expr& expr);

}  // namespace parpy::ir
