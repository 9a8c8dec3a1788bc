// Stores to the elements that arrays of subscripts select: `x[k] = v`, `x[i, j] += 1`.
#include <algorithm>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"
#include "passes/types/infer_types/typer.h"

namespace parpy {

using namespace ir;

std::vector<Expr*> Typer::cloned(const std::vector<Expr*>& exprs) {
    std::vector<Expr*> copies;
    for (const Expr* e : exprs)
        copies.push_back(clone(context_.module, e));
    return copies;
}

// x[k] = v        as        k_copy = k;  v_copy = empty(k.shape);  v_copy[:] = v
//                           for p in range(k.shape[0]): x[k_copy[p]] = v_copy[p]
//
// All subscripts and values are evaluated before anything is stored, as in NumPy, and of several
// values for one element the last one stays: x[k] += 1 adds 1 to an element once. `written`: the
// subscripts of an update as the program has them.
bool Typer::scatter(Store& stmt, int rank, const std::vector<Expr*>& written, Body& out) {
    const auto slices = std::ranges::find_if(stmt.indices, [](const Expr* index) {
        return index->op == Op::kSlice || index->op == Op::kNewAxis;
    });
    const bool leads = std::ranges::all_of(
        slices, stmt.indices.end(), [](const Expr* index) { return index->op == Op::kSlice; });
    const bool whole = std::ranges::all_of(
        slices, stmt.indices.end(), [](const Expr* index) { return index->operands.empty(); });
    const bool updates_rows = stmt.update && slices != stmt.indices.end();
    if (rank > 1 || !leads || updates_rows) {
        refuse_call(
            Code::kP223, stmt.span,
            "elements of '" + stmt.array->shown() + "' are stored through " +
                (rank > 1 ? "an array of subscripts with " + std::to_string(rank) + " dimensions"
                          : "both slices and an array of subscripts"),
            rank > 1 ? "make it one-dimensional: k.ravel()" : "write a loop over the subscripts");
        return false;
    }
    Module& module = context_.module;
    Expr* stored = stmt.value;
    if (stmt.update) {
        Expr* old = module.make_expr(Op::kLoad, Type::unknown(), stmt.span, written);
        old->var = stmt.array;
        stored = module.make_expr(*stmt.update, Type::unknown(), stmt.span, {old, stmt.value});
    }
    const Operand value = walk_value(stored);
    if (!check_subscripts(stmt.array, stmt.indices, stmt.span) || !rewriting()) return false;
    stmt.array->written = true;
    instances_.writes.emplace(stmt.array, stmt.span);
    if (!value.type.is_scalar()) return false;
    if (stmt.update && !check_update(stmt, value.type)) return false;
    const auto target_rank = static_cast<int>(1 + (stmt.indices.end() - slices));
    if (value.rank > target_rank) {
        needs_scalar(*stored, value.rank);
        return false;
    }

    Builder b(module, stmt.span);
    Var* place = module.make_var("place", Type::of(index_scalar()), stmt.span);
    std::vector<Expr*> sizes;  // of the elements that are stored to
    for (Expr*& index : stmt.indices) {
        if (index->op == Op::kSlice) break;
        const bool varies = any_expr(*index, [](const Expr& e) { return e.op == Op::kSlice; });
        if (!varies) continue;
        if (sizes.empty()) {
            name_value(index, 1);
            sizes.push_back(b.extent(index->var, 0));
        } else {
            index = spread(index, sizes, out);
        }
        index->operands.front() = b.var(place);
    }
    const auto first_slice = static_cast<int>(slices - stmt.indices.begin());
    for (int axis = first_slice; axis < stmt.array->type.rank; ++axis)
        sizes.push_back(b.extent(stmt.array, axis));
    stored = convert(stored, value.type, Type::of(stmt.array->type.scalar));
    if (value.rank == target_rank && !whole) {  // a row for each of them
        name_value(stored, value.rank);
        out.push_back(rows_fit(*stored->var, sizes.front(), stmt.span));
        stored->operands.front() = b.var(place);
    } else if (value.rank == target_rank) {
        stored = spread(stored, sizes, out);
        stored->operands.front() = b.var(place);
    } else if (value.rank > 0) {
        name_value(stored, value.rank);
    } else if (stored->op != Op::kConst) {
        Var* once = module.make_var("value", stored->type, stmt.span);
        out.push_back(b.assign(once, stored));
        stored = b.var(once);
    }
    out.push_back(b.loop(place, b.integer(0, index_scalar()),
                         b.convert(clone(module, sizes.front()), index_scalar()),
                         {b.store(stmt.array, stmt.indices, stored)}));
    return true;
}

// Makes `if values.shape[0] != count: fail P433`.
Stmt* Typer::rows_fit(Var& values, Expr* count, Span span) {
    Builder b(context_.module, span);
    FailBuilder fail(b, Code::kP433);
    Expr* given = b.extent(&values, 0);
    const std::string own = fail.value(given), wanted = fail.value(clone(context_.module, count));
    fail.site().message = own + " rows are stored through an array of " + wanted + " subscripts";
    Expr* differs =
        context_.module.make_expr(Op::kNe, Type::of(Scalar::kBool), span,
                                  {clone(context_.module, given), clone(context_.module, count)});
    return b.if_(differs, {fail.make()});
}

// A new array of these sizes, filled with the values.
Expr* Typer::spread(Expr* values, const std::vector<Expr*>& sizes, Body& out) {
    Module& module = context_.module;
    Builder b(module, values->span);
    std::vector<Expr*> shape = {b.constant(values->type, Constant{std::int64_t{0}})};
    std::ranges::copy(cloned(sizes), std::back_inserter(shape));
    Expr* full = module.make_expr(Op::kFull, values->type, values->span, std::move(shape));
    Expr* slot = module.make_expr(Op::kEmpty, values->type, values->span, {full});
    name_value(slot, static_cast<int>(sizes.size()));
    out.push_back(b.store(slot->var, cloned(slot->operands), values));
    return slot;
}

}  // namespace parpy
