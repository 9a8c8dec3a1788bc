// See infer_reductions.h. analysis/updates.h finds the reductions of a loop; this file records them
// and checks the other scalars.
#include "passes/mapped/infer_reductions.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/geometry.h"
#include "analysis/memory/dependences.h"
#include "analysis/pragmas.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class LoopAnalysis {
public:
    LoopAnalysis(PassContext& context, const Liveness& liveness,
                 std::unordered_set<const Var*>& reported)
        : context_(context), liveness_(liveness), reported_(reported) {}

    void run(For& loop) {
        loop_ = &loop;
        uses_ = uses_of(loop.body);
        uses_.written.insert(loop.var);
        const std::vector<UpdateGroup> groups = reductions();
        for (const UpdateGroup& group : groups) {
            loop.mapping.reductions.push_back(reduction(group));
            if (loop.mapping.parallel() && group.forgets_nan()) report_order(group);
        }
        if (loop.mapping.parallel()) {
            check_scalars();
            loop.mapping.reduce = !loop.mapping.reductions.empty();
            for (const UpdateGroup& group : groups)
                rewrite(group);
        } else {
            loop.mapping.reductions.clear();
            loop.mapping.reduce = false;
        }
    }

private:
    // Reductions that only subscripts prove stay ordered if their order shows and `deterministic`
    // is on.
    std::vector<UpdateGroup> reductions() {
        if (possible_reductions_of(*loop_).empty()) return reductions_of(*loop_);
        Dependences dependences(*context_.module.entry_function());
        std::vector<UpdateGroup> found = dependences.of(*loop_).reductions;
        std::erase_if(found, [&](const UpdateGroup& group) {
            return group.by_analysis && group.is_ordered() && context_.options.deterministic;
        });
        return found;
    }

    Reduction reduction(const UpdateGroup& group) const {
        const Update& first = group.updates.front();
        Reduction made{group.op, first.var, {}};
        if (first.indices == nullptr) return made;
        for (const Expr* index : *first.indices)
            made.indices.push_back(clone(context_.module, index));
        return made;
    }

    void check_scalars() {
        // A value that is carried on some path need not be carried on the paths that run.
        const bool trusted =
            context_.options.legality == Legality::kTrust && !context_.options.automatic;
        const VarSet exposed = exposed_reads(loop_->body);
        const VarSet& live = liveness_.after(loop_);
        std::vector<Span> told;  // a statement's assignment and the mark that it was made: once
        for (const Var* scalar : uses_.written) {
            if (scalar == loop_->var || reduces(*loop_, scalar)) continue;
            const bool wanted = live.contains(scalar);
            const bool carried = exposed.contains(scalar) && !trusted;
            if ((!wanted && !carried) || !reported_.insert(scalar).second) continue;
            const Span at = place_of_write(*scalar);
            if (!carried && std::ranges::find(told, at) != told.end()) continue;
            told.push_back(at);
            const std::string loop = "the parallel loop '" + loop_->var->shown() + "'";
            if (carried) {
                auto& error = context_.diagnostics.error(
                    Code::kP311, at,
                    "'" + scalar->shown() + "' carries a value from one iteration of " + loop +
                        " to the next");
                error.notes.push_back({loop_->span, "the loop"});
                error.help = "assign '" + scalar->shown() +
                             "' before it is read in each iteration, update it in one way only "
                             "(`+=`, `max`, …) and read it after the loop, or " +
                             in_order(*scalar);
            } else {
                auto& error = context_.diagnostics.error(
                    Code::kP310, at,
                    "'" + scalar->shown() + "' is assigned by every iteration of " + loop +
                        " and read after it");
                error.notes.push_back({loop_->span, "the loop"});
                error.help =
                    "store the values that are needed later to an array, or " + in_order(*scalar);
            }
        }
    }

    std::string in_order(const Var& scalar) const {
        return pragma_of(*loop_).spreads()
                   ? "write shared(" + scalar.shown() + ") in the pragma, which keeps the order"
                   : "run the loop sequentially";
    }

    Span place_of_write(const Var& scalar) const {
        Span at = loop_->span;
        bool found = false;
        for_each_stmt(loop_->body, [&](Stmt& stmt) {
            const auto* assign = stmt.as<Assign>();
            if (found || assign == nullptr || assign->var != &scalar) return;
            found = true;
            at = stmt.span;
        });
        return at;
    }

    // Reports it here, since check_legality can no longer recognise it.
    void report_order(const UpdateGroup& group) {
        const Legality legality = context_.options.legality;
        if (legality == Legality::kTrust) return;
        const std::string& target = group.updates.front().var->shown();
        const std::string what =
            "the value of '" + target + "' after a NaN depends on the order of the iterations";
        const std::string loop = "loop '" + loop_->var->shown() + "'";
        const bool least = group.op == Op::kMin;
        Diagnostic& made =
            legality == Legality::kStrict
                ? context_.diagnostics.error(
                      Code::kP402, loop_->span,
                      loop + " may not be run in parallel under legality='strict': " + what)
                : context_.diagnostics.performance(
                      Code::kP403, loop_->span,
                      loop + " runs in parallel without a proof: " + what);
        made.notes.push_back({(*group.updates.front().slot)->span, "it is updated here"});
        made.help = std::string("write ") + (least ? "min(" : "max(") + target +
                    ", …), which skips NaNs, or np." + (least ? "minimum" : "maximum") +
                    ", which keeps them";
    }

    // Accepted plain assignments become updates, the form that later passes recognise.
    void rewrite(const UpdateGroup& group) {
        for (const Update& u : group.updates)
            *u.slot = spelled_as_update(context_.module, u);
    }

    PassContext& context_;
    const Liveness& liveness_;
    std::unordered_set<const Var*>& reported_;
    For* loop_ = nullptr;
    Uses uses_;
};

}  // namespace

void infer_reductions(PassContext& context) {
    Function& entry = *context.module.entry_function();
    const Liveness liveness(entry);
    std::unordered_set<const Var*> reported;
    for_each_stmt(entry.body, [&](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop == nullptr || !(loop->mapping.parallel() || loop->mapping.reduce)) return;
        LoopAnalysis(context, liveness, reported).run(*loop);
    });
}

}  // namespace parpy
