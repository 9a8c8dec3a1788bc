// See geometry.h.
#include "analysis/geometry.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "analysis/pragmas.h"
#include "ir/clone.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

std::string place_of(const For& loop) {
    return loop.var->shown() + "@" + std::to_string(loop.span.line);
}

std::optional<std::string> place_named(std::string_view name) {
    if (!line_of_place(name)) return std::nullopt;
    return std::string(name.substr(0, name.rfind('#')));
}

std::unordered_map<const For*, std::string> place_names(const Function& of) {
    std::unordered_map<const For*, std::string> names;
    std::unordered_map<std::string, int> count;
    for_each_stmt(of.body, [&](const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        if (loop == nullptr) return;
        std::string name = place_of(*loop);
        const int number = ++count[name];
        names[loop] = number == 1 ? name : name + "#" + std::to_string(number);
    });
    return names;
}

std::unordered_map<const For*, std::string> mapping_keys(const Function& of) {
    std::unordered_map<std::string, int> carriers;  // how many statements carry each label
    for_each_stmt(of.body, [&](const Stmt& stmt) {
        for (const std::string& label : stmt.labels)
            ++carriers[label];
    });
    std::unordered_map<const For*, std::string> keys = place_names(of);
    for (auto& [loop, key] : keys) {
        for (const std::string& label : loop->labels) {
            if (is_pragma(label)) continue;
            if (carriers.at(label) != 1) continue;
            key = label;
            break;
        }
    }
    return keys;
}

bool are_mapped(const std::vector<For*>& loops, const Function& of, const Mapping& mapping) {
    if (mapping.empty()) return false;
    const auto keys = mapping_keys(of);
    return std::ranges::any_of(loops, [&](const For* loop) {
        return mapping.contains(keys.at(loop)) ||
               std::ranges::any_of(
                   loop->labels, [&](const std::string& label) { return mapping.contains(label); });
    });
}

std::optional<std::uint32_t> line_of_place(std::string_view name) {
    const std::size_t at = name.rfind('@');
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = name.substr(at + 1);
    const auto number = [&]() -> std::optional<std::uint32_t> {
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc()) return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return value;
    };
    const auto line = number();
    if (line && rest.starts_with('#')) {
        rest.remove_prefix(1);
        if (!number()) return std::nullopt;
    }
    return rest.empty() ? line : std::nullopt;
}

namespace {

std::int64_t whole_warps(std::int64_t threads) {
    return (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
}

}  // namespace

void map_to_threads(LoopMapping& mapping, std::int64_t threads, std::int64_t tpb) {
    const std::int64_t rounded = whole_warps(threads);
    const std::int64_t block = std::max(kWarpSize, tpb / kWarpSize * kWarpSize);
    mapping.level = Level::kThreads;
    mapping.threads_per_block = std::min(rounded, block);
    mapping.blocks = (rounded + mapping.threads_per_block - 1) / mapping.threads_per_block;
    mapping.threads = mapping.blocks * mapping.threads_per_block;
}

bool is_spread(const Expr& expr) {
    return expr.op == Op::kCall && expr.callee->threads > 1;
}

bool contains_spread_call(const Stmt& stmt) {
    return any_expr(stmt, is_spread);
}

bool contains_spread_call(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) { return contains_spread_call(*stmt); });
}

bool spreads(const For& loop) {
    const LoopMapping& mapping = loop.mapping;
    return (mapping.level == Level::kBlocks && mapping.threads > 1) ||
           (mapping.level == Level::kThreads && mapping.blocks > 1);
}

bool reduces(const For& loop, const Var* var) {
    return std::ranges::any_of(loop.mapping.reductions,
                               [&](const Reduction& r) { return r.var == var; });
}

bool contains_spreading(const Stmt& stmt) {
    return any_stmt(stmt, [](const Stmt& inner) {
        const auto* loop = inner.as<For>();
        return loop != nullptr && spreads(*loop);
    });
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

std::array<std::int64_t, 3> KernelShape::group(std::size_t level) const {
    std::array<std::int64_t, 3> sizes = {1, 1, 1};
    for (std::size_t i = level; i < levels.size(); ++i)
        sizes[flat() ? 0 : levels.size() - 1 - i] *= levels[i].size;
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

std::optional<std::int64_t> constant_trip_count(const For& loop) {
    const auto begin = constant_integer(loop.begin);
    const auto end = constant_integer(loop.end);
    const auto step = constant_integer(loop.step);
    if (!begin || !end || !step) return std::nullopt;
    return constant_trip_count(*begin, *end, *step);
}

std::optional<std::int64_t> constant_trip_count(std::int64_t begin, std::int64_t end,
                                                std::int64_t step) {
    if (step == 0) return std::nullopt;
    // Unsigned differences cannot overflow, whatever the bounds.
    const bool up = step > 0;
    if (up ? begin >= end : begin <= end) return 0;
    const std::uint64_t distance =
        up ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)
           : static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(end);
    const std::uint64_t stride =
        up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    const std::uint64_t trips = (distance - 1) / stride + 1;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return trips > kMost ? std::nullopt : std::optional(static_cast<std::int64_t>(trips));
}

Expr* trip_count(Builder& builder, const For& loop) {
    Module& module = builder.module();
    const Scalar type = loop.var->type.scalar;
    const auto copy = [&](const Expr* e) { return clone(module, e); };
    const auto zero = [&] { return builder.integer(0, type); };
    // max(0, ceil((end - begin) / step)), and ceil(a / b) is -((-a) // b) with a floor division.
    Expr* difference = builder.binary(Op::kSub, copy(loop.begin), copy(loop.end));
    Expr* floor = constant_integer(loop.step) == 1
                      ? difference
                      : builder.binary(Op::kFloorDiv, difference, copy(loop.step));
    return builder.binary(Op::kMax, builder.unary(Op::kNeg, floor), zero());
}

Expr* has_iterations(Builder& builder, const For& loop) {
    const std::optional<std::int64_t> trips = constant_trip_count(loop);
    if (trips && *trips > 0) return nullptr;
    const auto step = constant_integer(loop.step);
    const auto compare = [&](Op op, const Expr* a, Expr* b) {
        return builder.binary(op, clone(builder.module(), a), b);
    };
    const auto before = [&](Op op) {
        return compare(op, loop.begin, clone(builder.module(), loop.end));
    };
    if (step) return before(*step < 0 ? Op::kGt : Op::kLt);
    const auto toward = [&](Op op) {
        return compare(op, loop.step, builder.integer(0, loop.step->type.scalar));
    };
    return builder.select(toward(Op::kGt), before(Op::kLt), before(Op::kGt));
}

Expr* iteration_number(Builder& builder, const For& loop) {
    Module& module = builder.module();
    Expr* number = builder.var(loop.var);
    if (constant_integer(loop.begin) != 0) {
        number = builder.binary(Op::kSub, number, clone(module, loop.begin));
    }
    if (constant_integer(loop.step) != 1) {
        number = builder.binary(Op::kFloorDiv, number, clone(module, loop.step));
    }
    return number;
}

std::optional<std::int64_t> block_extent(const Launch& launch, int dimension) {
    const Expr* extent = launch.block[dimension];
    return extent == nullptr ? 1 : constant_integer(extent);
}

std::optional<std::int64_t> block_size(const Launch& launch) {
    std::int64_t size = 1;
    for (int d = 0; d < 3; ++d) {
        const auto extent = block_extent(launch, d);
        if (!extent) return std::nullopt;
        size *= *extent;
    }
    return size;
}

KernelShape shape_of(Body& body) {
    KernelShape shape;
    for_each_expr(body, [&](const Expr& e) {
        if (is_spread(e)) shape.block = std::max(shape.block, whole_warps(e.callee->threads));
    });
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
