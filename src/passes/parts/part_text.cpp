// See part_text.h.
#include "passes/parts/part_text.h"

#include <algorithm>
#include <charconv>

namespace parpy {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

bool parse_word(std::string_view word, PartStep& step) {
    const char sign = word.front();
    constexpr std::string_view kSigns = "+-#*=~";
    const bool named = kSigns.find(sign) != std::string_view::npos;
    const bool rows = !named || sign == '~';
    std::vector<std::optional<std::int64_t>> numbers;
    for (const std::string_view each : split(named ? word.substr(1) : word, ':')) {
        auto& number = numbers.emplace_back();
        if (each.empty()) {
            if (!rows) return false;
            continue;
        }
        const auto [end, error] =
            std::from_chars(each.data(), each.data() + each.size(), number.emplace());
        if (error != std::errc() || end != each.data() + each.size()) return false;
    }
    if (numbers.size() != (sign == '#' || sign == '*' ? 3U : 2U)) return false;
    if (sign == '~') {
        step.interior = {numbers[0], numbers[1]};
    } else if (rows) {
        step.low = numbers[0];
        step.high = numbers[1];
    } else if (sign == '=') {
        step.awaited.push_back({*numbers[0], *numbers[1]});
    } else if (sign == '#') {
        step.numbers.push_back({*numbers[0], *numbers[1], *numbers[2]});
    } else if (sign == '*') {
        step.spaced.push_back({*numbers[0], *numbers[1], *numbers[2]});
        if (*numbers[2] < 1) return false;
    } else {
        step.exchanges.push_back({*numbers[0], *numbers[1], sign == '-'});
    }
    return true;
}

}  // namespace

const std::string* part_text(const ir::Module& module) {
    const auto found = std::ranges::find(module.sources, kPartSource, &Source::name);
    return found == module.sources.end() ? nullptr : &found->text;
}

std::optional<std::vector<PartStep>> parse_part(std::string_view text) {
    std::vector<PartStep> part;
    if (text.empty()) return part;
    for (const std::string_view item : split(text, ';')) {
        PartStep& step = part.emplace_back();
        for (const std::string_view word : split(item, ' ')) {
            if (!word.empty() && !parse_word(word, step)) return std::nullopt;
        }
    }
    return part;
}

}  // namespace parpy
