// Texts of exceptions: `raise ValueError(f"no mode {mode}")` (lower_aggregates.h).
#include <algorithm>

#include "passes/aggregates/lowering.h"

namespace parpy {

using namespace ir;

namespace {

// Python's repr of a text of plain characters; nothing for other texts.
std::optional<std::string> quoted(const std::string& text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; });
    return plain ? std::optional("'" + text + "'") : std::nullopt;
}

// A text for Python's str.format: the known texts replace their places, and the other values keep
// the remaining places. Nothing if the place of a text has a format specification.
std::optional<std::string> with_texts(const std::string& message,
                                      const std::vector<std::optional<std::string>>& texts) {
    std::string result;
    for (std::size_t i = 0; i < message.size(); ++i) {
        const bool begins = message[i] == '{' && message.substr(i, 2) != "{{";
        result += message[i];
        if (!begins) {
            if (message[i] == '{') result += message[++i];
            continue;
        }
        std::size_t end = i + 1, place = 0;
        for (; end < message.size() && message[end] >= '0' && message[end] <= '9'; ++end)
            place = place * 10 + static_cast<std::size_t>(message[end] - '0');
        if (end == i + 1 || place >= texts.size()) return std::nullopt;
        if (!texts[place]) {
            const auto before = std::count_if(texts.begin(), texts.begin() + std::ptrdiff_t(place),
                                              [](const auto& text) { return text.has_value(); });
            result += std::to_string(place - static_cast<std::size_t>(before));
            i = end - 1;
            continue;
        }
        const std::string conversion = message.substr(end, 2);
        if (conversion == "!s" || conversion == "!r") end += 2;
        const auto shown = conversion == "!r" ? quoted(*texts[place]) : texts[place];
        if (message.substr(end, 1) != "}" || !shown) return std::nullopt;
        result.pop_back();
        for (const char c : *shown)
            result += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
        i = end;
    }
    return result;
}

}  // namespace

// Texts among the values of an exception are known: they become parts of its message.
void Lowering::tell_texts(Fail& failure) {
    const Site& site = module_.sites[failure.site];
    if (site.code != Code::kP431) return;
    std::vector<std::optional<std::string>> texts;
    std::vector<Expr*> others;
    for (Expr* value : failure.values) {
        const Kind kind = walk_.of(*value, here_);
        const bool is_text = kind.form == Kind::Form::kText;
        texts.push_back(is_text ? std::optional(kind.text) : std::nullopt);
        if (!is_text) others.push_back(value);
    }
    if (others.size() == texts.size()) return;
    const bool alone = site.message.empty() && texts.size() == 1;
    const auto message = with_texts(alone ? "{0}" : site.message, texts);
    if (!message || message->empty()) return;
    Site told = site;
    told.message = *message;
    failure.site = module_.sites.size();
    failure.values = std::move(others);
    module_.sites.push_back(std::move(told));
}

}  // namespace parpy
