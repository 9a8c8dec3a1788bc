// External text inside generated text: names of files, lines of the user's program, labels, keys of
// dicts, printed text. Nothing in it can end the comment or the string that contains it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parpy {

// Makes text for `//` and `#` comments and for messages: unchanged, except that characters that end
// a line or are invisible (control and format characters, bytes that are not UTF-8) become "\n",
// "\x1b" or "\u2028", and so does a character at the end that joins the line with the next.
[[nodiscard]] std::string one_line(std::string_view text);

// A literal of C++ and of the IR's text form, with its quotes.
[[nodiscard]] std::string string_literal(std::string_view text);

// The value of the literal that `text` begins with, and its length with the quotes. Nothing if no
// literal ends on the line.
struct ReadLiteral {
    std::string value;
    std::size_t length = 0;
};
[[nodiscard]] std::optional<ReadLiteral> read_string_literal(std::string_view text);

}  // namespace parpy
