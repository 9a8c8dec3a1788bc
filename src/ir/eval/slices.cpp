// See slices.h.
#include "ir/eval/slices.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "ir/eval/ops.h"
#include "ir/ops.h"

namespace parpy::ir {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t count(const Sizes& shape) {
    std::int64_t total = 1;
    for (const std::int64_t size : shape) {
        total *= size;
    }
    return total;
}

// Values in C order.
struct Tensor {
    Sizes shape;
    std::vector<Constant> values;
};

// The index of the element, in an array of shape `inner` broadcast to `outer`, that belongs to
// element `at` of `outer`; both count in C order.
std::size_t broadcast_index(std::int64_t at, const Sizes& outer, const Sizes& inner) {
    std::int64_t index = 0;
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < outer.size(); ++i) {
        const std::int64_t size = outer[outer.size() - 1 - i];
        const std::int64_t here = at % size;
        at /= size;
        if (i < inner.size()) {
            const std::int64_t own = inner[inner.size() - 1 - i];
            index += own == 1 ? 0 : here * stride;
            stride *= own;
        }
    }
    return static_cast<std::size_t>(index);
}

// The elements of an array that subscripts name: memory offsets in C order.
struct Selection {
    Sizes shape;
    std::vector<std::int64_t> offsets;
};

class SliceEvaluator {
public:
    explicit SliceEvaluator(const SliceHost& host) : host_(host) {}

    Tensor value(const Expr& e) {
        if (host_.failed()) {
            return {};
        }
        if (!has_slices(e)) {
            return {{}, {host_.scalar(e)}};
        }
        switch (e.op) {
            case Op::kLoad:
                return load(e);
            case Op::kReduce:
                return reduce(e);
            case Op::kMatMul:
                return matmul(e);
            case Op::kFull:
            case Op::kLike:
                return filled(e);
            case Op::kEmpty:
                return value(*e.operands[0]);
            case Op::kTranspose:
                return transposed(e);
            case Op::kReshape:
                return reshaped(e);
            default:
                return elementwise(e);
        }
    }

    std::optional<ArrayView> view(const Expr& load) {
        const ArrayView* root = host_.array(*load.var, load.span);
        if (root == nullptr || host_.failed()) return std::nullopt;
        ArrayView result{root->data, root->element, {}, {}};
        std::int64_t offset = 0;
        std::size_t axis = 0;
        for (const Expr* index : load.operands) {
            if (index->op == Op::kNewAxis) {
                result.extents.push_back(1);
                result.strides.push_back(0);
                continue;
            }
            const std::int64_t size = root->extents[axis];
            const std::int64_t stride = root->strides[axis++];
            if (index->op == Op::kSlice) {
                const auto [begin, step, length] = resolve(*index, size);
                offset += length > 0 ? begin * stride : 0;
                result.extents.push_back(length);
                result.strides.push_back(step * stride);
                continue;
            }
            const std::int64_t at = integer(*index);
            const std::int64_t k = at + (at < 0 ? size : 0);
            if (!host_.failed() && (k < 0 || k >= size)) out_of_bounds(*index, *load.var, size);
            offset += k * stride;
        }
        if (host_.failed()) return std::nullopt;
        result.data = address(*root, offset);
        return result;
    }

    void store(const Store& s) {
        const ArrayView* view = host_.array(*s.array, s.span);
        const std::optional<Selection> to = select(*s.array, s.indices, s.span);
        const Tensor from = value(*s.value);
        if (host_.failed() || view == nullptr || !to) {
            return;
        }
        Sizes shape = from.shape;
        while (shape.size() > to->shape.size() && shape.front() == 1) {
            shape.erase(shape.begin());
        }
        if (!fits(shape, to->shape)) {
            host_.fail(s.span, "the shapes of the two sides do not fit together");
            return;
        }
        for (std::size_t i = 0; i < to->offsets.size(); ++i) {
            void* place = address(*view, to->offsets[i]);
            Constant result =
                from.values[broadcast_index(static_cast<std::int64_t>(i), to->shape, shape)];
            if (s.update) {
                result = host_.update(s, load_element(view->element, place), result);
            }
            store_element(view->element, place, result);
        }
    }

private:
    static void* address(const ArrayView& view, std::int64_t offset) {
        return static_cast<std::byte*>(view.data) + offset * size_in_bytes(view.element);
    }

    static bool fits(const Sizes& from, const Sizes& to) {
        if (from.size() > to.size()) {
            return false;
        }
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::int64_t size = from[from.size() - 1 - i];
            if (size != 1 && size != to[to.size() - 1 - i]) {
                return false;
            }
        }
        return true;
    }

    void out_of_bounds(const Expr& index, const Var& array, std::int64_t size) {
        host_.fail(index.span, "a subscript of '" + array.name +
                                   "' is out of bounds for an extent of " + std::to_string(size));
    }

    std::int64_t integer(const Expr& e) {
        const Constant value = host_.scalar(e);
        const auto* number = std::get_if<std::int64_t>(&value.value);
        return number != nullptr ? *number : 0;
    }

    // begin, step and number of elements of a slice, as slice.indices() of Python gives them.
    std::array<std::int64_t, 3> resolve(const Expr& slice, std::int64_t size) {
        std::optional<std::int64_t> bounds[3];
        std::size_t next = 0;
        const bool counts = (slice.index & kSliceLength) != 0;
        const SliceBound given[] = {kSliceBegin, counts ? kSliceLength : kSliceEnd, kSliceStep};
        for (int i = 0; i < 3; ++i) {
            if ((slice.index & given[i]) != 0) bounds[i] = integer(*slice.operands[next++]);
        }
        if (counts) return {*bounds[0], bounds[2].value_or(1), *bounds[1]};
        const std::int64_t step = bounds[2].value_or(1);
        if (step == 0) {
            host_.fail(slice.span, "the step of a slice is zero");
            return {0, 1, 0};
        }
        const std::int64_t low = step > 0 ? 0 : -1;
        const std::int64_t high = step > 0 ? size : size - 1;
        const auto clamped = [&](std::optional<std::int64_t> bound, std::int64_t otherwise) {
            return bound ? std::clamp(*bound < 0 ? *bound + size : *bound, low, high) : otherwise;
        };
        const std::int64_t begin = clamped(bounds[0], step > 0 ? low : high);
        const std::int64_t end = clamped(bounds[1], step > 0 ? high : low);
        const std::int64_t reach = step > 0 ? end - begin : begin - end;
        const std::int64_t stride = step > 0 ? step : -step;
        return {begin, step, reach <= 0 ? 0 : (reach - 1) / stride + 1};
    }

    std::optional<Selection> select(const Var& array, const std::vector<Expr*>& indices,
                                    Span span) {
        const ArrayView* view = host_.array(array, span);
        if (view == nullptr || host_.failed()) {
            return std::nullopt;
        }
        Selection result{{}, {0}};
        std::size_t axis = 0;
        const bool among_slices = std::ranges::any_of(indices, [](const Expr* index) {
            return index->op == Op::kSlice || index->op == Op::kNewAxis;
        });
        for (const Expr* index : indices) {
            if (index->op == Op::kNewAxis) {
                result.shape.push_back(1);
                continue;
            }
            const std::int64_t size = view->extents[axis];
            const std::int64_t stride = view->strides[axis++];
            if (index->op == Op::kSlice) {
                const auto [begin, step, length] = resolve(*index, size);
                result.shape.push_back(length);
                std::vector<std::int64_t> offsets;
                for (const std::int64_t offset : result.offsets) {
                    for (std::int64_t i = 0; i < length; ++i) {
                        offsets.push_back(offset + (begin + step * i) * stride);
                    }
                }
                result.offsets = std::move(offsets);
                continue;
            }
            const Tensor at = value(*index);
            if (host_.failed()) {
                return std::nullopt;
            }
            std::vector<std::int64_t> moved;
            for (const Constant& given : at.values) {
                std::int64_t k = std::get<std::int64_t>(given.value);
                k += k < 0 ? size : 0;
                if (k < 0 || k >= size) {
                    out_of_bounds(*index, array, size);
                    return std::nullopt;
                }
                moved.push_back(k * stride);
            }
            if (among_slices && !at.shape.empty()) {  // a dimension, like that of a slice
                result.shape.push_back(at.shape[0]);
                std::vector<std::int64_t> offsets;
                for (const std::int64_t offset : result.offsets)
                    for (const std::int64_t each : moved)
                        offsets.push_back(offset + each);
                result.offsets = std::move(offsets);
                continue;
            }
            if (count(at.shape) != 1 && result.offsets.size() == 1) {
                result.shape = at.shape;
                result.offsets.resize(at.values.size(), result.offsets[0]);
            }
            for (std::size_t i = 0; i < result.offsets.size(); ++i)
                result.offsets[i] += moved[i % moved.size()];
        }
        return result;
    }

    Tensor load(const Expr& e) {
        const std::optional<Selection> from = select(*e.var, e.operands, e.span);
        const ArrayView* view = host_.array(*e.var, e.span);
        if (!from || view == nullptr) {
            return {};
        }
        Tensor result{from->shape, {}};
        for (const std::int64_t offset : from->offsets) {
            result.values.push_back(load_element(view->element, address(*view, offset)));
        }
        return result;
    }

    Tensor transposed(const Expr& e) {
        const Tensor from = value(*e.operands[0]);
        const std::vector<std::size_t> axes = transposed_axes(e, from.shape.size());
        Tensor result;
        for (const std::size_t axis : axes)
            result.shape.push_back(from.shape[axis]);
        for (std::int64_t i = 0; i < count(result.shape); ++i) {
            std::int64_t rest = i;
            Sizes at(axes.size());
            for (std::size_t k = axes.size(); k-- > 0;) {
                at[axes[k]] = rest % result.shape[k];
                rest /= result.shape[k];
            }
            std::int64_t number = 0;
            for (std::size_t k = 0; k < at.size(); ++k)
                number = number * from.shape[k] + at[k];
            result.values.push_back(from.values[static_cast<std::size_t>(number)]);
        }
        return result;
    }

    Tensor reshaped(const Expr& e) {
        Tensor result = value(*e.operands[0]);
        const std::int64_t all = count(result.shape);
        result.shape.clear();
        std::int64_t others = 1;
        for (std::size_t i = 1; i < e.operands.size(); ++i) {
            result.shape.push_back(integer(*e.operands[i]));
            others *= result.shape.back() == -1 ? 1 : result.shape.back();
        }
        for (std::int64_t& extent : result.shape)
            if (extent == -1 && others != 0) extent = all / others;
        const bool negative = std::ranges::any_of(result.shape, [](auto n) { return n < 0; });
        if (!host_.failed() && (negative || count(result.shape) != all))
            host_.fail(e.span, "the elements do not fill the new shape");
        return host_.failed() ? Tensor{} : result;
    }

    Tensor elementwise(const Expr& e) {
        std::vector<Tensor> operands;
        Sizes shape;
        for (const Expr* operand : e.operands) {
            operands.push_back(value(*operand));
            if (host_.failed()) {
                return {};
            }
            const Sizes& other = operands.back().shape;
            Sizes joined(std::max(shape.size(), other.size()), 1);
            for (std::size_t i = 0; i < joined.size(); ++i) {
                const std::int64_t a = i < shape.size() ? shape[shape.size() - 1 - i] : 1;
                const std::int64_t b = i < other.size() ? other[other.size() - 1 - i] : 1;
                if (a != b && a != 1 && b != 1) {
                    host_.fail(e.span, "the shapes of the operands do not fit together");
                    return {};
                }
                joined[joined.size() - 1 - i] = a == 1 ? b : a;
            }
            shape = std::move(joined);
        }
        Tensor result{shape, {}};
        for (std::int64_t i = 0; i < count(shape); ++i) {
            std::vector<Constant> values;
            for (const Tensor& operand : operands) {
                values.push_back(operand.values[broadcast_index(i, shape, operand.shape)]);
            }
            result.values.push_back(host_.apply(e, values));
        }
        return result;
    }

    Tensor filled(const Expr& e) {
        Tensor result;
        if (e.op == Op::kLike) {
            result.shape = value(*e.operands[1]).shape;
        } else {
            for (std::size_t i = 1; i < e.operands.size(); ++i) {
                result.shape.push_back(std::max<std::int64_t>(integer(*e.operands[i]), 0));
            }
        }
        const Constant each = host_.scalar(*e.operands[0]);
        if (!host_.failed())
            result.values.resize(static_cast<std::size_t>(count(result.shape)), each);
        return result;
    }

    Constant combine(Op op, Scalar type, const Constant& a, const Constant& b) {
        const Constant operands[] = {a, b};
        return evaluate_op(op, type, type, operands).value_or(Constant{});
    }

    Tensor reduce(const Expr& e) {
        const Tensor from = value(*e.operands[0]);
        if (host_.failed()) {
            return {};
        }
        const auto rank = static_cast<std::int64_t>(from.shape.size());
        std::vector<bool> gone(from.shape.size(), e.operands.size() == 1);
        for (std::size_t i = 1; i < e.operands.size(); ++i) {
            const std::int64_t axis = integer(*e.operands[i]);
            gone[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
        }
        Sizes kept = from.shape;  // with the reduced dimensions, of size 1
        Tensor result;
        bool nothing = false;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            nothing = nothing || (gone[i] && kept[i] == 0);
            kept[i] = gone[i] ? 1 : kept[i];
            if (!gone[i] || e.constant == Constant{true}) {
                result.shape.push_back(kept[i]);
            }
        }
        const auto which = static_cast<SliceReduction>(e.index);
        const Scalar type = e.type.scalar;
        constexpr Op kOps[] = {Op::kAdd, Op::kMul, Op::kMinimum, Op::kMaximum,
                               Op::kOr,  Op::kAnd, Op::kAdd};
        const Op op = kOps[static_cast<std::size_t>(which)];
        const bool picks = which == SliceReduction::kMin || which == SliceReduction::kMax;
        if (picks && nothing) {
            host_.fail(e.span, "the minimum or maximum of no elements");
            return {};
        }
        const bool one = which == SliceReduction::kProd || which == SliceReduction::kAll;
        std::vector<std::optional<Constant>> sums(static_cast<std::size_t>(count(kept)));
        for (auto& sum : sums) {
            if (!picks) {
                const Constant start{std::int64_t{one ? 1 : 0}};
                sum = convert_constant(start, Scalar::kI64, type);
            }
        }
        for (std::size_t i = 0; i < from.values.size(); ++i) {
            auto& sum = sums[broadcast_index(static_cast<std::int64_t>(i), from.shape, kept)];
            sum = sum ? combine(op, type, *sum, from.values[i]) : from.values[i];
        }
        for (const auto& sum : sums) {
            Constant total = *sum;
            if (which == SliceReduction::kMean) {
                const std::int64_t each =
                    sums.empty() ? 0 : count(from.shape) / static_cast<std::int64_t>(sums.size());
                total = combine(Op::kDiv, type, total,
                                convert_constant(Constant{each}, Scalar::kI64, type));
            }
            result.values.push_back(total);
        }
        return result;
    }

    Tensor matmul(const Expr& e) {
        const Tensor a = value(*e.operands[0]);
        const Tensor b = value(*e.operands[1]);
        if (host_.failed()) {
            return {};
        }
        const std::size_t left = a.shape.size(), right = b.shape.size();
        const std::int64_t inner = a.shape.back();
        const std::int64_t columns = right > 1 ? b.shape.back() : 1;
        if (inner != b.shape[right > 1 ? right - 2 : 0]) {
            host_.fail(e.span, "the shapes of a matrix product do not fit together");
            return {};
        }
        // A stack of matrices on the right: those of equal numbers are multiplied, or number 0
        // where the size is 1. Else the left operand is a single matrix, of more rows.
        std::vector<std::int64_t> matrices;
        std::int64_t rows = left > 1 ? a.shape[left - 2] : 1;
        Tensor result;
        if (right > 2) {
            const std::size_t most = std::max(left, right) - 2;
            for (std::size_t d = 0; d < most; ++d) {
                const std::int64_t m = extent_of(a.shape, d, most), n = extent_of(b.shape, d, most);
                if (m != n && m != 1 && n != 1) {
                    host_.fail(e.span, "the shapes of a matrix product do not fit together");
                    return {};
                }
                matrices.push_back(m == 1 ? n : m);
            }
            result.shape = matrices;
            if (left > 1) result.shape.push_back(rows);
        } else {
            result.shape.assign(a.shape.begin(), a.shape.end() - 1);
            rows = count(result.shape);
        }
        if (right > 1) result.shape.push_back(columns);
        const Scalar type = e.type.scalar;
        const bool truth = type == Scalar::kBool;
        for (std::int64_t number = 0; number < count(matrices); ++number) {
            const std::int64_t at_a = matrix_of(number, matrices, a.shape) * rows * inner;
            const std::int64_t at_b = matrix_of(number, matrices, b.shape) * inner * columns;
            for (std::int64_t place = 0; place < rows * columns; ++place) {
                const std::int64_t i = place / columns, j = place % columns;
                Constant sum = convert_constant(Constant{std::int64_t{0}}, Scalar::kI64, type);
                for (std::int64_t k = 0; k < inner; ++k) {
                    const Constant product =
                        combine(truth ? Op::kAnd : Op::kMul, type,
                                a.values[static_cast<std::size_t>(at_a + i * inner + k)],
                                b.values[static_cast<std::size_t>(at_b + k * columns + j)]);
                    sum = combine(truth ? Op::kOr : Op::kAdd, type, sum, product);
                }
                result.values.push_back(sum);
            }
        }
        return result;
    }

    // The extent of dimension `d` of the `most` before the matrices; 1 if it is absent.
    static std::int64_t extent_of(const std::vector<std::int64_t>& shape, std::size_t d,
                                  std::size_t most) {
        const std::size_t own = shape.size() > 2 ? shape.size() - 2 : 0;
        return d + own < most ? 1 : shape[d + own - most];
    }

    // The number of the operand's matrix for the result's matrix `number`.
    static std::int64_t matrix_of(std::int64_t number, const std::vector<std::int64_t>& matrices,
                                  const std::vector<std::int64_t>& shape) {
        std::int64_t place = 0, stride = 1;
        for (std::size_t d = matrices.size(); d-- > 0;) {
            const std::int64_t digit = number % matrices[d];
            const std::int64_t extent = extent_of(shape, d, matrices.size());
            place += (extent == 1 ? 0 : digit) * stride;
            stride *= extent;
            number /= matrices[d];
        }
        return place;
    }

    const SliceHost& host_;
};

}  // namespace

Constant evaluate_slices(const SliceHost& host, const Expr& expr) {
    const Tensor result = SliceEvaluator(host).value(expr);
    if (!host.failed() && !result.shape.empty()) {
        host.fail(expr.span, "an array value is used as a number");
    }
    return result.values.empty() ? Constant{} : result.values[0];
}

std::optional<ArrayView> view_of_slices(const SliceHost& host, const Expr& load) {
    return SliceEvaluator(host).view(load);
}

SliceValues values_of_slices(const SliceHost& host, const Expr& expr) {
    Tensor result = SliceEvaluator(host).value(expr);
    return {std::move(result.shape), std::move(result.values)};
}

void store_slices(const SliceHost& host, const Store& store) {
    SliceEvaluator(host).store(store);
}

}  // namespace parpy::ir
