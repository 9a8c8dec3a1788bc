// Sizes of slices and of expressions over them, for lower_slices: NumPy's clamping, negative bounds
// and broadcasting, on bounds that are constants or expressions.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/integers/index_math.h"
#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "passes/pass.h"

namespace parpy {

class FailBuilder;

// The number of elements along one dimension. Its expressions are cloned where they are used.
struct Extent {
    const ir::Expr* value = nullptr;
    const ir::Expr* written = nullptr;  // the same without variables for parts of it
    Linear form;                        // of `written`

    [[nodiscard]] std::optional<std::int64_t> constant() const { return form.value(); }
    [[nodiscard]] bool is_one() const { return constant() == 1; }
};
using Shape = std::vector<Extent>;

// One subscript of a load or store.
struct Subscript {
    const ir::Expr* index = nullptr;  // an index; null for a slice or new axis
    const ir::Expr* begin = nullptr;  // a slice: element number i of it is begin + step * i
    const ir::Expr* step = nullptr;
    Extent length;  // of a slice or new axis
    // The index, or begin of the slice, counted from the start; empty if its sign is unknown.
    std::optional<Linear> first;

    [[nodiscard]] bool is_slice() const { return begin != nullptr; }
    [[nodiscard]] bool is_new_axis() const { return begin == nullptr && index == nullptr; }
};

// The shapes of the expressions of one statement. Bounds that are no plain sums are assigned to
// variables in `before`, which runs before the statement.
class Shapes {
public:
    Shapes(PassContext& context, const Intervals& intervals, Span span, ir::Body& before)
        : context_(context),
          intervals_(intervals),
          builder_(context.module, span),
          before_(before) {}

    // Reports operands whose shapes do not match; the result is then the shape of one of them.
    const Shape& of(const ir::Expr& expr);
    const std::vector<Subscript>& subscripts(const ir::Expr& load);
    std::vector<Subscript> subscripts(const ir::Var& array, const std::vector<ir::Expr*>& indices);

    // Whether values of shape `from` can be stored to elements of shape `to`.
    bool fits(const Shape& from, const Shape& to, Span span, const std::string& what);
    // Whether the dimension is known to have an element. For an array of the call this becomes a
    // requirement: other calls have a program of their own.
    bool has_elements(const Extent& extent);
    // Between these calls, shapes are those of values that may not be evaluated.
    void enter_branch() { ++branches_; }
    void leave_branch() { --branches_; }
    // The dimensions that a kReduce runs over.
    static std::vector<bool> reduced(const ir::Expr& reduce, std::size_t rank);
    // The dimensions of an operand of a product before those of its matrices.
    static Shape matrices(const Shape& shape);
    // The same extent with a plain expression as value, for the bound of a loop.
    Extent held(const Extent& length);
    // The type of index arithmetic.
    [[nodiscard]] ir::Scalar index_type() const;

private:
    struct Bound {
        ir::Expr* value = nullptr;
        Interval range;
        bool inside = false;  // counted from the end: less than the size
    };
    Shape compute(const ir::Expr& expr);
    Shape reduce(const ir::Expr& expr);
    Shape matmul(const ir::Expr& expr);
    Shape reshape(const ir::Expr& expr);
    Subscript slice(const ir::Dim& dim, const ir::Expr& slice);
    Bound bound(const ir::Expr& given, const ir::Dim& dim);
    Bound size(const ir::Dim& dim);
    const ir::Expr* once(ir::Expr* value, const char* name);
    Extent extent(std::int64_t constant);
    Extent extent(const ir::Expr& given);
    void refuse_negative(const ir::Expr& size);
    void broadcast(Shape& shape, const Shape& other, Span span);
    // Two shapes that must match, for messages: `what` precedes them.
    struct Meeting {
        Span span;
        std::string what;
        const Shape &a, &b;
    };
    // Whether two sizes match; reports if they do not. `stretches`: 1 matches any size. Equality
    // that depends on the call's arguments alone becomes a requirement; otherwise the program
    // compares the sizes.
    bool match(const Extent& a, const Extent& b, bool stretches, const Meeting& meeting);
    [[nodiscard]] bool follows_from_arguments(const Extent& extent) const;
    void fail_unless_equal(const Extent& a, const Extent& b, const Meeting& meeting);

    [[nodiscard]] const ir::Var* parameter(const ir::Expr& term) const;
    bool zero_if(const Linear& form, std::vector<ir::ParameterBound>& bounds) const;
    bool equal_if(const ir::Expr& a, const ir::Expr& b,
                  std::vector<ir::ParameterBound>& bounds) const;
    bool require_zero(const Linear& form);

    PassContext& context_;
    const Intervals& intervals_;
    ir::Builder builder_;
    ir::Body& before_;
    int branches_ = 0;
    std::vector<std::pair<const ir::Expr*, ir::Var*>> held_;  // the values of variables in before_
    std::unordered_map<const ir::Expr*, Shape> shapes_;
    std::unordered_map<const ir::Expr*, std::vector<Subscript>> subscripts_;
};

// "(3, n - 1)"
[[nodiscard]] std::string to_string(const Shape& shape);
// The same with the values that the failing program has.
[[nodiscard]] std::string shown(const Shape& shape, FailBuilder& fail, IndexMath& math);

}  // namespace parpy
