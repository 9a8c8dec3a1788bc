// Statements that update a scalar or an element by an associative operator, in any spelling: s +=
// e, s = e + s, s = max(s, e), if e > s: s = e. Reductions consist of them.
#pragma once

#include <optional>
#include <vector>

#include "analysis/uses.h"
#include "ir/ir.h"

namespace parpy {

// The reduction that repeating `target <op>= value` computes.
[[nodiscard]] std::optional<ir::Op> reduction_of(ir::Op update, const ir::Type& type);

// A statement that updates `var` (an element of it if it is an array).
struct Update {
    ir::Stmt** slot = nullptr;  // the place of the statement (find_updates)
    ir::Var* var = nullptr;
    const std::vector<ir::Expr*>* indices = nullptr;  // of the element; null: a scalar
    ir::Op update{};
    ir::Expr* value = nullptr;
    // Further operands with their operators: in s = s - e + f, `update` is -, `value` is e, and (+,
    // f) follows.
    struct Term {
        ir::Op op;
        ir::Expr* value;
    };
    std::vector<Term> more;
    int reads = 0;  // of the target, in the statement's own spelling
    // Whether the result after a NaN depends on the order: m = max(e, m) forgets a NaN at the next
    // e. But m = max(m, e) and if e > m: m = e skip every NaN, in any order.
    bool forgets_nan = false;
};

[[nodiscard]] std::optional<Update> match_update(ir::Stmt& stmt);
// `target = fma(a, b, target)` and longer chains of that kind, which add up products in their
// order: `update` is kFma, the operands are `value` and `more` in any order.
[[nodiscard]] std::optional<Update> match_chain(ir::Stmt& stmt);
// Whether the order of such updates changes the bits of the result for some values.
[[nodiscard]] bool is_ordered(const Update& update);
// The updates in `body` and the statements nested in it.
[[nodiscard]] std::vector<Update> find_updates(ir::Body& body);
// The same, with the updates in the functions that it calls, each once.
[[nodiscard]] std::vector<Update> find_updates_in_calls(ir::Body& body);

// The statement in the form `target op= value`, which later passes look for. A sum or product keeps
// the type that it is computed in, which may be wider than the target's.
[[nodiscard]] ir::Stmt* spelled_as_update(ir::Module& module, const Update& update);

// The reductions of the iterations of `loop`: each group updates one target by one operator;
// nothing else in the loop touches the target, and its subscripts are invariant in the loop.
struct UpdateGroup {
    ir::Op op{};
    std::vector<Update> updates;
    bool by_analysis = false;  // the subscripts decide, not the text (dependences.h)
    [[nodiscard]] bool forgets_nan() const;
    [[nodiscard]] bool is_ordered() const;  // whether one of them is
};
[[nodiscard]] std::vector<UpdateGroup> reductions_of(ir::For& loop);
// The remaining groups, of elements: `B[i, j] += A[i, k] * B[k, j]` in a loop over k. They are
// reductions if the loop touches the element by these updates alone.
[[nodiscard]] std::vector<UpdateGroup> possible_reductions_of(ir::For& loop);

// Whether the subscript has another value in each iteration of `loop`. `uses` are those of its
// body, with its variable among the written ones.
[[nodiscard]] bool separates(const ir::Expr& index, const ir::For& loop, const Uses& uses);

// True if iterations of `loop` may update one element, for some extents: it has reductions_of(), or
// updates an element that no subscript makes private to an iteration (h[k[i]] += 1).
[[nodiscard]] bool accumulates(ir::For& loop);

}  // namespace parpy
