// See split_kernels.h. Distributing a parallel loop over the statements in its body is always legal
// for arrays, since its iterations are independent. A scalar that is defined in one piece and read
// in another is defined again there (if its value has no side effects, and its operands do not
// change in the loop) or passed on in memory, an element for each iteration. Statements that a
// kernel can run before and after its loop over several blocks stay there (kernel_stages). If the
// host does not know the number of iterations, the inner loops are confined to one block, in which
// barriers order the pieces; this is reported as lost parallelism.
//
// A Gpu block counts as a loop of one iteration. Its pieces are launched one by one, and the host
// runs sequential loops and branches around parallel loops if it can evaluate their control; their
// scalars are passed from kernel to kernel in device memory (outline_kernels).
#include "passes/cuda/kernels/split_kernels.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/cuda/kernels/iteration_memory.h"
#include "passes/cuda/kernels/kernel_stages.h"

namespace parpy {

using namespace ir;

namespace {

For* spreading_loop(Stmt* stmt) {
    auto* loop = stmt->as<For>();
    return loop != nullptr && spreads(*loop) ? loop : nullptr;
}

int count_writes(const Body& body, const Var* var) {
    int writes = 0;
    for_each_stmt(body, [&](const Stmt& stmt) {
        if (const auto* assign = stmt.as<Assign>()) writes += assign->var == var;
        if (const auto* loop = stmt.as<For>()) writes += loop->var == var;
    });
    return writes;
}

// The statements at the top of a loop body that define a scalar once and may be repeated anywhere
// later in the body, with the same result.
class Definitions {
public:
    explicit Definitions(const Body& body) {
        const Uses uses = uses_of(body);
        VarSet changed = uses.written;  // less the definitions found so far
        for (Stmt* stmt : body) {
            auto* assign = stmt->as<Assign>();
            if (assign == nullptr || assign->update || count_writes(body, assign->var) != 1)
                continue;
            const Uses value = uses_of(*assign->value);
            const bool repeatable =
                !value.calls && value.stored.empty() &&
                std::none_of(value.read.begin(), value.read.end(),
                             [&](const Var* v) { return changed.contains(v); }) &&
                std::none_of(value.loaded.begin(), value.loaded.end(),
                             [&](const Var* a) { return uses.may_store(*a); });
            if (!repeatable) continue;
            changed.erase(assign->var);
            list_.push_back(assign);
        }
    }

    [[nodiscard]] bool contains(const Stmt* stmt) const {
        return std::find(list_.begin(), list_.end(), stmt) != list_.end();
    }
    [[nodiscard]] bool define(const Var* var) const {
        return std::any_of(list_.begin(), list_.end(),
                           [&](const Assign* a) { return a->var == var; });
    }

    // Copies of the definitions that `body` needs, in order.
    [[nodiscard]] Body needed_by(Module& module, const Body& body) const {
        VarSet wanted = exposed_reads(body);
        Body result;
        for (auto it = list_.rbegin(); it != list_.rend(); ++it) {
            if (!wanted.contains((*it)->var)) continue;
            wanted.insert(uses_of(*(*it)->value).read);
            result.insert(result.begin(), clone(module, static_cast<const Stmt*>(*it)));
        }
        return result;
    }

private:
    std::vector<Assign*> list_;
};

class Splitter {
public:
    explicit Splitter(PassContext& context)
        : context_(context),
          module_(context.module),
          written_(uses_of(context.module.entry_function()->body).written),
          memory_(context.module) {}

    void run() {
        Body& entry = module_.entry_function()->body;
        host(entry);
        entry.insert(entry.begin(), memory_.made().begin(), memory_.made().end());
    }

private:
    // Host code: every parallel loop and Gpu block in it becomes one or more kernels.
    void host(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr && loop->mapping.parallel()) {
                append(out, root(*loop));
            } else if (auto* block = stmt->as<Gpu>()) {
                append(out, gpu(*block));
            } else {
                for_each_body(*stmt, [&](Body& inner) { host(inner); });
                out.push_back(stmt);
            }
        }
        body = std::move(out);
    }

    static void append(Body& out, const Body& more) {
        out.insert(out.end(), more.begin(), more.end());
    }

    Body root(For& loop) {
        if (loop.mapping.level == Level::kThreads) return {&loop};
        if (spreads(loop)) return split(loop);
        auto* block = module_.make<Gpu>(loop.span);
        block->body = {&loop};
        return gpu(*block);
    }

    // ------------------------------------------------------------ parallel loops

    // Splits a loop over blocks into one or more such loops, each with a chain of loops in it.
    Body split(For& loop) {
        if (loop.mapping.level == Level::kThreads) return {&loop};
        Body stmts;
        for (Stmt* stmt : loop.body) {
            if (For* inner = spreading_loop(stmt)) {
                around_.push_back(&loop);
                append(stmts, split(*inner));
                around_.pop_back();
            } else {
                if (contains_spreading(*stmt))
                    give_up(*stmt, loop, "there is control flow between the loops");
                single_block(*stmt);
                stmts.push_back(stmt);
            }
        }
        loop.body = std::move(stmts);
        const auto spreading = std::count_if(loop.body.begin(), loop.body.end(), spreading_loop);
        if (spreading == 0) return {&loop};

        const Definitions definitions(loop.body);
        const std::vector<Body> pieces = pieces_of(loop.body, definitions);
        if (!countable(loop) && reduces_in_groups(loop)) {
            return give_up_inside(loop,
                                  "the blocks of a reduction need memory for each iteration of '" +
                                      loop.var->shown() + "', whose number the host does not know");
        }
        const auto ends_early = [](const Body& piece) {
            return std::ranges::any_of(piece, [](const Stmt* stmt) { return leaves_loop(*stmt); });
        };
        if (!pieces.empty() && std::any_of(pieces.begin(), pieces.end() - 1, ends_early)) {
            return give_up_inside(
                loop, "a 'continue' or 'break' may end the iteration between its parts");
        }
        std::vector<const For*> loops = around_;
        loops.push_back(&loop);
        const std::vector<KernelStage> stages = kernel_stages(pieces, loops);
        std::vector<Body> bodies;
        for (const KernelStage& stage : stages)
            bodies.push_back(stage.body());
        if (const Var* array = array_between(bodies))
            return give_up_inside(loop, "'" + array->shown() + "' is made before and used after");
        const VarSet tied = scalars_between(bodies, definitions, loop);
        if (!tied.empty() &&
            !std::ranges::all_of(loops, [&](const For* l) { return countable(*l); }))
            return give_up_inside(
                loop, "'" + (*tied.begin())->shown() + "' is computed before and read after");
        for (Var* scalar : tied)
            pass_on(*scalar, bodies, loops);
        if (bodies.size() == 1) {
            Body chain = definitions.needed_by(module_, bodies[0]);
            append(chain, bodies[0]);
            loop.body = std::move(chain);
            return {&loop};
        }
        Body result;
        for (Body& body : bodies)
            result.push_back(distributed(loop, std::move(body), definitions));
        return result;
    }

    // A spreading loop is a piece of its own, and so are the statements between two of them.
    // Definitions belong to no piece.
    static std::vector<Body> pieces_of(const Body& body, const Definitions& definitions) {
        std::vector<Body> pieces;
        bool open = false;
        for (Stmt* stmt : body) {
            if (definitions.contains(stmt)) continue;
            const bool alone = spreading_loop(stmt) != nullptr;
            if (!open || alone) pieces.emplace_back();
            pieces.back().push_back(stmt);
            open = !alone;
        }
        return pieces;
    }

    // An array that one kernel allocates and another one uses.
    static const Var* array_between(const std::vector<Body>& bodies) {
        std::vector<Uses> uses;
        for (const Body& body : bodies)
            uses.push_back(uses_of(body));
        for (const Uses& makes : uses) {
            for (const Var* array : makes.allocated) {
                const auto used = [&](const Uses& other) {
                    return &other != &makes && other.touches(array);
                };
                if (std::ranges::any_of(uses, used)) return array;
            }
        }
        return nullptr;
    }

    // Scalars that one kernel computes and a later one needs, and that the later one cannot compute
    // again.
    static VarSet scalars_between(const std::vector<Body>& bodies, const Definitions& definitions,
                                  const For& loop) {
        VarSet written, tied;
        for (const Body& body : bodies) {
            for (Var* scalar : exposed_reads(body)) {
                const bool own = definitions.define(scalar) || reduces(loop, scalar);
                if (written.contains(scalar) && !own) tied.insert(scalar);
            }
            written.insert(uses_of(body).written);
        }
        return tied;
    }

    // Each kernel that needs the scalar loads it from memory, and each that changes it for a later
    // one stores it.
    void pass_on(Var& scalar, std::vector<Body>& bodies, const std::vector<const For*>& loops) {
        std::size_t last = 0;  // the last kernel that needs it
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (exposed_reads(bodies[i]).contains(&scalar)) last = i;
        }
        bool known = false;
        for (std::size_t i = 0; i <= last; ++i) {
            VarSet later;
            if (i < last) later.insert(&scalar);
            const bool writes = uses_of(bodies[i]).written.contains(&scalar);
            const bool needs =
                exposed_reads(bodies[i], writes ? later : VarSet{}).contains(&scalar);
            if (known && needs) bodies[i].insert(bodies[i].begin(), memory_.fetch(&scalar, loops));
            if (writes && i < last) bodies[i].push_back(memory_.keep(&scalar, loops));
            known = known || writes;
        }
    }

    // Whether loops below reduce over several blocks, separately for each iteration of `loop`.
    static bool reduces_in_groups(const For& loop) {
        return any_stmt(loop.body, [&](const Stmt& stmt) {
            const auto* inner = stmt.as<For>();
            return inner != nullptr && spreads(*inner) &&
                   !std::ranges::all_of(inner->mapping.reductions,
                                        [&](const Reduction& r) { return reduces(loop, r.var); });
        });
    }

    // Whether the host can compute the trip count before it launches anything.
    bool countable(const For& loop) const {
        const Function& entry = *module_.entry_function();
        const auto known = [&](const Expr& bound) {
            const Uses uses = uses_of(bound);
            return !uses.calls && uses.loaded.empty() &&
                   std::all_of(uses.read.begin(), uses.read.end(), [&](Var* v) {
                       return std::find(entry.params.begin(), entry.params.end(), v) !=
                                  entry.params.end() &&
                              !written_.contains(v);
                   });
        };
        return known(*loop.begin) && known(*loop.end) && known(*loop.step);
    }

    For* distributed(const For& loop, Body piece, const Definitions& definitions) {
        auto* copy = module_.make<For>(loop.span);
        copy->labels = loop.labels;
        copy->var = loop.var;
        copy->begin = clone(module_, loop.begin);
        copy->end = clone(module_, loop.end);
        copy->step = clone(module_, loop.step);
        copy->mapping = loop.mapping;
        const Uses uses = uses_of(piece);
        auto& reductions = copy->mapping.reductions;
        std::erase_if(reductions, [&](const Reduction& r) {
            return !uses.written.contains(r.var) && !uses.stored.contains(r.var);
        });
        for (Reduction& r : reductions) {
            for (Expr*& index : r.indices)
                index = clone(module_, index);
        }
        copy->mapping.reduce = !reductions.empty();
        bool parallel_inside = contains_spread_call(piece);
        for_each_stmt(piece, [&](const Stmt& stmt) {
            const auto* inner = stmt.as<For>();
            parallel_inside = parallel_inside || (inner != nullptr && inner->mapping.parallel());
        });
        if (!parallel_inside) {
            map_to_threads(copy->mapping, loop.mapping.threads, kMaxThreadsPerBlock);
        }
        copy->body = definitions.needed_by(module_, piece);
        append(copy->body, piece);
        return copy;
    }

    // Loops over a single block are sequential loops of that block.
    static void single_block(Stmt& stmt) {
        for_each_stmt(stmt, [](Stmt& inner) {
            auto* loop = inner.as<For>();
            if (loop != nullptr && loop->mapping.level == Level::kBlocks && !spreads(*loop)) {
                loop->mapping = LoopMapping{};
            }
        });
    }

    Body give_up_inside(For& loop, const std::string& why) {
        for (Stmt* stmt : loop.body) {
            if (contains_spreading(*stmt)) give_up(*stmt, loop, why);
        }
        return {&loop};
    }

    void give_up(Stmt& stmt, const Stmt& around, const std::string& why) {
        const auto* outer = around.as<For>();
        for_each_stmt(stmt, [&](const Stmt& inner) {
            const auto* loop = inner.as<For>();
            if (loop == nullptr || !spreads(*loop)) return;
            context_.diagnostics
                .performance(
                    Code::kP313, loop->span,
                    "loop '" + loop->var->shown() + "' runs in one thread block" +
                        (outer != nullptr ? " per iteration of '" + outer->var->shown() + "'"
                                          : std::string()) +
                        ": " + why)
                .help =
                "map it to at most 1024 threads, or store what its parts exchange to arrays";
        });
        Body body = {&stmt};
        confine(body);
    }

    // ------------------------------------------------------------ Gpu blocks

    Body gpu(Gpu& block) {
        if (!contains_spreading(block.body)) {
            for (Stmt* stmt : block.body)
                single_block(*stmt);
            return {&block};
        }
        const Uses uses = uses_of(block.body);
        on_device_ = uses.written;
        Body out;
        distribute_gpu(block.body, block, out);
        return out;
    }

    void distribute_gpu(const Body& body, const Gpu& block, Body& out) {
        Body run;
        for (Stmt* stmt : body) {
            if (For* loop = spreading_loop(stmt)) {
                flush(run, block, out);
                append(out, split(*loop));
            } else if (contains_spreading(*stmt) && can_move_to_host(*stmt)) {
                flush(run, block, out);
                if (auto* sequential = stmt->as<For>()) {
                    sequential->mapping = LoopMapping{};
                    on_device_.erase(sequential->var);
                }
                for_each_body(*stmt, [&](Body& inner) {
                    Body host_body;
                    distribute_gpu(inner, block, host_body);
                    inner = std::move(host_body);
                });
                out.push_back(stmt);
            } else {
                if (contains_spreading(*stmt)) {
                    give_up(*stmt, block, "the GPU computes whether or how often it runs");
                }
                single_block(*stmt);
                run.push_back(stmt);
            }
        }
        flush(run, block, out);
    }

    // A sequence of statements that need no kernel boundary between them. Plain scalar code stays
    // on the host.
    void flush(Body& run, const Gpu& block, Body& out) {
        if (run.empty()) return;
        const bool host = std::all_of(run.begin(), run.end(), [&](const Stmt* stmt) {
            const auto* assign = stmt->as<Assign>();
            return assign != nullptr && !assign->update && on_host(*assign->value);
        });
        if (host) {
            append(out, run);
        } else {
            auto* piece = module_.make<Gpu>(block.span);
            piece->body = run;
            out.push_back(piece);
        }
        run.clear();
    }

    bool on_host(const Expr& expr) const {
        const Uses uses = uses_of(expr);
        return !uses.calls && uses.loaded.empty() && uses.stored.empty() &&
               std::none_of(uses.read.begin(), uses.read.end(),
                            [&](const Var* v) { return on_device_.contains(v); });
    }

    bool can_move_to_host(const Stmt& stmt) const {
        bool evaluable = true;
        for_each_slot(stmt, [&](const Expr* e) { evaluable = evaluable && on_host(*e); });
        bool left = false;  // by a break or continue, including those of this loop
        for_each_body(stmt, [&](const Body& body) {
            left = left || std::any_of(body.begin(), body.end(),
                                       [](const Stmt* inner) { return leaves_loop(*inner); });
        });
        return evaluable && !left;
    }

    PassContext& context_;
    Module& module_;
    const VarSet written_;  // scalars that the entry assigns
    std::vector<const For*>
        around_;  // of the loop that is split: those over blocks, outermost first
    IterationMemory memory_;
    VarSet on_device_;  // scalars that the current Gpu block computes
};

}  // namespace

void split_kernels(PassContext& context) {
    Splitter(context).run();
}

}  // namespace parpy
