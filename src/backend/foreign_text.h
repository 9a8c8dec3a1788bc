// Device code that others wrote: it stands in front of a program's own text, each file under a
// #line of its own, and the text that follows under another (emit.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/executable.h"

namespace parpy {

struct ForeignText {
    std::string text;  // empty: there is none
    std::string file;  // the first one's name
};
[[nodiscard]] ForeignText foreign_text(std::string_view device);

// Where the error is that the code of a kernel calls functions that no file defines, it becomes one
// that names them and the files: those in the text, and `libraries`.
void name_missing_functions(RuntimeError& error, std::string_view device,
                            std::span<const std::string> libraries);

}  // namespace parpy
