// The elements of expressions over slices, for lower_slices: the expression that one iteration of
// the loops computes, and the loops that reductions and matrix products need before it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "passes/slices/slice_shapes.h"

namespace parpy {

// One loop over the elements of a dimension, under construction.
struct SliceLoop {
    ir::Var* var = nullptr;
    Extent length;
    std::vector<std::string> labels;
    bool backwards = false;
    ir::Body body;
};

// The place of an element in a shape: the loop that counts each dimension; null: size 1.
using Place = std::vector<SliceLoop*>;

// The place in an operand of broadcast shape: counted from the right, null where its size is 1.
[[nodiscard]] Place part(const Place& place, const Shape& shape);

// The target of a statement: elements that its own right side may read.
struct SliceTarget {
    const ir::Var* array = nullptr;
    std::vector<Subscript> subscripts;
    std::vector<SliceLoop*> loops;  // one for each slice, the outermost of the statement
};

class SliceElements {
public:
    // `labels` are those of the statement that no loop has yet; `before` runs before the statement.
    SliceElements(PassContext& context, Shapes& shapes, Span span, ir::Body& before,
                  std::vector<std::string> labels);

    // Opens the next loop inwards, which gets the next label.
    SliceLoop* open(const Extent& length);
    // The element of `expr` at `place`; statements that it needs go into the bodies of the open
    // loops or `before`.
    ir::Expr* element(const ir::Expr& expr, const Place& place);
    // The subscripts of the element of an array at `place`.
    std::vector<ir::Expr*> indices(const std::vector<Subscript>& subscripts, const Place& place);
    // Nests the loops around `loops.back()->body`, which is moved from.
    ir::Stmt* nest(const std::vector<SliceLoop*>& loops);

    [[nodiscard]] const std::vector<SliceLoop*>& open_loops() const { return loops_; }
    [[nodiscard]] const std::vector<std::string>& labels_left() const { return labels_; }

    SliceTarget target;
    // A load of an element of `target` that is also written: the distance by which each loop reads
    // ahead, in iterations; empty if that is no constant.
    struct Hazard {
        const ir::Expr* load = nullptr;
        std::vector<std::int64_t> ahead;
    };
    std::vector<Hazard> hazards;

private:
    ir::Expr* number_of(const SliceLoop* loop);
    ir::Expr* load(const ir::Expr& expr, const Place& place);
    ir::Expr* reduce(const ir::Expr& expr, const Place& place);
    void refuse_nothing(const ir::Expr& reduce, const Shape& shape, const std::vector<bool>& gone);
    ir::Expr* matmul(const ir::Expr& expr, const Place& place);
    ir::Expr* choice(const ir::Expr& expr, const Place& place);
    Place reshaped(const ir::Expr& expr, const Place& place);
    ir::Expr* lazily(const ir::Expr& expr);
    ir::Expr* up_front(const ir::Expr& expr);
    bool waits_for_nothing(const ir::Expr& expr) const;
    void note_hazard(const ir::Expr& load, const Place& place);
    // Runs `inner` with the loops of `place` and then loops over `lengths` open, inside an update
    // of a new accumulator, which is returned.
    template <class F>
    ir::Var* accumulate(const char* name, ir::Op op, const ir::Expr& identity, const Place& place,
                        const std::vector<Extent>& lengths, F&& inner);

    PassContext& context_;
    Shapes& shapes_;
    ir::Builder builder_;
    ir::Body* before_;
    std::vector<std::string> labels_;
    std::deque<SliceLoop> made_;
    std::vector<SliceLoop*> loops_;  // open, outermost first
    // The conditions under which the program evaluates the expression, beside those around before_.
    std::vector<const ir::Expr*> conditions_;
};

}  // namespace parpy
