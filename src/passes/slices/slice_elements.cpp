// See slice_elements.h.
#include "passes/slices/slice_elements.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

bool contains(const Expr& expr, Op op) {
    return expr.op == op ||
           std::ranges::any_of(expr.operands, [&](const Expr* e) { return contains(*e, op); });
}

// The neutral element of the reduction.
Constant identity_of(Op op, Scalar type) {
    const auto bits = [&] { return 8 * size_in_bytes(type); };
    const double infinity = std::numeric_limits<double>::infinity();
    switch (op) {
        case Op::kMul:
            return {std::int64_t{1}};
        case Op::kAnd:
            return {true};
        case Op::kMinimum:
            if (is_float(type)) return {infinity};
            if (is_complex(type)) return {std::complex<double>(infinity, infinity)};
            return {is_unsigned_integer(type)
                        ? static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - bits()))
                        : std::numeric_limits<std::int64_t>::max() >> (64 - bits())};
        case Op::kMaximum:
            if (is_float(type)) return {-infinity};
            if (is_complex(type)) return {std::complex<double>(-infinity, -infinity)};
            return {is_unsigned_integer(type)
                        ? std::int64_t{0}
                        : std::numeric_limits<std::int64_t>::min() >> (64 - bits())};
        default:
            return {std::int64_t{0}};
    }
}

Op update_of(SliceReduction which, Scalar type) {
    const bool truth = type == Scalar::kBool;
    switch (which) {
        case SliceReduction::kSum:
        case SliceReduction::kMean:
            return Op::kAdd;
        case SliceReduction::kProd:
            return Op::kMul;
        case SliceReduction::kMin:
            return truth ? Op::kAnd : Op::kMinimum;
        case SliceReduction::kMax:
            return truth ? Op::kOr : Op::kMaximum;
        case SliceReduction::kAny:
            return Op::kOr;
        case SliceReduction::kAll:
            return Op::kAnd;
    }
    return Op::kAdd;
}

bool picks(const Expr& e) {
    const auto which = static_cast<SliceReduction>(e.index);
    return e.op == Op::kReduce && (which == SliceReduction::kMin || which == SliceReduction::kMax);
}

// Whether two subscripts of one dimension have no value in common, for any iterations.
bool disjoint(const Subscript& a, const Subscript& b) {
    const auto step = [](const Subscript& s) {
        return s.is_slice() ? constant_integer(s.step) : std::optional<std::int64_t>(0);
    };
    const auto sa = step(a);
    const auto sb = step(b);
    if (!sa || !sb || !a.first || !b.first) {
        return false;
    }
    if (*sa == *sb && *sa != 0) {
        const auto shift = (*a.first - *b.first).value();
        if (shift && *shift % *sa != 0) {
            return true;
        }
    }
    const auto end = [&](const Subscript& s, std::int64_t stride, bool upper) {
        Linear at = *s.first;
        if (stride != 0 && (stride > 0) == upper) {
            Linear span = s.length.form;
            span.constant -= 1;
            for (auto& [term, factor] : span.terms) {
                factor *= stride;
            }
            Linear zero;
            span.constant *= stride;
            at = at - (zero - span);
        }
        return at;
    };
    const auto below = (end(a, *sa, true) - end(b, *sb, false)).value();
    const auto above = (end(b, *sb, true) - end(a, *sa, false)).value();
    return (below && *below < 0) || (above && *above < 0);
}

}  // namespace

SliceElements::SliceElements(PassContext& context, Shapes& shapes, Span span, Body& before,
                             std::vector<std::string> labels)
    : context_(context),
      shapes_(shapes),
      builder_(context.module, span),
      before_(&before),
      labels_(std::move(labels)) {}

SliceLoop* SliceElements::open(const Extent& length) {
    constexpr const char* kNames[] = {"i", "j", "k", "l", "m"};
    SliceLoop& loop = made_.emplace_back();
    loop.length = shapes_.held(length);
    loop.var =
        builder_.scalar(kNames[std::min<std::size_t>(loops_.size(), 4)], length.value->type.scalar);
    if (!labels_.empty()) {
        if (!labels_.front().empty()) loop.labels = {labels_.front()};
        labels_.erase(labels_.begin());
    }
    loops_.push_back(&loop);
    return &loop;
}

Stmt* SliceElements::nest(const std::vector<SliceLoop*>& loops) {
    Stmt* inner = nullptr;
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
        SliceLoop& loop = **it;
        if (inner != nullptr) {
            loop.body.push_back(inner);
        }
        IndexMath math(builder_, loop.var->type.scalar);
        Expr* size = math.copy(*loop.length.value);
        For* made = loop.backwards
                        ? builder_.loop(loop.var, math.add(size, math.number(-1)), math.number(-1),
                                        std::move(loop.body), math.number(-1))
                        : builder_.loop(loop.var, math.number(0), size, std::move(loop.body));
        made->labels = loop.labels;
        inner = made;
    }
    return inner;
}

// ---------------------------------------------------------------- elements

Place part(const Place& place, const Shape& shape) {
    Place result(shape.size(), nullptr);
    for (std::size_t i = 0; i < std::min(shape.size(), place.size()); ++i) {
        if (!shape[shape.size() - 1 - i].is_one()) {
            result[shape.size() - 1 - i] = place[place.size() - 1 - i];
        }
    }
    return result;
}

Expr* SliceElements::number_of(const SliceLoop* loop) {
    return loop == nullptr ? builder_.integer(0, shapes_.index_type()) : builder_.var(loop->var);
}

std::vector<Expr*> SliceElements::indices(const std::vector<Subscript>& subscripts,
                                          const Place& place) {
    IndexMath math(builder_, shapes_.index_type());
    std::vector<Expr*> result;
    std::size_t next = 0;
    const bool among_slices =
        std::ranges::any_of(subscripts, [](const Subscript& s) { return s.index == nullptr; });
    for (const Subscript& s : subscripts) {
        if (s.is_slice()) {
            Expr* moved = math.multiply(number_of(place[next++]), math.copy(*s.step));
            result.push_back(math.add(math.copy(*s.begin), moved));
        } else if (s.is_new_axis()) {
            ++next;
        } else if (among_slices && !shapes_.of(*s.index).empty()) {  // an array is a dimension then
            result.push_back(element(*s.index, {place[next++]}));
        } else {  // either a scalar, or all subscripts share the whole place
            result.push_back(element(*s.index, part(place, shapes_.of(*s.index))));
        }
    }
    return result;
}

// Whether the scalar is computed before all loops, in which it may change or have effects.
bool SliceElements::waits_for_nothing(const Expr& expr) const {
    return any_expr(expr, [&](const Expr& e) {
        return e.op == Op::kCall || e.op == Op::kReduce || e.op == Op::kMatMul ||
               (e.op == Op::kLoad && target.array != nullptr && !target.loops.empty() &&
                may_share(*e.var, *target.array));
    });
}

Expr* SliceElements::up_front(const Expr& expr) {
    const std::vector<SliceLoop*> open = std::exchange(loops_, {});
    Expr* value = element(expr, {});
    loops_ = open;
    return builder_.named(*before_, "value", value);
}

Expr* SliceElements::element(const Expr& expr, const Place& place) {
    if (place.empty() && !loops_.empty() && waits_for_nothing(expr)) {
        return up_front(expr);
    }
    switch (expr.op) {
        case Op::kLoad:
            return load(expr, place);
        case Op::kReduce:
            return reduce(expr, place);
        case Op::kMatMul:
            return matmul(expr, place);
        case Op::kFull:
        case Op::kLike:
            return element(*expr.operands[0], {});
        case Op::kEmpty:
            return element(*expr.operands[0], place);
        case Op::kTranspose: {
            Place inner(place.size());
            const std::vector<std::size_t> axes = transposed_axes(expr, place.size());
            for (std::size_t i = 0; i < axes.size(); ++i)
                inner[axes[i]] = place[i];
            return element(*expr.operands[0], inner);
        }
        case Op::kReshape:
            return element(*expr.operands[0], reshaped(expr, place));
        case Op::kAnd:
        case Op::kOr:
        case Op::kSelect:
            if (loops_.empty()) {
                return lazily(expr);
            }
            if (shapes_.of(*expr.operands[0]).empty() && any_expr(expr, picks)) {
                return choice(expr, place);
            }
            break;
        default:
            break;
    }
    Expr* made = context_.module.make_expr(expr.op, expr.type, expr.span);
    made->constant = expr.constant;
    made->var = expr.var;
    made->index = expr.index;
    made->reg = expr.reg;
    made->callee = expr.callee;
    for (const Expr* operand : expr.operands) {
        made->operands.push_back(element(*operand, part(place, shapes_.of(*operand))));
    }
    return made;
}

// The place of the element in the operand. Leading dimensions of equal size keep their loops; the
// element's number in C order gives variables for the others.
Place SliceElements::reshaped(const Expr& expr, const Place& place) {
    const Shape& to = shapes_.of(expr);
    const Shape& from = shapes_.of(*expr.operands[0]);
    Place result(from.size(), nullptr);
    std::size_t same = 0;
    for (; same < std::min(from.size(), to.size()); ++same) {
        if ((from[same].form - to[same].form).value() != 0) break;
        result[same] = place[same];
    }
    IndexMath math(builder_, shapes_.index_type());
    Body& here = loops_.empty() ? *before_ : loops_.back()->body;
    const auto held = [&](Expr* value) {
        SliceLoop& digit = made_.emplace_back();
        digit.var = builder_.scalar("number", shapes_.index_type());
        here.push_back(builder_.assign(digit.var, value));
        return &digit;
    };
    Expr* number = math.number(0);
    for (std::size_t k = same; k < to.size(); ++k) {
        number = math.multiply(number, math.copy(*to[k].value));
        if (!to[k].is_one()) number = math.add(number, number_of(place[k]));
    }
    std::size_t first = same;
    while (first < from.size() && from[first].is_one())
        ++first;
    for (std::size_t d = from.size(); d-- > first;) {
        if (from[d].is_one()) continue;
        SliceLoop* rest = held(number);
        if (d == first) {
            result[d] = rest;
            break;
        }
        result[d] = held(builder_.binary(Op::kMod, number_of(rest), math.copy(*from[d].value)));
        number = math.divide(number_of(rest), math.copy(*from[d].value));
    }
    return result;
}

// A scalar of which a part may not be evaluated: statements that this part needs stay conditional.
Expr* SliceElements::lazily(const Expr& expr) {
    Body* const before = before_;
    const auto apart = [&](const Expr& operand, Body& needed) {
        before_ = &needed;
        shapes_.enter_branch();
        Expr* value = element(operand, {});
        shapes_.leave_branch();
        before_ = before;
        return value;
    };
    Expr* first = element(*expr.operands[0], {});
    Body then;
    Body otherwise;
    Expr* second = apart(*expr.operands[1], then);
    Expr* third = expr.op == Op::kSelect ? apart(*expr.operands[2], otherwise) : nullptr;
    if (then.empty() && otherwise.empty()) {
        Expr* made = context_.module.make_expr(expr.op, expr.type, expr.span, {first, second});
        if (third != nullptr) {
            made->operands.push_back(third);
        }
        return made;
    }
    Var* var = builder_.scalar("value", expr.type.scalar);
    then.push_back(builder_.assign(var, second));
    if (third != nullptr) {
        otherwise.push_back(builder_.assign(var, third));
        before_->push_back(builder_.if_(first, std::move(then), std::move(otherwise)));
    } else {
        before_->push_back(builder_.assign(var, first));
        Expr* test = builder_.var(var);
        before_->push_back(
            builder_.if_(expr.op == Op::kAnd ? test : builder_.not_(test), std::move(then)));
    }
    return builder_.var(var);
}

// An element of a choice between arrays by one truth value: what fails in the array that is not
// chosen stays conditional.
Expr* SliceElements::choice(const Expr& expr, const Place& place) {
    Expr* const test = up_front(*expr.operands[0]);
    Expr* made = context_.module.make_expr(expr.op, expr.type, expr.span, {test});
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        Expr* condition = clone(context_.module, test);
        const bool if_false = expr.op == Op::kOr || i == 2;
        conditions_.push_back(if_false ? builder_.not_(condition) : condition);
        made->operands.push_back(
            element(*expr.operands[i], part(place, shapes_.of(*expr.operands[i]))));
        conditions_.pop_back();
    }
    return made;
}

Expr* SliceElements::load(const Expr& expr, const Place& place) {
    const std::vector<Subscript> subscripts = shapes_.subscripts(expr);
    note_hazard(expr, place);
    Expr* made = context_.module.make_expr(Op::kLoad, expr.type, expr.span);
    made->var = expr.var;
    made->operands = indices(subscripts, place);
    return made;
}

void SliceElements::note_hazard(const Expr& load, const Place& place) {
    if (target.array == nullptr || !may_share(*load.var, *target.array)) {
        return;
    }
    std::size_t around = 0;  // loops of the target around the load
    while (around < std::min(loops_.size(), target.loops.size()) &&
           loops_[around] == target.loops[around]) {
        ++around;
    }
    if (around == 0) {
        return;
    }
    Hazard hazard{&load, {}};
    if (load.var != target.array) {
        hazards.push_back(hazard);
        return;
    }
    const auto axes = [](const std::vector<Subscript>& all) {
        std::vector<const Subscript*> result;
        for (const Subscript& s : all) {
            if (!s.is_new_axis()) result.push_back(&s);
        }
        return result;
    };
    const std::vector<Subscript>& all = shapes_.subscripts(load);
    const auto reads = axes(all);
    const auto writes = axes(target.subscripts);
    std::vector<SliceLoop*> counts;  // of each axis that is read
    std::size_t next = 0;
    for (const Subscript& s : all) {
        if (s.index != nullptr) {
            counts.push_back(nullptr);
            next += shapes_.of(*s.index).size();  // an array has dimensions of its own
        } else if (SliceLoop* loop = place[next++]; s.is_slice()) {
            counts.push_back(loop);
        }
    }
    bool apart = false;
    for (std::size_t axis = 0; axis < reads.size(); ++axis) {
        const bool fixed = reads[axis]->is_slice() || shapes_.of(*reads[axis]->index).empty();
        apart = apart || (fixed && disjoint(*reads[axis], *writes[axis]));
    }
    if (apart) {
        return;
    }
    // Finds for each loop around the axis that only it counts on both sides, and the distance.
    bool known = true;
    bool same_element = true;
    std::vector<std::int64_t> ahead(target.loops.size(), 0);
    std::size_t loop = 0;
    for (std::size_t axis = 0; axis < writes.size(); ++axis) {
        if (!writes[axis]->is_slice()) {
            const bool equal =
                !reads[axis]->is_slice() &&
                (linear(*reads[axis]->index) - linear(*writes[axis]->index)).value() == 0;
            known = known && equal;
            continue;
        }
        const std::size_t level = loop++;
        const bool in_step =
            reads[axis]->is_slice() && counts[axis] != nullptr &&
            counts[axis] == target.loops[level] &&
            (linear(*reads[axis]->step) - linear(*writes[axis]->step)).value() == 0;
        const auto shift =
            in_step ? (*reads[axis]->first - *writes[axis]->first).value() : std::nullopt;
        const auto step = constant_integer(writes[axis]->step);
        same_element = same_element && (level >= around || shift == 0);
        known = known && shift && step && *shift % *step == 0;
        ahead[level] = known ? *shift / *step : 0;
    }
    if (same_element) {
        return;
    }
    if (known && around == target.loops.size() && around == loops_.size()) {
        hazard.ahead = ahead;
    }
    hazards.push_back(hazard);
}

// ---------------------------------------------------------------- reductions

template <class F>
Var* SliceElements::accumulate(const char* name, Op op, const Expr& identity, const Place& place,
                               const std::vector<Extent>& lengths, F&& inner) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        depth = std::ranges::count(place, loops_[i]) != 0 ? i + 1 : depth;
    }
    const std::vector<SliceLoop*> outer = loops_;
    loops_.resize(depth);
    Body& around = depth == 0 ? *before_ : loops_.back()->body;
    std::vector<SliceLoop*> own;
    for (const Extent& length : lengths) {
        own.push_back(open(length));
    }
    Var* sum = builder_.scalar(name, identity.type.scalar);
    Expr* value = inner(own);
    Expr* start = clone(context_.module, &identity);
    Stmt* update = builder_.update(sum, op, value);
    around.push_back(builder_.assign(sum, start));
    if (own.empty()) {
        around.push_back(update);
    } else {
        own.back()->body.push_back(update);
        around.push_back(nest(own));
    }
    loops_ = outer;
    return sum;
}

Expr* SliceElements::reduce(const Expr& expr, const Place& place) {
    const Expr& operand = *expr.operands[0];
    const Shape shape = shapes_.of(operand);
    const std::vector<bool> gone = Shapes::reduced(expr, shape.size());
    const auto which = static_cast<SliceReduction>(expr.index);
    if (picks(expr)) refuse_nothing(expr, shape, gone);
    const Scalar type = expr.type.scalar;
    const Op op = update_of(which, type);
    std::vector<Extent> lengths;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (gone[i]) {
            lengths.push_back(shape[i]);
        }
    }
    const Expr& identity = *builder_.constant(expr.type, identity_of(op, type));
    const bool keeps = expr.constant == Constant{true};
    Var* result = accumulate(text(which).data(), op, identity, place, lengths,
                             [&](const std::vector<SliceLoop*>& own) {
                                 Place at;
                                 std::size_t inner = 0;
                                 std::size_t outer = 0;
                                 for (std::size_t i = 0; i < shape.size(); ++i) {
                                     SliceLoop* kept = gone[i] && !keeps ? nullptr : place[outer++];
                                     at.push_back(gone[i] ? own[inner++] : kept);
                                 }
                                 return element(operand, at);
                             });
    Expr* value = builder_.var(result);
    if (which == SliceReduction::kMean) {
        IndexMath math(builder_, shapes_.index_type());
        Expr* count = math.number(1);
        for (const Extent& length : lengths) {
            count = math.multiply(count, math.copy(*length.value));
        }
        const auto known = constant_integer(count);
        Expr* divisor =
            known ? builder_.constant(expr.type, Constant{*known}) : builder_.convert(count, type);
        value = builder_.binary(Op::kDiv, value, divisor);
    }
    return value;
}

// Makes the program fail if the minimum or maximum is that of no elements.
void SliceElements::refuse_nothing(const Expr& reduce, const Shape& shape,
                                   const std::vector<bool>& gone) {
    Builder b(context_.module, reduce.span);
    IndexMath math(b, shapes_.index_type());
    Expr* nothing = nullptr;
    bool certain = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!gone[i] || shapes_.has_elements(shape[i])) continue;
        Expr* none = b.binary(Op::kEq, math.copy(*shape[i].value), math.number(0));
        nothing = nothing == nullptr ? none : b.binary(Op::kOr, nothing, none);
        certain = certain || shape[i].constant();
    }
    if (nothing == nullptr) return;
    FailBuilder fail(b, Code::kP225);
    const bool least = static_cast<SliceReduction>(reduce.index) == SliceReduction::kMin;
    fail.site().message = "the " + std::string(least ? "minimum" : "maximum") +
                          " of an array of shape " + shown(shape, fail, math) + " has no value";
    fail.site().help = "reduce at least one element";
    Stmt* failing = fail.make();
    if (!certain) failing = b.if_(nothing, {failing});
    for (const Expr* condition : conditions_)
        failing = b.if_(clone(context_.module, condition), {failing});
    before_->push_back(failing);
}

Expr* SliceElements::matmul(const Expr& expr, const Place& place) {
    const Expr& left = *expr.operands[0];
    const Expr& right = *expr.operands[1];
    const Shape a = shapes_.of(left);
    const Shape b = shapes_.of(right);
    static_cast<void>(shapes_.of(expr));  // reports sizes that differ
    const bool truth = expr.type.is(Scalar::kBool);
    const Op op = truth ? Op::kOr : Op::kAdd;
    const Expr& identity = *builder_.constant(expr.type, identity_of(op, expr.type.scalar));
    Var* result =
        accumulate("dot", op, identity, place, {a.back()}, [&](const std::vector<SliceLoop*>& own) {
            Place at_left(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(a.size() - 1));
            Place at_right;
            if (b.size() > 2) {  // selects the matrices
                const auto rows = static_cast<std::ptrdiff_t>(a.size() > 1 ? 1 : 0);
                const Place matrix(place.begin(), place.end() - 1 - rows);
                at_left = part(matrix, Shapes::matrices(a));
                at_right = part(matrix, Shapes::matrices(b));
                if (rows > 0) at_left.push_back(place[place.size() - 2]);
            }
            at_left.push_back(own[0]);
            at_right.push_back(own[0]);
            if (b.size() > 1) at_right.push_back(place.back());
            Expr* x = element(left, at_left);
            Expr* y = element(right, at_right);
            return builder_.binary(truth ? Op::kAnd : Op::kMul, x, y);
        });
    return builder_.var(result);
}

}  // namespace parpy
