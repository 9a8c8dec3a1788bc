// Builds the parts of a contraction that are the same on every target: arithmetic with constant
// folding, bounds of its loops, the statements around its sums.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "analysis/integers/index_math.h"
#include "ir/builder.h"
#include "ir/clone.h"

namespace parpy {

class ContractionMath {
protected:
    ContractionMath(ir::Module& module, const Contraction& contraction);

    // ---- arithmetic: operands are copied
    ir::Expr* number(std::int64_t value) { return b_.integer(value); }
    ir::Expr* copy(const ir::Expr* e) { return ir::clone(b_.module(), e); }
    ir::Expr* add(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* sub(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* mul(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* add(const ir::Expr* a, std::int64_t b) { return add(a, number(b)); }
    ir::Expr* mul(const ir::Expr* a, std::int64_t b) { return mul(a, number(b)); }
    ir::Expr* least(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* greatest(const ir::Expr* a, const ir::Expr* b);
    // Quotient and remainder of a non-negative number by a positive one.
    ir::Expr* quotient(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* remainder(const ir::Expr* a, const ir::Expr* b);
    ir::Expr* parts_of(const ir::Expr* a, std::int64_t each);  // rounded up
    ir::Expr* named(ir::Body& out, std::string name, const ir::Expr* value) {
        return b_.named(out, std::move(name), copy(value));
    }
    ir::Var* like(const ir::Var* var);  // a new variable

    // ---- bounds
    const Contraction::Bounds& bounds(const ir::For& loop) const { return c_.bounds.at(&loop); }
    ir::Expr* at_row(const ir::Expr* bound, const ir::Expr* row);
    // The least (greatest) value of a bound in these rows.
    ir::Expr* least_of(const ir::Expr* bound, Trend trend, const ir::Expr* first_row,
                       const ir::Expr* last_row);
    ir::Expr* greatest_of(const ir::Expr* bound, Trend trend, const ir::Expr* first_row,
                          const ir::Expr* last_row);
    // Computes the rows and columns of the nest; the members below then name them.
    void measure(ir::Body& out);
    // `body` if the outer loops and the rows have iterations; `columns`: these must have some, too.
    ir::Body if_it_runs(ir::Body body, bool columns);
    // Whether some range of steps of the row has an iteration.
    ir::Expr* adds_something(ir::Expr* row);

    // ---- sums, for the row and column in `here`
    // The constant initial value of all sums, if no other statement precedes the steps; or null.
    [[nodiscard]] const ir::Expr* first_of_all() const;
    // The initial value of a sum, behind the statements that precede the steps.
    ir::Expr* first_sum(const ir::Substitution& here, ir::Body& out);
    // The statements that use a sum with this value.
    ir::Body last_sum(const ir::Substitution& here, ir::Expr* value);

    ir::Builder b_;
    IndexMath math_;
    const Contraction& c_;
    ir::Expr* first_row_ = nullptr;
    ir::Expr* end_row_ = nullptr;
    ir::Expr* first_column_ = nullptr;  // of all rows
    ir::Expr* end_column_ = nullptr;

private:
    [[nodiscard]] const ir::Expr* given() const;
    [[nodiscard]] bool stores_first() const;
    std::vector<ir::Expr*> element_of(const ir::Substitution& here);
};

}  // namespace parpy
