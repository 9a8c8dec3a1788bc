// See legalize_cuda_barriers.h. A forward walk over a kernel's block-level code collects the
// accesses since the last barrier. A statement that conflicts with one of them gets a barrier
// before it. Loops are walked until nothing changes, so that the end of an iteration meets the
// start of the next.
//
// All threads of a block are at the same statement of block-level code whenever a barrier is,
// because its control flow is the same for all of them (block_code.h).
#include "passes/cuda/legalize_cuda_barriers.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/cuda/block_code.h"

namespace parpy {

using namespace ir;

namespace {

// The threads that make an access.
enum class Who : std::uint8_t {
    kAll,    // each thread makes it
    kOne,    // the first thread
    kOwner,  // in a thread loop: the thread that runs the iteration
    kAny,    // unknown
};

struct Access {
    const Var* array = nullptr;
    bool write = false;
    Who who = Who::kAll;
    const For* loop = nullptr;                    // kOwner
    const std::vector<Expr*>* indices = nullptr;  // null: any element
    std::size_t rank = 0;                         // the number of `indices` that are subscripts
};

using Accesses = std::vector<Access>;

class AccessCollector {
public:
    AccessCollector(Accesses& out, Who who, const For* loop) : out_(out), who_(who), loop_(loop) {}

    void stmt(const Stmt& stmt) {
        for_each_stmt(stmt, [&](const Stmt& inner) { own(inner); });
    }

    // Adds the accesses of the statement itself, without nested statements.
    void own(const Stmt& stmt) {
        for_each_slot(stmt, [&](const Expr* slot) { expr(*slot); });
        if (const auto* store = stmt.as<Store>()) {
            add(store->array, true, &store->indices, store->indices.size());
            if (store->update) add(store->array, false, &store->indices, store->indices.size());
        }
    }

private:
    void expr(const Expr& root) {
        for_each_expr(root, [&](const Expr& e) {
            if (e.op == Op::kLoad && !is_row(e)) {
                add(e.var, false, &e.operands, e.operands.size());
            } else if (e.op == Op::kAtomic) {
                add(e.var, true, &e.operands, e.rank());
            } else if (e.op == Op::kCall) {
                const Uses uses = uses_of(e);
                for (const Expr* argument : e.operands) {
                    const Var* array = array_passed(*argument);
                    if (array == nullptr) continue;
                    if (uses.loaded.contains(array)) add(array, false, nullptr, 0);
                    if (uses.stored.contains(array)) add(array, true, nullptr, 0);
                }
            }
        });
    }

    void add(const Var* array, bool write, const std::vector<Expr*>* indices, std::size_t rank) {
        if (array->space == Space::kLocal) return;
        Who who = who_;
        if (who != Who::kOne && who != Who::kOwner && indices != nullptr) {
            for (const Expr* index : *indices) {
                if (per_thread(*index)) who = Who::kAny;
            }
        }
        out_.push_back({array, write, who, loop_, indices, rank});
    }

    Accesses& out_;
    const Who who_;
    const For* loop_;
};

class KernelBarriers {
public:
    KernelBarriers(Module& module, Function& kernel)
        : module_(module),
          kernel_(kernel),
          block_(shape_of(kernel.body).block),
          code_(kernel),
          uses_(uses_of(kernel.body)) {}

    void run() {
        if (block_ == 1) return;
        conditions_into_loops(kernel_.body);
        code_ = BlockCode(kernel_);
        Accesses pending;
        walk(kernel_.body, pending);
        insert(kernel_.body);
    }

private:
    struct Targets {
        Accesses on_break, on_continue;
    };

    // Rewrites `while c` with a condition that reads memory as `while True: if not c: break`, so
    // that a barrier can precede the condition.
    void conditions_into_loops(Body& body) {
        for_each_stmt(body, [&](Stmt& stmt) {
            auto* loop = stmt.as<While>();
            if (loop == nullptr || code_.how(stmt) != Runs::kStructured) return;
            const Uses uses = uses_of(*loop->condition);
            if (uses.loaded.empty() && uses.stored.empty()) return;
            Builder builder(module_, stmt.span);
            If* leave = builder.if_(builder.not_(loop->condition), {builder.break_()});
            loop->condition = builder.boolean(true);
            loop->body.insert(loop->body.begin(), leave);
        });
    }

    // ------------------------------------------------------------ conflicts

    bool conflict(const Access& a, const Access& b) const {
        if (!a.write && !b.write) return false;
        if (!may_share(*a.array, *b.array)) return false;
        if (a.who == Who::kOne && b.who == Who::kOne) return false;
        if (a.array == b.array && is_injective(*a.array) && distinct(a, b)) return false;
        if (a.who == Who::kOwner && b.who == Who::kOwner && a.array == b.array) {
            return !same_thread(a, b);
        }
        return true;
    }

    static bool distinct(const Access& a, const Access& b) {
        for (std::size_t i = 0; i < std::min(a.rank, b.rank); ++i) {
            const auto x = constant_integer((*a.indices)[i]);
            const auto y = constant_integer((*b.indices)[i]);
            if (x && y && *x != *y) return true;
        }
        return false;
    }

    // Whether two thread loops give each iteration to the same thread, and a subscript tells the
    // iterations apart: then one thread makes all accesses to an element in both loops.
    bool same_thread(const Access& a, const Access& b) const {
        if (!fixed_equal(*a.loop->begin, *b.loop->begin) ||
            !fixed_equal(*a.loop->step, *b.loop->step)) {
            return false;
        }
        for (std::size_t i = 0; i < std::min(a.rank, b.rank); ++i) {
            const auto x = constant_offset(*(*a.indices)[i], *a.loop->var);
            const auto y = constant_offset(*(*b.indices)[i], *b.loop->var);
            if (x && y && *x == *y) return true;
        }
        return false;
    }

    // Whether both have the same value whenever they are evaluated in this kernel.
    bool fixed_equal(const Expr& a, const Expr& b) const {
        return same(a, b) && invariant(a, uses_);
    }

    bool conflicts(const Accesses& pending, const Accesses& next) const {
        return std::any_of(pending.begin(), pending.end(), [&](const Access& a) {
            return std::any_of(next.begin(), next.end(),
                               [&](const Access& b) { return conflict(a, b); });
        });
    }

    // ------------------------------------------------------------ walking

    void meet(const Stmt& stmt, const Accesses& next, Accesses& pending) {
        if (barriers_.contains(&stmt)) {
            pending.clear();
        } else if (conflicts(pending, next)) {
            barriers_.insert(&stmt);
            pending.clear();
        }
        join(pending, next);
    }

    // Returns whether `more` added an access.
    static bool join(Accesses& pending, const Accesses& more) {
        const std::size_t before = pending.size();
        for (const Access& access : more) {
            const bool known = std::any_of(pending.begin(), pending.end(), [&](const Access& a) {
                return a.array == access.array && a.write == access.write && a.who == access.who &&
                       a.loop == access.loop && a.indices == access.indices;
            });
            if (!known) pending.push_back(access);
        }
        return pending.size() != before;
    }

    void walk(const Body& body, Accesses& pending) {
        for (const Stmt* stmt : body)
            walk(*stmt, pending);
    }

    void walk(const Stmt& stmt, Accesses& pending) {
        Accesses next;
        switch (code_.how(stmt)) {
            case Runs::kAll:
                if (stmt.kind == StmtKind::kBarrier) {
                    pending.clear();
                } else if (stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kContinue) {
                    Targets& targets = targets_.back();
                    join(stmt.kind == StmtKind::kBreak ? targets.on_break : targets.on_continue,
                         pending);
                    pending.clear();
                } else {
                    AccessCollector(next, Who::kAll, nullptr).stmt(stmt);
                    meet(stmt, next, pending);
                }
                return;
            case Runs::kOne:
                AccessCollector(next, Who::kOne, nullptr).stmt(stmt);
                meet(stmt, next, pending);
                return;
            case Runs::kPerThread: {
                const bool one = is_first_thread(*stmt.as<If>()->condition);
                AccessCollector(next, one ? Who::kOne : Who::kAny, nullptr).stmt(stmt);
                meet(stmt, next, pending);
                return;
            }
            case Runs::kThreads: {
                const auto* loop = stmt.as<For>();
                AccessCollector(next, Who::kAll, nullptr).own(stmt);
                AccessCollector inside(next, Who::kOwner, loop);
                for (const Stmt* inner : loop->body)
                    inside.stmt(*inner);
                meet(stmt, next, pending);
                return;
            }
            case Runs::kStructured:
                AccessCollector(next, Who::kAll, nullptr).own(stmt);
                meet(stmt, next, pending);
                structured(stmt, pending);
                return;
        }
    }

    void structured(const Stmt& stmt, Accesses& pending) {
        if (const auto* branch = stmt.as<If>()) {
            Accesses other = pending;
            walk(branch->then_body, pending);
            walk(branch->else_body, other);
            join(pending, other);
            return;
        }
        const auto* loop = stmt.as<For>();
        const Body& body = loop != nullptr ? loop->body : stmt.as<While>()->body;
        const bool independent = loop != nullptr && loop->mapping.parallel();
        for (;;) {
            const std::size_t barriers = barriers_.size();
            targets_.emplace_back();
            Accesses end = pending;
            walk(body, end);
            join(end, targets_.back().on_continue);
            const Accesses broken = std::move(targets_.back().on_break);
            targets_.pop_back();
            // Iterations of a parallel loop share only the block's shared memory.
            Accesses next = end;
            if (independent) {
                std::erase_if(next,
                              [](const Access& a) { return a.array->space != Space::kShared; });
            }
            const bool grown = join(pending, next);
            if (!grown && barriers == barriers_.size()) {
                join(pending, end);
                join(pending, broken);
                return;
            }
        }
    }

    void insert(Body& body) {
        Body out;
        for (Stmt* stmt : body) {
            for_each_body(*stmt, [&](Body& inner) { insert(inner); });
            if (barriers_.contains(stmt)) {
                Builder builder(module_, stmt->span);
                out.push_back(builder.barrier(block_ == kWarpSize ? BarrierScope::kWarp
                                                                  : BarrierScope::kBlock));
            }
            out.push_back(stmt);
        }
        body = std::move(out);
    }

    Module& module_;
    Function& kernel_;
    const std::int64_t block_;
    BlockCode code_;
    const Uses uses_;
    std::vector<Targets> targets_;
    std::unordered_set<const Stmt*> barriers_;
};

}  // namespace

void legalize_cuda_barriers(PassContext& context) {
    for (Function* function : context.module.functions) {
        if (function->kind == FunctionKind::kKernel) {
            KernelBarriers(context.module, *function).run();
        }
    }
}

}  // namespace parpy
