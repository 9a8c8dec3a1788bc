// See nests.h.
#include "analysis/nests.h"

#include <algorithm>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool only_computes(const Body& body, bool in_loop) {
    return std::ranges::all_of(body, [&](const Stmt* stmt) {
        switch (stmt->kind) {
            case StmtKind::kAssign:
            case StmtKind::kStore:
            case StmtKind::kContinue:
            case StmtKind::kIf:
            case StmtKind::kFor:
            case StmtKind::kWhile:
                break;
            case StmtKind::kBreak:
                return in_loop;
            default:
                return false;
        }
        const bool loop = stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile;
        bool inside = true;
        for_each_body(*stmt, [&](const Body& inner) {
            inside = inside && only_computes(inner, in_loop || loop);
        });
        return inside;
    });
}

}  // namespace

std::vector<std::string> shown_names(const std::vector<const For*>& loops) {
    std::vector<std::string> names;
    for (const For* loop : loops) {
        const std::string& name = loop->var->shown();
        const auto alike = std::ranges::count_if(
            loops, [&](const For* other) { return other->var->shown() == name; });
        names.push_back(
            alike > 1 && loop->span.valid() ? name + "@" + std::to_string(loop->span.line) : name);
    }
    return names;
}

Nest nest_of(For& outermost) {
    Nest nest = {&outermost};
    while (nest.back()->body.size() == 1) {
        auto* inner = nest.back()->body.front()->as<For>();
        if (inner == nullptr) break;
        nest.push_back(inner);
    }
    return nest;
}

bool only_computes(const Body& body) {
    return only_computes(body, false);
}

}  // namespace parpy
