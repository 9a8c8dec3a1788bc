// Contractions: nests whose iterations add products of two factors to sums, one factor the same
// along the rows and the other along the columns of what is added to, so that tiles of sums may be
// computed from parts of the factors that stay close. Matrix products, whatever their spelling,
// convolutions and batches of either are contractions. Found by dependences and by which variables
// a factor varies with, never by names.
//
//     for i …: for j …: t = 0; for k …: t += A[i, k] * B[k, j];  C[i, j] = f(t)
//     for i …: for k …: for j …: C[i, j] += alpha * A[i, k] * B[j, k]
//     for n …: for h …: for w …: for c …: for y …: for x …: y[n, h, w, c] += x[…] * w[y, x, c]
//
// The loops are of four kinds: `rows` (left factor and sums), `columns` (right factor and sums),
// `steps` (both factors), and `outer` ones around, with which the right factor varies where a
// lowering takes batches. Nothing is said of how fast a lowering is, or whether it is worth while.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

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
    std::vector<ir::Expr*> rights;  // by the variables of the first range's loops
    // How the first and last step change with the row; they do of a single loop alone.
    Trend begin = Trend::kConstant, end = Trend::kConstant;
    [[nodiscard]] bool varies() const {
        return begin != Trend::kConstant || end != Trend::kConstant;
    }
};

struct Contraction {
    ir::For* top = nullptr;  // the statement that all of this is made of
    // Of all loops here, as they may be evaluated in front of `top`, given the row.
    struct Bounds {
        ir::Expr* begin = nullptr;
        ir::Expr* end = nullptr;
    };
    std::unordered_map<const ir::For*, Bounds> bounds;
    std::vector<ir::For*> outer;  // the outermost first; none has statements but the next one
    ir::For* rows = nullptr;
    ir::For* columns = nullptr;
    // The left factors vary with steps alone (x @ A): `rows` is a loop of one iteration that the
    // nest has not. Only where right factors lie side by side along the columns and not along the
    // steps.
    bool one_row = false;
    // How the bounds of `columns` change with the row (j <= i).
    Trend first_column = Trend::kConstant, last_column = Trend::kConstant;
    std::vector<ContractionSteps> steps;  // one after the other
    ir::Scalar type{};                    // of sums and products
    bool fused = false;                   // the text says that products are fused into additions

    // A sum is a scalar that `before` begins, or an element.
    ir::Var* target = nullptr;
    std::vector<ir::Expr*> indices;  // of the element
    // A sum that nothing is added to may be an element that does not exist: nothing else stands in
    // the nest then.
    bool may_lack_sums = false;

    // Statements of each row and column, in front of and behind the steps. `behind` finds the sum
    // in the scalar, or in the element. Those of a row stand in front of, or behind, all columns.
    ir::Body before, behind;
    ir::Body again;  // run in front of `behind`: what it reads of `before`
    ir::Body before_row, behind_row;

    std::vector<ir::For*> asked;  // loops whose independence this rests on
    // Right factors are read from what the sums are stored to, each before it is: a copy of all of
    // them comes first. There are no outer loops then, and no statements of rows.
    bool copies_rights = false;
    [[nodiscard]] bool is_triangle() const {
        return first_column != Trend::kConstant || last_column != Trend::kConstant;
    }
};

// A nest that adds up products and is no contraction, and why.
struct NearContraction {
    const ir::For* top = nullptr;
    std::string reason;
};

// What explain says beside a loop: that it is a contraction and its tile, or what it lacks.
struct ContractionNote {
    const ir::For* loop = nullptr;
    std::string text;
};

struct Contractions {
    std::vector<Contraction> found;
    std::vector<NearContraction> missed;
};

// What is known of the iterations of a loop.
enum class Independence : std::uint8_t {
    kNone,
    kReadsFirst,  // where two conflict, the earlier one reads
    kFull,        // no two conflict, nor reduce into one place
};
struct Judge {
    std::function<Independence(ir::For&)> independence;
    // Nothing that the statement reads, which stands in the loop, does the loop write.
    std::function<bool(const ir::For&, const ir::Stmt&)> reads_apart;
};

// Those of the entry function of `module`, in which new expressions are made: what a Contraction
// holds are copies, in which scalars that the nest computes from loop variables are replaced.
// `deterministic`: products are fused into the additions already, where they may be. `batches`:
// right factors may vary with outer loops.
[[nodiscard]] Contractions find_contractions(ir::Module& module, const Judge& judge,
                                             bool deterministic, bool batches);

}  // namespace parpy
