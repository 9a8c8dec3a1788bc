// See contraction_row.h.
#include "passes/cpu/contraction_row.h"

#include <functional>
#include <utility>
#include <vector>

#include "analysis/integers/index_math.h"
#include "ir/builder.h"
#include "ir/clone.h"

namespace parpy {

using namespace ir;

namespace {

// The number of steps whose products are added before a sum is stored again.
constexpr std::int64_t kTogether = 4;

class RowCode {
public:
    RowCode(Module& module, const Contraction& c, const ContractionPlan& plan,
            const ContractionPlace& place)
        : b_(module, c.top->span), math_(b_, Scalar::kI64), c_(c), plan_(plan), place_(place) {}

    Body run() {
        const Contraction::Bounds& columns = c_.bounds.at(c_.columns);
        Var* block = b_.scalar("block", Scalar::kI64);
        Var* first = b_.scalar("first_column", Scalar::kI64);
        Var* end = b_.scalar("end_column", Scalar::kI64);
        sums_ = b_.local_array("sums", c_.type, {plan_.columns}, Space::kLocal);
        first_ = first;
        end_ = end;
        Expr* begin = math_.add(copy(columns.begin),
                                math_.multiply(b_.var(block), math_.number(plan_.columns)));
        Expr* last = math_.add(b_.var(first), math_.number(plan_.columns));
        Body body = {b_.assign(first, begin), b_.assign(end, math_.least(last, copy(columns.end))),
                     b_.alloc(sums_)};
        body.push_back(each_column([&](Var* column) { return begun(column); }));
        add(body);
        body.push_back(each_column([&](Var* column) { return ended(column); }));
        Expr* count =
            math_.greatest(math_.subtract(copy(columns.end), copy(columns.begin)), math_.number(0));
        Expr* blocks = b_.binary(Op::kQuotient, math_.add(count, math_.number(plan_.columns - 1)),
                                 math_.number(plan_.columns));
        For* all = b_.loop(block, math_.number(0), folded(b_, blocks), std::move(body));
        if (place_.parallel) {
            all->mapping.level = Level::kWorkers;
            all->mapping.threads = place_.threads;
        }
        if (!c_.may_lack_sums) return {all};
        // Elements to which nothing is added may not exist.
        Expr* any = nullptr;
        for (const For* loop : c_.steps.front().ranges.front().loops) {
            const Contraction::Bounds& steps = c_.bounds.at(loop);
            Expr* some = b_.binary(Op::kLt, copy(steps.begin), copy(steps.end));
            any = any == nullptr ? some : b_.binary(Op::kAnd, any, some);
        }
        return {b_.if_(any, {all})};
    }

private:
    Expr* copy(const Expr* e) { return clone(b_.module(), e); }

    For* each_column(const std::function<Body(Var*)>& make) {
        Var* column = b_.module().make_like(*c_.columns->var);
        For* loop = b_.loop(column, b_.var(first_), b_.var(end_), make(column));
        loop->mapping.level = Level::kVector;
        loop->mapping.threads = 1;
        return loop;
    }

    Expr* place(Var* column) { return math_.subtract(b_.var(column), b_.var(first_)); }

    Substitution here(Var* column) {
        Substitution result;
        result.vars[c_.columns->var] = column;
        return result;
    }

    std::vector<Expr*> indices(const Substitution& here) {
        std::vector<Expr*> result;
        for (const Expr* index : c_.indices)
            result.push_back(clone(b_.module(), index, here));
        return result;
    }

    Body begun(Var* column) {
        const Substitution at = here(column);
        Body body = clone(b_.module(), c_.before, at);
        Expr* value = c_.indices.empty() ? b_.var(c_.target) : b_.load(c_.target, indices(at));
        body.push_back(b_.store(sums_, {place(column)}, value));
        return body;
    }

    Body ended(Var* column) {
        const Substitution at = here(column);
        Body body = clone(b_.module(), c_.again, at);
        Expr* value = b_.load(sums_, {place(column)});
        body.push_back(c_.indices.empty()
                           ? static_cast<Stmt*>(b_.assign(c_.target, value))
                           : static_cast<Stmt*>(b_.store(c_.target, indices(at), value)));
        const Body behind = clone(b_.module(), c_.behind, at);
        body.insert(body.end(), behind.begin(), behind.end());
        return body;
    }

    // Adds all products, those of the innermost loop several at a time.
    void add(Body& out) {
        const ContractionSteps& steps = c_.steps.front();
        const ContractionSteps::Range& range = steps.ranges.front();
        const For& last = *range.loops.back();
        const Contraction::Bounds& bounds = c_.bounds.at(&last);
        const auto some = [&](Expr* step, std::int64_t count, Substitution at) {
            return each_column([&](Var* column) -> Body {
                at.vars[c_.columns->var] = column;
                Expr* sum = b_.load(sums_, {place(column)});
                for (std::int64_t i = 0; i < count; ++i) {
                    Expr* here = math_.add(copy(step), math_.number(i));
                    at.values[last.var] = here;
                    Expr* left = clone(b_.module(), range.lefts.front(), at);
                    Expr* right = clone(b_.module(), steps.rights.front(), at);
                    sum = plan_.fused ? b_.make(Op::kFma, {left, right, sum})
                                      : b_.binary(Op::kAdd, sum, b_.binary(Op::kMul, left, right));
                }
                return {b_.store(sums_, {place(column)}, sum)};
            });
        };
        Substitution at;
        std::vector<Var*> variables;
        for (std::size_t l = 0; l + 1 < range.loops.size(); ++l) {
            const Var* var = range.loops[l]->var;
            variables.push_back(at.vars[var] = b_.module().make_like(*var));
        }
        // [begin, middle) in steps of kTogether, then the rest.
        Var* middle = b_.scalar("together", Scalar::kI64);
        Expr* count =
            math_.greatest(math_.subtract(copy(bounds.end), copy(bounds.begin)), math_.number(0));
        Expr* whole = b_.binary(Op::kMul, b_.binary(Op::kQuotient, count, math_.number(kTogether)),
                                math_.number(kTogether));
        out.push_back(
            b_.assign(middle, folded(b_, math_.add(copy(bounds.begin), folded(b_, whole)))));
        Var* step = b_.module().make_like(*last.var);
        For* most = b_.loop(step, copy(bounds.begin), b_.var(middle),
                            {some(b_.var(step), kTogether, at)}, math_.number(kTogether));
        Var* one = b_.module().make_like(*last.var);
        For* rest = b_.loop(one, b_.var(middle), copy(bounds.end), {some(b_.var(one), 1, at)});
        Body body = {most, rest};
        for (std::size_t l = variables.size(); l-- > 0;) {
            const Contraction::Bounds& around = c_.bounds.at(range.loops[l]);
            body = {b_.loop(variables[l], copy(around.begin), copy(around.end), std::move(body))};
        }
        out.insert(out.end(), body.begin(), body.end());
    }

    Builder b_;
    IndexMath math_;
    const Contraction& c_;
    const ContractionPlan& plan_;
    const ContractionPlace place_;
    Var* sums_ = nullptr;
    Var* first_ = nullptr;
    Var* end_ = nullptr;
};

}  // namespace

Body row_code(Module& module, const Contraction& contraction, const ContractionPlan& plan,
              const ContractionPlace& place) {
    return RowCode(module, contraction, plan, place).run();
}

}  // namespace parpy
