// See legalize_cpu.h.
#include "passes/cpu/legalize_cpu.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/mapped/partial_values.h"
#include "support/abi.h"

namespace parpy {

using namespace ir;

namespace {

// Replaces updates of the target in `body` by updates of the scalar `held`.
void hold(Module& module, Body& body, const Reduction& target, Var* held) {
    rewrite_stmts(body, [&](Stmt* stmt, Body& out) {
        if (updates(*stmt, target)) {
            Builder b(module, stmt->span);
            const auto* assign = stmt->as<Assign>();
            const auto* store = stmt->as<Store>();
            Expr* value = assign != nullptr ? assign->value : store->value;
            const Op op = assign != nullptr ? *assign->update : *store->update;
            out.push_back(b.update(held, op, b.convert(value, held->type.scalar)));
            return;
        }
        if (auto* loop = stmt->as<For>()) {
            for (Reduction& inner : loop->mapping.reductions) {
                if (inner.var == target.var && same(inner.indices, target.indices)) {
                    inner = {inner.op, held, {}};
                }
            }
        }
        out.push_back(stmt);
    });
}

class Legalizer {
public:
    // `settled`: results have the same bits as in sequence.
    Legalizer(Module& module, bool settled) : module_(module), settled_(settled) {}

    void run() {
        const std::vector<Function*> functions = module_.functions;
        for (Function* function : functions) {
            if (function->kind == FunctionKind::kEntry) {
                rewrite_stmts(function->body, [&](Stmt* stmt, Body& out) {
                    if (auto* launch = stmt->as<Launch>()) {
                        combine_chunks(*launch, out);
                    } else {
                        out.push_back(stmt);
                    }
                });
            }
        }
        for (Function* function : functions) {
            rewrite_stmts(function->body, [&](Stmt* stmt, Body& out) {
                if (auto* loop = stmt->as<For>()) {
                    hold_elements(*loop, out);
                } else {
                    out.push_back(stmt);
                }
            });
            rewrite_stmts(function->body, [&](Stmt* stmt, Body& out) {
                make_plain(*stmt, out);
                out.push_back(stmt);
            });
        }
    }

private:
    // ------------------------------------------------------------ over workers

    void combine_chunks(Launch& launch, Body& out) {
        Function& kernel = *launch.kernel;
        auto* loop = kernel.body.at(0)->as<For>();
        const std::vector<Reduction> reductions = loop->mapping.reductions;
        loop->mapping.level = contains_loop(loop->body) ? Level::kSequential : Level::kVector;
        loop->mapping.reductions.clear();
        loop->mapping.threads = 0;
        loop->mapping.reduce = false;
        if (reductions.empty()) {
            out.push_back(&launch);
            return;
        }
        Builder b(module_, launch.span);
        launch.chunks = b.scalar("chunks", Scalar::kI64);
        Var* chunk = kernel.params.back();
        Body after;
        Body combining;
        Var* counter = b.scalar("chunk", Scalar::kI64);
        std::vector<Stmt*> before;
        for (const Reduction& reduction : reductions) {
            const Scalar scalar = computed_in(loop->body, reduction);
            const std::string name = reduction.var->name;
            Reduction on_host = reduction;
            on_host.var = host_var(launch, reduction.var);
            for (Expr*& index : on_host.indices) {
                index = host_expr(launch, index);
            }
            Var* held = reduction.var;
            if (held->type.is_scalar()) drop_argument(launch, held);
            if (held->type != Type::of(scalar)) {
                held = b.scalar(name + "_part", scalar);
                hold(module_, loop->body, reduction, held);
            }
            Var* parts = b.local_array(name + "_parts", scalar, {kParpyMaxChunks}, Space::kLocal);
            Var* parameter = module_.make_var(parts->name, parts->type, parts->span);
            parameter->dims = parts->dims;
            parameter->written = true;
            kernel.params.insert(kernel.params.end() - 3, parameter);
            launch.arguments.push_back(b.array(parts));
            before.push_back(b.assign(held, identity(b, reduction.op, scalar)));
            starts_neutral_.insert(held);
            after.push_back(b.store(parameter, {b.var(chunk)}, b.var(held)));
            out.push_back(b.alloc(parts));
            Expr* part = b.load(parts, {b.var(counter)});
            if (on_host.var->type.is_array()) {
                combining.push_back(b.update(on_host.var, on_host.indices, reduction.op, part));
            } else {
                combining.push_back(b.update(on_host.var, reduction.op, part));
            }
            if (loop->mapping.level == Level::kVector) {
                loop->mapping.reductions.push_back({reduction.op, held, {}});
            }
        }
        before.push_back(loop);
        before.insert(before.end(), after.begin(), after.end());
        kernel.body = std::move(before);
        drop_unused(launch);
        out.push_back(&launch);
        out.push_back(b.loop(counter, b.integer(0), b.var(launch.chunks), std::move(combining)));
    }

    static std::size_t position(const Launch& launch, const Var* param) {
        const auto& params = launch.kernel->params;
        return static_cast<std::size_t>(std::ranges::find(params, param) - params.begin());
    }

    static Var* host_var(const Launch& launch, const Var* param) {
        return launch.arguments.at(position(launch, param))->var;
    }

    // Translates an expression over kernel parameters to the arguments.
    Expr* host_expr(const Launch& launch, const Expr* expr) {
        Substitution substitution;
        for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
            const Expr* argument = launch.arguments[i];
            if (argument->op == Op::kArray) {
                substitution.vars[launch.kernel->params[i]] = argument->var;
            } else {
                substitution.values[launch.kernel->params[i]] = argument;
            }
        }
        return clone(module_, expr, substitution);
    }

    // Removes `param` from the signature: the kernel uses it as a local variable from now on.
    static void drop_argument(Launch& launch, const Var* param) {
        const auto at = static_cast<std::ptrdiff_t>(position(launch, param));
        launch.arguments.erase(launch.arguments.begin() + at);
        launch.kernel->params.erase(launch.kernel->params.begin() + at);
    }

    // Removes arrays of which only the reduced element was used. A called function may get an array
    // without touching it.
    static void drop_unused(Launch& launch) {
        const Uses uses = uses_of(launch.kernel->body);
        const auto is_passed = [&](const Var* array) {
            return any_expr(launch.kernel->body,
                            [&](const Expr& e) { return e.op == Op::kArray && e.var == array; });
        };
        for (std::size_t i = launch.arguments.size(); i-- > 0;) {
            const Var* param = launch.kernel->params[i];
            const bool used = param->type.is_array()
                                  ? uses.touches(param) || is_passed(param)
                                  : uses.read.contains(param) || uses.written.contains(param);
            if (!used) {
                drop_argument(launch, param);
            }
        }
    }

    // ------------------------------------------------------------ over lanes

    // Lanes may pick either of two equal values; if the initial value of the target may differ from
    // it in its bits (a negative zero), it is compared once, behind the loop.
    [[nodiscard]] bool is_compared_last(const Reduction& reduction, Scalar type) const {
        return settled_ && picks_one(reduction.op) && is_float(type) &&
               !starts_neutral_.contains(reduction.var);
    }

    // Rewrites y[i] += … in a vector loop: a scalar accumulates, and is added once after the loop.
    void hold_elements(For& loop, Body& out) {
        std::vector<Reduction> kept;
        Body before;
        Body after;
        Builder b(module_, loop.span);
        if (loop.mapping.level != Level::kVector) {
            loop.mapping = {};
            out.push_back(&loop);
            return;
        }
        for (const Reduction& reduction : loop.mapping.reductions) {
            const Scalar type = computed_in(loop.body, reduction);
            const bool last = is_compared_last(reduction, type);
            if (reduction.var->type == Type::of(type) && !last) {
                kept.push_back(reduction);
                continue;
            }
            const bool element = reduction.var->type.is_array();
            const auto own = [&] {
                std::vector<Expr*> indices;
                for (const Expr* index : reduction.indices) {
                    indices.push_back(clone(module_, index));
                }
                return indices;
            };
            const Scalar own_type = reduction.var->type.scalar;
            Expr* old = element ? b.load(reduction.var, own()) : b.var(reduction.var);
            Var* held = b.scalar(reduction.var->name + "_part", type);
            hold(module_, loop.body, reduction, held);
            before.push_back(
                b.assign(held, last ? identity(b, reduction.op, type) : b.convert(old, type)));
            Expr* made =
                last ? b.updated(old, reduction.op, b.var(held)) : b.convert(b.var(held), own_type);
            if (element) {
                after.push_back(b.store(reduction.var, own(), made));
            } else {
                after.push_back(b.assign(reduction.var, made));
            }
            kept.push_back({reduction.op, held, {}});
        }
        loop.mapping.reductions = std::move(kept);
        before.push_back(&loop);
        before.insert(before.end(), after.begin(), after.end());
        Expr* any = after.empty() ? nullptr : has_iterations(b, loop);
        if (any == nullptr) {
            out.insert(out.end(), before.begin(), before.end());
        } else {  // a loop without iterations must not access the element, which may not exist
            out.push_back(b.if_(any, std::move(before)));
        }
    }

    // ------------------------------------------------------------ updates

    // Makes updates plain assignments; subscripts that call functions are evaluated once.
    void make_plain(Stmt& stmt, Body& out) {
        Builder b(module_, stmt.span);
        if (auto* assign = stmt.as<Assign>(); assign != nullptr && assign->update) {
            assign->value = b.updated(b.var(assign->var), *assign->update, assign->value);
            assign->update.reset();
        } else if (auto* store = stmt.as<Store>();
                   store != nullptr && store->update && !store->atomic) {
            std::vector<Expr*> indices;
            for (Expr*& index : store->indices) {
                if (uses_of(*index).calls) {
                    Var* once = b.scalar("index", index->type.scalar);
                    out.push_back(b.assign(once, index));
                    index = b.var(once);
                }
                indices.push_back(clone(module_, index));
            }
            store->value = b.updated(b.load(store->array, indices), *store->update, store->value);
            store->update.reset();
        }
    }

    Module& module_;
    const bool settled_;
    std::unordered_set<const Var*> starts_neutral_;
};

}  // namespace

void legalize_cpu(PassContext& context) {
    Legalizer(context.module, context.options.deterministic).run();
}

}  // namespace parpy
