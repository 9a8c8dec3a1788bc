// See slice_shapes.h.
#include "passes/slices/slice_shapes.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/text/print.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

// ---------------------------------------------------------------- slices

Scalar Shapes::index_type() const {
    return context_.options.force_int_size.value_or(Scalar::kI64);
}

Extent Shapes::extent(std::int64_t constant) {
    Extent result;
    result.value = result.written = builder_.integer(constant, index_type());
    result.form.constant = constant;
    return result;
}

// An extent that the program gives; negative ones give arrays without elements.
Extent Shapes::extent(const Expr& given) {
    if (const auto constant = constant_integer(&given))
        return extent(std::max<std::int64_t>(*constant, 0));
    IndexMath math(builder_, index_type());
    Expr* value = clone(context_.module, &given);
    if (intervals_.of(&given).low < 0) value = math.greatest(value, math.number(0));
    Extent result;
    result.written = value;
    result.form = linear(*value);
    result.value = once(clone(context_.module, value), "size");
    return result;
}

// A plain expression itself, or a variable that holds any other expression: the same one for equal
// expressions, so that sizes made of it can be compared.
const Expr* Shapes::once(Expr* value, const char* name) {
    if (is_plain(*value)) {
        return value;
    }
    const bool repeatable = !uses_of(*value).calls;
    for (const auto& [known, var] : held_) {
        if (repeatable && same(*known, *value)) return builder_.var(var);
    }
    Var* var = builder_.scalar(name, value->type.scalar);
    before_.push_back(builder_.assign(var, value));
    held_.emplace_back(value, var);
    return builder_.var(var);
}

Extent Shapes::held(const Extent& length) {
    Extent result = length;
    result.value = once(clone(context_.module, length.value), "size");
    return result;
}

Shapes::Bound Shapes::size(const Dim& dim) {
    if (dim.extent) {
        return {builder_.integer(*dim.extent, index_type()), Interval::exactly(*dim.extent)};
    }
    const Expr* meaning = dim.extent_var->meaning;
    Expr* value =
        meaning != nullptr ? clone(context_.module, meaning) : builder_.var(dim.extent_var);
    return {builder_.convert(value, index_type()), {0, Intervals::kMaxExtent}};
}

// A bound counted from the start, not clamped.
Shapes::Bound Shapes::bound(const Expr& given, const Dim& dim) {
    IndexMath math(builder_, index_type());
    const Bound n = size(dim);
    const auto constant = constant_integer(&given);
    const Interval range = constant ? Interval::exactly(*constant) : intervals_.of(&given);
    Expr* value = clone(context_.module, &given);
    constexpr std::int64_t kFar = std::int64_t{1} << 60;
    if (range.low >= 0) {
        return {value, range};
    }
    const Interval from_end{range.low < -kFar ? Interval::all().low : range.low + n.range.low,
                            std::min(range.high, kFar) + n.range.high};
    if (range.high < 0) {
        return {math.add(n.value, value), from_end, true};
    }
    Expr* const first = is_plain(given) ? value : clone(context_.module, once(value, "bound"));
    Expr* const test = builder_.binary(Op::kLt, clone(context_.module, first), math.number(0));
    Expr* const moved = math.add(clone(context_.module, first), n.value);
    return {builder_.select(test, moved, first), hull(from_end, range)};
}

// Clamps like NumPy, but only as far as it matters: a slice without elements may begin and end
// anywhere. So x[1:-1] and y[2:] of arrays of one size n stay comparable: both have n - 2.
Subscript Shapes::slice(const Dim& dim, const Expr& slice) {
    IndexMath math(builder_, index_type());
    std::size_t next = 0;
    const auto given = [&](SliceBound which) {
        return (slice.index & which) != 0 ? slice.operands[next++] : nullptr;
    };
    const Expr* const begin = given(kSliceBegin);
    const Expr* const end = given(kSliceEnd);
    const Expr* const length = given(kSliceLength);
    const Expr* const step = given(kSliceStep);
    Subscript result;
    result.begin = builder_.integer(0, index_type());
    result.step = builder_.integer(1, index_type());
    result.length = extent(1);
    result.first = Linear{};
    Interval direction = Interval::exactly(1);
    if (step != nullptr) {
        const auto constant = constant_integer(step);
        direction = constant ? Interval::exactly(*constant) : intervals_.of(step);
        if (direction == Interval::exactly(0)) {
            context_.diagnostics.error(Code::kP224, step->span, "the step of a slice is zero")
                .help = "use a positive or negative step";
            return result;
        }
        if (length == nullptr && direction.low <= 0 && direction.high >= 0) {
            context_.diagnostics
                .error(Code::kP222, step->span,
                       "whether the step of this slice is positive is not known before the "
                       "program runs")
                .help = "use a constant step, or write a loop";
            return result;
        }
        // No array is longer: a larger step also selects one element, and would overflow.
        const std::int64_t far = index_type() == Scalar::kI64
                                     ? Intervals::kMaxExtent
                                     : std::numeric_limits<std::int32_t>::max();
        result.step = constant ? math.number(std::clamp(*constant, -far, far))
                               : once(clone(context_.module, step), "step");
    }
    if (length != nullptr) {
        result.begin = once(clone(context_.module, begin), "begin");
        result.first = linear(*begin);
        result.length.value = result.length.written = once(clone(context_.module, length), "size");
        result.length.form = linear(*length);
        return result;
    }
    const bool up = direction.low > 0;
    const Bound n = size(dim);
    if (slice.operands.empty()) {
        result.length.value = result.length.written = n.value;
        result.length.form = linear(*n.value);
        return result;
    }
    Bound first{builder_.integer(0, index_type()), Interval::exactly(0)};
    Bound last = n;
    if (!up) {
        first = {math.add(clone(context_.module, n.value), math.number(-1)),
                 {n.range.low - 1, n.range.high - 1}};
        last = {math.number(-1), Interval::exactly(-1)};
    }
    if (begin != nullptr) {
        first = bound(*begin, dim);
        if (up && first.range.low < 0) {
            first = {math.greatest(first.value, math.number(0)),
                     {0, std::max<std::int64_t>(first.range.high, 0)}};
        } else if (!up && !first.inside && (!dim.extent || first.range.high >= *dim.extent)) {
            first.value =
                math.least(first.value, math.add(clone(context_.module, n.value), math.number(-1)));
        }
    }
    if (end != nullptr) {
        last = bound(*end, dim);
        if (!up && last.range.low < -1) {
            last.value = math.greatest(last.value, math.number(-1));
        } else if (up && !last.inside && (!dim.extent || last.range.high > *dim.extent)) {
            last = {math.least(last.value, clone(context_.module, n.value)),
                    {std::min(last.range.low, n.range.low), n.range.high}};
        }
    }
    const bool whole = begin == nullptr && end == nullptr;
    const bool filled = up ? first.range.high <= last.range.low : whole;
    const auto count = [&](const Expr& from, const Expr& to) {
        Expr* total = math.sum(up ? linear(to) - linear(from) : linear(from) - linear(to));
        if (!filled || !is_plain(*total)) total = math.greatest(total, math.number(0));
        const auto stride = constant_integer(result.step);
        if (stride == 1 || stride == -1) return total;
        // (total - 1) / |step| + 1 with division that rounds down. The smallest step has no |step|.
        Expr* const quotient =
            up || stride
                ? math.divide(math.add(total, math.number(-1)),
                              stride ? math.number(std::abs(*stride)) : math.copy(*result.step))
                : math.divide(math.subtract(math.number(1), total), math.copy(*result.step));
        return math.add(quotient, math.number(1));
    };
    // Sizes are compared in their written form, before parts of them become variables.
    result.length.written = count(*first.value, *last.value);
    result.length.form = linear(*result.length.written);
    result.first = linear(*first.value);
    result.begin = once(first.value, "begin");
    // The difference of distant bounds could overflow; elements end at those of the array.
    const std::int64_t lowest = Interval::of_type(index_type()).low;
    if (up && last.range.low < 0 && first.range.high > last.range.low - lowest) {
        last.value = math.greatest(last.value, math.number(0));
    } else if (!up && last.range.high >= 0 && first.range.low < last.range.high + lowest) {
        last.value = math.least(last.value, clone(context_.module, n.value));
    }
    result.length.value = count(*result.begin, *last.value);
    return result;
}

std::vector<Subscript> Shapes::subscripts(const Var& array, const std::vector<Expr*>& indices) {
    std::vector<Subscript> result;
    std::size_t axis = 0;
    for (const Expr* index : indices) {
        if (index->op == Op::kNewAxis) {
            Subscript& added = result.emplace_back();
            added.length = extent(1);
        } else if (index->op == Op::kSlice) {
            result.push_back(slice(array.dims[axis++], *index));
        } else {
            Subscript& added = result.emplace_back();
            added.index = index;
            const auto constant = constant_integer(index);
            const Interval range = constant ? Interval::exactly(*constant) : intervals_.of(index);
            if (range.low >= 0 || range.high < 0) {
                added.first = linear(*bound(*index, array.dims[axis]).value);
            }
            ++axis;
        }
    }
    return result;
}

const std::vector<Subscript>& Shapes::subscripts(const Expr& load) {
    const auto known = subscripts_.find(&load);
    return known != subscripts_.end()
               ? known->second
               : subscripts_.emplace(&load, subscripts(*load.var, load.operands)).first->second;
}

// ---------------------------------------------------------------- shapes

const Shape& Shapes::of(const Expr& expr) {
    if (const auto known = shapes_.find(&expr); known != shapes_.end()) {
        return known->second;
    }
    Shape shape = compute(expr);
    return shapes_.emplace(&expr, std::move(shape)).first->second;
}

Shape Shapes::compute(const Expr& expr) {
    Shape shape;
    switch (expr.op) {
        case Op::kReduce:
            return reduce(expr);
        case Op::kMatMul:
            return matmul(expr);
        case Op::kTranspose: {
            const Shape from = of(*expr.operands[0]);
            for (const std::size_t axis : transposed_axes(expr, from.size()))
                shape.push_back(from[axis]);
            return shape;
        }
        case Op::kReshape:
            return reshape(expr);
        case Op::kLike:
            return of(*expr.operands[1]);
        case Op::kFull:
            for (std::size_t i = 1; i < expr.operands.size(); ++i) {
                refuse_negative(*expr.operands[i]);
                shape.push_back(extent(*expr.operands[i]));
            }
            return shape;
        case Op::kLoad: {
            const std::vector<Subscript>& all = subscripts(expr);
            const bool among_slices =
                std::ranges::any_of(all, [](const Subscript& s) { return s.index == nullptr; });
            for (const Subscript& subscript : all) {
                if (subscript.index == nullptr) {
                    shape.push_back(subscript.length);
                } else if (const Shape own = of(*subscript.index); among_slices) {
                    shape.insert(shape.end(), own.begin(), own.end());
                } else {
                    broadcast(shape, own, expr.span);
                }
            }
            return shape;
        }
        default: {
            const int branches = branches_;
            for (const Expr* operand : expr.operands) {
                broadcast(shape, of(*operand), expr.span);
                // A choice for each element follows NumPy, which evaluates all operands.
                if (has_branches(expr.op) && of(*expr.operands[0]).empty())
                    branches_ = branches + 1;
            }
            branches_ = branches;
            return shape;
        }
    }
}

std::vector<bool> Shapes::reduced(const Expr& reduce, std::size_t rank) {
    std::vector<bool> result(rank, reduce.operands.size() == 1);
    for (std::size_t i = 1; i < reduce.operands.size(); ++i) {
        const std::int64_t axis = *constant_integer(reduce.operands[i]);
        result[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] =
            true;
    }
    return result;
}

Shape Shapes::reduce(const Expr& expr) {
    const Shape inner = of(*expr.operands[0]);
    const std::vector<bool> gone = reduced(expr, inner.size());
    const bool keeps = expr.constant == Constant{true};
    Shape shape;
    for (std::size_t i = 0; i < inner.size(); ++i) {
        if (!gone[i]) {
            shape.push_back(inner[i]);
        } else if (keeps) {
            shape.push_back(extent(1));
        }
    }
    return shape;
}

Shape Shapes::matmul(const Expr& expr) {
    const Shape a = of(*expr.operands[0]);
    const Shape b = of(*expr.operands[1]);
    match(a.back(), b[b.size() > 1 ? b.size() - 2 : 0], false,
          {expr.span, "the operands of a matrix product have shapes ", a, b});
    if (b.size() <= 2) {
        Shape shape(a.begin(), a.end() - 1);
        if (b.size() > 1) shape.push_back(b.back());
        return shape;
    }
    Shape shape = matrices(a);
    broadcast(shape, matrices(b), expr.span);
    if (a.size() > 1) shape.push_back(a[a.size() - 2]);
    shape.push_back(b.back());
    return shape;
}

Shape Shapes::matrices(const Shape& shape) {
    return {shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape))};
}

bool Shapes::match(const Extent& a, const Extent& b, bool stretches, const Meeting& meeting) {
    const auto difference = (a.form - b.form).value();
    if (difference == 0 || (stretches && (a.is_one() || b.is_one()))) {
        return true;
    }
    if (a.constant() && b.constant()) {
        context_.diagnostics
            .error(Code::kP221, meeting.span,
                   meeting.what + to_string(meeting.a) + " and " + to_string(meeting.b) +
                       ", which do not fit together")
            .help = stretches ? "sizes must be equal, or 1; shapes are compared from the right"
                              : "make the sizes equal";
        return false;
    }
    if (require_zero(a.form - b.form)) return true;
    if (branches_ == 0 && !follows_from_arguments(a) && !follows_from_arguments(b)) {
        fail_unless_equal(a, b, meeting);
        return true;
    }
    context_.diagnostics
        .error(Code::kP222, meeting.span,
               meeting.what + to_string(meeting.a) + " and " + to_string(meeting.b) +
                   "; whether they fit is not known before the program runs")
        .help = "compute the value on a line of its own, in the branch that needs it";
    return false;
}

// Whether the extent is a run-time value that becomes constant if the arguments are known.
bool Shapes::follows_from_arguments(const Extent& extent) const {
    if (extent.constant()) return false;
    bool follows = true;
    for (const auto& [term, factor] : extent.form.terms) {
        for_each_expr(*term, [&](const Expr& e) {
            const bool reads = e.op == Op::kVar || e.op == Op::kExtent;
            follows = follows && e.op != Op::kLoad && e.op != Op::kCall &&
                      (!reads || parameter(e) != nullptr);
        });
    }
    return follows;
}

std::string shown(const Shape& shape, FailBuilder& fail, IndexMath& math) {
    std::string text;
    for (const Extent& extent : shape) {
        const auto known = extent.constant();
        text += (text.empty() ? "(" : ", ") +
                (known ? std::to_string(*known) : fail.value(math.copy(*extent.value)));
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

// Makes the program fail if sizes that are unknown at compile time differ.
void Shapes::fail_unless_equal(const Extent& a, const Extent& b, const Meeting& meeting) {
    IndexMath math(builder_, index_type());
    Builder builder(context_.module, meeting.span);
    FailBuilder fail(builder, Code::kP433);
    fail.site().message = meeting.what + shown(meeting.a, fail, math) + " and " +
                          shown(meeting.b, fail, math) + ", which do not fit together";
    fail.site().help =
        "make the sizes equal; a size of 1 is broadcast only if it is known before the program "
        "runs";
    before_.push_back(builder.if_(builder.binary(Op::kNe, math.copy(*a.value), math.copy(*b.value)),
                                  {fail.make()}));
}

void Shapes::broadcast(Shape& shape, const Shape& other, Span span) {
    const Shape before = shape;
    if (other.size() > shape.size()) {
        shape.insert(shape.begin(), other.begin(),
                     other.end() - static_cast<std::ptrdiff_t>(shape.size()));
    }
    for (std::size_t i = 0; i < std::min(before.size(), other.size()); ++i) {
        Extent& mine = shape[shape.size() - 1 - i];
        const Extent& theirs = other[other.size() - 1 - i];
        if (!match(mine, theirs, true, {span, "the operands have shapes ", before, other})) {
            return;
        }
        if (mine.is_one() || (theirs.constant() && !mine.constant() && !theirs.is_one())) {
            mine = theirs;
        }
    }
}

bool Shapes::fits(const Shape& from, const Shape& to, Span span, const std::string& what) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Extent& value = from[from.size() - 1 - i];
        if (value.is_one()) {
            continue;
        }
        const bool known = value.constant().has_value();
        if (i >= to.size() || (to[to.size() - 1 - i].is_one() && known)) {
            context_.diagnostics
                .error(known ? Code::kP221 : Code::kP222, span,
                       "values of shape " + to_string(from) + " cannot be stored to " + what +
                           " of shape " + to_string(to))
                .help = "sizes must be equal, or 1 on the right side";
            return false;
        }
        if (!match(value, to[to.size() - 1 - i], false,
                   {span, "values and the elements they are stored to have shapes ", from, to})) {
            return false;
        }
    }
    return true;
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (const Extent& extent : shape) {
        text += text.size() > 1 ? ", " : "";
        const auto value = extent.constant();
        text += value ? std::to_string(*value) : print(*extent.written);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace parpy
