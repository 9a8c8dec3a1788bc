// See distribute_loops.h. A nest is cut wherever no later part passes a value to an earlier one;
// the parts are judged one by one, and similar neighbours are merged again.
#include "passes/nests/distribute_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.5;  // of the time before

// Each judgement analyses all statements of the function again. In functions for which this takes
// more than a second, some nests stay whole.
constexpr std::size_t kMostAnalysed = 100'000;
constexpr std::size_t kUsesPerAnalysis = 16;  // statements whose uses are found in the same time

class Distribution {
public:
    Distribution(PassContext& context, Planner planner)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic),
          planner_(planner) {}

    void run() {
        for_each_stmt(entry_.body, [&](const Stmt&) { ++statements_; });
        body(entry_.body);
    }

private:
    // False: the budget of analysis is used up.
    bool spend(std::size_t statements) {
        analysed_ += statements;
        return analysed_ <= kMostAnalysed;
    }

    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            const std::size_t parts = loop == nullptr ? 1 : distribute(stmts, i);
            if (parts > 1) {
                i += parts - 1;
            } else {
                for_each_body(*stmts[i], [&](Body& inner) { body(inner); });
            }
        }
    }

    // Returns the number of nests that replace one.
    std::size_t distribute(Body& stmts, std::size_t place) {
        auto* loop = stmts[place]->as<For>();
        const Nest nest = nest_of(*loop);
        if (!may_be_cut(nest)) return 1;
        std::vector<std::size_t> cuts = cuts_without_scalars(nest);
        if (cuts.empty() || !spend(nest.back()->body.size())) return 1;
        if (!loops_) loops_.emplace(entry_, deterministic_);
        if (loops_->legal(*loop)) return 1;
        for (For* level : nest) {
            const LoopFacts& facts = loops_->facts(*level);
            if (!facts.conditions.empty()) return 1;
            std::erase_if(cuts, [&](std::size_t cut) {
                return handed_back(nest.back()->body, cut, facts.dependences);
            });
        }
        if (cuts.empty()) return 1;
        std::vector<Part> parts = alike_together(stmts, place, parts_of(nest, cuts));
        if (parts.size() < 2) return 1;
        Body nests;
        for (Part& part : parts) {
            drop_labels(part);
            nests.push_back(part.nest.front());
        }
        const bool faster =
            replace_if_faster(stmts, place, nests, kWorthwhile, entry_, deterministic_, planner_);
        if (!faster) return 1;
        loops_.reset();
        liveness_.reset();
        return nests.size();
    }

    // Whether each part has the same iterations.
    static bool may_be_cut(const Nest& nest) {
        const Body& innermost = nest.back()->body;
        if (innermost.size() < 2 || !only_computes(innermost)) return false;
        const bool left = std::ranges::any_of(innermost, [](Stmt* s) { return leaves_loop(*s); });
        const Uses uses = uses_of(innermost);
        // Iterations that do not depend on the loop variable all store to the same elements.
        const bool repeats = !uses_of(nest.front()->body).read.contains(nest.front()->var);
        return !left && !repeats && !uses.calls && std::ranges::all_of(nest, [&](const For* loop) {
            return std::ranges::all_of(
                std::initializer_list<const Expr*>{loop->begin, loop->end, loop->step},
                [&](const Expr* bound) { return invariant(*bound, uses); });
        });
    }

    // The places in the innermost body over which no scalar is passed on.
    [[nodiscard]] std::vector<std::size_t> cuts_without_scalars(const Nest& nest) {
        const Body& innermost = nest.back()->body;
        const VarSet written = uses_of(innermost).written;
        if (!liveness_) liveness_.emplace(entry_);
        const VarSet& live = liveness_->after(nest.front());
        std::vector<std::size_t> cuts;
        for (std::size_t cut = 1; cut < innermost.size(); ++cut) {
            if (!spend(innermost.size() / kUsesPerAnalysis)) return {};
            const auto middle = innermost.begin() + static_cast<std::ptrdiff_t>(cut);
            const Body first(innermost.begin(), middle), second(middle, innermost.end());
            const Uses a = uses_of(first), b = uses_of(second);
            const VarSet from_a = exposed_reads(first), from_b = exposed_reads(second);
            const bool tied = std::ranges::any_of(written, [&](const Var* scalar) {
                const auto used = [&](const Uses& uses) {
                    return uses.read.contains(scalar) || uses.written.contains(scalar);
                };
                return used(a) && used(b) &&
                       (from_a.contains(scalar) || from_b.contains(scalar) ||
                        live.contains(scalar));
            });
            if (!tied) cuts.push_back(cut);
        }
        return cuts;
    }

    // Whether an iteration of statements behind the cut precedes a conflicting one of statements
    // before it.
    static bool handed_back(const Body& innermost, std::size_t cut,
                            const std::vector<Dependence>& dependences) {
        std::unordered_set<const Stmt*> second;
        for (std::size_t i = cut; i < innermost.size(); ++i) {
            second.insert(innermost[i]);
            for_each_body(*innermost[i], [&](const Body& inner) {
                for_each_stmt(inner, [&](const Stmt& stmt) { second.insert(&stmt); });
            });
        }
        const auto behind = [&](const Stmt* stmt) { return second.contains(stmt); };
        return std::ranges::any_of(dependences, [&](const Dependence& d) {
            return std::ranges::any_of(d.source->stmts, behind) &&
                   !std::ranges::all_of(d.sink->stmts, behind);
        });
    }

    struct Part {
        Nest nest;
        std::vector<bool> legal = {};  // in parallel, loop by loop
        [[nodiscard]] bool parallel() const { return legal.front(); }
    };

    [[nodiscard]] std::vector<Part> parts_of(const Nest& nest,
                                             const std::vector<std::size_t>& cuts) {
        std::vector<Part> parts;
        std::size_t begin = 0;
        for (std::size_t i = 0; i <= cuts.size(); ++i) {
            const std::size_t end = i < cuts.size() ? cuts[i] : nest.back()->body.size();
            parts.push_back({copy(nest, begin, end)});
            begin = end;
        }
        return parts;
    }

    // The nest with only some statements of its innermost body.
    Nest copy(const Nest& nest, std::size_t begin, std::size_t end) {
        Body& innermost = nest.back()->body;
        const Body all = innermost;
        innermost.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                         all.begin() + static_cast<std::ptrdiff_t>(end));
        Nest made = {clone(module_, static_cast<const Stmt*>(nest.front()))->as<For>()};
        innermost = all;
        while (made.size() < nest.size())
            made.push_back(made.back()->body.front()->as<For>());
        return made;
    }

    // Merges neighbours that both may run in parallel, if they still may, or that both may not.
    // Nothing if the analysis would take too long.
    std::vector<Part> alike_together(Body& stmts, std::size_t place, std::vector<Part> parts) {
        judge(stmts, place, parts);
        for (std::size_t i = 0; i + 1 < parts.size();) {
            if (!spend(statements_)) return {};
            if (parts[i].parallel() != parts[i + 1].parallel()) {
                ++i;
                continue;
            }
            Body& innermost = parts[i].nest.back()->body;
            const std::size_t size = innermost.size();
            const Body& more = parts[i + 1].nest.back()->body;
            innermost.insert(innermost.end(), more.begin(), more.end());
            std::vector<Part> together = parts;
            together.erase(together.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            judge(stmts, place, together);
            if (together[i].parallel() == parts[i].parallel()) {
                parts = together;
            } else {
                innermost.resize(size);
                ++i;
            }
        }
        return parts;
    }

    // Decides which of the parts may run in parallel in the place of the nest.
    void judge(Body& stmts, std::size_t place, std::vector<Part>& parts) {
        const Body before = stmts;
        const auto at = stmts.erase(stmts.begin() + static_cast<std::ptrdiff_t>(place));
        Body nests;
        for (const Part& part : parts)
            nests.push_back(part.nest.front());
        stmts.insert(at, nests.begin(), nests.end());
        ParallelLoops loops(entry_, deterministic_);
        for (Part& part : parts) {
            part.legal.clear();
            for (For* loop : part.nest)
                part.legal.push_back(loops.legal(*loop));
        }
        stmts = before;
    }

    static void drop_labels(Part& part) {
        for (std::size_t i = 0; i < part.nest.size(); ++i) {
            if (part.legal[i]) continue;
            std::erase_if(part.nest[i]->labels,
                          [](const std::string& label) { return !is_pragma(label); });
        }
    }

    Module& module_;
    Function& entry_;
    const bool deterministic_;
    const Planner planner_;
    std::optional<ParallelLoops> loops_;  // of the function as it is now
    std::optional<Liveness> liveness_;
    std::size_t statements_ = 0, analysed_ = 0;  // of the function; of all judgements so far
};

}  // namespace

void distribute_cpu_loops(PassContext& context) {
    Distribution(context, plan_cpu).run();
}

void distribute_cuda_loops(PassContext& context) {
    Distribution(context, plan_cuda).run();
}

}  // namespace parpy
