// Writes a contraction (analysis/contractions) as loops over tiles, by a ContractionPlan.
//
//     for strip …: [workers]             right[…] = right factors of a strip of columns, step by
//     step for block …: [workers]             a block of rows and columns:
//         left[…] = left factors of its rows, a tile's rows side by side
//         for strip …: for tile …:       sums[…] = initial values of the sums
//                                        tile(…, sums, left, right)
//                                        the statements that use the sums
//
// Where there are many steps, the sums of a block are kept in memory between blocks of steps, so
// that each sum is added to in the order of the source. A tile that extends beyond the last row or
// column computes the surplus sums from arbitrary values and does not store them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "passes/contractions/contraction_math.h"
#include "passes/cpu/contraction_plan.h"

namespace parpy {

// Where the code runs.
struct ContractionPlace {
    bool parallel = false;  // on workers; its outermost loop is the one that they share
    std::int64_t threads = 0;
    bool on_host = true;  // else memory belongs to the worker
};

class ContractionCode : ContractionMath {
public:
    ContractionCode(ir::Module& module, const Contraction& contraction, const ContractionPlan& plan,
                    const ContractionPlace& place);

    ir::Body run();

private:
    using Exprs = std::vector<ir::Expr*>;

    // Consecutive steps (ContractionSteps), and the place of their products.
    struct Segment {
        const ContractionSteps* steps = nullptr;
        std::size_t number = 0;
        std::size_t cut = 0;          // the loop that is cut into blocks
        std::int64_t iterations = 0;  // of a block
        std::int64_t products = 0;    // of an iteration of all loops
        ir::Expr* begin = nullptr;    // of the first loop, of all rows
        ir::Expr* end = nullptr;
        Exprs trips;                 // of each loop
        ir::Expr* inside = nullptr;  // products of an iteration of the loop that is cut
        ir::Expr* all = nullptr;     // products
        ir::Expr* first = nullptr;   // products of the segments before
    };
    // A part of a segment's steps: iterations of the loop that is cut, for given values of the
    // loops around.
    struct Part {
        const Segment* segment = nullptr;
        std::vector<ir::Var*> around;  // variables of the loops around
        ir::Expr* begin = nullptr;
        ir::Expr* end = nullptr;
        ir::Expr* left_first = nullptr;  // its first product in `left`, and in `right`
        ir::Expr* right_first = nullptr;
    };
    // A tile: its rows and columns, and where its sums and factors are.
    struct Tile {
        ir::Expr* number = nullptr;      // of its rows in the block
        ir::Expr* strip = nullptr;       // of its columns, by its place in `right_`
        ir::Expr* row = nullptr;         // the first one
        ir::Expr* own_row = nullptr;     // the first that no other tile has
        ir::Expr* end_row = nullptr;     // of the block
        ir::Expr* column = nullptr;      // the first one
        ir::Expr* own_column = nullptr;  // the first that no other tile has
        ir::Expr* sums = nullptr;        // its first
        bool partial = false;            // known to have surplus rows or columns
        bool in_result = false;          // its sums are elements of the plan's result
    };

    // Whether right factors are laid out before the blocks run.
    [[nodiscard]] bool rights_first() const {
        return plan_.direct_rights.empty() && !plan_.rights_of_block;
    }

    // ---- contraction_code.cpp
    void measure_steps(ir::Body& out);
    ir::Expr* any_products();
    void all_rows(const ir::Body& statements, ir::Body& out);
    void all_lefts(ir::Body& out);
    ir::Body panel(ir::Expr* first, ir::Expr* end);
    ir::Body block(ir::Expr* number, ir::Expr* blocks_of_rows, ir::Expr* strips);
    void compute(ir::Body& out, ir::Expr* first_row, ir::Expr* end_row, ir::Expr* first_strip,
                 ir::Expr* end_strip);
    void clip_strips(ir::Body& out, ir::Expr* first_row, ir::Expr* end_row, ir::Expr*& first_strip,
                     ir::Expr*& end_strip);
    // Calls body(tile, out) for all tiles of a block.
    ir::Stmt* tiles(ir::Expr* first_row, ir::Expr* end_row, ir::Expr* first_strip,
                    ir::Expr* end_strip, const std::function<void(const Tile&, ir::Body&)>& body);
    ir::Stmt* row_tiles(
        ir::Expr* first_row, ir::Expr* end_row,
        const std::function<void(ir::Expr* tile, ir::Expr* row, ir::Body& out)>& body);
    // Calls body(part, out) for the blocks that the steps of a segment are cut into.
    void parts(const Segment& segment, ir::Expr* first_row, ir::Expr* end_row, ir::Body& out,
               const std::function<void(const Part&, ir::Body&)>& body);
    Part whole(const Segment& segment);
    ir::Expr* cost(double nanoseconds, const Exprs& times, const Exprs& by);

    // ---- contraction_packing.cpp
    ir::Stmt* pack_right(const std::vector<Part>& parts, ir::Expr* strip, ir::Expr* number);
    void store_parts(ir::Var* array, ir::Expr* at, std::int64_t apart, ir::Expr* value,
                     ir::Body& out);
    ir::Body pack_right(const Part& part, ir::Expr* strip, ir::Expr* number, bool full);
    ir::Expr* right_strip(const ir::Expr* number) { return mul(number, right_products_); }
    void pack_left(const Part& part, ir::Expr* tile, ir::Expr* first_row, ir::Expr* end_row,
                   ir::Body& out);
    ir::Expr* product_number(const Part& part, const std::vector<ir::Var*>& variables);

    // ---- contraction_tiles.cpp
    void begin_sums(const Tile& tile, ir::Body& out);
    void add_products(const Tile& tile, const Part& part, ir::Body& out);
    void add_varying(const Tile& tile, const Part& part, ir::Body& out);
    void end_sums(const Tile& tile, ir::Body& out);
    ir::Stmt* tile_call(std::int64_t rows, const Tile& tile, const Part& part, ir::Expr* row,
                        ir::Expr* step, ir::Expr* count);
    // The places of the factors of a step of a part, and of a sum.
    ir::Expr* left_place(const Tile& tile, const Part& part, ir::Expr* row, ir::Expr* step);
    ir::Expr* right_place(const Tile& tile, const Part& part, ir::Expr* step);
    ir::Expr* factor_in_place(const ir::Expr& factor, const ir::For& along, ir::Expr* at,
                              const Part& part, ir::Expr* step);
    ir::Expr* sum_place(const Tile& tile, ir::Expr* row);
    ir::Expr* whole_tile(const Tile& tile);
    [[nodiscard]] bool sums_in_place() const;
    void compute_tile(const Tile& tile, ir::Body& out);
    void add_runs(const Tile& tile, const Segment& segment, ir::Body& out);
    // Calls make(row, column, sum) for the elements of a tile that the contraction has.
    void elements(const Tile& tile, ir::Body& out,
                  const std::function<ir::Body(ir::Var*, ir::Var*, ir::Expr*)>& make);

    // ---- bounds
    const ir::Expr* first_step(const Segment& s) const;
    const ir::Expr* end_step(const Segment& s) const;

    ir::For* loop(ir::Var* var, const ir::Expr* begin, const ir::Expr* end, ir::Body body,
                  ir::Level level = ir::Level::kSequential);
    void on_workers(ir::For& loop) const;
    ir::Substitution with(std::initializer_list<std::pair<const ir::Var*, ir::Var*>> vars) const;

    const ContractionPlan& plan_;
    const ContractionPlace place_;
    const ir::Scalar type_;

    ir::Substitution outer_;  // variables of the outer loops, in the code of a block
    std::vector<Segment> segments_;
    ir::Expr* products_ = nullptr;     // of all segments
    ir::Expr* panel_first_ = nullptr;  // columns of the panel
    ir::Expr* panel_end_ = nullptr;
    ir::Var* right_ = nullptr;
    ir::Var* left_ = nullptr;
    ir::Var* sums_ = nullptr;
    ir::Expr* left_first_row_ = nullptr;  // the first row in `left_`, which has tiles from there on
    ir::Expr* left_products_ = nullptr;   // of a row in `left_`
    ir::Expr* right_products_ = nullptr;  // of a column in `right_`
};

}  // namespace parpy
