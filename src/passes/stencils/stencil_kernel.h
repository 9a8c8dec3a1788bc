// Writes several steps of a stencil (analysis/stencils) as one kernel, and its launches, which
// precede the loop over time; the loop keeps the last step.
//
//     before  for t in range(1, n): …
//     after   state = A                                      two copies, with margins
//             for launch in range(…):
//                 gpu grid(tiles) block(…):
//                     own[…] = state[launch % 2, tile and margins]
//                     for step in range(steps): the sweeps of a step, in the threads' own arrays
//                     state[1 - launch % 2, tile] = own[…]
//             A = state
//             for t in range(n - 1, n): …
//
// Every thread holds elements of all arrays that the steps change. Neighbours in a row come by
// shuffles, those of other warps through shared memory. Several blocks compute the elements in the
// margins, each time from the same operands by the same operations: results are those of the plain
// loops bit for bit. With each step the part of the margins that has wrong values becomes wider;
// the stored elements are outside of it. Elements that no sweep writes keep their value in memory.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/integers/index_math.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "passes/stencils/stencil_tile.h"

namespace parpy {

class StencilKernel {
public:
    StencilKernel(ir::Module& module, const Stencil& stencil, const StencilTile& tile);

    // The host code before the time loop, whose begin it increases.
    ir::Body run();

private:
    // The elements of an array that a sweep reads beside those that a thread holds.
    struct Window {
        ir::Var* array = nullptr;
        ir::Var* elements = nullptr;  // of the thread: its own and those around
        std::int64_t up = 0, down = 0, left = 0, right = 0;
        // The rows that are read at other columns, from the first to the last, relative to an own
        // row.
        std::int64_t first_row = 0, last_row = -1;
    };
    struct Range {
        ir::Expr* begin = nullptr;
        ir::Expr* end = nullptr;
    };
    // The places that a sweep writes, and their share of the current tile.
    struct Region {
        std::vector<Range> ranges;   // by axis
        ir::Expr* covers = nullptr;  // whether it has all elements of the tile
        ir::Expr* meets = nullptr;   // whether it has some; null: not needed
        ir::Expr* rows = nullptr;    // of the thread, a bit each; null: it has only one
        ir::Expr* columns = nullptr;
    };

    // ---- host
    Range region(const StencilSweep& sweep, std::size_t axis);
    void measure(ir::Body& out);
    ir::Var* make_state(const StencilArray& array, ir::Body& out);
    ir::Body each_element(bool in);
    ir::Dim dimension(ir::Body& out, const char* name, ir::Expr* value);

    // ---- kernel
    ir::Body kernel();
    ir::Body tile_body(ir::Expr* number);
    // The first element of a tile in the state, by axis.
    std::vector<ir::Expr*> corner(ir::Expr* number, ir::Body& out);
    ir::Expr* of_thread(std::size_t axis);  // its first element, in the tile
    void prefetch(ir::Expr* number, ir::Body& out);
    void take(ir::Body& out);
    void load(ir::Body& out);
    ir::Body step();
    void sweep(const StencilSweep& sweep, ir::Body& out);
    std::vector<Window> windows(const StencilSweep& sweep);
    void exchange(const std::vector<Window>& windows, ir::Body& out);
    ir::Body shuffle(const Window& window, ir::Expr* row);
    ir::Body cell(const StencilSweep& sweep, const std::vector<Window>& windows, ir::Var* r,
                  ir::Var* c);
    void restore(const StencilSweep& sweep, ir::Body& out);
    void store(ir::Body& out);
    [[nodiscard]] bool restores(const StencilSweep& sweep) const;
    // The place of an own element in the arrays, and in one half of the states.
    std::vector<ir::Expr*> places(ir::Var* r, ir::Var* c);
    std::vector<ir::Expr*> state_places(ir::Expr* half, ir::Var* r, ir::Var* c);
    Region& region_of(const StencilSweep& sweep);
    void mark_regions(const std::vector<ir::Expr*>& first, ir::Body& out);
    ir::Expr* mark(const char* name, ir::Expr* place, std::int64_t elements, const Range& range,
                   ir::Body& out);
    ir::Expr* marked(ir::Expr* marks, ir::Var* which);
    ir::Expr* is_written(const StencilSweep& sweep, ir::Var* r, ir::Var* c);
    Range loaded(const ir::Var& array, std::size_t axis);
    ir::Expr* in_extents(const ir::Var& array, const std::vector<ir::Expr*>& places);
    ir::Expr* element(ir::Var* array, const std::vector<ir::Expr*>& places);

    // ---- numbers; operands are copied
    ir::Expr* copy(const ir::Expr* e) { return ir::clone(b_.module(), e); }
    ir::Expr* number(std::int64_t value) { return b_.integer(value); }
    ir::Expr* add(const ir::Expr* a, const ir::Expr* b) { return math_.add(copy(a), copy(b)); }
    ir::Expr* add(const ir::Expr* a, std::int64_t b) { return math_.add(copy(a), number(b)); }
    ir::Expr* sub(const ir::Expr* a, const ir::Expr* b) { return math_.subtract(copy(a), copy(b)); }
    ir::Expr* mul(const ir::Expr* a, std::int64_t b);
    ir::Expr* mul(const ir::Expr* a, const ir::Expr* b) { return math_.multiply(copy(a), copy(b)); }
    ir::Expr* quotient(const ir::Expr* a, std::int64_t b);
    ir::Expr* remainder(const ir::Expr* a, std::int64_t b);
    ir::Expr* less(const ir::Expr* a, const ir::Expr* b) {
        return b_.binary(ir::Op::kLt, copy(a), copy(b));
    }
    ir::Expr* at_most(const ir::Expr* a, const ir::Expr* b) {
        return b_.binary(ir::Op::kLe, copy(a), copy(b));
    }
    ir::Expr* both(ir::Expr* a, ir::Expr* b);  // either may be null
    ir::Expr* wide(ir::Expr* a) { return b_.convert(a, ir::Scalar::kI64); }
    ir::Expr* small(std::int64_t value) { return b_.integer(value, ir::Scalar::kI32); }
    ir::Expr* plus(ir::Expr* a, std::int64_t b) { return small_.add(a, small(b)); }
    ir::Expr* plus(ir::Expr* a, ir::Expr* b) { return small_.add(a, b); }
    ir::Expr* times(ir::Expr* a, std::int64_t b) { return small_.multiply(a, small(b)); }
    ir::Stmt* unrolled(ir::Var* var, std::int64_t begin, std::int64_t end, ir::Body body);
    // Calls make(r, c) for each own element.
    template <class F>
    ir::Stmt* each_own(F&& make);
    ir::Var* counter(const char* name) { return b_.scalar(name, ir::Scalar::kI32); }

    ir::Builder b_;
    IndexMath math_, small_;
    const Stencil& stencil_;
    const StencilTile tile_;
    const ir::Scalar type_;
    const bool plane_;  // two dimensions
    const std::int64_t threads_;
    const std::int64_t vector_;  // elements that are copied at a time

    // ---- host
    std::vector<ir::Expr*> first_, end_;  // by axis: places that some sweep writes
    std::vector<ir::Expr*> tiles_;
    ir::Expr* rows_ = nullptr;  // of the state
    ir::Expr* columns_ = nullptr;
    std::unordered_map<const ir::Var*, ir::Var*> states_;  // by array that is carried
    ir::Var* from_ = nullptr;   // half of the states that the launch reads
    ir::Var* steps_ = nullptr;  // of the launch
    ir::Var* past_ = nullptr;   // steps before the launch

    // ---- kernel
    ir::Var* staged_ = nullptr;
    ir::Var* turn_ = nullptr;  // of edges with room for two exchanges
    std::unordered_map<const ir::Var*, ir::Var*> own_;
    ir::Expr* thread_ = nullptr;
    ir::Expr* lane_ = nullptr;
    ir::Expr* warp_ = nullptr;
    std::vector<ir::Expr*> at_;     // of the thread's first element: in the state, by axis
    std::vector<ir::Expr*> place_;  // ... in the arrays
    std::vector<Region> regions_;   // each once
    ir::Expr* time_ = nullptr;
    ir::Substitution step_vars_;        // scalars of a step
    std::vector<ir::Stmt*> allocated_;  // shared memory of the exchanges
};

}  // namespace parpy
