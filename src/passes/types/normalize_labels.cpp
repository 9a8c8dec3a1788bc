// See normalize_labels.h.
#include "passes/types/normalize_labels.h"

#include "analysis/pragmas.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// As the frontend writes it; no label of a user begins like this where a symbol's does.
constexpr std::string_view kShapeLabel = "shape ";

}  // namespace

void normalize_labels(PassContext& context) {
    for (Function* function : context.module.functions) {
        for_each_stmt(function->body, [&](Stmt& stmt) {
            // A mapping by hand takes the place of pragmas.
            if (!context.options.mapping.empty()) std::erase_if(stmt.labels, is_pragma);
            if (!context.options.implicit_shape_labels) {
                std::erase_if(stmt.labels, [](const std::string& l) {
                    return l.empty() || l.starts_with(kShapeLabel);
                });
                return;
            }
            bool implicit = false;
            for (std::string& label : stmt.labels) {
                if (!label.starts_with(kShapeLabel)) continue;
                label.erase(0, kShapeLabel.size());
                implicit = true;
            }
            if (implicit && stmt.kind != StmtKind::kFor) stmt.labels.emplace_back();
        });
    }
}

}  // namespace parpy
