// See map_loops.h. Requests are bound to loops first, in the same way for every target; then the
// levels are laid out for the target. On CUDA the innermost parallel loops are threads and those
// around them blocks; on the CPU the outermost ones are workers and the innermost of the rest SIMD
// lanes.
#include "passes/mapped/map_loops.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/accumulations.h"
#include "analysis/geometry.h"
#include "analysis/host_calls.h"
#include "analysis/pragmas.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "passes/cuda/host/gpu_blocks.h"
#include "passes/cuda/host/scalar_blocks.h"
#include "passes/mapped/fills.h"
#include "passes/types/function_names.h"

namespace parpy {

using namespace ir;

namespace {

bool is_parallel(const Stmt& stmt) {
    const auto* loop = stmt.as<For>();
    return loop != nullptr && loop->mapping.parallel();
}

// ---------------------------------------------------------------- binding requests to loops

class RequestBinder {
public:
    explicit RequestBinder(PassContext& context)
        : context_(context), places_(place_names(*context.module.entry_function())) {}

    void run() {
        for (const auto& [label, request] : context_.options.mapping)
            check(label, request);
        for (Function* function : context_.module.functions) {
            for_each_stmt(function->body, [&](Stmt& stmt) { bind(*function, stmt); });
        }
        check_places();
    }

private:
    void check(const std::string& label, const LoopPar& request) {
        const Span at = context_.module.entry_function()->span;
        if (request.threads < 0 || request.threads > kMaxGridX * kMaxThreadsPerBlock) {
            context_.diagnostics
                .error(Code::kP304, at,
                       "label '" + label + "' is mapped to " + std::to_string(request.threads) +
                           " threads")
                .help = request.threads < 0
                            ? "ask for at least one thread, or leave the label out of the mapping "
                              "to run the loop sequentially"
                            : "a kernel has at most " +
                                  std::to_string(kMaxGridX * kMaxThreadsPerBlock) +
                                  " threads: map the loop to fewer, each of which then runs "
                                  "several iterations";
        }
        const std::int64_t tpb = request.threads_per_block;
        if (tpb < 1 || tpb > kMaxThreadsPerBlock) {
            context_.diagnostics
                .error(
                    Code::kP304, at,
                    "label '" + label + "' asks for " + std::to_string(tpb) + " threads per block")
                .help = "a block has from 1 to 1024 threads, in multiples of 32";
        }
    }

    void bind(const Function& function, Stmt& stmt) {
        std::vector<std::string> names = stmt.labels;
        const auto place = places_.find(stmt.as<For>());
        if (place != places_.end()) names.push_back(place->second);
        for (const std::string& label : names) {
            const auto found = context_.options.mapping.find(label);
            if (found == context_.options.mapping.end()) continue;
            const LoopPar& request = found->second;
            if (!asks(request)) continue;
            auto* loop = stmt.as<For>();
            if (loop == nullptr) {
                context_.diagnostics
                    .error(Code::kP302, stmt.span,
                           "label '" + label +
                               "' is mapped, but the statement after it is not a `for` loop")
                    .help = "move `parpy.label('" + label + "')` before a loop";
            } else if (&function != context_.module.entry_function()) {
                report_helper(function, stmt, "label '" + label + "'");
            } else {
                merge(*loop, label, request);
            }
        }
    }

    static bool asks(const LoopPar& request) { return request.threads != 0 || request.reduce; }

    // Reports places of loops in helpers whose calls were not inlined.
    void check_places() {
        std::unordered_set<std::string> bound;
        for (const auto& [loop, place] : places_)
            bound.insert(place_of(*loop));
        for (const Function* function : context_.module.functions) {
            for_each_stmt(function->body, [&](const Stmt& stmt) {
                const auto* loop = stmt.as<For>();
                if (loop == nullptr || !bound.insert(place_of(*loop)).second) return;
                const auto named = std::ranges::find_if(context_.options.mapping, [&](auto& each) {
                    return asks(each.second) && place_named(each.first) == place_of(*loop);
                });
                if (named != context_.options.mapping.end())
                    report_helper(*function, stmt, "'" + named->first + "'");
            });
        }
    }

    void report_helper(const Function& function, const Stmt& stmt, const std::string& what) {
        const Function& entry = *context_.module.entry_function();
        const std::string& name = shown_name(context_.module, function);
        const bool is_copy = function.name != name;
        context_.diagnostics
            .error(
                Code::kP305, stmt.span,
                what + " is mapped, but its loop is in " +
                    (is_copy ? "'" + name + "', which calls itself" : "the helper '" + name + "'"))
            .help = is_copy
                        ? "map a loop of a function that calls '" + name + "'"
                        : "map a loop of '" + entry.name + "', or write the helper's loop there";
    }

    // Several labels may name one loop; a request without a value for a field agrees with any.
    void merge(For& loop, const std::string& label, const LoopPar& request) {
        LoopMapping& mapping = loop.mapping;
        const bool conflict =
            (mapping.threads != 0 && request.threads != 0 && mapping.threads != request.threads) ||
            (mapping.threads_per_block != LoopPar::kDefaultThreadsPerBlock &&
             request.threads_per_block != LoopPar::kDefaultThreadsPerBlock &&
             mapping.threads_per_block != request.threads_per_block);
        if (conflict) {
            context_.diagnostics
                .error(Code::kP303, loop.span,
                       "the labels of loop '" + loop.var->shown() + "' are mapped differently: '" +
                           label + "' asks for " + std::to_string(request.threads) + " threads (" +
                           std::to_string(request.threads_per_block) +
                           " per block), another label for " + std::to_string(mapping.threads) +
                           " (" + std::to_string(mapping.threads_per_block) + " per block)")
                .help = "map one of the loop's labels, or map them alike";
            return;
        }
        if (request.threads != 0) mapping.threads = request.threads;
        if (request.threads_per_block != LoopPar::kDefaultThreadsPerBlock) {
            mapping.threads_per_block = request.threads_per_block;
        }
        const bool reduces = accumulates(loop) || accumulates_in_order(loop);
        if (request.reduce && !mapping.reduce && !reduces) report_no_reduction(loop);
        mapping.reduce = mapping.reduce || request.reduce;
    }

    void report_no_reduction(const For& loop) {
        context_.diagnostics
            .error(Code::kP309, loop.span,
                   "loop '" + loop.var->shown() + "' is mapped with reduce() but reduces nothing")
            .help =
            "a reduction updates one scalar or element in every iteration, as `s += x[i]` "
            "or `m = max(m, x[i])` do, and uses it for nothing else; leave out reduce()";
    }

    PassContext& context_;
    const std::unordered_map<const For*, std::string> places_;
};

// ---------------------------------------------------------------- loops that run in order

// Under `deterministic` a loop whose iterations accumulate floats runs in order, whatever its
// mapping; loops around it and inside of it keep theirs.
std::unordered_set<const For*> put_in_order(Body& body) {
    std::unordered_set<const For*> found;
    for_each_stmt(body, [&](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop == nullptr || !loop->mapping.parallel() || !accumulates_in_order(*loop)) return;
        loop->mapping = {};
        found.insert(loop);
    });
    return found;
}

// On a GPU the loops that `put_in_order` removes from a mapping must still run on the device.
void keep_on_gpu(Module& module, Body& body, const std::unordered_set<const For*>& in_order) {
    Body out;
    for (Stmt* stmt : body) {
        if (is_parallel(*stmt) || stmt->kind == StmtKind::kGpu) {
            out.push_back(stmt);
        } else if (in_order.contains(stmt->as<For>())) {
            Body alone = {stmt};
            put_arrays_on_gpu(module, alone);
            out.insert(out.end(), alone.begin(), alone.end());
        } else {
            for_each_body(*stmt, [&](Body& inner) { keep_on_gpu(module, inner, in_order); });
            out.push_back(stmt);
        }
    }
    body = std::move(out);
}

// ---------------------------------------------------------------- rules of every target

// Reports control flow that leaves a parallel loop or a Gpu block from inside.
class ExitCheck {
public:
    explicit ExitCheck(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    // `leaves_break`, `leaves_continue`: such a statement here would leave `region`.
    void body(const Body& stmts, const Stmt* region, bool leaves_break, bool leaves_continue) {
        for (const Stmt* s : stmts) {
            if (s->kind == StmtKind::kReturn && region != nullptr) {
                report(*s, "`return`", *region);
            } else if (s->kind == StmtKind::kBreak && leaves_break) {
                report(*s, "`break`", *region);
            } else if (s->kind == StmtKind::kContinue && leaves_continue) {
                report(*s, "`continue`", *region);
            } else if (is_parallel(*s)) {
                body(s->as<For>()->body, s, true, false);
            } else if (const auto* gpu = s->as<Gpu>();
                       gpu != nullptr && region == nullptr && !gpu->by_hand()) {
                body(gpu->body, s, true, true);
            } else {
                const bool loop = s->kind == StmtKind::kFor || s->kind == StmtKind::kWhile;
                for_each_body(*s, [&](const Body& inner) {
                    body(inner, region, leaves_break && !loop, leaves_continue && !loop);
                });
            }
        }
    }

private:
    void report(const Stmt& exit, const std::string& what, const Stmt& region) {
        const auto* loop = region.as<For>();
        const std::string where =
            loop != nullptr ? "the parallel loop '" + loop->var->shown() + "'" : "`with parpy.gpu`";
        auto& error = diagnostics_.error(Code::kP308, exit.span, what + " cannot leave " + where);
        error.notes.push_back({region.span, "entered here"});
        error.help = loop == nullptr ? "put the statement after the block"
                     : pragma_of(*loop).spreads()
                         ? "remove the pragma to run the loop sequentially"
                         : "leave the loop out of the mapping to run it sequentially";
    }

    Diagnostics& diagnostics_;
};

const For* asks_for_blocks(const Stmt& stmt) {
    if (!is_parallel(stmt)) return nullptr;
    const auto* loop = stmt.as<For>();
    const bool asks = loop->mapping.threads_per_block != LoopPar::kDefaultThreadsPerBlock;
    return asks ? loop : nullptr;
}

// The loops of a nest that set threads per block must set the same number, even on targets without
// blocks, so that a mapping is valid on every target or on none.
void check_blocks(Diagnostics& diagnostics, const Body& body) {
    for (const Stmt* root : body) {
        if (!is_parallel(*root) && root->kind != StmtKind::kGpu) {
            for_each_body(*root, [&](const Body& inner) { check_blocks(diagnostics, inner); });
            continue;
        }
        const For* first = nullptr;
        for_each_stmt(*root, [&](const Stmt& stmt) {
            const For* loop = asks_for_blocks(stmt);
            if (first == nullptr) first = loop;
            if (loop == nullptr ||
                loop->mapping.threads_per_block == first->mapping.threads_per_block) {
                return;
            }
            auto& error = diagnostics.error(Code::kP303, loop->span,
                                            "loop '" + loop->var->shown() + "' asks for " +
                                                std::to_string(loop->mapping.threads_per_block) +
                                                " threads per block and loop '" +
                                                first->var->shown() + "' of the same nest for " +
                                                std::to_string(first->mapping.threads_per_block));
            error.notes.push_back({first->span, "the other request"});
            error.help = "give one of them, or the same number to both";
        });
    }
}

void check_host_calls(Diagnostics& diagnostics, const Function& entry) {
    for_each_stmt(entry.body, [&](const Stmt& stmt) {
        const auto* gpu = stmt.as<Gpu>();
        const Expr* inside = gpu == nullptr ? nullptr : host_call(gpu->body);
        if (inside != nullptr) {
            diagnostics
                .error(Code::kP029, inside->span,
                       "'" + inside->callee->name +
                           "' is a function of the host, which code on the GPU cannot call")
                .help = "call it outside of loops that are mapped and of `with parpy.gpu:`";
        }
        const auto* loop = stmt.as<For>();
        const Expr* call = is_parallel(stmt) ? host_call(loop->body) : nullptr;
        if (call == nullptr) return;
        auto& error = diagnostics.error(Code::kP029, call->span,
                                        "'" + call->callee->name +
                                            "' is a function of the host, which loop '" +
                                            loop->var->shown() + "' calls in parallel");
        error.notes.push_back({loop->span, "mapped here"});
        error.help =
            call->callee->target == kCudaHost
                ? "call it outside of the loop, or declare a function of the GPU, Target.Device"
                : "declare it with parpy.Target.Device, if several threads may call it at once";
    });
}

void dissolve_gpu(Body& body) {
    rewrite_stmts(body, [](Stmt* stmt, Body& out) {
        if (auto* gpu = stmt->as<Gpu>()) {
            out.insert(out.end(), gpu->body.begin(), gpu->body.end());
        } else {
            out.push_back(stmt);
        }
    });
}

// The callers of helpers are on the device already.
void dissolve_gpu_in_helpers(Module& module) {
    for (Function* function : module.functions) {
        if (function != module.entry_function()) dissolve_gpu(function->body);
    }
}

// ---------------------------------------------------------------- CPU

class CpuLevels {
public:
    // `keep_all`: parallel loops that the machine runs sequentially stay marked as parallel.
    explicit CpuLevels(bool keep_all) : keep_all_(keep_all) {}

    void body(Body& stmts, bool inside_workers) const {
        for (Stmt* s : stmts) {
            if (is_parallel(*s)) {
                auto* loop = s->as<For>();
                if (!inside_workers && loop->mapping.threads != 1) {
                    loop->mapping.level = Level::kWorkers;
                } else if (!any_stmt(loop->body, is_parallel) && !makes_arrays(loop->body)) {
                    loop->mapping.level = Level::kVector;
                } else if (!keep_all_) {
                    loop->mapping.threads = 0;
                }
                body(loop->body, true);
            } else {
                for_each_body(*s, [&](Body& inner) { body(inner, inside_workers); });
            }
        }
    }

private:
    // The lanes of a vector share one stack.
    static bool makes_arrays(const Body& stmts) {
        return any_stmt(stmts, [](const Stmt& s) { return s.kind == StmtKind::kAlloc; });
    }

    bool keep_all_;
};

// ---------------------------------------------------------------- CUDA

class CudaLevels {
public:
    explicit CudaLevels(PassContext& context) : context_(context) {}

    void host_body(Body& stmts) {
        for (Stmt* s : stmts) {
            if (is_parallel(*s)) {
                dissolve_gpu(s->as<For>()->body);
                nest(*s);
            } else if (auto* gpu = s->as<Gpu>()) {
                dissolve_gpu(gpu->body);
                nest(*gpu);
            } else {
                check_host(*s);
                for_each_body(*s, [&](Body& inner) { host_body(inner); });
            }
        }
    }

private:
    // Maps a root parallel loop or Gpu block and everything inside of it.
    void nest(Stmt& root) {
        std::int64_t tpb = LoopPar::kDefaultThreadsPerBlock;
        for_each_stmt(root, [&](const Stmt& stmt) {
            if (const For* loop = asks_for_blocks(stmt)) tpb = loop->mapping.threads_per_block;
        });
        for_each_stmt(root, [&](Stmt& stmt) {
            if (is_parallel(stmt)) level(*stmt.as<For>(), tpb);
        });
    }

    void level(For& loop, std::int64_t tpb) {
        LoopMapping& mapping = loop.mapping;
        if (any_stmt(loop.body, is_parallel) || contains_spread_call(loop.body)) {
            mapping.level = Level::kBlocks;
            mapping.threads_per_block = tpb;  // pack_warps reads the limit of the block size
            if (mapping.threads > kMaxGridX) too_large(loop, mapping.threads);
            return;
        }
        map_to_threads(mapping, mapping.threads, tpb);
        if (mapping.threads > kMaxGridX) too_large(loop, mapping.threads);
    }

    void too_large(const For& loop, std::int64_t threads) {
        context_.diagnostics
            .error(Code::kP312, loop.span,
                   "loop '" + loop.var->shown() + "' is mapped to " + std::to_string(threads) +
                       " threads, more than one kernel can have (" + std::to_string(kMaxGridX) +
                       ")")
            .help = "map it to fewer threads: each then runs several iterations";
    }

    // Host code may compute with scalars, read extents and call functions that need no array.
    void check_host(const Stmt& stmt) {
        const Var* array = nullptr;
        Span span = stmt.span;
        if (const auto* store = stmt.as<Store>()) array = store->array;
        for_each_slot(stmt, [&](const Expr* slot) {
            if (stmt.kind == StmtKind::kReturn && slot->op == Op::kArray) return;
            std::unordered_set<const Expr*> passed;
            for_each_expr(*slot, [&](const Expr& e) {
                if (e.op != Op::kCall || !is_of_host(*e.callee)) return;
                passed.insert(e.operands.begin(), e.operands.end());
            });
            for_each_expr(*slot, [&](const Expr& e) {
                if (array != nullptr || (e.op == Op::kArray && passed.contains(&e))) return;
                if (e.op == Op::kLoad || e.op == Op::kArray || e.op == Op::kAtomic) {
                    array = e.var;
                    span = e.span.valid() ? e.span : stmt.span;
                }
            });
        });
        if (array == nullptr) return;
        std::vector<Note> notes;  // labels of the mapping that no loop has
        for (const Diagnostic& other : context_.diagnostics.all()) {
            if (other.code == Code::kP301) notes.push_back({other.span, other.message});
        }
        Diagnostic& error = context_.diagnostics.error(
            Code::kP306, span,
            "the array '" + array->name +
                "' is used outside parallel loops, in code that runs on the host");
        error.notes = std::move(notes);
        error.help =
            "put the statement into `with parpy.gpu:` to run it on the GPU, or map a loop "
            "around it";
    }

    PassContext& context_;
};

bool gets_arrays_of_host(const Expr& call) {
    return is_of_host(*call.callee) && std::ranges::any_of(call.callee->params, [](const Var* p) {
               return p->type.is_array();
           });
}

// One thread of the block may run the stores of a helper, and then the other threads are missing.
void check_helpers(PassContext& context) {
    const Function& entry = *context.module.entry_function();
    for (const Function* function : context.module.functions) {
        if (function == &entry) continue;
        for_each_expr(function->body, [&](const Expr& e) {
            if (e.op == Op::kCall && gets_arrays_of_host(e)) {
                context.diagnostics
                    .error(Code::kP029, e.span,
                           "'" + e.callee->name +
                               "' is a function of the host that gets arrays, but "
                               "it is called in the helper '" +
                               function->name + "'")
                    .help = "call it in '" + entry.name +
                            "', or make the helper part of it with parpy.builtin.inline";
            }
            if (!is_spread(e)) return;
            context.diagnostics
                .error(Code::kP029, e.span,
                       "'" + e.callee->name + "' is called by " +
                           std::to_string(e.callee->threads) + " threads, but is in the helper '" +
                           function->name + "'")
                .help = "call it in '" + entry.name +
                        "', or make the helper part of it with "
                        "parpy.builtin.inline";
        });
    }
}

// An empty mapping makes the whole function sequential code on the GPU. A return at the end stays
// outside, as the host passes the result to the caller.
void wrap_in_gpu(Module& module, Function& entry) {
    Stmt* last = entry.body.empty() ? nullptr : entry.body.back();
    if (last != nullptr && last->kind == StmtKind::kReturn) {
        entry.body.pop_back();
    } else {
        last = nullptr;
    }
    if (entry.body.empty()) {
        if (last != nullptr) entry.body.push_back(last);
        return;
    }
    auto* gpu = module.make<Gpu>(entry.span);
    // The host allocates scratch memory; lower_slices puts it before all other statements.
    const auto alloc = std::find_if(entry.body.rbegin(), entry.body.rend(),
                                    [](const Stmt* s) { return s->kind == StmtKind::kAlloc; });
    gpu->body.assign(alloc.base(), entry.body.end());
    entry.body.erase(alloc.base(), entry.body.end());
    entry.body.push_back(gpu);
    if (last != nullptr) entry.body.push_back(last);
}

bool loops_without_gpu(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kGpu) return false;  // as the user wrote it
        bool found = stmt->kind == StmtKind::kFor;
        for_each_body(*stmt, [&](const Body& inner) { found = found || loops_without_gpu(inner); });
        return found;
    });
}

void note_empty_mapping(PassContext& context, const Function& entry) {
    const auto loops = [](const Function* f) { return loops_without_gpu(f->body); };
    if (!std::ranges::any_of(context.module.functions, loops)) return;
    context.diagnostics
        .performance(
            Code::kP316, entry.span,
            "the mapping is empty: all of '" + entry.name + "' runs on one thread of the GPU")
        .help = "map its loops, or let parpy.auto() map them";
}

}  // namespace

void map_cpu_loops(PassContext& context) {
    Function& entry = *context.module.entry_function();
    RequestBinder(context).run();
    if (context.options.deterministic) (void)put_in_order(entry.body);
    ExitCheck(context.diagnostics).body(entry.body, nullptr, false, false);
    check_blocks(context.diagnostics, entry.body);
    check_host_calls(context.diagnostics, entry);
    if (context.diagnostics.has_errors()) return;
    dissolve_gpu(entry.body);
    dissolve_gpu_in_helpers(context.module);
    CpuLevels(context.options.checks_races()).body(entry.body, false);
}

void map_cuda_loops(PassContext& context) {
    Function& entry = *context.module.entry_function();
    RequestBinder(context).run();
    const bool is_mapped = !context.options.mapping.empty() || any_stmt(entry.body, is_parallel);
    if (!is_mapped && !is_by_hand(entry)) {
        const bool calls_host = host_call(entry.body) != nullptr;
        if (!context.options.automatic && !calls_host) note_empty_mapping(context, entry);
        if (calls_host ||
            std::ranges::any_of(entry.body, [](const Stmt* s) { return returns_arrays(*s); })) {
            put_arrays_on_gpu(context.module);
        } else {
            wrap_in_gpu(context.module, entry);
        }
    }
    if (is_mapped) map_fills(entry.body);
    if (context.options.deterministic)
        keep_on_gpu(context.module, entry.body, put_in_order(entry.body));
    if (context.options.mapping.contains(kGpuCode)) {
        put_arrays_on_gpu(context.module);
        put_scalars_on_gpu(context.module);
    }
    ExitCheck(context.diagnostics).body(entry.body, nullptr, false, false);
    check_blocks(context.diagnostics, entry.body);
    check_host_calls(context.diagnostics, entry);
    check_helpers(context);
    dissolve_gpu_in_helpers(context.module);
    if (!context.diagnostics.has_errors()) CudaLevels(context).host_body(entry.body);
}

}  // namespace parpy
