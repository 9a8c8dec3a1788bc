// Device code that others wrote: it stands in front of a program's own text, each file under a
// #line of its own, and the text that follows under another (emit.cpp).
#pragma once

#include <string>
#include <string_view>

namespace parpy {

struct ForeignText {
    std::string text;  // empty: there is none
    std::string file;  // the first one's name
};
[[nodiscard]] ForeignText foreign_text(std::string_view device);

}  // namespace parpy
