// See contract_loops.h.
#include "passes/cpu/contract_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/contractions/contractions.h"
#include "analysis/contractions/products.h"
#include "analysis/traffic.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/contraction_code.h"
#include "passes/cpu/contraction_plan.h"
#include "passes/cpu/contraction_row.h"
#include "passes/legality/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

// The bytes of right factors that a worker may lay out on its own stack.
constexpr std::int64_t kOwnBytes = 256 << 10;
// From this number of products on the workers share a contraction, rather than having one each.
constexpr double kShared = 1 << 20;

// The place and plan of one contraction, or the reason why it has none.
struct Decision {
    std::optional<ContractionPlan> plan;
    ContractionPlace place;
    For* sequential = nullptr;  // the loop around that leaves its workers to the contraction
    std::string reason;
};

class Contractor {
public:
    explicit Contractor(PassContext& context)
        : context_(context),
          entry_(*context.module.entry_function()),
          loops_(entry_, context.options.deterministic) {
        all_ = find_contractions(context.module, loops_.judge(), context.options.deterministic,
                                 /*batches=*/false);
        for (const Contraction& contraction : all_.found)
            decisions_[contraction.top] = {};
        if (!decisions_.empty()) walk(entry_.body, nullptr, true);
    }

    void run() {
        if (decisions_.empty()) return;
        rewrite_stmts(entry_.body, [&](Stmt* stmt, Body& out) {
            const auto found = decisions_.find(stmt);
            if (found == decisions_.end() || !found->second.plan) return out.push_back(stmt);
            const Contraction& contraction = of_top(stmt);
            const Decision& decision = found->second;
            for (For* loop : contraction.asked)
                add_requirements(context_.module, loops_.accesses(),
                                 loops_.facts(*loop).conditions);
            if (decision.sequential != nullptr) decision.sequential->mapping = {};
            const Body code =
                contraction.one_row
                    ? row_code(context_.module, contraction, *decision.plan, decision.place)
                    : ContractionCode(context_.module, contraction, *decision.plan, decision.place)
                          .run();
            out.insert(out.end(), code.begin(), code.end());
        });
    }

    std::vector<ContractionNote> notes() {
        std::vector<ContractionNote> result;
        for (const Contraction& c : all_.found) {
            const Decision& decision = decisions_.at(c.top);
            if (!decision.plan) {
                result.push_back({c.top, "a contraction without tiles: " + decision.reason});
                continue;
            }
            const ContractionPlan& plan = *decision.plan;
            const auto size = [](std::int64_t rows, std::int64_t columns) {
                return std::to_string(rows) + " × " + std::to_string(columns);
            };
            std::string over;
            for (const ContractionSteps& steps : c.steps) {
                for (const For* loop : steps.ranges.front().loops)
                    over += (over.empty() ? "" : ", ") + quoted(*loop);
            }
            if (c.one_row) {
                result.push_back({c.top, "a contraction of one row and columns " +
                                             quoted(*c.columns) + " over " + over + ", " +
                                             std::to_string(plan.columns) + " sums at a time"});
                continue;
            }
            result.push_back({c.top, "a contraction of rows " + quoted(*c.rows) + " and columns " +
                                         quoted(*c.columns) + " over " + over + ", in tiles of " +
                                         size(plan.tile.rows, plan.tile.columns())});
        }
        for (const NearContraction& missed : all_.missed)
            result.push_back({missed.top, "no contraction: " + missed.reason});
        return result;
    }

    [[nodiscard]] std::unordered_set<const For*> loops() const {
        std::unordered_set<const For*> result;
        for (const Contraction& c : all_.found) {
            if (!decisions_.at(c.top).plan) continue;
            result.insert(c.outer.begin(), c.outer.end());
            result.insert(c.columns);
            if (!c.one_row) result.insert(c.rows);
        }
        return result;
    }

    [[nodiscard]] std::vector<For*> steps() const {
        std::vector<For*> result;
        for (const Contraction& c : all_.found) {
            if (!decisions_.at(c.top).plan) continue;
            for (const ContractionSteps& steps : c.steps) {
                for (const ContractionSteps::Range& range : steps.ranges)
                    result.insert(result.end(), range.loops.begin(), range.loops.end());
            }
        }
        return result;
    }

private:
    // Before map_loops, the workers are those of the outermost loop with threads.
    static bool on_workers(const For& loop, const For* around) {
        const LoopMapping& mapping = loop.mapping;
        return mapping.level == Level::kWorkers ||
               (mapping.level == Level::kSequential && mapping.threads > 1 && around == nullptr);
    }

    static std::string quoted(const For& loop) { return "'" + loop.var->shown() + "'"; }

    const Contraction& of_top(const Stmt* top) const {
        return *std::ranges::find_if(all_.found,
                                     [&](const Contraction& c) { return c.top == top; });
    }

    // `worker`: the loop around whose iterations run on workers; `alone`: it contains nothing but
    // the loops around the statements.
    void walk(Body& stmts, For* worker, bool alone) {
        for (Stmt* stmt : stmts) {
            auto* loop = stmt->as<For>();
            const bool alone_here = alone && stmts.size() == 1;
            const auto found = decisions_.find(stmt);
            if (found != decisions_.end()) {
                decide(of_top(stmt), worker, alone_here, found->second);
                continue;
            }
            const bool begins = loop != nullptr && on_workers(*loop, worker);
            for_each_body(*stmt, [&](Body& inner) {
                walk(inner, begins ? loop : worker, begins || (alone_here && loop != nullptr));
            });
        }
    }

    void decide(const Contraction& c, For* worker, bool alone, Decision& decision) {
        ContractionSizes sizes = sizes_of(c, loops_.traffic());
        ContractionPlace& place = decision.place;
        for (const For* loop : c.asked) {
            if (!on_workers(*loop, worker)) continue;
            place.parallel = true;
            place.threads = std::max(place.threads, loop->mapping.threads);
        }
        std::int64_t own = 0;  // bytes of right factors that a worker would lay out
        if (worker != nullptr) {
            const double products = sizes.rows * sizes.columns * sizes.products * sizes.outer;
            const auto steps = constant_products(c), columns = constant_columns(c);
            own = steps && columns ? *steps * *columns * size_in_bytes(c.type) : kOwnBytes + 1;
            if (c.one_row) {
                own = 0;
                place.on_host = false;
            } else if (alone && (own > kOwnBytes || products >= kShared)) {
                decision.sequential = worker;
                place.parallel = true;
                place.threads = worker->mapping.threads;
            } else {
                place.on_host = false;
            }
        }
        sizes.serial = !place.parallel;
        if (context_.options.deterministic && c.algebra.adds() && !c.fused) {
            decision.reason = "deterministic=True rounds these products before they are added";
            return;
        }
        decision.plan = plan_contraction(c, sizes, context_.options.vectors, decision.reason);
        if (decision.plan && !place.on_host && !c.one_row && decision.plan->direct_rights.empty() &&
            own > kOwnBytes) {
            decision.plan.reset();
            decision.reason = "its factors are too large for a worker of " + quoted(*worker);
        }
    }

    PassContext& context_;
    Function& entry_;
    ParallelLoops loops_;
    Contractions all_;
    std::unordered_map<const Stmt*, Decision> decisions_;  // by the top
};

}  // namespace

void contract_loops(PassContext& context) {
    if (!adds_products(context.module.entry_function()->body, 2)) return;
    Contractor(context).run();
}

std::unordered_set<const For*> contracted_loops(PassContext& context) {
    if (!adds_products(context.module.entry_function()->body, 2)) return {};
    return Contractor(context).loops();
}

std::vector<For*> contracted_steps(PassContext& context) {
    if (!adds_products(context.module.entry_function()->body, 2)) return {};
    return Contractor(context).steps();
}

std::vector<ContractionNote> contraction_notes(PassContext& context) {
    return Contractor(context).notes();
}

}  // namespace parpy
