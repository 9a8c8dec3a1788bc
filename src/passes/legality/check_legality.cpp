// See check_legality.h; analysis/memory/dependences.h decides, and this file writes the messages.
// The same analysis has verified the proposals of help lines.
#include "passes/legality/check_legality.h"

#include <algorithm>

#include "analysis/memory/dependences.h"
#include "analysis/memory/occurrence_text.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/scatters.h"
#include "ir/visit.h"
#include "passes/legality/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

// An update counts as a write, unless it meets one that commutes with it.
std::string verb(const Access& access, bool commutes) {
    if (access.kind == Access::Kind::kRead) return "reads";
    return commutes ? "updates" : "writes";
}

std::string participle(const Access& access, bool commutes) {
    if (access.kind == Access::Kind::kRead) return "read";
    return commutes ? "updated" : "written";
}

std::string event(const Occurrence& instance, bool commutes) {
    return iteration_text(instance) + " " + verb(*instance.access, commutes) + " " +
           element_text(instance);
}

class LegalityCheck {
public:
    explicit LegalityCheck(PassContext& context)
        : context_(context), entry_(*context.module.entry_function()), dependences_(entry_) {}

    void run() { walk(entry_.body); }

private:
    void walk(Body& body) {
        for (Stmt* stmt : body) {
            auto* loop = stmt->as<For>();
            if (loop != nullptr) around_.push_back(loop);
            if (loop != nullptr && loop->mapping.parallel()) judge(*loop);
            if (loop != nullptr) loop->disjoint.clear();
            for_each_body(*stmt, [&](Body& inner) { walk(inner); });
            if (loop != nullptr) around_.pop_back();
        }
    }

    // infer_reductions keeps some updates in order: those neither reduce nor are atomic.
    static bool left_in_order(const For& loop, const UpdateGroup& group) {
        const Update& update = group.updates.front();
        return group.by_analysis &&
               std::ranges::none_of(loop.mapping.reductions, [&](const Reduction& r) {
                   return r.var == update.var && same(r.indices, *update.indices);
               });
    }

    void judge(For& loop) {
        LoopFacts facts = dependences_.of(loop);
        facts.scatters =
            facts.scatters || std::ranges::any_of(facts.reductions, [&](const UpdateGroup& group) {
                return left_in_order(loop, group);
            });
        add_requirements(context_.module, dependences_.accesses(), facts.conditions);
        // The remaining scattered updates have not been made atomic.
        const bool conflicts = facts.verdict == Verdict::kRefuted || facts.scatters;
        const bool strict = context_.options.legality == Legality::kStrict;
        const bool relaxes = pragma_of(loop).spreads() && only_relaxes(loop, facts);
        if (relaxes) facts.reason = "values decide whether a minimum or maximum changes an element";
        if (conflicts && !relaxes && facts.decisive && facts.decisive->exact) {
            refuse(loop, *facts.decisive);
        } else if (is_general() && (strict || context_.options.deterministic) &&
                   (facts.verdict == Verdict::kUnknown || facts.scatters)) {
            // The values of a call may decide it: each call is judged by its own.
            context_.module.requirements.emplace_back();
        } else if (facts.scatters && context_.options.deterministic) {
            context_.diagnostics
                .error(Code::kP402, loop.span,
                       "loop '" + loop.var->shown() + "' may not be run in parallel under " +
                           "deterministic=True: its iterations may update the same elements, and " +
                           "the order of such updates shows")
                .help = "leave the loop out of the mapping to run it sequentially";
        } else if (facts.verdict == Verdict::kUnknown || facts.scatters || relaxes) {
            doubt(loop, facts);
        }
    }

    // Whether arguments are known only at run time.
    [[nodiscard]] bool is_general() const {
        return std::ranges::any_of(dependences_.accesses().symbols(), [](const Symbol& symbol) {
            return symbol.general || symbol.kind == Symbol::Kind::kParameter;
        });
    }

    void refuse(For& loop, const Dependence& conflict) {
        const Occurrence& first = conflict.witness[0];
        const Occurrence& second = conflict.witness[1];
        // Two arrays or, for an array whose elements overlap, two elements.
        const bool other_name =
            conflict.source->array != conflict.sink->array ||
            (first.access->array == second.access->array &&
             first.element.size() == second.element.size() && first.element != second.element);
        const Pragma pragma = pragma_of(loop);
        auto& error = context_.diagnostics.error(
            Code::kP401, pragma.span.valid() ? pragma.span : loop.span,
            "loop '" + loop.var->shown() + "' cannot run in parallel: " +
                event(first, conflict.commutes) + ", " + event(second, conflict.commutes) +
                (other_name ? ", which is the same memory" : ""));
        for (const Occurrence* instance : {&first, &second}) {
            if (instance == &second && second.access->span == first.access->span) break;
            error.notes.push_back({instance->access->span,
                                   "'" + instance->access->array->shown() + "' is " +
                                       participle(*instance->access, conflict.commutes) + " here"});
        }
        if (pragma.span.valid()) error.notes.push_back({loop.span, "the loop"});
        error.help = pragma.spreads()
                         ? advice(loop, conflict, "remove the pragma")
                         : advice(loop, conflict, "leave the loop out of the mapping") +
                               "; where the conflict does no harm, legality='trust' runs it";
    }

    void doubt(For& loop, const LoopFacts& facts) {
        const bool strict = context_.options.legality == Legality::kStrict;
        const std::string name = "loop '" + loop.var->shown() + "'";
        Diagnostic& made = strict
                               ? context_.diagnostics.error(Code::kP402, loop.span,
                                                            name +
                                                                " may not be run in parallel under "
                                                                "legality='strict': " +
                                                                facts.reason)
                               : context_.diagnostics.performance(
                                     Code::kP403, loop.span,
                                     name + " runs in parallel without a proof: " + facts.reason);
        if (facts.decisive) {
            made.notes.push_back({facts.decisive->source->span,
                                  "'" + facts.decisive->source->array->shown() + "' is " +
                                      participle(*facts.decisive->source, false) + " here"});
        }
        const std::string otherwise =
            pragma_of(loop).spreads() ? "remove the pragma" : "leave the loop out of the mapping";
        made.help = strict ? "use legality='check' if the iterations are known to be independent, "
                             "or " +
                                 otherwise
                           : "";
    }

    // ------------------------------------------------------------ legal alternatives

    std::string advice(For& loop, const Dependence& conflict, const std::string& otherwise) {
        std::string text;
        if (For* other = parallel_alternative(loop)) {
            text = "map loop '" + shown_names({&loop, other}).back() +
                   "' instead, whose iterations are independent";
        } else if (For* partner = diagonal_partner(loop)) {
            const auto [outer, inner] = nested(loop, *partner);
            text = "iterations with equal " + outer->var->shown() + " + " + inner->var->shown() +
                   " are independent: loop over the diagonals one after the other, and along "
                   "each in parallel";
        } else if (overwrites_only(loop, *conflict.source->array)) {
            text = "read from a copy of '" + conflict.source->array->shown() +
                   "': iterations only overwrite what earlier ones have read";
        }
        return text + (text.empty() ? otherwise + " to run it sequentially" : ", or " + otherwise);
    }

    // Another loop of the nest, not mapped yet, that may run in parallel.
    For* parallel_alternative(For& loop) {
        for (For* other : nest(loop)) {
            if (other->mapping.parallel()) continue;
            const LoopFacts facts = dependences_.of(*other);
            if (facts.verdict == Verdict::kProved && facts.conditions.empty()) return other;
        }
        return nullptr;
    }

    For* diagonal_partner(For& loop) {
        if (loop.body.size() == 1) {
            auto* inner = loop.body[0]->as<For>();
            if (inner != nullptr && dependences_.wavefront(loop, *inner)) return inner;
        }
        For* outer = around_.size() > 1 ? around_[around_.size() - 2] : nullptr;
        const bool tight = outer != nullptr && outer->body.size() == 1 && outer->body[0] == &loop;
        return tight && dependences_.wavefront(*outer, loop) ? outer : nullptr;
    }

    std::pair<For*, For*> nested(For& a, For& b) const {
        const bool outside = std::ranges::find(around_, &b) != around_.end();
        return outside ? std::pair(&b, &a) : std::pair(&a, &b);
    }

    // Whether every conflict is a store to an element of `array` that an earlier iteration has
    // read.
    bool overwrites_only(For& loop, const Var& array) {
        const LoopFacts facts = dependences_.of(loop);
        return std::ranges::all_of(facts.dependences, [&](const Dependence& d) {
            return d.kind == Dependence::Kind::kAnti && d.source->array == &array &&
                   d.sink->array == &array;
        });
    }

    // The loops around `loop` and in it.
    std::vector<For*> nest(For& loop) const {
        std::vector<For*> loops;
        for_each_stmt(loop.body, [&](Stmt& stmt) {
            if (auto* inner = stmt.as<For>()) loops.push_back(inner);
        });
        for (For* outer : around_) {
            if (outer != &loop) loops.push_back(outer);
        }
        return loops;
    }

    PassContext& context_;
    Function& entry_;
    Dependences dependences_;
    std::vector<For*> around_;
};

}  // namespace

void check_legality(PassContext& context) {
    if (context.options.legality == Legality::kTrust) return;
    bool parallel = false;
    for_each_stmt(context.module.entry_function()->body, [&](const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        parallel = parallel || (loop != nullptr && loop->mapping.parallel());
    });
    if (parallel) LegalityCheck(context).run();
}

}  // namespace parpy
