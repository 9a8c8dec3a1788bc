// Tiles of sums (ir/tile.h) as calls of the prelude's function `tile`.
#include "emit/expressions.h"
#include "ir/tile.h"

namespace parpy {

using ir::Expr;

Text ExprPrinter::print_tile(const Expr& expr) const {
    const ir::TileShape shape = ir::shape_of_tile(expr);
    const auto flag = [&](ir::TileOperand which) {
        return expr.operands[which]->constant == ir::Constant{true} ? "true" : "false";
    };
    std::string text = "tile<" + std::to_string(shape.rows) + ", " + std::to_string(shape.vectors) +
                       ", " + std::to_string(shape.lanes) + ", " + flag(ir::kTileFused) + ", " +
                       flag(ir::kTileAnew) + ">(";
    for (std::size_t i = ir::kTileSums; i < expr.operands.size(); ++i) {
        const Expr& e = *expr.operands[i];
        const bool place = i == ir::kTileSums || i == ir::kTileLeft || i == ir::kTileRight;
        text += (i == ir::kTileSums ? "" : ", ") +
                (place ? "&" + element(*e.var, e.operands) : count(e, Precedence::kAssignment));
    }
    return {text + ")", Precedence::kPostfix, expr.type.scalar};
}

}  // namespace parpy
