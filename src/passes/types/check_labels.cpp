// See check_labels.h.
#include "passes/types/check_labels.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::size_t kWord = 4;  // letters; in shorter words each letter distinguishes labels

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char lowered(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string quoted(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        if (!text.empty()) text += ", ";
        text += "'" + name + "'";
    }
    return text;
}

}  // namespace

bool are_alike(std::string_view a, std::string_view b) {
    a = without_blanks(a);
    b = without_blanks(b);
    if (std::ranges::equal(a, b, {}, lowered, lowered)) return true;
    if (a.size() > b.size()) std::swap(a, b);
    if (a.size() < kWord || b.size() - a.size() > 1) return false;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    if (is_digit(b[at]) || (at < a.size() && is_digit(a[at]))) return false;
    return a.substr(a.size() == b.size() ? at + 1 : at) == b.substr(at + 1);
}

void check_labels(PassContext& context) {
    std::vector<std::string> present;  // in program order
    std::vector<std::uint32_t> lines;  // helpers may be inlined
    for (const Function* function : context.module.functions) {
        for_each_stmt(function->body, [&](const Stmt& stmt) {
            for (const std::string& label : stmt.labels) {
                if (!label.empty() && !is_pragma(label) &&
                    std::find(present.begin(), present.end(), label) == present.end()) {
                    present.push_back(label);
                }
            }
            lines.push_back(stmt.span.line);
        });
    }
    const Function* entry = context.module.entry_function();
    for (const auto& [label, request] : context.options.mapping) {
        if (label == kGpuCode) continue;
        const auto line = line_of_place(label);
        if (line && std::ranges::find(lines, *line) != lines.end()) continue;
        if (std::find(present.begin(), present.end(), label) != present.end()) continue;
        const std::string message = "the mapping names the label '" + label +
                                    "', which no loop of '" + entry->name + "' carries";
        const auto meant = std::ranges::find_if(present, [&](const std::string& other) {
            return !context.options.mapping.contains(other) && are_alike(label, other);
        });
        if (meant != present.end()) {
            context.diagnostics.error(Code::kP301, entry->span, message).help =
                "write '" + *meant + "'";
        } else if (label.find('@') != std::string::npos) {  // a place in this function
            context.diagnostics.error(Code::kP301, entry->span, message).help =
                "the labels there are " + quoted(present);
        } else {  // a label of another function that the mapping serves
            context.diagnostics.performance(Code::kP301, entry->span, message).help =
                present.empty()
                    ? "put `parpy.label('" + label + "')` before the loop to run in parallel"
                    : "the labels there are " + quoted(present);
        }
    }
}

}  // namespace parpy
