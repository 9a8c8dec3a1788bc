// See contractions.h. Tries every loop as the top of a contraction, the outermost first.
#include "analysis/contractions/contractions.h"

#include <optional>
#include <utility>

#include "analysis/contractions/match.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

class Finder {
public:
    Finder(Module& module, const Judge& judge, bool deterministic, bool batches)
        : module_(module),
          judge_(judge),
          deterministic_(deterministic),
          batches_(batches),
          liveness_(*module.entry_function()) {}

    Contractions run() {
        body(module_.entry_function()->body);
        return std::move(all_);
    }

private:
    void body(Body& stmts) {
        for (Stmt* stmt : stmts) {
            if (auto* loop = stmt->as<For>()) {
                if (const auto missed = nest(*loop); missed && missed->progress > 0)
                    all_.missed.push_back(missed->what);
            } else {
                for_each_body(*stmt, [&](Body& inner) { body(inner); });
            }
        }
    }

    struct Missed {
        NearContraction what;
        int progress = 0;
    };

    // The nearest candidate, if the nest contains no contraction.
    std::optional<Missed> nest(For& loop) {
        ContractionMatch match =
            match_contraction(module_, loop, judge_, liveness_, deterministic_, batches_);
        if (match.found) {
            all_.found.push_back(std::move(*match.found));
            return std::nullopt;
        }
        Missed nearest{{&loop, match.reason}, match.progress};
        bool any = false;
        const std::function<void(Body&)> inside = [&](Body& stmts) {
            for (Stmt* stmt : stmts) {
                auto* inner = stmt->as<For>();
                if (inner == nullptr) {
                    for_each_body(*stmt, inside);
                    continue;
                }
                const auto missed = nest(*inner);
                any = any || !missed;
                if (missed && missed->progress > nearest.progress) nearest = *missed;
            }
        };
        inside(loop.body);
        return any ? std::nullopt : std::optional(nearest);
    }

    Module& module_;
    const Judge& judge_;
    const bool deterministic_, batches_;
    const Liveness liveness_;
    Contractions all_;
};

}  // namespace

Contractions find_contractions(Module& module, const Judge& judge, bool deterministic,
                               bool batches) {
    return Finder(module, judge, deterministic, batches).run();
}

}  // namespace parpy
