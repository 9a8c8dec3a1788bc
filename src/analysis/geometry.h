// The layout of a kernel's loops on the grid. Loops that spread over several blocks are nested in a
// chain (split_kernels makes sure of it); each is one level of the grid, the innermost level in x.
// All other loops run within a block. The sizes are the thread counts that the user gave, so they
// are constants, independent of trip counts: each index runs every size-th iteration.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "parpy/mapping.h"

namespace parpy {

inline constexpr std::int64_t kWarpSize = 32;
inline constexpr std::int64_t kMaxThreadsPerBlock = 1024;
// The multiprocessors of an H100 or H200, and the limits of one of them.
inline constexpr std::int64_t kMultiprocessors = 132;
inline constexpr std::int64_t kResidentThreads = 2048, kResidentBlocks = 32;
inline constexpr std::int64_t kMaxGridX = 2147483647;
inline constexpr std::int64_t kMaxGridYZ = 65535;

// Names of the loops of a function in a mapping, besides their labels: "i@7", the variable and the
// line; the second such loop in the order of the text is "i@7#2".
[[nodiscard]] std::unordered_map<const ir::For*, std::string> place_names(const ir::Function& of);
// The key of each loop in a mapping: a label that no other statement carries, else its place.
[[nodiscard]] std::unordered_map<const ir::For*, std::string> mapping_keys(const ir::Function& of);
// Whether the mapping names one of these loops of the function, by a label or by its place.
[[nodiscard]] bool are_mapped(const std::vector<ir::For*>& loops, const ir::Function& of,
                              const Mapping& mapping);
[[nodiscard]] std::optional<std::uint32_t> line_of_place(std::string_view name);
// The place of a loop without the number; and of a name that a mapping uses, if it is a place.
[[nodiscard]] std::string place_of(const ir::For& loop);
[[nodiscard]] std::optional<std::string> place_named(std::string_view name);

// Makes `mapping` a level of `threads` threads, rounded up to warps, in blocks of at most `tpb`
// threads (of one warp at least).
void map_to_threads(ir::LoopMapping& mapping, std::int64_t threads, std::int64_t tpb);

// Whether several threads of a block make this call of a foreign function, with the same arguments.
[[nodiscard]] bool is_spread(const ir::Expr& expr);
[[nodiscard]] bool contains_spread_call(const ir::Stmt& stmt);
[[nodiscard]] bool contains_spread_call(const ir::Body& body);

// True if the iterations of `loop` run in more than one block.
[[nodiscard]] bool spreads(const ir::For& loop);
[[nodiscard]] bool contains_spreading(const ir::Stmt& stmt);
[[nodiscard]] bool contains_spreading(const ir::Body& body);

// True if `var`, or an element of it, is a target that `loop` reduces into.
[[nodiscard]] bool reduces(const ir::For& loop, const ir::Var* var);

// Confines a loop and its body to one block: blocks become sequential, threads one block's.
void confine(ir::For& loop);
void confine(ir::Body& body);

struct GridLevel {
    ir::For* loop = nullptr;
    std::int64_t size = 1;  // blocks
};

struct KernelShape {
    std::vector<GridLevel> levels;  // outermost first; empty: one block
    std::int64_t block = 1;         // threads per block; 1: no loop or call runs on threads

    [[nodiscard]] std::int64_t blocks() const;
    // The index of `loop` among the levels, or -1.
    [[nodiscard]] int level_of(const ir::For* loop) const;
    // x, y, z of the grid. More levels than the grid has dimensions, or outer levels too large for
    // y and z, are flattened into x.
    [[nodiscard]] std::array<std::int64_t, 3> grid() const;
    // The same for the blocks that differ only in `level` and the levels inside.
    [[nodiscard]] std::array<std::int64_t, 3> group(std::size_t level) const;
    // This block's index in a level: 0 … size - 1, an i32.
    [[nodiscard]] ir::Expr* index(ir::Builder& builder, std::size_t level) const;

private:
    [[nodiscard]] bool flat() const;
};

// Iterations of a range loop: as a number if its bounds are constants, and as a new expression of
// the loop's own type.
[[nodiscard]] std::optional<std::int64_t> constant_trip_count(const ir::For& loop);
[[nodiscard]] std::optional<std::int64_t> constant_trip_count(std::int64_t begin, std::int64_t end,
                                                              std::int64_t step);
[[nodiscard]] ir::Expr* trip_count(ir::Builder& builder, const ir::For& loop);
// Whether the loop has iterations, as a new expression; null if constants prove that it has.
[[nodiscard]] ir::Expr* has_iterations(ir::Builder& builder, const ir::For& loop);
// The number, from 0, of the current iteration: an expression for use inside the loop.
[[nodiscard]] ir::Expr* iteration_number(ir::Builder& builder, const ir::For& loop);

// Threads of a block in one dimension, and in all; nothing where they are known at run time only.
[[nodiscard]] std::optional<std::int64_t> block_extent(const ir::Launch& launch, int dimension);
[[nodiscard]] std::optional<std::int64_t> block_size(const ir::Launch& launch);

// The shape of a kernel from its body (chain of spreading loops, profile kKernels, CUDA).
[[nodiscard]] KernelShape shape_of(ir::Body& body);

}  // namespace parpy
