// The lexer of the IR's text form (lexer.h).
#include "ir/text/lexer.h"

#include <algorithm>
#include <array>
#include <string>

namespace parpy::ir {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80U;
}
bool continues_name(char c) {
    return starts_name(c) || is_digit(c);
}

// Longest first.
constexpr std::array<std::string_view, 45> kSymbols = {
    "...", "**=", "//=", "<<=", ">>=", "->", "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "+=",
    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "(",  ")",  "[",  "]",  "{",  "}",  ",",  ":",
    ";",   "=",   "+",   "-",   "*",   "/",  "%",  "&",  "|",  "^",  "~",  "<",  ">",  ".",  "@",
};

// Operators with a name that may be followed by `=` to form an update.
constexpr std::array<std::string_view, 8> kNamedUpdates = {
    "and", "or", "min", "max", "minimum", "maximum", "fmin", "fmax",
};

class Lexer {
public:
    Lexer(std::string_view text, Diagnostics& diagnostics)
        : text_(text), diagnostics_(diagnostics) {}

    std::vector<Token> run() {
        while (at_ < text_.size()) {
            line();
        }
        for (; indents_.size() > 1; indents_.pop_back()) {
            add(Token::Kind::kDedent, 0);
        }
        add(Token::Kind::kEnd, 0);
        return std::move(tokens_);
    }

private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    [[nodiscard]] Span span_here(std::size_t length) const {
        const auto column = static_cast<std::uint32_t>(at_ - line_start_ + 1);
        return {0, line_, column, line_, column + static_cast<std::uint32_t>(length)};
    }

    void add(Token::Kind kind, std::size_t length) {
        tokens_.push_back({kind, text_.substr(at_, length), span_here(length)});
        at_ += length;
    }

    void line() {
        line_start_ = at_;
        while (peek() == ' ') {
            ++at_;
        }
        if (peek() != '\n' && peek() != '#' && peek() != '\0') {
            indentation(at_ - line_start_);
            while (peek() != '\n' && peek() != '#' && at_ < text_.size()) {
                token();
            }
            add(Token::Kind::kNewline, 0);
        }
        while (peek() != '\n' && at_ < text_.size()) {
            ++at_;
        }
        at_ = std::min(at_ + 1, text_.size());
        ++line_;
    }

    void indentation(std::size_t width) {
        if (width > indents_.back()) {
            indents_.push_back(width);
            add(Token::Kind::kIndent, 0);
            return;
        }
        for (; width < indents_.back(); indents_.pop_back()) {
            add(Token::Kind::kDedent, 0);
        }
        if (width != indents_.back()) {
            diagnostics_.error(Code::kP801, span_here(1), "the indentation matches no line above");
        }
    }

    void token() {
        const char c = peek();
        if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (starts_name(c) || (c == '$' && starts_name(peek(1)))) {
            std::size_t length = 1;
            while (continues_name(peek(length))) {
                ++length;
            }
            const bool update = std::ranges::count(kNamedUpdates, text_.substr(at_, length)) != 0 &&
                                peek(length) == '=' && peek(length + 1) != '=';
            update ? add(Token::Kind::kSymbol, length + 1) : add(Token::Kind::kName, length);
        } else if (is_digit(c)) {
            number();
        } else if (c == '"') {
            string();
        } else {
            symbol();
        }
    }

    void number() {
        std::size_t length = 1;
        const auto digits = [&] {
            while (is_digit(peek(length))) {
                ++length;
            }
        };
        digits();
        if (peek(length) == '.' && is_digit(peek(length + 1))) {
            ++length;
            digits();
        }
        if (peek(length) == 'e') {
            const std::size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+' ? 1 : 0;
            if (is_digit(peek(length + 1 + sign))) {
                length += 1 + sign;
                digits();
            }
        }
        while (continues_name(peek(length))) {  // the type suffix
            ++length;
        }
        add(Token::Kind::kNumber, length);
    }

    void string() {
        std::size_t length = 1;
        while (peek(length) != '"' && peek(length) != '\n' && peek(length) != '\0') {
            length += peek(length) == '\\' ? 2 : 1;
        }
        if (peek(length) != '"') {
            diagnostics_.error(Code::kP801, span_here(1), "the string does not end on its line");
            at_ = std::min(at_ + length, text_.size());
            return;
        }
        add(Token::Kind::kString, length + 1);
    }

    void symbol() {
        for (const std::string_view s : kSymbols) {
            if (text_.substr(at_).starts_with(s)) {
                add(Token::Kind::kSymbol, s.size());
                return;
            }
        }
        diagnostics_.error(Code::kP801, span_here(1),
                           "unexpected character '" + std::string(1, peek()) + "'");
        ++at_;
    }

    std::string_view text_;
    Diagnostics& diagnostics_;
    std::vector<Token> tokens_;
    std::vector<std::size_t> indents_ = {0};
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> lex(std::string_view text, Diagnostics& diagnostics) {
    return Lexer(text, diagnostics).run();
}

}  // namespace parpy::ir
