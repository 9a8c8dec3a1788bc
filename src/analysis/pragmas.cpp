// See pragmas.h.
#include "analysis/pragmas.h"

#include <algorithm>
#include <charconv>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::string_view kPragma = "pragma";

std::int64_t number_in(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// "@7:5:24": line, first column, column past the end.
Span place_in(std::string_view text, std::uint32_t source) {
    std::uint32_t numbers[3] = {};
    for (std::uint32_t& number : numbers) {
        if (text.empty()) return {};
        text.remove_prefix(1);
        number = static_cast<std::uint32_t>(number_in(text));
        text.remove_prefix(std::min(text.find(':'), text.size()));
    }
    Span span;
    span.source = source;
    span.line = span.end_line = numbers[0];
    span.column = numbers[1];
    span.end_column = numbers[2];
    return span;
}

void read(std::string_view label, const Stmt& stmt, Pragma& out) {
    label.remove_prefix(kPragma.size());
    while (!label.empty()) {
        const std::size_t end = std::min(label.find(' '), label.size());
        const std::string_view word = label.substr(0, end);
        label.remove_prefix(std::min(end + 1, label.size()));
        const std::string_view value = word.substr(std::min(word.find('=') + 1, word.size()));
        if (word.starts_with('@')) out.span = place_in(word, stmt.span.source);
        if (word == "parallel") out.parallel = true;
        if (word == "simd") out.simd = true;
        if (word == "sequential") out.sequential = true;
        if (word.starts_with("block=")) out.block = number_in(value);
        if (word.starts_with("warps=")) out.warps = number_in(value);
        if (word.starts_with("shared=")) out.shared.emplace_back(value);
    }
}

}  // namespace

bool is_pragma(std::string_view label) {
    if (!label.starts_with(kPragma)) return false;
    label.remove_prefix(kPragma.size());
    return label.empty() || label.front() == '@' || label.front() == ' ';
}

Pragma pragma_of(const Stmt& stmt) {
    Pragma pragma;
    for (const std::string& label : stmt.labels) {
        if (is_pragma(label)) read(label, stmt, pragma);
    }
    return pragma;
}

bool has_pragma(const Stmt& stmt) {
    return std::ranges::any_of(stmt.labels, is_pragma);
}

void drop_pragmas(Stmt& stmt) {
    std::erase_if(stmt.labels, is_pragma);
}

bool has_pragmas(const Module& module) {
    return std::ranges::any_of(module.functions,
                               [](const Function* f) { return any_stmt(f->body, has_pragma); });
}

bool ask_alike(const Stmt& a, const Stmt& b) {
    const Pragma p = pragma_of(a), q = pragma_of(b);
    return p.spreads() == q.spreads() && p.sequential == q.sequential && p.block == q.block &&
           p.warps == q.warps && p.shared == q.shared;
}

Options with_pragmas(const Module& surface, const Options& options) {
    Options made = options;
    if (options.mapping.empty() && !options.automatic && has_pragmas(surface))
        made.automatic = true;
    return made;
}

}  // namespace parpy
