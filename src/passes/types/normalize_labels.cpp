// See normalize_labels.h.
#include "passes/types/normalize_labels.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

// The frontend's prefix of a symbol's label; no label of a user begins with it.
constexpr std::string_view kShapeLabel = "shape ";

// Whether the mapping names the statement, by a label or as a loop of its line.
bool is_named(const Stmt& stmt, const Mapping& mapping) {
    return std::ranges::any_of(mapping, [&](const auto& request) {
        return std::ranges::find(stmt.labels, request.first) != stmt.labels.end() ||
               line_of_place(request.first) == stmt.span.line;
    });
}

// A mapping by hand replaces the pragmas in the nests that it names.
void drop_pragmas(Body& body, const Mapping& mapping) {
    for (Stmt* stmt : body) {
        const auto named = [&](const Stmt& inner) { return is_named(inner, mapping); };
        if (is_named(*stmt, mapping) || (has_pragma(*stmt) && any_stmt(*stmt, named))) {
            for_each_stmt(*stmt, [](Stmt& inner) { std::erase_if(inner.labels, is_pragma); });
        } else {
            for_each_body(*stmt, [&](Body& inner) { drop_pragmas(inner, mapping); });
        }
    }
}

}  // namespace

void normalize_labels(PassContext& context) {
    for (Function* function : context.module.functions) {
        drop_pragmas(function->body, context.options.mapping);
        for_each_stmt(function->body, [&](Stmt& stmt) {
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
