// Contractions: nests whose iterations add products of two factors to sums, or keep the least or
// greatest of sums of two factors, which is the same with other operators. One factor is the same
// along the rows of the sums and the other along their columns, so that tiles of sums may be
// computed from parts of the factors that stay close. Matrix products, whatever their spelling,
// convolutions and batches of either are contractions. Dependences, and the variables that a factor
// varies with, identify them; names never do.
//
//     for i …: for j …: t = 0; for k …: t += A[i, k] * B[k, j];  C[i, j] = f(t)
//     for i …: for k …: for j …: C[i, j] += alpha * A[i, k] * B[j, k]
//     for n …: for h …: for w …: for c …: for y …: for x …: y[n, h, w, c] += x[…] * w[y, x, c]
//
// The loops are of four kinds: `rows` (the left factor and the sums vary with it), `columns` (the
// right factor and the sums), `steps` (both factors), and `outer` loops around these, with which
// the right factor may vary where a lowering takes batches. Speed and profit are not judged here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/contractions/products.h"
#include "analysis/integers/trend.h"
#include "ir/ir.h"

namespace parpy {

// Neighbouring ranges of steps that multiply by the same right factors: for k in range(i + 1):
// t += A[i, k] * B[k, j]; for k in range(i + 1, n): t += A[k, i] * B[k, j]. Most have one.
struct ContractionSteps {
    struct Range {
        std::vector<ir::For*> loops;   // directly in each other; one where there are several ranges
        std::vector<ir::Expr*> lefts;  // of the products of an iteration, in their order
    };
    std::vector<Range> ranges;      // each begins where the one before it ends
    std::vector<ir::Expr*> rights;  // as functions of the first range's loop variables
    // How the first and last step change with the row; only those of a single loop do.
    Trend begin = Trend::kConstant, end = Trend::kConstant;
    [[nodiscard]] bool varies() const {
        return begin != Trend::kConstant || end != Trend::kConstant;
    }
};

struct Contraction {
    ir::For* top = nullptr;  // the outermost loop of the nest
    // Bounds of every loop of the contraction, valid before `top` once the row is given.
    struct Bounds {
        ir::Expr* begin = nullptr;
        ir::Expr* end = nullptr;
    };
    std::unordered_map<const ir::For*, Bounds> bounds;
    std::vector<ir::For*> outer;  // outermost first; each contains only the next one
    ir::For* rows = nullptr;
    ir::For* columns = nullptr;
    // The left factors vary with steps alone (x @ A): `rows` is a loop of one iteration that the
    // nest does not contain. Only where right factors lie side by side along the columns and not
    // along the steps.
    bool one_row = false;
    // How the bounds of `columns` change with the row (j <= i).
    Trend first_column = Trend::kConstant, last_column = Trend::kConstant;
    std::vector<ContractionSteps> steps;  // one after the other
    ir::Scalar type{};                    // of the sums and products
    Algebra algebra;                      // the operators that make products and sums
    bool fused = false;                   // the text says that products are fused into additions

    // A sum is a scalar that `before` begins, or an element.
    ir::Var* target = nullptr;
    std::vector<ir::Expr*> indices;  // of the element
    // A sum without products may be an element that does not exist: then the nest contains nothing
    // but the updates of the sums.
    bool may_lack_sums = false;
    // The rows and columns whose sums are added to; null: all. Only without other statements, and
    // where the factors of all rows and columns exist.
    ir::Expr* condition = nullptr;

    // Statements of each row and column, before and after the steps. `behind` reads the sum from
    // the scalar, or from the element. Statements of a row precede or follow all its columns.
    ir::Body before, behind;
    ir::Body again;  // the part of `before` that `behind` reads; runs again before `behind`
    ir::Body before_row, behind_row;

    std::vector<ir::For*> asked;  // loops whose independence the contraction relies on
    // The nest stores the sums over its right factors, each after it has been read: all right
    // factors are copied first. There are no outer loops then, and no statements of rows.
    bool copies_rights = false;
    [[nodiscard]] bool is_triangle() const {
        return first_column != Trend::kConstant || last_column != Trend::kConstant;
    }
};

// A nest that adds up products but is not a contraction, and the reason.
struct NearContraction {
    const ir::For* top = nullptr;
    std::string reason;
};

// The text of explain beside a loop: the tile of its contraction, or the reason against one.
struct ContractionNote {
    const ir::For* loop = nullptr;
    std::string text;
};

struct Contractions {
    std::vector<Contraction> found;
    std::vector<NearContraction> missed;
};

// How independent the iterations of a loop are known to be.
enum class Independence : std::uint8_t {
    kNone,
    kReadsFirst,  // where two conflict, the earlier one reads
    kFull,        // no two conflict, nor reduce into one place
};
struct Judge {
    std::function<Independence(ir::For&)> independence;
    // Whether the loop writes nothing that the statement, which is inside it, reads.
    std::function<bool(const ir::For&, const ir::Stmt&)> reads_apart;
};

// The contractions of the entry function of `module`. A Contraction holds new expressions of the
// module: copies in which scalars that the nest computes from loop variables are replaced.
// `deterministic`: products are already fused into the additions where they may be. `batches`:
// right factors may vary with outer loops.
[[nodiscard]] Contractions find_contractions(ir::Module& module, const Judge& judge,
                                             bool deterministic, bool batches);

}  // namespace parpy
