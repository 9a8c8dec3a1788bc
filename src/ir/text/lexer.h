// Tokens of the IR's text form; indentation becomes kIndent and kDedent, as in Python.
#pragma once

#include <string_view>
#include <vector>

#include "support/diagnostic.h"

namespace parpy::ir {

struct Token {
    enum class Kind : std::uint8_t {
        kName,
        kNumber,
        kString,
        kSymbol,
        kNewline,
        kIndent,
        kDedent,
        kEnd,
    };
    Kind kind = Kind::kEnd;
    std::string_view text;  // kString: with its quotes. kNumber: with its type suffix
    Span span;
};

// The tokens of `text` up to and including kEnd; reports (P801) and skips malformed text.
[[nodiscard]] std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics);

}  // namespace parpy::ir
