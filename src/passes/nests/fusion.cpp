// See fusion.h. Nests are fused and then judged: no iteration of the second nest may precede an
// iteration of the first one that it conflicts with.
#include "passes/nests/fusion.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_set>

#include "analysis/contractions/products.h"
#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/nests/contract_arrays.h"

namespace parpy {

using namespace ir;

namespace {

// The number of streams through memory that a core can follow at once.
constexpr std::size_t kMostArrays = 16;

// The most statements of one body: a C++ compiler's time grows with their square, and values that
// live too long are not kept in registers.
constexpr std::size_t kMostStatements = 256;

// Each try analyses all statements of the function again. In functions for which this takes more
// than a second, some nests stay separate.
constexpr std::size_t kMostAnalysed = 100'000;

// The bytes of an array from which on it does not stay in the cache between two nests, and those of
// a row that does.
constexpr double kLarge = 1 << 20, kRow = 1 << 16;

class Fusion {
public:
    Fusion(PassContext& context, FusedLoops which)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options),
          which_(which) {}

    void run() { body(entry_.body, false); }

private:
    // `inside`: a loop around may run in parallel.
    void body(Body& stmts, bool inside) {
        const bool wanted = inside || which_ != FusedLoops::kOuter;
        for (auto at = stmts.begin(); wanted && at != stmts.end();) {
            std::vector<const Stmt*>
                behind;  // of the statements between the nests, those to put behind them
            auto next = at + 1;
            for (; next != stmts.end(); ++next) {
                if (may_precede(**next, **at) && !is_tied(**next, behind)) continue;
                if ((*at)->kind != StmtKind::kFor || (*next)->kind != StmtKind::kAssign) break;
                behind.push_back(*next);
            }
            if (next == stmts.end() || !all_may_follow(behind, **next) ||
                !fuse(stmts, at, next, behind)) {
                ++at;
            }
        }
        if (of_rows()) return;
        for (Stmt* stmt : stmts) {
            auto* loop = stmt->as<For>();
            const bool parallel =
                which_ == FusedLoops::kOuter && loop != nullptr && loops().legal(*loop);
            for_each_body(*stmt, [&](Body& inner) { body(inner, inside || parallel); });
        }
    }

    // Whether an assignment has the same effect before `loop`, or an array may be made before it.
    bool may_precede(const Stmt& stmt, const Stmt& loop) const {
        if (of_rows() && stmt.kind == StmtKind::kAlloc && loop.kind == StmtKind::kFor) {
            return bytes_of(*stmt.as<Alloc>()->array).has_value();
        }
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr || loop.kind != StmtKind::kFor) return false;
        const Uses uses = uses_of(loop);
        return !uses.read.contains(assign->var) && !uses.written.contains(assign->var) &&
               !uses_of(*assign->value).calls && invariant(*assign->value, uses);
    }

    // Whether an assignment reads variables that others assign, or assigns variables of theirs.
    static bool is_tied(const Stmt& stmt, const std::vector<const Stmt*>& others) {
        const auto* assign = stmt.as<Assign>();
        if (assign == nullptr) return false;
        const Uses own = uses_of(*assign);
        return std::ranges::any_of(others, [&](const Stmt* each) {
            const auto& other = *each->as<Assign>();
            return own.read.contains(other.var) || other.var == assign->var ||
                   uses_of(other).read.contains(assign->var);
        });
    }

    // Whether the assignments have the same effect behind `loop`.
    static bool all_may_follow(const std::vector<const Stmt*>& stmts, const Stmt& loop) {
        const Uses uses = uses_of(loop);
        return std::ranges::all_of(stmts, [&](const Stmt* stmt) {
            const auto& assign = *stmt->as<Assign>();
            return !uses.read.contains(assign.var) && !uses.written.contains(assign.var) &&
                   invariant(*assign.value, uses);
        });
    }

    ParallelLoops& loops() {
        if (loops_ == nullptr) {
            loops_ = std::make_unique<ParallelLoops>(entry_, options_.deterministic);
            for_each_stmt(entry_.body, [&](const Stmt&) { ++analysed_; });
        }
        return *loops_;
    }

    // Fuses `at` and `next`; statements between them move before, or `behind`. Keeps `at` valid.
    bool fuse(Body& stmts, Body::iterator at, Body::iterator next,
              const std::vector<const Stmt*>& behind) {
        auto* a = (*at)->as<For>();
        auto* b = (*next)->as<For>();
        if (a == nullptr || b == nullptr || analysed_ > kMostAnalysed) return false;
        if (of_rows() && !shares_rows(*a, *b)) return false;
        Nest first = compared(*a), second = compared(*b);
        if (of_rows()) keep_common(first, second);
        if (!comparable(first, second)) return false;
        Substitution renamed;
        const Traffic traffic = loops().traffic();
        if (!same_iterations(first, second, renamed) || !loops().legal(*a) || !loops().legal(*b) ||
            !may_add_up(first, second, renamed)) {
            return false;
        }
        const double apart = judges_time() ? plan_cuda(loops()).nanoseconds : 0;
        const bool alike =
            of_rows() || traffic.contiguous(*first.back()) == traffic.contiguous(*second.back());
        const VarSet passed = alike ? VarSet{} : passed_on(*a, *b);
        if (!alike && passed.empty()) return false;
        std::vector<bool> both_legal;
        for (std::size_t i = 0; i < first.size(); ++i)
            both_legal.push_back(loops().legal(*first[i]) && loops().legal(*second[i]));
        separate_scalars(*a, *b, renamed);

        Body& fused = first.back()->body;
        const std::size_t size = fused.size();
        const Body added = clone(module_, second.back()->body, renamed);
        const Body before = stmts;
        fused.insert(fused.end(), added.begin(), added.end());
        const auto follows = [&](const Stmt* stmt) {
            return std::ranges::find(behind, stmt) != behind.end();
        };
        Body order;
        std::copy_if(at + 1, next, std::back_inserter(order), std::not_fn(follows));
        order.push_back(*at);
        std::copy_if(at + 1, next, std::back_inserter(order), follows);
        std::ranges::copy(order, at);
        stmts.erase(next);
        loops_ = nullptr;
        const bool pays = alike || std::ranges::any_of(passed, [&](const Var* array) {
                              return is_contracted(entry_, *array);
                          });
        if (pays && keeps_order(first, both_legal, added) &&
            (!judges_time() || plan_cuda(loops()).nanoseconds <= apart)) {
            return true;
        }
        fused.resize(size);
        stmts = before;
        loops_ = nullptr;
        return false;
    }

    [[nodiscard]] bool of_rows() const {
        return which_ == FusedLoops::kRows || which_ == FusedLoops::kFasterRows;
    }
    // On a GPU the threads of a fused row may be too few or too many for one of the nests. The
    // planner finds out; it does not know that rows stay in the cache.
    [[nodiscard]] bool judges_time() const { return which_ == FusedLoops::kFasterRows; }

    // The arrays that the first nest stores to and the second one loads.
    static VarSet passed_on(const For& a, const For& b) {
        const Uses first = uses_of(a), second = uses_of(b);
        VarSet result;
        for (Var* array : first.stored) {
            if (second.loaded.contains(array)) result.insert(array);
        }
        return result;
    }

    static std::optional<double> bytes_of(const Var& array) {
        double bytes = static_cast<double>(size_in_bytes(array.type.scalar));
        for (const Dim& dim : array.dims) {
            if (!dim.extent) return std::nullopt;
            bytes *= static_cast<double>(*dim.extent);
        }
        return bytes;
    }

    // Whether both nests walk through a large array in small rows.
    static bool shares_rows(For& a, For& b) {
        double rows = 1;
        const Nest first = nest_of(a), second = nest_of(b);
        for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
            const auto trips = constant_trip_count(*first[i]);
            if (!trips || trips != constant_trip_count(*second[i]) ||
                !contains_loop(first[i]->body) || !contains_loop(second[i]->body)) {
                break;
            }
            rows *= static_cast<double>(*trips);
        }
        const Uses uses = uses_of(a);
        return std::ranges::any_of(uses_of(b).loaded, [&](const Var* array) {
            const auto bytes = bytes_of(*array);
            return uses.touches(array) && bytes && *bytes >= kLarge && *bytes / rows <= kRow;
        });
    }

    // Cuts both nests to outer loops that have loops inside of them in both.
    static void keep_common(Nest& first, Nest& second) {
        std::size_t size = std::min(first.size(), second.size());
        while (size > 0 &&
               !(contains_loop(first[size - 1]->body) && contains_loop(second[size - 1]->body))) {
            --size;
        }
        first.resize(size);
        second.resize(size);
    }

    // The loops that are to be fused.
    Nest compared(For& loop) {
        Nest nest = nest_of(loop);
        if (which_ == FusedLoops::kAll) return nest;
        const auto shared = std::ranges::find_if(
            nest, [&](For* each) { return !loops().legal(*each) || loops().reduces(*each); });
        nest.erase(shared, nest.end());
        return nest;
    }

    // Nests that add up products over loops stay separate, as each may be a contraction, unless
    // they add to the same elements and may be one contraction together.
    bool may_add_up(const Nest& first, const Nest& second, const Substitution& renamed) {
        if (which_ != FusedLoops::kOuter) {
            const auto adds = [](const Nest& nest) { return adds_products(nest.front()->body, 2); };
            return which_ == FusedLoops::kAll ? !adds(first) || !adds(second)
                                              : !adds(first) && !adds(second);
        }
        const auto a = first_sum(first.back()->body), b = first_sum(second.back()->body);
        if (!a || !b) return true;
        if (a->target != b->target || a->indices == nullptr || b->indices == nullptr) return false;
        std::vector<Expr*> indices;
        for (const Expr* index : *b->indices)
            indices.push_back(clone(module_, index, renamed));
        return same(*a->indices, indices);
    }

    static std::optional<ProductSum> first_sum(Body& stmts) {
        std::optional<ProductSum> found;
        for_each_stmt(stmts, [&](Stmt& stmt) {
            if (!found && adds_products(stmt)) found = product_sum(stmt);
        });
        return found;
    }

    // The conditions that need no analysis.
    [[nodiscard]] bool comparable(const Nest& first, const Nest& second) const {
        if (first.empty() || first.size() != second.size() ||
            statements(first) + statements(second) > kMostStatements) {
            return false;
        }
        const bool whole =
            !contains_loop(first.back()->body) && !contains_loop(second.back()->body);
        if (which_ != FusedLoops::kAll && whole) return false;  // they were compared before
        const Uses a = uses_of(*first.front()), b = uses_of(*second.front());
        VarSet arrays;
        for (const VarSet* set : {&a.loaded, &a.stored, &b.loaded, &b.stored})
            arrays.insert(*set);
        const bool shared = std::ranges::any_of(arrays, [&](const Var* array) {
            const bool stored = a.stored.contains(array) || b.stored.contains(array);
            return a.touches(array) && b.touches(array) && (stored || which_ == FusedLoops::kAll);
        });
        return shared && arrays.size() <= kMostArrays && !a.calls && !b.calls &&
               only_computes(first.back()->body) && only_computes(second.back()->body) &&
               std::ranges::none_of(first.back()->body, [](Stmt* s) { return leaves_loop(*s); }) &&
               std::ranges::equal(first, second,
                                  [](For* a, For* b) { return ask_alike(*a, *b); }) &&
               !asked_for(*second.front(), *first.front());
    }

    static std::size_t statements(const Nest& nest) {
        std::size_t count = 0;
        for_each_stmt(nest.back()->body, [&](const Stmt&) { ++count; });
        return count;
    }

    // Whether a mapping by hand names `loop` by a label that `other` does not have.
    [[nodiscard]] bool asked_for(const For& loop, const For& other) const {
        return std::ranges::any_of(loop.labels, [&](const std::string& label) {
            return options_.mapping.contains(label) &&
                   std::ranges::find(other.labels, label) == other.labels.end();
        });
    }

    // Whether both nests have the same ranges, loop by loop, which neither changes. Maps the
    // variables of the second nest to those of the first.
    [[nodiscard]] bool same_iterations(const Nest& first, const Nest& second,
                                       Substitution& renamed) {
        const Uses a = uses_of(*first.front()), b = uses_of(*second.front());
        for (std::size_t i = 0; i < first.size(); ++i) {
            const auto bounds = [](const For& loop) {
                return std::vector<Expr*>{loop.begin, loop.end, loop.step};
            };
            std::vector<Expr*> wanted;
            for (const Expr* bound : bounds(*second[i]))
                wanted.push_back(clone(module_, bound, renamed));
            if (!same(bounds(*first[i]), wanted) || first[i]->var->type != second[i]->var->type)
                return false;
            for (const Expr* bound : bounds(*first[i])) {
                const Uses uses = uses_of(*bound);
                const bool settled =
                    uses.loaded.empty() && std::ranges::none_of(uses.read, [&](const Var* var) {
                        const bool counts = std::ranges::any_of(
                            first, [&](const For* loop) { return loop->var == var; });
                        return !counts && (a.written.contains(var) || b.written.contains(var));
                    });
                if (!settled) return false;
            }
            renamed.vars[second[i]->var] = first[i]->var;
        }
        return true;
    }

    // Renames scalars that are private to iterations of `b` if `a` uses them.
    void separate_scalars(For& a, For& b, Substitution& renamed) {
        const Uses used = uses_of(a);
        for (const Var* scalar : loops().facts(b).private_scalars) {
            if (used.read.contains(scalar) || used.written.contains(scalar))
                renamed.vars[scalar] = module_.make_var(scalar->name, scalar->type, scalar->span);
        }
    }

    [[nodiscard]] bool keeps_order(const Nest& nest, const std::vector<bool>& legal,
                                   const Body& added) {
        std::unordered_set<const Stmt*> second(added.begin(), added.end());
        for_each_stmt(added, [&](const Stmt& stmt) { second.insert(&stmt); });
        for (std::size_t i = 0; i < nest.size(); ++i) {
            const LoopFacts& facts = loops().facts(*nest[i]);
            if (legal[i] && !loops().legal(*nest[i])) return false;
            if (!facts.conditions.empty() || !facts.carried_scalars.empty() ||
                !facts.last_values.empty()) {
                return false;
            }
            const auto in_second = [&](const Stmt* stmt) { return second.contains(stmt); };
            const bool turned = std::ranges::any_of(facts.dependences, [&](const Dependence& d) {
                return std::ranges::any_of(d.source->stmts, in_second) &&
                       !std::ranges::all_of(d.sink->stmts, in_second);
            });
            if (turned) return false;
        }
        return true;
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    const FusedLoops which_;
    std::unique_ptr<ParallelLoops> loops_;  // of the function as it is now
    std::size_t analysed_ = 0;              // statements, so far
};

}  // namespace

void fuse_nests(PassContext& context, FusedLoops which) {
    Fusion(context, which).run();
}

}  // namespace parpy
