// Text from outside inside of generated text: names of files, lines of the user's program, labels,
// keys of dicts, what is printed. Nothing in it ends the comment or the string that it stands in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parpy {

// For comments that begin with `//` or `#`, and for messages: as it is, but for what ends a line or
// is not seen (control and format characters, bytes that are no UTF-8), which become "\n", "\x1b"
// or "\u2028", and for what joins a line with the next at its end.
[[nodiscard]] std::string one_line(std::string_view text);

// A literal of C++ and of the IR's text form, in its quotes.
[[nodiscard]] std::string string_literal(std::string_view text);

// What the literal that `text` begins with says, and how long it is with its quotes. Nothing where
// no literal ends on the line.
struct ReadLiteral {
    std::string value;
    std::size_t length = 0;
};
[[nodiscard]] std::optional<ReadLiteral> read_string_literal(std::string_view text);

}  // namespace parpy
