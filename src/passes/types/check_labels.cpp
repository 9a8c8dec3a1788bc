// See check_labels.h.
#include "passes/types/check_labels.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

std::string quoted(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        if (!text.empty()) text += ", ";
        text += "'" + name + "'";
    }
    return text;
}

}  // namespace

void check_labels(PassContext& context) {
    std::vector<std::string> present;  // in program order
    std::vector<std::uint32_t> lines;  // helpers may take the place of their calls
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
        auto& error =
            context.diagnostics.error(Code::kP301, entry->span,
                                      "the mapping names the label '" + label +
                                          "', which no loop of '" + entry->name + "' carries");
        error.help = present.empty() ? "put `parpy.label('" + label +
                                           "')` in front of the loop to run in parallel"
                                     : "the labels there are " + quoted(present);
    }
}

}  // namespace parpy
