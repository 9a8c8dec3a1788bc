// See tiles.h.
#include "ir/eval/tiles.h"

#include <array>
#include <span>

#include "ir/eval/ops.h"

namespace parpy::ir {

TilePlace place_in(const ArrayView& view, const std::byte* at) {
    std::int64_t lowest = 0, highest = 0;
    for (std::size_t i = 0; i < view.extents.size(); ++i) {
        const std::int64_t reach = (view.extents[i] - 1) * view.strides[i];
        (reach < 0 ? lowest : highest) += reach;
    }
    auto* const data = static_cast<std::byte*>(view.data);
    const std::int64_t here = (at - data) / size_in_bytes(view.element);
    return {data + here * size_in_bytes(view.element), here - lowest, highest - here};
}

std::optional<std::string> run_tile(const Expr& tile,
                                    const std::function<std::int64_t(TileOperand)>& number,
                                    const std::function<TilePlace(TileOperand)>& place,
                                    const std::function<bool()>& failed) {
    const TileShape shape = shape_of_tile(tile);
    const std::int64_t sums_row = number(kTileSumsRow), left_row = number(kTileLeftRow),
                       left_step = number(kTileLeftStep), right_step = number(kTileRightStep),
                       steps = number(kTileSteps);
    const Scalar type = tile.operands[kTileSums]->type.scalar;
    const bool anew = tile.operands[kTileAnew]->constant == Constant{true};
    const bool fused = tile.operands[kTileFused]->constant == Constant{true};
    if (failed() || (steps <= 0 && !anew)) return std::nullopt;
    const TilePlace sums = place(kTileSums);
    if (failed()) return std::nullopt;
    bool leaves = false;
    const auto at = [&](const TilePlace& from, std::int64_t distance) {
        leaves = leaves || distance < -from.before || distance > from.behind;
        return leaves ? from.at : from.at + distance * size_in_bytes(type);
    };
    const auto value = [&](Op op, const auto&... operands) {
        const std::array all{operands...};
        return *evaluate_op(op, type, type, std::span<const Constant>(all));
    };
    const auto for_each_sum = [&](const auto& change) {
        for (std::int64_t r = 0; r < shape.rows && !leaves; ++r) {
            for (std::int64_t c = 0; c < shape.columns() && !leaves; ++c) {
                std::byte* const sum = at(sums, r * sums_row + c);
                if (!leaves) change(r, c, sum);
            }
        }
    };
    if (anew) {
        for_each_sum([&](std::int64_t, std::int64_t, std::byte* sum) {
            store_element(type, sum, Constant{0.0});
        });
    }
    TilePlace left, right;
    if (steps > 0) {
        left = place(kTileLeft);
        right = place(kTileRight);
    }
    for (std::int64_t k = 0; k < steps && !leaves && !failed(); ++k) {
        for_each_sum([&](std::int64_t r, std::int64_t c, std::byte* sum) {
            const std::byte* const a = at(left, r * left_row + k * left_step);
            const std::byte* const b = at(right, k * right_step + c);
            if (leaves) return;
            const Constant x = load_element(type, a), y = load_element(type, b),
                           old = load_element(type, sum);
            store_element(
                type, sum,
                fused ? value(Op::kFma, x, y, old) : value(Op::kAdd, old, value(Op::kMul, x, y)));
        });
    }
    return leaves ? std::optional<std::string>("a tile reaches beyond its arrays") : std::nullopt;
}

}  // namespace parpy::ir
