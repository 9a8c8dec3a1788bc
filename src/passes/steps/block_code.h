// The steps of a group of pieces as code for blocks of GPU threads: a loop whose iterations are
// blocks, around the steps, around loops for the threads, between which the block waits. One block
// runs the pieces inside of the block of steps; where a loop surrounds all steps, blocks of threads
// run strips of it.
//
//     for strip in range(end, n, 16):                          blocks of threads
//         for e in range(16 * 64): tile[e // 64, e % 64] = a[strip + e // 64, first + e % 64]
//         for k in range(first, end):
//             for at in range(16): …                           threads
//             for e in range(16 * 64):                         threads
//                 i = strip + e // 64;  j = first + e % 64
//                 if …: tile[e // 64, e % 64] -= …
//         for e in range(16 * 64): a[strip + e // 64, first + e % 64] = tile[e // 64, e % 64]
//
// Arrays are staged: elements that a block of threads uses in several steps are copied to memory of
// its own, and back if the steps store them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/ir.h"
#include "passes/steps/piece_code.h"
#include "passes/steps/staged_arrays.h"

namespace parpy {

class BlockCode {
public:
    // `loop`: the loop over all steps; `most`: the steps of a block.
    BlockCode(ir::Module& module, const ir::For& loop, const StepBlock& block, std::int64_t most);

    // For each piece, the number of its loops, or of strips, that become one loop of threads: at
    // most two. Fewer if threads cannot run them side by side.
    using Sides = std::vector<std::size_t>;
    [[nodiscard]] static Sides most_sides(const StepGroup& group);

    // False if the pieces have other loops than code for a block of threads can have.
    bool make(const StepGroup& group, const Sides& sides, bool staged);

    ir::For* top = nullptr;
    std::vector<ir::For*> blocks;   // of whose iterations each is run by a block of threads
    std::vector<ir::For*> threads;  // by piece; null: one thread runs it

private:
    // A loop, as offsets from the first value that its variable may have in a block of threads.
    struct Side {
        PieceLoop loop;
        ir::Var* first = nullptr;
        std::int64_t count = 0;
    };
    ir::For* count_steps();
    void drop_unread(ir::For& steps) const;
    ir::Expr* relative(const ir::Expr& bound, ir::Var& first);
    ir::For* flat(const StepPiece& rest, const std::vector<Side>& sides, ir::Substitution renamed);

    ir::Module& module_;
    const ir::For& loop_;
    const StepBlock block_;
    const std::int64_t most_;
    ir::Builder b_;
    bool alone_ = false;       // the group has one piece
    ir::Var* step_ = nullptr;  // the number of the step
    ir::Substitution values_;  // the values of variables, as offsets from those of the block
    StagedRanges ranges_;      // of the variables in the code that is being made
};

}  // namespace parpy
