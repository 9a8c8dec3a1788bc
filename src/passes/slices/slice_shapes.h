// Sizes of slices and of what is computed from them, for lower_slices: NumPy's clamping, negative
// bounds and broadcasting, on bounds that are constants or expressions.
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

// The number of elements along one dimension. Expressions here are templates to clone.
struct Extent {
    const ir::Expr* value = nullptr;
    const ir::Expr* written = nullptr;  // the same without variables that hold parts of it
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
    // The index, or begin of the slice, counted from the start; empty if its sign is not known.
    std::optional<Linear> first;

    [[nodiscard]] bool is_slice() const { return begin != nullptr; }
    [[nodiscard]] bool is_new_axis() const { return begin == nullptr && index == nullptr; }
};

// The shapes of the expressions of one statement. Bounds that are no plain sums are assigned to
// variables in `before`, which runs in front of the statement.
class Shapes {
public:
    Shapes(PassContext& context, const Intervals& intervals, Span span, ir::Body& before)
        : context_(context),
          intervals_(intervals),
          builder_(context.module, span),
          before_(before) {}

    // Reports what does not fit together; the shape is that of a part then.
    const Shape& of(const ir::Expr& expr);
    const std::vector<Subscript>& subscripts(const ir::Expr& load);
    std::vector<Subscript> subscripts(const ir::Var& array, const std::vector<ir::Expr*>& indices);

    // Whether values of shape `from` can be stored to elements of shape `to`.
    bool fits(const Shape& from, const Shape& to, Span span, const std::string& what);
    // Between the two, shapes are those of values that perhaps nobody evaluates.
    void enter_branch() { ++branches_; }
    void leave_branch() { --branches_; }
    // The dimensions that a kReduce runs over.
    static std::vector<bool> reduced(const ir::Expr& reduce, std::size_t rank);
    // For an operand of a product: the dimensions in front of those of its matrices.
    static Shape matrices(const Shape& shape);
    // The same with a value that is a plain expression, for the bound of a loop.
    Extent held(const Extent& length);
    // In index arithmetic.
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
    // Where two shapes meet, for messages: `what` goes in front of them.
    struct Meeting {
        Span span;
        std::string what;
        const Shape &a, &b;
    };
    // Which of two sizes holds for both; reports where neither does. `stretches`: 1 fits anything.
    // Where that depends on the call's arguments alone, equal sizes become a requirement; else the
    // program compares them.
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
    std::vector<std::pair<const ir::Expr*, ir::Var*>> held_;  // what variables in before_ hold
    std::unordered_map<const ir::Expr*, Shape> shapes_;
    std::unordered_map<const ir::Expr*, std::vector<Subscript>> subscripts_;
};

// "(3, n - 1)"
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace parpy
