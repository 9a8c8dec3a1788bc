// Source positions. A Span is a range of the user's Python text; every IR node has one and every
// rewrite keeps it, so a message about generated code can point at the line that caused it.
#pragma once

#include <cstdint>
#include <string>

namespace parpy {

// The captured text of one decorated function: `text` consists of the lines `first_line`,
// `first_line + 1`, … of the file `name`.
struct Source {
    std::string name;
    std::string text;
    std::uint32_t first_line = 1;
};

// Lines are 1-based and absolute in the file; columns are 1-based and count UTF-8 bytes, as
// Python's `ast` does (plus one); the end column is exclusive. Messages show columns in characters.
// `source` indexes Module::sources. A default Span means "no place in the user's text".
struct Span {
    std::uint32_t source = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::uint32_t end_line = 0;
    std::uint32_t end_column = 0;

    [[nodiscard]] bool valid() const { return line != 0; }
    friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace parpy
