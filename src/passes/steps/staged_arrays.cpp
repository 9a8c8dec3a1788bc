// See staged_arrays.h.
#include "passes/steps/staged_arrays.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/memory/sharing.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/steps/piece_code.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostBytes = 48 << 10;  // of a block of threads

class Staging {
public:
    Staging(Module& module, For& block, For& steps, const StepBlock& of_steps,
            const StagedRanges& ranges)
        : module_(module),
          b_(module, steps.span),
          block_(block),
          steps_(steps),
          of_steps_(of_steps),
          ranges_(ranges) {}

    void run() {
        find_parts();
        if (parts_.empty()) return;
        replace();
        Body before, behind;
        for (const Part& part : parts_) {
            before.push_back(b_.alloc(part.tile));
        }
        for (const Part& part : parts_) {
            before.push_back(copy(part, /*back=*/false));
            if (part.stored) behind.push_back(copy(part, /*back=*/true));
        }
        const auto at = std::ranges::find(block_.body, &steps_);
        block_.body.insert(at + 1, behind.begin(), behind.end());
        block_.body.insert(std::ranges::find(block_.body, &steps_), before.begin(), before.end());
    }

private:
    // The elements of an array along one axis: a range of a variable, or the steps of the block,
    // counted from 0.
    struct Axis {
        const Var* first = nullptr;  // null: counted from 0
        const Expr* end = nullptr;
        std::int64_t size = 0;
        const Expr* skipped = nullptr;
        const Expr* resumes = nullptr;
    };
    struct Part {
        Var* array = nullptr;
        std::vector<Axis> axes;
        bool stored = false;
        // Threads use different rows at the same time, which begin in different banks therefore.
        bool by_rows = false;
        Var* tile = nullptr;
    };
    struct Place {
        std::vector<Axis> axes;
        bool by_rows = false;
        std::vector<Expr*> offsets;
    };

    [[nodiscard]] std::optional<Place> place_of(const std::vector<Expr*>& indices) {
        Place place;
        for (const Expr* index : indices) {
            const Expr* var = index;
            const bool counted = index->op == Op::kSub && index->operands[0]->op == Op::kVar &&
                                 index->operands[1]->op == Op::kVar &&
                                 index->operands[1]->var == of_steps_.first;
            if (counted) var = index->operands[0];
            if (var->op != Op::kVar) return std::nullopt;
            const auto range = ranges_.find(var->var);
            if (range == ranges_.end()) return std::nullopt;
            const StagedRange& found = range->second;
            if (counted && found.first != of_steps_.first) return std::nullopt;
            place.axes.push_back({counted ? nullptr : found.first, found.end, found.size,
                                  found.skipped, found.resumes});
            place.offsets.push_back(clone(module_, found.offset));
            place.by_rows = found.is_step && place.axes.size() > 1;
        }
        return place;
    }

    static bool same_axes(const std::vector<Axis>& a, const std::vector<Axis>& b) {
        return std::ranges::equal(a, b,
                                  [](const Axis& x, const Axis& y) { return x.first == y.first; });
    }

    void find_parts() {
        const Uses uses = uses_of(steps_.body);
        std::vector<const Var*> left;  // arrays that are not staged
        const auto add = [&](Var* array, const std::vector<Expr*>& indices, bool stored) {
            const auto place = place_of(indices);
            if (!place || array->space == Space::kLocal) {
                left.push_back(array);
                return;
            }
            const auto same = [&](const Part& part) {
                return part.array == array && same_axes(part.axes, place->axes);
            };
            const auto known = std::ranges::find_if(parts_, same);
            Part& part =
                known != parts_.end() ? *known : parts_.emplace_back(array, place->axes, false);
            part.stored = part.stored || stored;
            part.by_rows = part.by_rows || place->by_rows;
        };
        for_each_expr(steps_.body, [&](const Expr& e) {
            if (e.op == Op::kLoad) add(e.var, e.operands, false);
        });
        for_each_stmt(steps_.body, [&](const Stmt& stmt) {
            if (const auto* store = stmt.as<Store>()) add(store->array, store->indices, true);
        });
        // Another name of the memory must not be used, unless nothing is stored to it.
        const auto unfit = [&](const Part& part) {
            if (std::ranges::find(left, part.array) != left.end()) return true;
            const auto clashes = [&](const VarSet& arrays) {
                return std::ranges::any_of(arrays, [&](const Var* other) {
                    return other != part.array && may_share(*other, *part.array);
                });
            };
            return clashes(uses.stored) ||
                   (uses.stored.contains(part.array) && clashes(uses.loaded));
        };
        std::erase_if(parts_, unfit);
        // Parts of one array need an axis along which they lie apart.
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const bool both =
                    parts_[i].array == parts_[j].array && (parts_[i].stored || parts_[j].stored);
                if (both && !apart(parts_[i], parts_[j])) return parts_.clear();
            }
        }
        std::int64_t bytes = 0;
        std::erase_if(parts_, [&](Part& part) {
            std::vector<std::int64_t> extents;
            std::int64_t size = size_in_bytes(part.array->type.scalar);
            for (const Axis& axis : part.axes) {
                const bool pads = part.by_rows && &axis == &part.axes.back();
                extents.push_back(axis.size + (pads ? 1 : 0));
                size *= extents.back();
            }
            if (bytes + size > kMostBytes) return true;
            bytes += size;
            part.tile = b_.local_array(part.array->name + "_tile", part.array->type.scalar, extents,
                                       Space::kLocal);
            return false;
        });
    }

    static bool apart(const Part& a, const Part& b) {
        for (std::size_t i = 0; i < a.axes.size(); ++i) {
            const Var *x = a.axes[i].first, *y = b.axes[i].first;
            if (x != y && x != nullptr && y != nullptr) return true;
        }
        return false;
    }

    const Part* part_of(const Var* array, const std::vector<Axis>& axes) const {
        const auto found = std::ranges::find_if(parts_, [&](const Part& part) {
            return part.array == array && same_axes(part.axes, axes);
        });
        return found == parts_.end() ? nullptr : &*found;
    }

    void replace() {
        rewrite(steps_.body, [&](Expr* e) {
            if (e->op != Op::kLoad) return e;
            auto place = place_of(e->operands);
            const Part* part = place ? part_of(e->var, place->axes) : nullptr;
            return part == nullptr ? e : b_.load(part->tile, std::move(place->offsets));
        });
        for_each_stmt(steps_.body, [&](Stmt& stmt) {
            auto* store = stmt.as<Store>();
            if (store == nullptr) return;
            auto place = place_of(store->indices);
            const Part* part = place ? part_of(store->array, place->axes) : nullptr;
            if (part == nullptr) return;
            store->array = part->tile;
            store->indices = std::move(place->offsets);
        });
    }

    // A loop over the elements of a part that exist.
    For* copy(const Part& part, bool back) {
        std::int64_t all = 1;
        for (const Axis& axis : part.axes)
            all *= axis.size;
        Var* number = b_.scalar(part.array->name + "_element", Scalar::kI64);
        std::vector<Expr*> places, indices;
        Body body;
        Expr* exists = nullptr;
        std::int64_t inner = all;
        for (std::size_t i = 0; i < part.axes.size(); ++i) {
            const Axis& axis = part.axes[i];
            inner /= axis.size;
            Expr* at = b_.var(number);
            if (inner > 1) at = b_.binary(Op::kFloorDiv, at, b_.integer(inner));
            if (i > 0) at = b_.binary(Op::kMod, at, b_.integer(axis.size));
            Var* index = b_.scalar("at" + std::to_string(i), Scalar::kI64);
            Expr* first = axis.first == nullptr ? nullptr : b_.var(const_cast<Var*>(axis.first));
            body.push_back(b_.assign(index, first == nullptr
                                                ? clone(module_, at)
                                                : b_.binary(Op::kAdd, first, clone(module_, at))));
            Expr* end = clone(module_, axis.end);
            if (axis.first == nullptr) end = b_.binary(Op::kSub, end, b_.var(of_steps_.first));
            const auto both = [&](Expr* more) {
                exists = exists == nullptr ? more : b_.binary(Op::kAnd, exists, more);
            };
            both(b_.binary(Op::kLt, b_.var(index), end));
            if (Expr* outside = is_outside(b_, index, axis.skipped, axis.resumes)) both(outside);
            const Dim& dim = part.array->dims[i];
            if (axis.first != nullptr && !within(axis, dim))
                both(b_.binary(Op::kLt, b_.var(index), b_.extent(dim)));
            places.push_back(at);
            indices.push_back(b_.var(index));
        }
        Store* store = back ? b_.store(part.array, indices, b_.load(part.tile, places))
                            : b_.store(part.tile, places, b_.load(part.array, indices));
        body.push_back(b_.if_(exists, {store}));
        return b_.loop(number, b_.integer(0), b_.integer(all), std::move(body));
    }

    static bool within(const Axis& axis, const Dim& dim) {
        const auto end = constant_integer(axis.end);
        return end && dim.extent && *end <= *dim.extent;
    }

    Module& module_;
    Builder b_;
    For& block_;
    For& steps_;
    const StepBlock of_steps_;
    const StagedRanges& ranges_;
    std::vector<Part> parts_;
};

}  // namespace

void stage_arrays(Module& module, For& block, For& steps, const StepBlock& of_steps,
                  const StagedRanges& ranges) {
    Staging(module, block, steps, of_steps, ranges).run();
}

}  // namespace parpy
