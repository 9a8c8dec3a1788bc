// Device code that others wrote: it comes before a program's own text, each file under a
// #line of its own that says so (the frontend), and the text that follows under another (emit.cpp).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "support/runtime_error.h"

namespace parpy {

// Where the sources of others do not compile by themselves, `error`, of `device`, becomes what
// `compile` finds wrong with the first that does not: it gets their text up to the end of that one,
// and its name.
using CompileText = std::function<RuntimeError(const std::string& text, const std::string& file)>;
void blame_foreign_text(RuntimeError& error, std::string_view device, const CompileText& compile);

// Where the error is that the code of a kernel calls functions that no file defines, it becomes one
// that names them and the files: those in the text, and `libraries`.
void name_missing_functions(RuntimeError& error, std::string_view device,
                            std::span<const std::string> libraries);

}  // namespace parpy
