// See interchange_loops.h.
#include "passes/nests/interchange_loops.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <tuple>

#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/cpu/column_parts.h"

namespace parpy {

using namespace ir;

namespace {

// Whether the range of each loop is known before the nest begins and does not change in it.
bool is_rectangular(const Nest& nest) {
    const Uses uses = uses_of(*nest.front());
    return std::ranges::all_of(nest, [&](const For* loop) {
        return loop->step->op == Op::kConst &&
               std::ranges::all_of(std::initializer_list<const Expr*>{loop->begin, loop->end},
                                   [&](const Expr* bound) {
                                       return uses_of(*bound).loaded.empty() &&
                                              invariant(*bound, uses);
                                   });
    });
}

enum class Outermost : std::uint8_t {
    kOneThatMayRunInParallel,
    kAllThatMayRunInParallel,
};

class Interchange {
public:
    Interchange(PassContext& context, Outermost outermost)
        : entry_(*context.module.entry_function()),
          deterministic_(context.options.deterministic),
          outermost_(outermost) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (Stmt*& stmt : stmts) {
            auto* loop = stmt->as<For>();
            Body* inside = nullptr;
            if (loop != nullptr) {
                Nest nest = nest_of(*loop);
                const bool movable = nest.size() > 1 && only_computes(nest.back()->body) &&
                                     !uses_of(nest.back()->body).calls && is_rectangular(nest);
                if (movable) order(nest, stmt);
                inside = &nest.back()->body;
            }
            if (inside != nullptr) {
                body(*inside);
            } else {
                for_each_body(*stmt, [&](Body& inner) { body(inner); });
            }
        }
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr) loops_ = std::make_unique<ParallelLoops>(entry_, deterministic_);
        return *loops_;
    }

    void order(Nest& nest, Stmt*& place) {
        const Nest wanted = wanted_order(nest);
        if (wanted != nest) {
            const Nest original = nest;
            const bool parallel = loops().legal(*nest.front());
            const bool done = rearrange(nest, wanted, place);
            if (!done || (parallel && !loops().legal(*nest.front())) ||
                !claims_hold(nest, original)) {
                build(nest, original, place);
            }
        }
        if (outermost_ == Outermost::kOneThatMayRunInParallel) take_columns_out(nest, place);
    }

    // Rows that are added up may be walked through on workers, each with columns of its own:
    // block-columns reads rows all the same.
    void take_columns_out(Nest& nest, Stmt*& place) {
        if (nest.size() != 2 || loops().accesses().loop_of(nest.back()) < 0 ||
            loops().legal(*nest.front()) || !loops().legal(*nest.back())) {
            return;
        }
        const Nest original = nest;
        if (rearrange(nest, {nest.back(), nest.front()}, place) &&
            (!column_parts(loops(), *nest.front()) || !claims_hold(nest, original))) {
            build(nest, original, place);
        }
    }

    // Whether loops with pragmas may still run in parallel. A pragma says this of the iterations of
    // one loop for each iteration of the loops around it, thus not of all of them together.
    bool claims_hold(const Nest& nest, const Nest& original) {
        for (auto loop = nest.begin(); loop != nest.end(); ++loop) {
            if (!pragma_of(**loop).spreads()) continue;
            const auto before = std::ranges::find(original, *loop);
            const bool left = std::any_of(original.begin(), before, [&](const For* outer) {
                return !pragma_of(*outer).spreads() &&
                       std::find(loop, nest.end(), outer) != nest.end();
            });
            if (!left) continue;
            const Verdict verdict = loops().facts(**loop).verdict;
            const bool known = verdict == Verdict::kProved || verdict == Verdict::kReduction;
            if (!known || !loops().legal(**loop)) return false;
        }
        return true;
    }

    bool independent(For& loop) { return loops().legal(loop) && !loops().reduces(loop); }

    // Bytes that one iteration moves if iterations of `loop` are innermost: a cache line for every
    // access whose neighbours are further away.
    double bytes_moved(const For& loop) {
        constexpr double kLine = 64;
        const Accesses& accesses = loops().accesses();
        const int number = accesses.loop_of(&loop);
        const Traffic traffic = loops().traffic();
        double bytes = 0;
        for (const Access& access : accesses.all()) {
            if (!accesses.inside(access.loop, number)) continue;
            const auto stride = traffic.stride(access, number);
            const double apart = stride ? std::abs(static_cast<double>(*stride)) : kLine;
            bytes += std::min(apart, kLine) * (access.kind == Access::Kind::kUpdate ? 2 : 1);
        }
        return bytes;
    }

    Nest wanted_order(const Nest& nest) {
        if (loops().accesses().loop_of(nest.back()) < 0) return nest;  // never reached
        const bool all = outermost_ == Outermost::kAllThatMayRunInParallel;
        struct Rank {
            bool passes_on;  // a value from one iteration to the next
            double bytes;
            std::size_t place;
        };
        std::vector<Rank> ranks;
        for (std::size_t i = 0; i < nest.size(); ++i) {
            const bool worker =
                all && constant_trip_count(*nest[i]) == 1 && pragma_of(*nest[i]).parallel;
            const double bytes =
                worker ? std::numeric_limits<double>::infinity() : bytes_moved(*nest[i]);
            ranks.push_back({all && !independent(*nest[i]), bytes, i});
        }
        const auto key = [](const Rank& r) { return std::tuple(r.passes_on, -r.bytes, r.place); };
        if (std::ranges::is_sorted(ranks, {}, key)) return nest;
        std::ranges::sort(ranks, {}, key);
        Nest wanted;
        for (const Rank& rank : ranks)
            wanted.push_back(nest[rank.place]);
        if (!all && loops().legal(*nest.front()) && !loops().legal(*wanted.front())) {
            const auto first =
                std::ranges::find_if(wanted, [&](For* loop) { return loops().legal(*loop); });
            std::rotate(wanted.begin(), first, first + 1);
        }
        return wanted;
    }

    // Interchanges neighbours until `nest` has the wanted order. False if that is not legal.
    bool rearrange(Nest& nest, const Nest& wanted, Stmt*& place) {
        const auto rank = [&](const For* loop) { return std::ranges::find(wanted, loop); };
        for (std::size_t moved = 1; moved < nest.size(); ++moved) {
            for (std::size_t i = moved; i > 0 && rank(nest[i]) < rank(nest[i - 1]); --i) {
                if (!loops().interchangeable(*nest[i - 1], *nest[i])) return false;
                Nest next = nest;
                std::swap(next[i - 1], next[i]);
                build(nest, next, place);
            }
        }
        return true;
    }

    void build(Nest& nest, const Nest& order, Stmt*& place) {
        Body innermost = std::move(nest.back()->body);
        nest = order;
        place = nest.front();
        for (std::size_t i = 0; i + 1 < nest.size(); ++i)
            nest[i]->body = {nest[i + 1]};
        nest.back()->body = std::move(innermost);
        loops_ = nullptr;
    }

    Function& entry_;
    const bool deterministic_;
    const Outermost outermost_;
    std::unique_ptr<ParallelLoops> loops_;  // of the function as it is now
};

}  // namespace

void interchange_cpu_loops(PassContext& context) {
    Interchange(context, Outermost::kOneThatMayRunInParallel).run();
}

void interchange_cuda_loops(PassContext& context) {
    Interchange(context, Outermost::kAllThatMayRunInParallel).run();
}

}  // namespace parpy
