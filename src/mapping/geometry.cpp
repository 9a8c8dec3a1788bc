// See geometry.h.
#include "mapping/geometry.h"

#include <algorithm>

#include "ir/visit.h"

namespace parpy {

using namespace ir;

void map_to_threads(LoopMapping& mapping, std::int64_t threads, std::int64_t tpb) {
    const std::int64_t rounded = (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
    mapping.level = Level::kThreads;
    mapping.threads_per_block = std::min(rounded, tpb);
    mapping.blocks = (rounded + mapping.threads_per_block - 1) / mapping.threads_per_block;
    mapping.threads = mapping.blocks * mapping.threads_per_block;
}

bool spreads(const For& loop) {
    const LoopMapping& mapping = loop.mapping;
    return (mapping.level == Level::kBlocks && mapping.threads > 1) ||
           (mapping.level == Level::kThreads && mapping.blocks > 1);
}

bool contains_spreading(const Stmt& stmt) {
    bool found = false;
    for_each_stmt(stmt, [&](const Stmt& inner) {
        const auto* loop = inner.as<For>();
        found = found || (loop != nullptr && spreads(*loop));
    });
    return found;
}

bool contains_spreading(const Body& body) {
    return std::any_of(body.begin(), body.end(),
                       [](const Stmt* stmt) { return contains_spreading(*stmt); });
}

void confine(For& loop) {
    LoopMapping& mapping = loop.mapping;
    if (mapping.level == Level::kBlocks) {
        mapping = LoopMapping{};
    } else if (mapping.level == Level::kThreads) {
        mapping.blocks = 1;
        mapping.threads = mapping.threads_per_block;
    }
    confine(loop.body);
}

void confine(Body& body) {
    for (Stmt* stmt : body) {
        if (auto* loop = stmt->as<For>()) {
            confine(*loop);
        } else {
            for_each_body(*stmt, [](Body& inner) { confine(inner); });
        }
    }
}

std::int64_t KernelShape::blocks() const {
    std::int64_t product = 1;
    for (const GridLevel& level : levels)
        product *= level.size;
    return product;
}

int KernelShape::level_of(const For* loop) const {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (levels[i].loop == loop) return static_cast<int>(i);
    }
    return -1;
}

bool KernelShape::flat() const {
    if (levels.size() > 3) return true;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        if (levels[i].size > kMaxGridYZ) return true;
    }
    return false;
}

std::array<std::int64_t, 3> KernelShape::grid() const {
    std::array<std::int64_t, 3> sizes = {1, 1, 1};
    if (flat()) {
        sizes[0] = blocks();
        return sizes;
    }
    for (std::size_t i = 0; i < levels.size(); ++i)
        sizes[levels.size() - 1 - i] = levels[i].size;
    return sizes;
}

Expr* KernelShape::index(Builder& builder, std::size_t level) const {
    constexpr std::array kRegisters = {Register::kBlockX, Register::kBlockY, Register::kBlockZ};
    if (!flat()) return builder.reg(kRegisters[levels.size() - 1 - level]);
    // Unsigned: division then needs no care for negative operands.
    Expr* index = builder.convert(builder.reg(Register::kBlockX), Scalar::kU32);
    std::int64_t inner = 1;
    for (std::size_t i = level + 1; i < levels.size(); ++i)
        inner *= levels[i].size;
    if (inner > 1) {
        index = builder.binary(Op::kFloorDiv, index, builder.integer(inner, Scalar::kU32));
    }
    if (level > 0) {
        index = builder.binary(Op::kMod, index, builder.integer(levels[level].size, Scalar::kU32));
    }
    return builder.convert(index, Scalar::kI32);
}

KernelShape shape_of(Body& body) {
    KernelShape shape;
    for_each_stmt(body, [&](Stmt& stmt) {
        auto* loop = stmt.as<For>();
        if (loop == nullptr) return;
        const LoopMapping& mapping = loop->mapping;
        if (mapping.level == Level::kThreads) {
            shape.block = std::max(shape.block, mapping.threads_per_block);
        }
        if (spreads(*loop)) {
            shape.levels.push_back(
                {loop, mapping.level == Level::kThreads ? mapping.blocks : mapping.threads});
        }
    });
    return shape;
}

}  // namespace parpy
