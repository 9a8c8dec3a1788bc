// Replaces the names of arrays in statements by the arrays that they refer to, for lower_names:
// loads and stores, sizes, and arguments of calls.
#pragma once

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "passes/pass.h"
#include "passes/slices/slice_shapes.h"
#include "passes/values/name_forms.h"
#include "passes/values/name_places.h"
#include "passes/values/name_subscripts.h"

namespace parpy {

class NameUses {
public:
    // `names` may grow until replace() is called. `variants` makes the copies of functions that get
    // names as arguments.
    NameUses(PassContext& context, const NamePlaces& places, const Names& names,
             const Intervals& intervals, NameSubscripts& subscripts, NameVariants& variants)
        : context_(context),
          places_(places),
          names_(names),
          intervals_(intervals),
          b_(context.module),
          subscripts_(subscripts),
          variants_(variants) {}

    void replace(ir::Body& stmts);
    // Replaces the extents of names in the value, and folds sums and products that become
    // constants.
    void replace_sizes(ir::Expr*& value);

private:
    void replace(ir::Expr*& slot, Shapes& shapes);
    void call(ir::Expr& e);
    // Whether it is an extent of a name whose sizes are known; size_of() is its value.
    bool is_size(const ir::Expr& e) const;
    ir::Expr* size_of(const ir::Expr& e);
    ir::Expr* folded(ir::Expr* e);
    bool names_any(const ir::Expr& expr) const;
    // Rewrites `while c: …` as `while True: if not c: break; …`.
    void test_inside(ir::While& loop);

    PassContext& context_;
    const NamePlaces& places_;
    const Names& names_;
    const Intervals& intervals_;
    ir::Builder b_;
    NameSubscripts& subscripts_;
    NameVariants& variants_;
};

}  // namespace parpy
