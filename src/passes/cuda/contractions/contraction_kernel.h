// Writes a contraction (analysis/contractions) as a kernel: a grid over tiles of the sums, whose
// factors are in shared memory.
//
//     gpu grid(tiles) block(256):
//         sums[…] = initial values of the sums                    each thread has its own
//         for step in range(begin - 1 part, end, 1 part):
//             if step >= begin: the part has been copied; barrier
//             copy left[next part] = A[i, k]; right[next part] = B[k, j]
//             if step >= begin: sums[…] += left[this part] * right[this part]
//         the statements that use the sums
//
// Statements of a row run in kernels of their own before and after it, with a thread for each row.
//
// Each sum is added to in the order of the source, each product fused into its addition. Steps
// behind the last one have neutral factors (-0 times 0; for minima the greatest number plus 0),
// which leave every sum unchanged; steps that only some rows of a tile have are checked for each
// row. A tile that extends beyond the last row or column
// computes the surplus sums from arbitrary values and does not store them.
#pragma once

#include <functional>
#include <utility>

#include "mapping/contraction_tile.h"
#include "passes/contractions/contraction_math.h"

namespace parpy {

class ContractionKernel : ContractionMath {
public:
    // `scale`: a constant by which all left factors are multiplied in registers, so that they are
    // copied unchanged; or null.
    ContractionKernel(ir::Module& module, const Contraction& contraction, const KernelTile& tile,
                      const ir::Expr* scale);

    // The host code, with the launches.
    ir::Body run();

private:
    // Consecutive steps, of all rows of the tile.
    struct Segment {
        const ContractionSteps* steps = nullptr;
        ir::Expr* begin = nullptr;  // of its only loop, or 0 of the iterations of several
        ir::Expr* end = nullptr;
        std::int64_t products = 0;  // of a step
        ir::Var* rights = nullptr;  // memory with copies of the right factors
        ir::Expr* first = nullptr;  // its first step
        [[nodiscard]] bool one_loop() const { return steps->ranges.front().loops.size() == 1; }
    };
    // The layout of factors in shared memory. Factors that are contiguous along the steps in memory
    // are contiguous there, too, row by row, and chunks of them are permuted (factor_place).
    struct Layout {
        bool by_rows = false;
        std::int64_t vector = 1;  // elements that a thread copies at a time
        std::int64_t size = 0;    // elements of a stage
        std::int64_t pitch = 0;   // from a row, or step, to the next
    };
    // The distribution of a tile's factors over threads: each has some of the rows and steps.
    struct Spread {
        ir::Expr* row = nullptr;  // its first
        ir::Expr* step = nullptr;
        std::int64_t rows = 1, row_distance = 0;
        std::int64_t steps = 1, step_distance = 0;
        std::int64_t vector = 1;
        bool along_steps = false;  // the vector
        // Whether its vectors are aligned to their size in memory; null: they are.
        ir::Expr* aligned = nullptr;
        bool idle = false;  // some threads have no factor: those with a step beyond the last
    };
    // The place of a factor: a step and a row (or column), and both relative to the tile.
    struct Spot {
        ir::Expr* step = nullptr;
        ir::Expr* row = nullptr;
        ir::Expr* in_part = nullptr;
        ir::Expr* in_tile = nullptr;
    };

    // Private arrays with the factors of four steps that a thread holds for matrix units. The
    // arrays have two of them in turns: one is multiplied while the other one is loaded.
    struct Fragments {
        ir::Var* left = nullptr;
        ir::Var* right = nullptr;
    };

    ir::Expr* plain_thread(ir::Body& out, const char* name);
    void each_row(const ir::Body& statements, ir::Body& out);
    ir::Body kernel();
    void place_outer(ir::Expr* number, ir::Substitution& here, ir::Body& out);
    void locate(ir::Body& out);
    void place_threads(ir::Body& out);
    std::vector<Segment> segments(ir::Expr* first_row, ir::Expr* last_row, ir::Body& out);
    void copy_rights(ir::Body& out);

    // Calls make(row in the tile, column in the tile, row, column, place of the sum) for each sum.
    template <class F>
    ir::Stmt* each_sum(F&& make);
    ir::Expr* inside(ir::Expr* row, ir::Expr* column);
    void begin_sums(ir::Body& out);
    void end_sums(ir::Body& out);

    void add_segment(const Segment& segment, bool first, ir::Body& out);
    void lay_out();
    const Layout& layout(bool left) const { return left ? left_ : right_; }
    Spread spread(const Segment& segment, bool left, ir::Body& out);
    Spread spread(const Segment& segment, bool left, bool vectors, ir::Body& out);
    void fill(const Segment& segment, bool left, const Spread& spread, ir::Expr* ahead, ir::Var* to,
              ir::Body& out);
    void fill_at_once(const Segment& segment, bool left, const Spread& spread, ir::Expr* ahead,
                      ir::Var* condition, ir::Var* to, ir::Body& out);
    void fill_one_by_one(const Segment& segment, bool left, const Spread& spread, ir::Expr* ahead,
                         ir::Var* to, ir::Body& out);
    bool align(const Segment& segment, bool left, Spread& spread, ir::Body& out);
    ir::Body spread_out(const Spread& spread, ir::Expr* ahead, bool left, bool unrolls,
                        const std::function<void(const Spot&, ir::Body&)>& body);
    ir::Body fill_vectors(const Segment& segment, bool left, const Spot& spot, ir::Var* to,
                          const Spread& spread);
    ir::Body fill_behind(const Segment& segment, bool left, const Spot& spot, ir::Var* to,
                         const Spread& spread);
    ir::Body fill_each(const Segment& segment, bool left, const Spot& spot, ir::Var* to,
                       const Spread& spread);
    [[nodiscard]] bool has_whole_vectors(bool left, std::int64_t vector);
    // Whether the segment is a whole number of parts.
    [[nodiscard]] bool whole_parts(const Segment& segment) const;
    ir::Expr* exists(const Segment& segment, bool left, const Spot& spot);
    ir::Body fill_one(const Segment& segment, bool left, const Spot& spot, ir::Var* to);
    ir::Expr* neutral(bool left);
    ir::Body take(const Segment& segment, bool left, std::int64_t product, const Spot& spot,
                  ir::Var* to, std::int64_t vector);
    ir::Stmt* copied(ir::Expr* place, ir::Expr* value, std::int64_t vector);
    // The place of a factor in a stage of shared memory.
    ir::Expr* factor_place(const Segment& segment, ir::Var* stage, bool left, ir::Expr* in_part,
                           std::int64_t product, const ir::Expr* in_tile);
    // The same for the product with this number.
    ir::Expr* product_place(const Segment& segment, ir::Var* stage, bool left,
                            const ir::Expr* number, const ir::Expr* in_tile);
    ir::Expr* placed(ir::Var* stage, bool left, ir::Expr* location, const ir::Expr* in_tile);
    ir::Substitution at_step(const Segment& segment, const ContractionSteps::Range& range,
                             ir::Expr* step);
    ir::Expr* stage(ir::Var* number_of, std::int64_t later);
    ir::Body wait();
    // The code that copies the factors of a later part: what is copied without branches, and the
    // rest.
    struct Copies {
        ir::Body at_once, others;
    };
    // Makes it for the part `stages - 1` behind the one in the variable.
    using CopyAhead = std::function<Copies(ir::Var*)>;
    void multiply_parts(const Segment& segment, const ir::Expr* parts, const CopyAhead& copy_ahead,
                        ir::Body& out);
    void multiply_in_turns(const Segment& segment, const ir::Expr* parts,
                           const CopyAhead& copy_ahead, ir::Body& out);
    ir::Expr* added(ir::Expr* sum, ir::Expr* left, ir::Expr* right);
    ir::Body multiply_numbers(const Segment& segment, ir::Var* at);
    Fragments fragments(std::int64_t turns, ir::Body& out);
    ir::Body load_fragments(const Segment& segment, ir::Var* at, const Fragments& fragments,
                            ir::Expr* k, ir::Expr* turn);
    ir::Body multiply_fragments(const Fragments& fragments, ir::Expr* turn);
    ir::Body multiply_rows(const Fragments& fragments, const ir::Expr* turn, const ir::Expr* m);
    ir::Body multiply_matrices(const Segment& segment, ir::Var* at);
    ir::Body multiply_some(const Segment& segment, ir::Var* at, ir::Expr* step);
    ir::Body add_rows(const Segment& segment, ir::Var* at, ir::Expr* step,
                      const ir::Expr* number_of, const ir::Expr* first, std::int64_t rows);
    ir::Expr* all_rows_add(const Segment& segment, ir::Expr* step);

    // ---- 32-bit numbers within a tile; operands are copied
    ir::Expr* small(std::int64_t value) { return b_.integer(value, ir::Scalar::kI32); }
    ir::Expr* plus(const ir::Expr* a, const ir::Expr* b) { return small_.add(copy(a), copy(b)); }
    ir::Expr* times(const ir::Expr* a, std::int64_t b) {
        return small_.multiply(copy(a), small(b));
    }
    ir::Expr* part(ir::Op op, const ir::Expr* a, std::int64_t b);  // quotient, remainder
    ir::Expr* wide(const ir::Expr* a) { return b_.convert(copy(a), ir::Scalar::kI64); }
    ir::Stmt* unrolled(ir::Var* var, std::int64_t trips, ir::Body body);
    ir::Expr* both(ir::Expr* a, ir::Expr* b);  // either may be null

    [[nodiscard]] std::int64_t group(std::int64_t own) const;
    ir::Expr* row_in_tile(ir::Expr* number);
    ir::Expr* column_in_tile(ir::Expr* number);
    std::vector<ir::Expr*> sum_place(const ir::Expr* row, const ir::Expr* column);
    [[nodiscard]] std::int64_t stage_size() const { return left_.size + right_.size; }
    [[nodiscard]] std::int64_t shared_bytes() const;
    [[nodiscard]] std::int64_t rows_of_thread() const;
    [[nodiscard]] std::int64_t columns_of_thread() const;

    // A factor of a product, read from its place in shared memory.
    ir::Expr* factor_at(const Segment& segment, ir::Var* stage, bool left, const ir::Expr* number,
                        const ir::Expr* in_tile);
    ir::Expr* scaled(ir::Expr* left);

    IndexMath small_;
    const KernelTile& tile_;
    const ir::Scalar type_;
    const ir::Expr* scale_;
    ir::Substitution outer_;        // variables of the outer loops
    ir::Expr* row_ = nullptr;       // the tile's first
    ir::Expr* last_row_ = nullptr;  // its last one that exists
    ir::Expr* column_ = nullptr;
    ir::Expr* thread_ = nullptr;
    ir::Expr* own_row_ = nullptr;  // in the tile, of the thread's first sum
    ir::Expr* own_column_ = nullptr;
    ir::Var* factors_ = nullptr;  // by stages; in each of them those of the rows come first
    Layout left_, right_;
    ir::Var* sums_ = nullptr;
    std::vector<std::pair<ir::Var*, ir::Expr*>>
        copies_;  // of right factors, by segment; first step
};

}  // namespace parpy
