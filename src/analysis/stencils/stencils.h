// Loops over time whose steps sweep over the same arrays: each iteration runs nests, one after the
// other, that compute every element they write from elements at fixed distances from it.
//
//     for t in range(1, n):
//         for i in range(1, m - 1): B[i] = f(A[i - 1], A[i], A[i + 1])
//         for i in range(1, m - 1): A[i] = f(B[i - 1], B[i], B[i + 1])
//
// Several steps may then be computed one after the other on a part of the arrays, from a part that
// is somewhat larger, or in any order that keeps these distances. Subscripts alone decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/nests.h"
#include "ir/ir.h"

namespace parpy {

// A load of an array that the time loop changes; `offsets` is its distance, along each axis, from
// the element that is written.
struct StencilLoad {
    const ir::Expr* load = nullptr;
    std::vector<std::int64_t> offsets;
    [[nodiscard]] bool is_own() const;  // the element that is written
};

// A nest. Every iteration writes the elements at one place of its arrays, which no other iteration
// of the nest writes, and reads none that another iteration writes.
struct StencilSweep {
    // The subscript of the element: variable + shift of a loop, or a constant.
    struct Axis {
        ir::For* loop = nullptr;
        std::int64_t shift = 0;  // without a loop: the constant
        // The range of the loop's variable, where conditions restrict it.
        std::optional<std::int64_t> begin, end;
    };
    const ir::For* top = nullptr;    // the time loop's statement that contains the nest
    Nest loops;                      // around the body, the outermost first
    std::vector<Axis> axes;          // by axis of the arrays
    const ir::Body* body = nullptr;  // of the innermost loop: assignments, stores
    std::vector<ir::Var*> stored;
    std::vector<StencilLoad> loads;
    bool loads_others = false;  // loads arrays that the time loop does not change
    // How far the loads reach below and above, by axis; neither is negative.
    std::vector<std::int64_t> below, above;
    // Whether it writes few elements along some axis.
    [[nodiscard]] bool is_line() const;
};

struct StencilArray {
    ir::Var* array = nullptr;
    int sweeps = 0;  // that write the array
    // Some step reads an element that an earlier one wrote. If false, every step reads elements
    // that it wrote itself, or that no step writes.
    bool carried = false;
};

struct Stencil {
    ir::For* time = nullptr;
    std::size_t rank = 0;
    // A sweep, or an assignment before one, to a scalar that only this step uses.
    struct Item {
        const ir::Assign* assign = nullptr;
        int sweep = -1;
    };
    std::vector<Item> items;  // of a step, in order
    std::vector<StencilSweep> sweeps;
    std::vector<StencilArray> arrays;        // the arrays that the loop changes
    std::vector<std::int64_t> below, above;  // how far a whole step reaches, by axis

    [[nodiscard]] const StencilArray& of(const ir::Var* array) const;
    [[nodiscard]] bool changes(const ir::Var* array) const;
};

// A loop that repeats nests but is no stencil loop, and the reason.
struct NearStencil {
    const ir::For* time = nullptr;
    std::string reason;
};

struct Stencils {
    std::vector<Stencil> found;
    std::vector<NearStencil> missed;
};

// Requires the entry, in any profile from kLoops to kMapped; loops in Gpu blocks and in parallel
// loops are ignored.
[[nodiscard]] Stencils find_stencils(ir::Function& entry);

}  // namespace parpy
