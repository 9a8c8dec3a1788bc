// See outline_workers.h. The kernel gets variables of its own; the variables and arrays that it
// needs from outside become its parameters.
#include "passes/cpu/outline_workers.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/cpu/iteration_cost.h"

namespace parpy {

using namespace ir;

namespace {

// Whether a break of the loop itself, or a return, may end it early.
bool leaves(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kBreak || stmt->kind == StmtKind::kReturn) {
            return true;
        }
        bool found = false;
        if (stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile) {
            for_each_stmt(*stmt, [&](const Stmt& s) { found |= s.kind == StmtKind::kReturn; });
        } else {
            for_each_body(*stmt, [&](const Body& inner) { found |= leaves(inner); });
        }
        return found;
    });
}

class Outliner {
public:
    explicit Outliner(Module& module)
        : module_(module),
          entry_(*module.entry_function()),
          accesses_(entry_),
          traffic_(accesses_) {
        for (const Function* function : module.functions) {
            taken_.insert(function->name);
        }
    }

    void run() {
        const std::vector<Function*> functions = module_.functions;
        for (Function* function : functions) {
            if (function->kind == FunctionKind::kEntry) {
                host(function->body);
            } else {
                for_each_stmt(function->body, [](Stmt& stmt) {
                    if (auto* loop = stmt.as<For>()) {
                        stay(*loop);
                    }
                });
            }
        }
    }

private:
    // Keeps the loop in place: over SIMD lanes if it is innermost.
    static void stay(For& loop) {
        if (loop.mapping.level == Level::kWorkers) {
            loop.mapping.level = contains_loop(loop.body) ? Level::kSequential : Level::kVector;
        }
    }

    void host(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            visit(stmt, out);
        }
        body = std::move(out);
    }

    void visit(Stmt* stmt, Body& out) {
        if (auto* block = stmt->as<Gpu>()) {  // the host is the device
            for (Stmt* inner : block->body) {
                visit(inner, out);
            }
            return;
        }
        auto* loop = stmt->as<For>();
        if (loop != nullptr && loop->mapping.level == Level::kWorkers) {
            if (!leaves(loop->body)) {
                outline(*loop, out);
                return;
            }
            stay(*loop);
        }
        if (loop != nullptr && loop->mapping.level == Level::kVector &&
            (leaves(loop->body) || contains_loop(loop->body))) {
            loop->mapping.level = Level::kSequential;
        }
        for_each_body(*stmt, [&](Body& inner) { host(inner); });
        out.push_back(stmt);
    }

    std::string name_for(const For& loop) {
        const std::string base = entry_.name + "_" + loop.var->name;
        std::string name = base;
        for (int suffix = 1; !taken_.insert(name).second; ++suffix) {
            name = base + "_" + std::to_string(suffix);
        }
        return name;
    }

    void outline(For& loop, Body& out) {
        Builder b(module_, loop.span);
        const Scalar counter = loop.var->type.scalar;
        const auto own = [&](Expr* e) { return clone(module_, e); };
        const auto wide = [&](Expr* e) { return b.convert(own(e), Scalar::kI64); };

        // The host evaluates bounds that are no constants once, as Python does.
        const auto once = [&](Expr*& bound, const char* suffix) {
            if (bound->op != Op::kConst && bound->op != Op::kVar) {
                Var* value = b.scalar(loop.var->name + suffix, counter);
                out.push_back(b.assign(value, bound));
                bound = b.var(value);
            }
        };
        const std::optional<std::int64_t> step = constant_integer(loop.step);
        once(loop.begin, "_begin");
        once(loop.step, "_step");
        Expr* iterations = nullptr;
        const std::optional<std::int64_t> begin = constant_integer(loop.begin);
        const std::optional<std::int64_t> end = constant_integer(loop.end);
        if (begin && end && step) {
            const std::int64_t reach = *step > 0 ? *end - *begin : *begin - *end;
            const std::int64_t stride = std::abs(*step);
            iterations = b.integer(reach <= 0 ? 0 : (reach - 1) / stride + 1);
        } else if (step == 1) {
            iterations =
                begin == 0 ? wide(loop.end) : b.binary(Op::kSub, wide(loop.end), wide(loop.begin));
        } else {
            once(loop.end, "_end");
            // ceil((end - begin) / step) in both directions; a step of 0 gives 0.
            const auto count = [&](Expr* from, Expr* to, Expr* by) {
                const auto stride = constant_integer(by);
                Expr* last =
                    stride ? b.integer(*stride - 1) : b.binary(Op::kSub, own(by), b.integer(1));
                Expr* reach = constant_integer(from) == 0 ? to : b.binary(Op::kSub, to, from);
                reach = stride == 1 ? reach : b.binary(Op::kAdd, reach, last);
                return stride == 1 ? reach : b.binary(Op::kFloorDiv, reach, by);
            };
            const auto up = [&](Expr* by) { return count(wide(loop.begin), wide(loop.end), by); };
            const auto down = [&](Expr* by) { return count(wide(loop.end), wide(loop.begin), by); };
            if (step) {
                iterations = *step > 0 ? up(b.integer(*step)) : down(b.integer(-*step));
            } else {
                iterations =
                    b.select(b.binary(Op::kGt, wide(loop.step), b.integer(0)), up(wide(loop.step)),
                             down(b.unary(Op::kNeg, wide(loop.step))));
            }
        }

        VarSet captured = free_variables(loop.body);
        captured.erase(loop.var);
        for (const Expr* bound : {loop.begin, loop.step}) {
            if (bound->op == Op::kVar) {
                captured.insert(bound->var);
            }
        }
        VarSet shapes;
        for (Var* var : captured) {
            for (const Dim& dim : var->dims) {
                for (Var* size : {dim.extent_var, dim.stride_var}) {
                    if (size != nullptr) {
                        shapes.insert(size);
                    }
                }
            }
        }
        captured.insert(shapes);

        Function* kernel = module_.make_function(name_for(loop), FunctionKind::kKernel, loop.span);
        kernel->result = Type::none();
        Launch* launch = b.launch(kernel, {});
        launch->iterations = iterations;
        launch->cost =
            loop.cost != nullptr ? own(loop.cost) : iteration_cost(b, loop, *iterations, traffic_);
        launch->max_workers = loop.mapping.threads;
        Substitution substitution = own_variables(loop, captured);
        for (Var* var : captured) {
            launch->arguments.push_back(var->type.is_array() ? b.array(var) : b.var(var));
            kernel->params.push_back(substitution.vars.at(var));
        }
        for (const char* name : {"begin", "end", "chunk"}) {
            kernel->params.push_back(b.scalar(name, Scalar::kI64));
        }
        kernel->body = {kernel_loop(b, loop, *kernel, substitution)};
        out.push_back(launch);
    }

    // Copies of every variable of `loop` for the kernel.
    Substitution own_variables(const For& loop, const VarSet& captured) {
        Substitution substitution;
        const auto copy = [&](Var* var) {
            Var*& mine = substitution.vars[var];
            if (mine == nullptr) {
                mine = module_.make_like(*var);
                mine->dims = var->dims;
                mine->space = is_made_by_host(var->space) ? Space::kGlobal : var->space;
                mine->written = var->written;
                mine->aliased = var->aliased;
                mine->placement = var->placement;
                mine->constant = var->constant;
                mine->origin.kind = var->origin.kind == Origin::Kind::kArgument
                                        ? Origin::Kind::kNone
                                        : var->origin.kind;
            }
        };
        for (Var* var : captured) {
            copy(var);
        }
        for_each_stmt(static_cast<const Stmt&>(loop),
                      [&](const Stmt& stmt) { for_each_var(stmt, copy); });
        for_each_expr(static_cast<const Stmt&>(loop), [&](const Expr& expr) {
            if (expr.var != nullptr) {
                copy(expr.var);
            }
        });
        for (auto& [from, to] : substitution.vars) {
            for (Dim& dim : to->dims) {
                for (Var** size : {&dim.extent_var, &dim.stride_var}) {
                    if (*size != nullptr) {
                        *size = substitution.vars.at(*size);
                    }
                }
            }
        }
        return substitution;
    }

    // Makes the loop over the iterations [begin, end) of the kernel's parameters.
    For* kernel_loop(Builder& b, const For& loop, const Function& kernel,
                     const Substitution& substitution) {
        const Scalar counter = loop.var->type.scalar;
        Var* first = kernel.params[kernel.params.size() - 3];
        Var* last = kernel.params[kernel.params.size() - 2];
        const auto own = [&](const Expr* e) { return clone(module_, e, substitution); };
        Body body = clone(module_, loop.body, substitution);
        Var* var = substitution.vars.at(loop.var);
        const auto offset = [&](Var* at) {
            Expr* count = b.convert(b.var(at), counter);
            return constant_integer(loop.begin) == 0 ? count
                                                     : b.binary(Op::kAdd, count, own(loop.begin));
        };
        For* out = nullptr;
        if (constant_integer(loop.step) == 1) {
            out = b.loop(var, offset(first), offset(last), std::move(body));
        } else {  // counted from `begin` by ones, which the vectoriser understands
            Var* count = b.scalar(loop.var->name + "_count", Scalar::kI64);
            const std::optional<std::int64_t> step = constant_integer(loop.step);
            const bool down = step && *step < 0;
            Expr* moved = b.convert(b.var(count), counter);
            if (step != -1) {
                Expr* stride = down ? b.integer(-*step, counter) : own(loop.step);
                moved = b.binary(Op::kMul, moved, stride);
            }
            if (down || constant_integer(loop.begin) != 0) {
                moved = b.binary(down ? Op::kSub : Op::kAdd, own(loop.begin), moved);
            }
            body.insert(body.begin(), b.assign(var, moved));
            out = b.loop(count, b.var(first), b.var(last), std::move(body));
        }
        out->mapping = loop.mapping;
        for (Reduction& reduction : out->mapping.reductions) {
            reduction.var = substitution.vars.at(reduction.var);
            for (Expr*& index : reduction.indices) {
                index = own(index);
            }
        }
        return out;
    }

    Module& module_;
    Function& entry_;
    const Accesses accesses_;  // of the original function
    const Traffic traffic_;
    std::unordered_set<std::string> taken_;
};

}  // namespace

void outline_workers(PassContext& context) {
    Outliner(context.module).run();
}

}  // namespace parpy
