// See overlap_launches.h. When the kernel's wait returns, all work that precedes it on the stream,
// of any program or library, has ended and is visible. A kernel that ends has waited, so that all
// earlier work has ended as well.
#include "passes/cuda/overlap_launches.h"

#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

void overlap_launches(PassContext& context) {
    std::vector<Launch*> launches;
    bool in_loop = false;
    for_each_stmt(context.module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) launches.push_back(launch);
        if (stmt.kind != StmtKind::kFor && stmt.kind != StmtKind::kWhile) return;
        for_each_stmt(stmt,
                      [&](Stmt& inner) { in_loop = in_loop || inner.kind == StmtKind::kLaunch; });
    });
    if (launches.size() < 2 && !in_loop) return;
    Builder builder(context.module);
    for (Launch* launch : launches) {
        launch->overlapped = true;
        Body& body = launch->kernel->body;
        body.insert(body.begin(), builder.barrier(BarrierScope::kStream));
    }
}

}  // namespace parpy
