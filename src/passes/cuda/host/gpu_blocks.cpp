// See gpu_blocks.h.
#include "passes/cuda/host/gpu_blocks.h"

#include <algorithm>

#include "analysis/host_calls.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/cuda/host/device_scalars.h"

namespace parpy {

using namespace ir;

namespace {

bool contains_chosen(const Stmt& stmt) {
    return any_stmt(stmt, [](const Stmt& inner) {
        const auto* loop = inner.as<For>();
        return loop != nullptr && loop->mapping.parallel();
    });
}

// A call with arrays counts even if the function does not access them: the host has no arrays to
// pass.
bool needs_gpu(const Stmt& stmt) {
    return uses_arrays(stmt) || any_expr(stmt, [](const Expr& e) {
               return e.op == Op::kCall && std::ranges::any_of(e.operands, [](const Expr* o) {
                          return o->op == Op::kArray;
                      });
           });
}

// Puts neighbouring statements that use arrays, and the statements between them, into one Gpu block
// each. Conditions and bounds of host code that use arrays are computed there, too.
class GpuBlocks {
public:
    explicit GpuBlocks(Module& module) : module_(module), builder_(module) {}

    void host_body(Body& stmts) {
        Body result;
        compute_conditions(stmts);
        Body run;              // not yet known to end with a statement that uses arrays
        std::size_t used = 0;  // the length of `run` up to the last statement that uses arrays
        const auto flush = [&] {
            if (used > 0) {
                auto* gpu = module_.make<Gpu>(run.front()->span);
                gpu->body.assign(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(used));
                result.push_back(gpu);
            }
            result.insert(result.end(), run.begin() + static_cast<std::ptrdiff_t>(used), run.end());
            run.clear();
            used = 0;
        };
        for (Stmt* stmt : stmts) {
            if (stays_on_host(*stmt)) {
                flush();
                if (!is_kernel_root(*stmt))
                    for_each_body(*stmt, [&](Body& inner) { host_body(inner); });
                result.push_back(stmt);
            } else if (needs_gpu(*stmt)) {
                run.push_back(stmt);
                used = run.size();
            } else if (run.empty()) {
                result.push_back(stmt);
            } else {
                run.push_back(stmt);
            }
        }
        flush();
        stmts = std::move(result);
    }

private:
    static bool stays_on_host(Stmt& stmt) {
        return stmt.kind == StmtKind::kAlloc || stmt.kind == StmtKind::kReturn ||
               returns_arrays(stmt) || is_kernel_root(stmt) || contains_chosen(stmt) ||
               leaves_loop(stmt) || host_call(stmt) != nullptr;
    }

    // Computes them before the statements that stay on the host; in the body of a while loop.
    void compute_conditions(Body& stmts) {
        Body out;
        for (Stmt* stmt : stmts) {
            call_host_before(*stmt, out);
            if (stays_on_host(*stmt) && !is_kernel_root(*stmt)) {
                builder_.span = stmt->span;
                auto* spin = stmt->as<While>();
                if (spin != nullptr && uses_arrays(*spin->condition)) {
                    Body test;
                    compute(spin->condition, "condition", test);
                    test.push_back(
                        builder_.if_(builder_.not_(spin->condition), {builder_.break_()}));
                    spin->condition = builder_.boolean(true);
                    spin->body.insert(spin->body.begin(), test.begin(), test.end());
                } else if (auto* branch = stmt->as<If>()) {
                    compute(branch->condition, "condition", out);
                } else if (auto* loop = stmt->as<For>()) {
                    compute(loop->begin, "begin", out);
                    compute(loop->end, "end", out);
                    compute(loop->step, "step", out);
                }
            }
            out.push_back(stmt);
        }
        stmts = std::move(out);
    }

    // Moves host calls out of a value that the GPU stores, or computes from elements.
    void call_host_before(Stmt& stmt, Body& out) {
        const auto* assign = stmt.as<Assign>();
        const bool splits = stmt.kind == StmtKind::kStore ||
                            (assign != nullptr && any_expr(*assign->value, [](const Expr& e) {
                                 return e.op == Op::kLoad;
                             }));
        if (!splits) return;
        builder_.span = stmt.span;
        for_each_slot(stmt, [&](Expr*& slot) {
            rewrite(slot, [&](Expr* e) {
                if (e->op != Op::kCall || !is_of_host(*e->callee)) return e;
                Var* found = builder_.scalar(e->callee->name + "_result", e->type.scalar);
                out.push_back(builder_.assign(found, e));
                return builder_.var(found);
            });
        });
    }

    void compute(Expr*& expr, const char* name, Body& out) {
        if (!uses_arrays(*expr)) return;
        Var* var = builder_.scalar(name, expr->type.scalar);
        out.push_back(builder_.assign(var, expr));
        expr = builder_.var(var);
    }

    Module& module_;
    Builder builder_;
};

}  // namespace

void put_arrays_on_gpu(Module& module) {
    put_arrays_on_gpu(module, module.entry_function()->body);
}

void put_arrays_on_gpu(Module& module, Body& body) {
    GpuBlocks(module).host_body(body);
}

}  // namespace parpy
