// See tile.h.
#include "ir/tile.h"

#include "ir/builder.h"

namespace parpy::ir {

TileShape shape_of_tile(const Expr& tile) {
    const auto size = [&](TileOperand which) {
        return constant_integer(tile.operands[which]).value_or(0);
    };
    return {size(kTileRows), size(kTileVectors), size(kTileLanes)};
}

namespace {

bool is_valid_mma(const Expr& mma) {
    const Expr& sums = *mma.operands.front();
    if (sums.op != Op::kLoad || sums.var->space != Space::kLocal) return false;
    for (const Expr* operand : mma.operands)
        if (!operand->type.is(Scalar::kF64)) return false;
    return true;
}

}  // namespace

bool copies_to_shared(const Store& store) {
    const bool shared =
        store.array->space == Space::kShared || store.array->space == Space::kDynamic;
    return shared && !store.update && !store.atomic && store.value->op == Op::kLoad &&
           store.value->type.is(store.array->type.scalar);
}

bool is_valid_tile(const Expr& tile) {
    if (tile.op == Op::kAligned) return tile.operands.front()->op == Op::kLoad;
    if (tile.op == Op::kMma) return is_valid_mma(tile);
    const auto is_place = [&](TileOperand which) {
        const Expr& e = *tile.operands[which];
        return e.op == Op::kLoad && e.type == tile.operands[kTileSums]->type;
    };
    const auto is_size = [&](TileOperand which) {
        return tile.operands[which]->type.is(Scalar::kI64);
    };
    const auto is_positive = [&](TileOperand which) {
        return is_size(which) && constant_integer(tile.operands[which]).value_or(0) > 0;
    };
    const Type type = tile.operands[kTileSums]->type;
    const auto is_flag = [&](TileOperand which) {
        const Expr& e = *tile.operands[which];
        return e.op == Op::kConst && e.type.is(Scalar::kBool);
    };
    return (type.is(Scalar::kF32) || type.is(Scalar::kF64)) && is_positive(kTileRows) &&
           is_positive(kTileVectors) && is_positive(kTileLanes) && is_flag(kTileFused) &&
           is_flag(kTileAnew) && is_size(kTileSumsRow) && is_place(kTileSums) &&
           is_place(kTileLeft) && is_place(kTileRight) && is_size(kTileLeftRow) &&
           is_size(kTileLeftStep) && is_size(kTileRightStep) && is_size(kTileSteps);
}

}  // namespace parpy::ir
