// See instrument_bounds.h.
#include "passes/checks/instrument_bounds.h"

#include <span>

#include "analysis/integers/intervals.h"
#include "analysis/uses.h"
#include "dialects/dialect.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ops.h"
#include "ir/visit.h"
#include "passes/checks/check_sites.h"

namespace parpy {

using namespace ir;

namespace {

// A subscript in `stmt` that is not proved: of an array, or of a name of a part, where it is a
// kIndex that names a site.
struct Subscript {
    const Stmt* stmt;
    const Expr* index;
    const Var* array = nullptr;
    std::size_t axis = 0;

    [[nodiscard]] std::optional<std::int64_t> known_size() const {
        return array != nullptr ? array->dims[axis].extent : constant_integer(index->operands[1]);
    }
    [[nodiscard]] Expr* size(Builder& b) const {
        return array != nullptr ? b.extent(array->dims[axis])
                                : b.convert(clone(b.module(), index->operands[1]), Scalar::kI64);
    }
};

bool names_site(const Expr& e) {
    return e.op == Op::kIndex && e.index > 0;
}

// The factor of `var` in `index`, whose other operands are constants or are invariant under `uses`;
// nothing if it has no such form.
std::optional<std::int64_t> slope(const Expr& index, const Var* var, const Uses& uses) {
    constexpr std::int64_t kSteepest = 1 << 15;
    if (index.op == Op::kVar && index.var == var) return 1;
    if (invariant(index, uses) && uses_of(index).loaded.empty()) return 0;
    const auto of = [&](std::size_t i) { return slope(*index.operands[i], var, uses); };
    std::optional<std::int64_t> sum;
    if (index.op == Op::kConvert && index.type.is(Scalar::kI64)) {
        const Scalar from = index.operands[0]->type.scalar;
        if (is_integer(from) && from != Scalar::kU64) sum = of(0);
    } else if (!index.type.is(Scalar::kI64)) {
        return std::nullopt;  // narrow arithmetic may wrap around
    } else if (index.op == Op::kAdd || index.op == Op::kSub) {
        const auto left = of(0);
        const auto right = of(1);
        if (left && right) sum = index.op == Op::kAdd ? *left + *right : *left - *right;
    } else if (index.op == Op::kMul) {
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            const auto factor = constant_integer(index.operands[i]);
            const auto other = of(1 - i);
            if (factor && other && std::abs(*factor) < kSteepest) sum = *factor * *other;
        }
    }
    return sum && std::abs(*sum) < kSteepest ? sum : std::nullopt;
}

class BoundsChecks {
public:
    // `races`: instrument_races follows, which needs all parallel loops and makes them sequential.
    BoundsChecks(Module& module, Function& function, bool races)
        : b_(module), intervals_(function), races_(races) {}

    void body(Body& stmts) {
        Body out;
        out.reserve(stmts.size());
        for (Stmt* stmt : stmts) {
            auto* loop = stmt->as<For>();
            Stmt* unchecked = nullptr;
            Expr* in_bounds = loop != nullptr ? all_in_bounds(*loop, unchecked) : nullptr;
            for (const Subscript& subscript : unproved(*stmt)) {
                out.push_back(test(subscript));
                for (For* around : loops_) {
                    if (around->mapping.level == Level::kVector && !races_) around->mapping = {};
                }
            }
            if (loop != nullptr) loops_.push_back(loop);
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
            if (loop != nullptr) loops_.pop_back();
            b_.span = stmt->span;
            out.push_back(in_bounds == nullptr ? stmt : b_.if_(in_bounds, {unchecked}, {stmt}));
        }
        stmts = std::move(out);
    }

private:
    std::vector<Subscript> unproved(const Stmt& stmt) const {
        std::vector<Subscript> out;
        const auto add = [&](const Var& array, std::span<Expr* const> indices) {
            for (std::size_t axis = 0; axis < indices.size(); ++axis) {
                for_each_expr(*indices[axis], [&](const Expr& part) {
                    if (names_site(part) && !proved({&stmt, &part})) out.push_back({&stmt, &part});
                });
                const Subscript subscript{&stmt, indices[axis], &array, axis};
                if (!proved(subscript)) out.push_back(subscript);
            }
        };
        const auto* assign = stmt.as<Assign>();
        const auto* evaluate = stmt.as<Evaluate>();
        const Expr* value = assign != nullptr     ? assign->value
                            : evaluate != nullptr ? evaluate->value
                                                  : nullptr;
        if (value != nullptr && value->op == Op::kLoad) {
            add(*value->var, value->operands);
        } else if (value != nullptr && value->op == Op::kCall) {
            for (const Expr* argument : value->operands) {
                // The begin of a part is clamped.
                const std::span<Expr* const> indices = argument->operands;
                if (is_row(*argument))
                    add(*argument->var,
                        indices.first(indices.size() - (is_open_row(*argument) ? 1 : 0)));
            }
        } else if (value != nullptr && value->op == Op::kAtomic) {
            add(*value->var, std::span(value->operands).first(value->rank()));
        } else if (const auto* store = stmt.as<Store>()) {
            add(*store->array, store->indices);
        }
        return out;
    }

    bool proved(const Subscript& at) const {
        const Interval range = intervals_.of(at.index);
        const auto size = at.known_size();
        return range.empty() || (size && range.within({0, *size - 1}));
    }

    // ------------------------------------------------------------ one access

    Expr* wide(const Expr* expr) { return b_.convert(clone(b_.module(), expr), Scalar::kI64); }
    Expr* unsigned_(Expr* expr) { return b_.convert(expr, Scalar::kU64); }

    If* test(const Subscript& at) {
        b_.span = at.index->span.valid() ? at.index->span : at.stmt->span;
        FailBuilder fail(b_, Code::kP421);
        std::string subscript = fail.value(as_written(at));
        if (was_unsigned(at)) subscript.insert(subscript.size() - 1, "u");
        const std::string size = fail.value(at.size(b_));
        if (at.array == nullptr) {
            const auto site = static_cast<std::size_t>(at.index->index) - 1;
            std::string text = b_.module().sites[site].message;
            if (was_unsigned(at)) text = "unsigned " + text.replace(text.find("{0}"), 3, subscript);
            fail.site().message = text;
        } else {
            fail.site().message = (was_unsigned(at) ? "unsigned " : "") +
                                  outside_text(subscript, at.axis, *at.array, size);
        }
        fail.note_iterations(loops_);
        Fail* failure = fail.make();
        b_.span = failure->span = at.stmt->span;
        return b_.if_(outside(at), {failure});
    }

    // Signed, with constant offsets on the other side, so that compilers can derive it from
    // surrounding conditions, which mostly have this form.
    Expr* outside(const Subscript& at) {
        if (was_unsigned(at)) {
            return b_.binary(Op::kGe, unsigned_(clone(b_.module(), &position(at))),
                             unsigned_(at.size(b_)));
        }
        const Interval range = intervals_.of(at.index);
        const bool is_signed = !at.index->type.is(Scalar::kU64);
        const auto known = at.known_size();
        const bool not_above = known && range.high < *known;
        const auto [base, offset] = apart(at.index);
        Expr* below = b_.binary(Op::kLt, wide(base), b_.integer(-offset));
        if (is_signed && not_above) return below;
        Expr* size = at.size(b_);
        if (known) {
            size = b_.integer(*known - offset);
        } else if (offset != 0) {
            size = b_.binary(offset > 0 ? Op::kSub : Op::kAdd, size, b_.integer(std::abs(offset)));
        }
        Expr* above = b_.binary(Op::kGe, wide(base), size);
        return is_signed && range.low >= 0 ? above : b_.binary(Op::kOr, below, above);
    }

    // Splits an index into another one and a constant that is added to it.
    static std::pair<const Expr*, std::int64_t> apart(const Expr* index) {
        constexpr std::int64_t kFarthest = 1 << 20;
        std::int64_t offset = 0;
        while ((index->op == Op::kAdd || index->op == Op::kSub) && index->type.is(Scalar::kI64)) {
            const auto step = constant_integer(index->operands[1]);
            if (!step || *step <= -kFarthest || *step >= kFarthest) break;
            const std::int64_t next = index->op == Op::kAdd ? offset + *step : offset - *step;
            if (std::abs(next) >= kFarthest) break;
            offset = next;
            index = index->operands[0];
        }
        return {index, offset};
    }

    // The subscript before normalize_indices, which added the extent to negative subscripts; a
    // negative one is the user's own only here.
    Expr* as_written(const Subscript& at) {
        if (at.index->op == Op::kIndex || was_unsigned(at)) return wide(&position(at));
        if (intervals_.of(at.index).low >= 0) return wide(at.index);
        return b_.select(b_.binary(Op::kLt, wide(at.index), b_.integer(0)),
                         b_.binary(Op::kSub, wide(at.index), at.size(b_)), wide(at.index));
    }

    // ------------------------------------------------------------ all of a loop

    // A test that proves every access of an innermost loop for this run, and a copy of the loop
    // without checks; null if there is nothing to prove, or no such test.
    Expr* all_in_bounds(const For& loop, Stmt*& copy) {
        const auto step = constant_integer(loop.step);
        if (!step || contains_loop(loop.body) || !loop.var->type.is(Scalar::kI64)) return nullptr;
        std::vector<Subscript> subscripts;
        for_each_stmt(loop.body, [&](const Stmt& stmt) {
            const std::vector<Subscript> own = unproved(stmt);
            subscripts.insert(subscripts.end(), own.begin(), own.end());
        });
        Uses uses = uses_of(loop.body);
        uses.written.insert(loop.var);
        for (const Subscript& at : subscripts) {
            if (!slope(position(at), loop.var, uses) || !invariant(*at.size(b_), uses))
                return nullptr;
        }
        if (subscripts.empty()) return nullptr;
        b_.span = loop.span;
        // No array is longer, so the values between the first and the last do not wrap around.
        const Scalar count = Scalar::kU64;
        Expr* all =
            b_.binary(Op::kLt, unsigned_(b_.binary(Op::kSub, last(loop, *step), wide(loop.begin))),
                      b_.integer(Intervals::kMaxExtent, count));
        if (*step < 0) {
            all = b_.binary(Op::kLt,
                            unsigned_(b_.binary(Op::kSub, wide(loop.begin), last(loop, *step))),
                            b_.integer(Intervals::kMaxExtent, count));
        }
        for (std::size_t i = 0; i < subscripts.size(); ++i) {
            bool known = false;
            for (std::size_t j = 0; j < i && !known; ++j)
                known = same_test(subscripts[i], subscripts[j]);
            if (known) continue;
            // A subscript that is invariant in the loop is compared once.
            const bool moves = slope(position(subscripts[i]), loop.var, uses) != 0;
            std::vector<Expr*> values{wide(loop.begin)};
            if (moves) values.push_back(last(loop, *step));
            for (Expr* value : values) {
                Substitution at_value;
                at_value.values[loop.var] = value;
                Expr* index = b_.convert(clone(b_.module(), &position(subscripts[i]), at_value),
                                         Scalar::kI64);
                all = b_.binary(
                    Op::kAnd, all,
                    b_.binary(Op::kLt, unsigned_(index), unsigned_(subscripts[i].size(b_))));
            }
        }
        copy = clone(b_.module(), static_cast<const Stmt*>(&loop));
        return all;
    }

    bool same_test(const Subscript& a, const Subscript& b) {
        return same(position(a), position(b)) && same(*a.size(b_), *b.size(b_));
    }

    // The subscript without kIndex, whose negative values would be legal.
    static const Expr& position(const Subscript& at) {
        return at.index->op == Op::kIndex ? *at.index->operands[0] : *at.index;
    }

    // Whether no value of the subscript counts from the end, though its type is signed by now.
    static bool was_unsigned(const Subscript& at) {
        const Expr& given = position(at);
        return given.op == Op::kConvert && given.operands[0]->type.is(Scalar::kU64);
    }

    // The last value of the variable of a loop that has iterations.
    Expr* last(const For& loop, std::int64_t step) {
        Expr* reach = b_.binary(Op::kSub, wide(loop.end), b_.integer(step > 0 ? 1 : -1));
        if (step == 1 || step == -1) return reach;
        Expr* steps = b_.binary(Op::kFloorDiv, b_.binary(Op::kSub, reach, wide(loop.begin)),
                                b_.integer(step));
        return b_.binary(Op::kAdd, wide(loop.begin), b_.binary(Op::kMul, steps, b_.integer(step)));
    }

    Builder b_;
    const Intervals intervals_;
    const bool races_;
    LoopStack loops_;
};

}  // namespace

bool checks_subscripts(const PassContext& context) {
    const Options& options = context.options;
    if (options.check != Check::kNothing) return true;
    return runs_in_process(options.backend) && is_by_hand(*context.module.entry_function());
}

void instrument_bounds(PassContext& context) {
    const bool races = context.options.checks_races();
    for (Function* function : context.module.functions) {
        BoundsChecks(context.module, *function, races).body(function->body);
    }
}

}  // namespace parpy
