// See site.h.
#include "ir/site.h"

#include <charconv>

namespace parpy::ir {
namespace {

std::string filled(const std::string& text, std::span<const std::int64_t> values) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.compare(at, 2, "{{") == 0) {
            out += text[++at];
            continue;
        }
        std::size_t number = 0;
        const char* first = text.data() + at + 1;
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text[at] == '{' ? first : last, last, number);
        const bool is_unsigned = error == std::errc() && end != last && *end == 'u';
        const char* brace = is_unsigned ? end + 1 : end;
        if (error != std::errc() || brace == last || *brace != '}') {
            out += text[at];
            continue;
        }
        if (number >= values.size()) {
            out += "?";
        } else if (is_unsigned) {
            out += std::to_string(static_cast<std::uint64_t>(values[number]));
        } else {
            out += std::to_string(values[number]);
        }
        at = static_cast<std::size_t>(brace - text.data());
    }
    return out;
}

}  // namespace

Diagnostic describe(std::span<const Site> sites, std::size_t site,
                    std::span<const std::int64_t> values) {
    Diagnostic out;
    if (site >= sites.size()) {
        out.code = Code::kP900;
        out.message = "the program failed at an unknown place (" + std::to_string(site) + ")";
        return out;
    }
    const Site& at = sites[site];
    out.code = at.code;
    out.span = at.span;
    out.exception = at.exception;
    if (!at.exception.empty()) {
        out.message = at.message;
        out.words.assign(values.begin(), values.end());
        return out;
    }
    out.message = filled(at.message, values);
    out.help = at.help;
    if (!at.note.empty()) {
        out.notes.push_back({{}, filled(at.note, values)});
    }
    if (at.other && !values.empty() && static_cast<std::size_t>(values[0]) < sites.size()) {
        out.notes.push_back({sites[static_cast<std::size_t>(values[0])].span, "the other access"});
    }
    return out;
}

}  // namespace parpy::ir
