// See escape.h.
#include "support/escape.h"

#include <array>
#include <cstdint>

namespace parpy {

namespace {

struct CodePoint {
    std::uint32_t value = 0;
    std::size_t length = 0;  // in bytes; 0: invalid UTF-8
};

CodePoint code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (length == 0 || first > 0xF4 || text.size() < length) return {};
    std::uint32_t value = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < kLeast[length] || value > 0x10FFFF || surrogate) return {};
    return {value, length};
}

// Whether a character ends a line for some program (compilers, Python's splitlines, editors),
// changes the direction of the text, or is invisible.
bool is_hidden(std::uint32_t c) {
    return (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x061C ||
           (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

std::string hexadecimal(char kind, std::uint32_t value, int digits) {
    std::string out{'\\', kind};
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        out += "0123456789abcdef"[(value >> shift) & 15];
    return out;
}

std::string octal(char c) {
    const auto byte = static_cast<unsigned char>(c);
    std::string out = "\\";
    for (const int shift : {6, 3, 0})
        out += static_cast<char>('0' + ((byte >> shift) & 7));
    return out;
}

// The letter after the backslash; 0: there is none.
char letter_of(char c) {
    return c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '\0';
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const CodePoint c = code_point(text);
        const std::size_t length = c.length == 0 ? 1 : c.length;
        const char letter = c.value == '\t' ? '\0' : letter_of(text[0]);
        if (c.length == 0) {
            out += hexadecimal('x', static_cast<unsigned char>(text[0]), 2);
        } else if (letter != '\0') {
            out += {'\\', letter};
        } else if (is_hidden(c.value)) {
            out += c.value < 0x100 ? hexadecimal('x', c.value, 2) : hexadecimal('u', c.value, 4);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    // A backslash joins lines even if blanks follow it; "??/" was a backslash once.
    const std::size_t last = out.find_last_not_of(" \t");
    if (last != std::string::npos && out[last] == '\\') {
        out.replace(last, 1, "\\x5c");
    } else if (last != std::string::npos && last >= 2 && out.compare(last - 2, 3, "?\?/") == 0) {
        out.replace(last, 1, "\\x2f");
    }
    return out;
}

std::string string_literal(std::string_view text) {
    std::string out = "\"";
    bool question = false;
    while (!text.empty()) {
        const CodePoint c = code_point(text);
        const std::size_t length = c.length == 0 ? 1 : c.length;
        const char letter = letter_of(text[0]);
        if (letter != '\0') {
            out += {'\\', letter};
        } else if (c.length == 0 || is_hidden(c.value)) {
            for (const char byte : text.substr(0, length))
                out += octal(byte);
        } else {
            // Two question marks begin a trigraph.
            if (c.value == '"' || c.value == '\\' || (c.value == '?' && question)) out += '\\';
            out += text.substr(0, length);
        }
        question = c.value == '?';
        text.remove_prefix(length);
    }
    return out + '"';
}

std::optional<ReadLiteral> read_string_literal(std::string_view text) {
    if (!text.starts_with('"')) return std::nullopt;
    std::string value;
    for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == '"') return ReadLiteral{std::move(value), i + 1};
        if (text[i] != '\\') {
            value += text[i];
            continue;
        }
        if (++i == text.size() || text[i] == '\n') return std::nullopt;
        const char c = text[i];
        if (c >= '0' && c <= '7') {
            unsigned number = 0;
            for (int digits = 0; digits < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7';
                 ++digits, ++i)
                number = number * 8 + static_cast<unsigned>(text[i] - '0');
            --i;
            value += static_cast<char>(static_cast<unsigned char>(number));
        } else {
            value += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
        }
    }
    return std::nullopt;
}

}  // namespace parpy
