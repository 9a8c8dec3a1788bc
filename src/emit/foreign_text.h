// Device code of third parties: it precedes a program's own text, each file under its own #line
// (see the frontend), and the text that follows has another #line (emit.cpp).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "support/runtime_error.h"

namespace parpy {

// If a foreign source does not compile by itself, replaces `error`, about `device`, by the error of
// `compile` for the first such source: `compile` gets the text up to the end of that source, and
// its name.
using CompileText = std::function<RuntimeError(const std::string& text, const std::string& file)>;
void blame_foreign_text(RuntimeError& error, std::string_view device, const CompileText& compile);

// If the error is that kernels call functions that no file defines, replaces it by one that names
// these functions and the files: those in the text, and `libraries`.
void name_missing_functions(RuntimeError& error, std::string_view device,
                            std::span<const std::string> libraries);

}  // namespace parpy
