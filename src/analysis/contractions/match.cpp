// See match.h. Cheap tests run first, the independence of loops last.
#include "analysis/contractions/match.h"

#include <algorithm>
#include <utility>

#include "analysis/contractions/existing_factors.h"
#include "analysis/contractions/nest_of_sums.h"
#include "analysis/contractions/shifts.h"
#include "analysis/contractions/side_by_side.h"
#include "analysis/integers/index_math.h"
#include "analysis/memory/sharing.h"
#include "ir/builder.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool contains(const Loops& loops, const For* loop) {
    return std::ranges::find(loops, loop) != loops.end();
}

class Matcher {
public:
    using Chain = NestOfSums::Chain;
    using Level = NestOfSums::Level;

    Matcher(Module& module, For& top, const Judge& judge, const Liveness& liveness,
            bool deterministic, bool batches)
        : module_(module),
          top_(top),
          judge_(judge),
          liveness_(liveness),
          batches_(batches),
          nest_(module, top, judge, deterministic) {}

    std::optional<Contraction> run() {
        const bool read = nest_.read();
        reason = nest_.reason;
        progress = nest_.progress;
        if (!read) return std::nullopt;
        result_.top = &top_;
        result_.target = nest_.target;
        result_.type = nest_.target->type.scalar;
        result_.algebra = nest_.chains.front().algebra;
        result_.fused = nest_.chains.front().fused;
        result_.indices = nest_.chains.front().indices;
        result_.condition = nest_.chains.front().condition;
        if (!choose_loops() || !take_statements() || !has_no_effects() || !is_independent())
            return std::nullopt;
        return std::move(result_);
    }

    std::string reason;  // why there is no contraction
    int progress = 0;    // how many tests passed before that; 0: no resemblance at all

private:
    bool fail(std::string why) {
        reason = std::move(why);
        return false;
    }

    static std::string quoted(const Var& var) { return "'" + var.shown() + "'"; }

    // ------------------------------------------------------------ rows and columns

    bool choose_loops() {
        ++progress;
        if (choose_order()) return true;
        const std::string why = reason;
        const std::vector<Chain> chains = nest_.chains;
        const Substitution values = nest_.values;
        for (const LoopShift& shift : shifts_of(module_, nest_)) {
            apply_shift(module_, nest_, shift);
            shift_ = shift;
            if (choose_order()) return true;
            nest_.chains = chains;
            nest_.values = values;
            shift_ = {};
        }
        return fail(why);
    }

    bool choose_order() {
        const Loops sums = nest_.of_sums();
        const Product& product = nest_.chains.front().products.front();
        Loops only[2];
        for (For* loop : sums) {
            const bool varies0 = varies(*product.factors[0], *loop),
                       varies1 = varies(*product.factors[1], *loop);
            if (varies0 != varies1) only[varies0 ? 0 : 1].push_back(loop);
        }
        if (only[0].empty() != only[1].empty()) {
            const int matrix = only[0].empty() ? 1 : 0;
            if (take_row(sums, *only[matrix].back(), *product.factors[matrix])) return true;
        }
        if (only[0].empty() || only[1].empty()) {
            const auto loads = [](const Expr* factor) {
                return any_expr(*factor, [](const Expr& e) { return e.op == Op::kLoad; });
            };
            if (!std::ranges::all_of(product.factors, loads)) progress = 0;
            return fail("each factor has to vary with a loop that the other does not vary with");
        }
        const auto try_order = [&](int left) {
            return take_order(sums, *only[left].back(), *only[1 - left].back());
        };
        const int better = prefers(*only[1].back(), *only[0].back()) ? 0 : 1;
        if (try_order(better)) return true;
        const std::string why = reason;
        if (try_order(1 - better)) return true;
        return fail(why);
    }

    // Takes a row of factors times a matrix whose rows are contiguous.
    bool take_row(const Loops& sums, For& columns, const Expr& matrix) {
        const Chain& chain = nest_.chains.front();
        const auto along = [&](const For& loop) { return loads_along(matrix, loop) > 0; };
        const bool steps = std::ranges::any_of(chain.loops, [&](const For* loop) {
            return !contains(chain.of_sums, loop) && along(*loop);
        });
        if (sums.size() != 1 || nest_.chains.size() != 1 || chain.products.size() != 1 || steps ||
            !along(columns) || !chain.stored.empty()) {
            return false;
        }
        Builder b(module_, top_.span);
        Var* row = b.scalar("row", Scalar::kI64);
        result_.one_row = true;
        const bool fits = take_order(sums, *b.loop(row, b.integer(0), b.integer(1)), columns) &&
                          !result_.steps.front().varies() && !result_.is_triangle();
        result_.one_row = fits;
        return fits;
    }

    // Columns should be the loop whose neighbours lie side by side in memory.
    [[nodiscard]] bool prefers(const For& columns, const For& rows) const {
        const auto score = [&](const For& loop) {
            int points = 0;
            if (nest_.is_element)
                points += 2 * walks(*result_.target, nest_.chains.front().indices, loop);
            if (!nest_.is_element && !nest_.stem.empty())
                points += 2 * stores_along(nest_.stem.back().behind, loop);
            for (const Product& product : nest_.chains.front().products) {
                for (const Expr* factor : product.factors)
                    points += loads_along(*factor, loop);
            }
            return points;
        };
        return score(columns) >= score(rows);
    }

    bool take_order(const Loops& sums, For& rows, For& columns) {
        result_.rows = &rows;
        result_.columns = &columns;
        result_.outer.clear();
        result_.steps.clear();
        result_.copies_rights = false;
        for (For* loop : sums)
            if (loop != &rows && loop != &columns) result_.outer.push_back(loop);
        for (const Chain& chain : nest_.chains)
            if (!take_steps(chain)) return false;
        return levels_fit() && take_bounds();
    }

    bool take_steps(const Chain& chain) {
        ContractionSteps steps;
        ContractionSteps::Range range;
        for (For* loop : chain.loops)
            if (!contains(chain.of_sums, loop)) range.loops.push_back(loop);
        if (range.loops.empty()) return fail("no loop adds to the sum");
        for (const Product& product : chain.products) {
            const auto is_left = [&](const Expr& e) { return !varies(e, *result_.columns); };
            const auto is_right = [&](const Expr& e) { return !varies(e, *result_.rows); };
            const Expr* left = product.factors[0];
            const Expr* right = product.factors[1];
            if (!is_left(*left) || !is_right(*right)) std::swap(left, right);
            if (!is_left(*left) || !is_right(*right))
                return fail("a factor varies with both " + quoted(*result_.rows->var) + " and " +
                            quoted(*result_.columns->var));
            if (result_.one_row && varies(*left, *result_.columns)) std::swap(left, right);
            const bool of_rows = result_.one_row || varies(*left, *result_.rows);
            if (!of_rows || !varies(*right, *result_.columns))
                return fail(
                    "both factors of a product are the same in all rows, or in all columns");
            for (const For* loop : result_.outer) {
                if (varies(*right, *loop) && !batches_)
                    return fail("both factors vary with " + quoted(*loop->var));
            }
            const auto reads_stored = [&](const Expr* e) {
                return std::ranges::find(chain.stored, e) != chain.stored.end();
            };
            if (reads_stored(left))
                return fail("a factor depends on values that the loops compute");
            result_.copies_rights = result_.copies_rights || reads_stored(right);
            Builder b(module_, left->span);
            Expr* taken = clone(module_, left);
            if (product.negative) taken = b.unary(Op::kNeg, taken);
            range.lefts.push_back(taken);
            steps.rights.push_back(clone(module_, right));
        }
        if (!result_.steps.empty() && continues(result_.steps.back(), range, steps.rights)) {
            result_.steps.back().ranges.push_back(std::move(range));
            return true;
        }
        steps.ranges.push_back(std::move(range));
        result_.steps.push_back(std::move(steps));
        return true;
    }

    // Whether a range begins where the last one ends, with the same right factors.
    bool continues(const ContractionSteps& last, const ContractionSteps::Range& next,
                   const std::vector<Expr*>& rights) {
        const auto& before = last.ranges.back();
        if (before.loops.size() != 1 || next.loops.size() != 1 ||
            rights.size() != last.rights.size() ||
            !same(*clone(module_, before.loops[0]->end, nest_.values),
                  *clone(module_, next.loops[0]->begin, nest_.values))) {
            return false;
        }
        if (!is_within(*before.loops[0], *next.loops[0])) return false;
        Substitution renamed;
        renamed.vars[next.loops[0]->var] = last.ranges.front().loops[0]->var;
        for (std::size_t i = 0; i < rights.size(); ++i) {
            if (!same(*clone(module_, rights[i], renamed), *last.rights[i])) return false;
        }
        return true;
    }

    // Whether the boundary of two ranges is at most the end of the second one, in all rows.
    bool is_within(const For& before, const For& next) {
        Builder b(module_, before.span);
        Substitution last_row = nest_.values;
        IndexMath math(b, Scalar::kI64);
        const For& rows = *result_.rows;
        if (rows.var->type != Type::of(Scalar::kI64)) return false;
        Expr* last = math.add(clone(module_, rows.end, nest_.values), math.number(-1));
        Expr* ends[2];
        for (Expr* row : {clone(module_, rows.begin, nest_.values), last}) {
            last_row.values[rows.var] = row;
            ends[0] = clone(module_, before.end, last_row);
            ends[1] = clone(module_, next.end, last_row);
            const auto apart = (linear(*ends[0]) - linear(*ends[1])).value();
            const Trend trend =
                trend_of(*clone(module_, before.end, nest_.values), *rows.var, nest_.uses);
            const bool extreme =
                trend == Trend::kConstant || (trend == Trend::kGrows ? row == last : row != last);
            if (trend == Trend::kUnknown || varies(*next.end, rows)) return false;
            if (extreme && !(apart && *apart <= 0)) return false;
        }
        return true;
    }

    // Statements between the levels must belong to rows, or to the elements of rows and columns.
    bool levels_fit() {
        bool row_seen = result_.one_row, column_seen = false;
        for (const Level& level : nest_.stem) {
            row_seen = row_seen || level.loop == result_.rows;
            column_seen = column_seen || level.loop == result_.columns;
            const bool last = &level == &nest_.stem.back();
            if ((level.before.empty() && level.behind.empty()) || (last && row_seen && column_seen))
                continue;
            const bool of_row = row_seen && !column_seen;
            const auto later = [&](const For* loop) {
                return std::ranges::none_of(nest_.stem, [&](const Level& each) {
                    return &each <= &level && each.loop == loop;
                });
            };
            if (!of_row || std::ranges::any_of(result_.outer, later))
                return fail("there are statements between the loops");
        }
        return true;
    }

    // ------------------------------------------------------------ bounds

    bool take_bounds() {
        Loops variables = result_.outer;
        variables.push_back(result_.columns);
        for (const auto& steps : result_.steps)
            for (const auto& range : steps.ranges)
                variables.insert(variables.end(), range.loops.begin(), range.loops.end());
        const auto trend = [&](const Expr& bound, const For& loop,
                               Expr*& copy) -> std::optional<Trend> {
            copy = nest_.plain(bound);
            if (copy != nullptr && shift_.loop == &loop) {
                Builder b(module_, loop.span);
                copy = summed(module_, b.binary(Op::kAdd, copy, clone(module_, shift_.by)));
            }
            if (copy == nullptr) {
                fail("the range of " + quoted(*loop.var) + " is computed in the nest");
                return std::nullopt;
            }
            for (const For* other : variables) {
                if (!varies(*copy, *other)) continue;
                fail("the range of " + quoted(*loop.var) + " depends on " + quoted(*other->var));
                return std::nullopt;
            }
            const Trend result = trend_of(*copy, *result_.rows->var, nest_.uses);
            const bool fixed = !varies(*copy, *result_.rows);
            if (!fixed && (result == Trend::kUnknown || result == Trend::kConstant)) {
                fail("the change of the range of " + quoted(*loop.var) + " with " +
                     quoted(*result_.rows->var) + " is not known");
                return std::nullopt;
            }
            return fixed ? Trend::kConstant : result;
        };
        const auto both = [&](For& loop, Trend& first, Trend& end) {
            if (constant_integer(loop.step) != 1 || loop.var->type != Type::of(Scalar::kI64))
                return fail(quoted(*loop.var) + " does not count by ones");
            Contraction::Bounds& bounds = result_.bounds[&loop];
            const auto begins = trend(*loop.begin, loop, bounds.begin);
            const auto ends = trend(*loop.end, loop, bounds.end);
            if (!begins || !ends) return false;
            first = *begins;
            end = *ends;
            return true;
        };
        Loops fixed = result_.outer;
        fixed.push_back(result_.rows);
        Trend first{}, end{};
        for (For* loop : fixed) {
            if (!both(*loop, first, end)) return false;
            if (first != Trend::kConstant || end != Trend::kConstant)
                return fail("the range of " + quoted(*loop->var) + " depends on " +
                            quoted(*result_.rows->var));
        }
        if (!both(*result_.columns, result_.first_column, result_.last_column)) return false;
        for (ContractionSteps& steps : result_.steps) {
            for (ContractionSteps::Range& range : steps.ranges) {
                for (For* loop : range.loops) {
                    if (!both(*loop, first, end)) return false;
                    const bool varies = first != Trend::kConstant || end != Trend::kConstant;
                    if (varies && range.loops.size() > 1)
                        return fail("the range of " + quoted(*loop->var) + " depends on " +
                                    quoted(*result_.rows->var));
                    if (loop == steps.ranges.front().loops.front()) steps.begin = first;
                }
            }
            steps.end = end;
        }
        return reads_all(result_, nest_.uses) ||
               fail("no row is certain to have all columns and steps");
    }

    // ------------------------------------------------------------ statements

    bool take_statements() {
        ++progress;
        bool row_seen = result_.one_row, column_seen = false;
        for (Level& level : nest_.stem) {
            row_seen = row_seen || level.loop == result_.rows;
            column_seen = column_seen || level.loop == result_.columns;
            const bool of_element = row_seen && column_seen;
            Body& before = of_element ? result_.before : result_.before_row;
            Body& behind = of_element ? result_.behind : result_.behind_row;
            const Body front = clone(module_, level.before, nest_.values);
            before.insert(before.end(), front.begin(), front.end());
            const Body back = clone(module_, level.behind, nest_.values);
            behind.insert(behind.begin(), back.begin(), back.end());
        }
        while (!result_.before_row.empty() && is_of_elements(*result_.before_row.back())) {
            const Body body = by_columns(*result_.before_row.back()->as<For>());
            result_.before.insert(result_.before.begin(), body.begin(), body.end());
            result_.before_row.pop_back();
        }
        while (!result_.behind_row.empty() && is_of_elements(*result_.behind_row.front())) {
            const Body body = by_columns(*result_.behind_row.front()->as<For>());
            result_.behind.insert(result_.behind.end(), body.begin(), body.end());
            result_.behind_row.erase(result_.behind_row.begin());
        }
        for (const Body* body :
             {&result_.before, &result_.behind, &result_.before_row, &result_.behind_row}) {
            const bool simple = !any_stmt(*body, [](const Stmt& stmt) {
                return stmt.kind != StmtKind::kAssign && stmt.kind != StmtKind::kStore &&
                       stmt.kind != StmtKind::kIf && stmt.kind != StmtKind::kFor;
            });
            if (!simple) return fail("the nest does more than compute");
            Body inside = *body;
            if (adds_products(inside, 1)) return fail("several sums are added to");
        }
        return keeps_scalars() && knows_sums() && copies_first() && may_leave_out();
    }

    // Whether factors exist for rows and columns whose sums a condition leaves out.
    bool may_leave_out() {
        if (result_.condition == nullptr) return true;
        const auto own = [&](const Var* var) {
            return var == result_.rows->var || var == result_.columns->var;
        };
        const bool of_sums = std::ranges::all_of(uses_of(*result_.condition).read, [&](Var* var) {
            return own(var) || !nest_.uses.written.contains(var);
        });
        const bool alone = result_.before.empty() && result_.behind.empty() &&
                           result_.before_row.empty() && result_.behind_row.empty() &&
                           result_.outer.empty() && !result_.one_row && !result_.copies_rights &&
                           !result_.is_triangle();
        if (!of_sums || !alone) return fail("products are added under a condition");
        return has_all_factors(result_) || fail("a condition may guard the factors");
    }

    // Right factors may be stored to only after all steps.
    bool copies_first() {
        if (!result_.copies_rights) return true;
        const bool simple = result_.outer.empty() && result_.before_row.empty() &&
                            result_.behind_row.empty() && uses_of(result_.before).stored.empty();
        return simple || fail("a factor depends on values that the loops compute");
    }

    // Whether an element without products is known to exist because other statements use it.
    bool knows_sums() {
        const auto uses_sum = [&](const Stmt* stmt) {
            const auto* store = stmt->as<Store>();
            return store != nullptr && store->array == result_.target &&
                   same(store->indices, result_.indices);
        };
        const bool used = !nest_.is_element || std::ranges::any_of(result_.before, uses_sum) ||
                          std::ranges::any_of(result_.behind, uses_sum);
        const auto surely = [&](const ContractionSteps::Range& range) {
            return std::ranges::all_of(range.loops, [&](const For* loop) {
                const Contraction::Bounds& bounds = result_.bounds.at(loop);
                const auto begin = constant_integer(bounds.begin),
                           end = constant_integer(bounds.end);
                return begin && end && *begin < *end;
            });
        };
        const bool added = std::ranges::any_of(result_.steps, [&](const ContractionSteps& steps) {
            return std::ranges::any_of(steps.ranges, surely);
        });
        result_.may_lack_sums = !used && !added;
        if (result_.may_lack_sums && !(result_.before.empty() && result_.behind.empty()))
            return fail("elements without any added product may not exist");
        return true;
    }

    // A loop over the columns of a row that touches nothing but the sums.
    bool is_of_elements(const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        Substitution renamed;
        if (!nest_.is_element || loop == nullptr) return false;
        renamed.vars[loop->var] = result_.columns->var;
        if (!nest_.same_bounds(*loop, *plain_bounds(*result_.columns), renamed)) return false;
        const Uses inside = uses_of(loop->body);
        for (const Var* array : inside.stored)
            if (array != result_.target) return false;
        for (const Var* array : inside.loaded)
            if (array != result_.target && may_share(nest_.uses.stored, *array)) return false;
        const auto is_sum = [&](const std::vector<Expr*>& indices) {
            for (std::size_t i = 0; i < indices.size(); ++i) {
                if (!same(*clone(module_, indices[i], renamed), *result_.indices[i])) return false;
            }
            return true;
        };
        bool fits = true;
        for_each_stmt(loop->body, [&](const Stmt& inner) {
            const auto* store = inner.as<Store>();
            fits = fits && inner.kind != StmtKind::kFor &&
                   (store == nullptr || is_sum(store->indices));
        });
        for_each_expr(loop->body, [&](const Expr& e) {
            if (e.op == Op::kLoad && e.var == result_.target) fits = fits && is_sum(e.operands);
        });
        const VarSet exposed = exposed_reads(loop->body);
        return fits && std::ranges::none_of(
                           exposed, [&](const Var* v) { return inside.written.contains(v); });
    }

    // The loop with its bounds rewritten for evaluation before the nest.
    For* plain_bounds(const For& loop) {
        Builder b(module_, loop.span);
        return b.loop(loop.var, clone(module_, loop.begin, nest_.values),
                      clone(module_, loop.end, nest_.values), {}, clone(module_, loop.step));
    }

    Body by_columns(const For& loop) {
        Substitution renamed;
        renamed.vars[loop.var] = result_.columns->var;
        return clone(module_, loop.body, renamed);
    }

    // A scalar may be used only by statements of the same element or row. Statements after the
    // steps compute scalars from before the steps again.
    bool keeps_scalars() {
        const VarSet& live = liveness_.after(&top_);
        for (const Var* var : nest_.uses.written) {
            if (live.contains(var))
                return fail("the value of " + quoted(*var) + " is used after the loops");
        }
        const auto reads_of = [&](const Body& body, const Body& writer) {
            const VarSet exposed = exposed_reads(body);
            const Uses written = uses_of(writer);
            return std::ranges::any_of(exposed, [&](const Var* v) {
                return v != result_.target && written.written.contains(v);
            });
        };
        for (const Body* body : {&result_.before, &result_.behind, &result_.behind_row}) {
            if (reads_of(*body, result_.before_row))
                return fail("a value of a row is used in its columns");
        }
        if (reads_of(result_.behind_row, result_.before) ||
            reads_of(result_.behind_row, result_.behind)) {
            return fail("a value of an element is used after its row");
        }
        if (!reads_of(result_.behind, result_.before)) return true;
        if (!uses_of(result_.before).stored.empty())
            return fail("a value from before the steps is used after them");
        result_.again = clone(module_, result_.before);
        return true;
    }

    bool has_no_effects() {
        if (nest_.uses.calls) return fail("the nest calls functions");
        if (!nest_.uses.allocated.empty()) return fail("the nest makes arrays");
        if (nest_.is_element && !is_injective(*result_.target))
            return fail("elements of " + quoted(*result_.target) + " share memory");
        for (const Var* array : nest_.is_element ? nest_.uses.stored : VarSet{}) {
            if (array != result_.target && may_share(*array, *result_.target))
                return fail(quoted(*array) + " may share memory with " + quoted(*result_.target));
        }
        return true;
    }

    // ------------------------------------------------------------ independence

    bool is_independent() {
        ++progress;
        result_.asked = result_.outer;
        if (!result_.one_row) result_.asked.push_back(result_.rows);
        result_.asked.push_back(result_.columns);
        for (const auto& [mine, first] : nest_.same_loops) {
            if (contains(result_.asked, first)) result_.asked.push_back(mine);
        }
        for (For* loop : result_.asked) {
            const Independence known = judge_.independence(*loop);
            const bool first =
                result_.copies_rights && loop == result_.rows && known == Independence::kReadsFirst;
            if (known != Independence::kFull && !first)
                return fail("iterations of " + quoted(*loop->var) + " depend on each other");
        }
        return true;
    }

    Module& module_;
    For& top_;
    const Judge& judge_;
    const Liveness& liveness_;
    const bool batches_;
    NestOfSums nest_;
    LoopShift shift_;
    Contraction result_;
};

}  // namespace

ContractionMatch match_contraction(Module& module, For& top, const Judge& judge,
                                   const Liveness& liveness, bool deterministic, bool batches) {
    Matcher matcher(module, top, judge, liveness, deterministic, batches);
    auto found = matcher.run();
    return {std::move(found), matcher.reason, matcher.progress};
}

}  // namespace parpy
