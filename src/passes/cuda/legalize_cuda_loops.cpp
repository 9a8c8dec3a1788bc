// See legalize_cuda_loops.h. The geometry of the kernel is that of its launch
// (analysis/geometry.h); block_code.h decides which code is guarded, as for the barriers.
#include "passes/cuda/legalize_cuda_loops.h"

#include <algorithm>
#include <limits>
#include <map>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "passes/cuda/block_code.h"

namespace parpy {

using namespace ir;

namespace {

bool continues(const Body& body) {
    return std::any_of(body.begin(), body.end(), [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kContinue) return true;
        if (stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile) return false;
        bool found = false;
        for_each_body(*stmt, [&](const Body& inner) { found = found || continues(inner); });
        return found;
    });
}

std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

constexpr std::int64_t kMostRows = 8;
constexpr std::int64_t kEnoughBlocks = 1024;  // several for each multiprocessor of the largest GPUs

class KernelLoops {
public:
    KernelLoops(Module& module, Launch& launch)
        : builder_(module),
          module_(module),
          kernel_(*launch.kernel),
          launch_(launch),
          shape_(shape_of(kernel_.body)),
          code_(kernel_) {}

    void run() {
        pack_warps();
        kernel_.body = block_code(kernel_.body);
    }

private:
    // ------------------------------------------------------------ several warps per block

    // A multiprocessor holds too few blocks of one warp to be busy. If no memory is shared within a
    // block, several of them, which differ in the innermost level, become the rows of one. Foreign
    // functions may share memory, and clusters have a fixed number of blocks.
    void pack_warps() {
        const std::int64_t* cluster = launch_.cluster;
        const bool clustered = cluster[0] * cluster[1] * cluster[2] != 1;
        if (shape_.block != kWarpSize || shape_.levels.empty() || clustered) return;
        const GridLevel& inner = shape_.levels.back();
        const bool in_x = shape_.grid()[0] == inner.size && shape_.levels.size() <= 3;
        if (!in_x || inner.loop->mapping.level != Level::kBlocks) return;
        bool shares = contains_spread_call(kernel_.body);
        for_each_stmt(kernel_.body, [&](const Stmt& stmt) {
            const auto* alloc = stmt.as<Alloc>();
            shares = shares || (alloc != nullptr && alloc->array->space == Space::kShared);
        });
        if (shares) return;
        const auto trips = constant_trip_count(*inner.loop);
        const bool guarded = trips && *trips <= inner.size && !continues(inner.loop->body);
        for (std::int64_t rows = kMostRows; rows > 1; rows /= 2) {
            const bool fits = guarded || inner.size % rows == 0;
            const bool allowed = rows * kWarpSize <= inner.loop->mapping.threads_per_block;
            if (!fits || !allowed || shape_.blocks() / rows < kEnoughBlocks) continue;
            rows_ = rows;
            launch_.block[1] = builder_.integer(rows);
            launch_.grid[0] = builder_.integer((inner.size + rows - 1) / rows);
            return;
        }
    }

    // ------------------------------------------------------------ code outside thread loops

    Body block_code(const Body& body) {
        Body out;
        Body alone;  // consecutive statements that one thread executes
        const auto flush = [&] {
            if (alone.empty()) return;
            builder_.span = alone.front()->span;
            Expr* first = builder_.binary(Op::kEq, builder_.reg(Register::kThreadX),
                                          builder_.integer(0, Scalar::kI32));
            out.push_back(builder_.if_(first, std::move(alone)));
            alone.clear();
        };
        for (Stmt* stmt : body) {
            const Runs how = code_.how(*stmt);
            if (how == Runs::kOne && shape_.block > 1) {
                alone.push_back(stmt);
                continue;
            }
            flush();
            auto* loop = stmt->as<For>();
            if (loop != nullptr && loop->mapping.parallel()) {
                if (loop->mapping.level == Level::kBlocks) loop->body = block_code(loop->body);
                distribute(*loop, out);
            } else {
                if (how == Runs::kStructured) {
                    for_each_body(*stmt, [&](Body& inner) { inner = block_code(inner); });
                }
                out.push_back(stmt);
            }
        }
        flush();
        return out;
    }

    // ------------------------------------------------------------ parallel loops

    // Restricts the loop to this thread's or block's share: iterations number(), number() + total,
    // …; a block gets consecutive iterations if neighbouring ones load the same elements.
    void distribute(For& loop, Body& out) {
        builder_.span = loop.span;
        const int level = shape_.level_of(&loop);
        const bool threads = loop.mapping.level == Level::kThreads;
        std::int64_t total = threads ? shape_.block : 1;
        if (level >= 0) total *= shape_.levels[static_cast<std::size_t>(level)].size;
        if (is_packed(level)) total = (total + rows_ - 1) / rows_ * rows_;
        loop.mapping = LoopMapping{};

        const std::optional<std::int64_t> trips = constant_trip_count(loop);
        if (trips && *trips <= total && !continues(loop.body)) {
            guarded(loop, number(level, threads), *trips, total, out);
        } else if (!threads && total > 1 && constant_integer(loop.step) && shares_loads(loop)) {
            chunked(loop, number(level, threads), total, out);
        } else {
            strided(loop, number(level, threads), total, out);
        }
    }

    bool is_packed(int level) const {
        return rows_ > 1 && level + 1 == static_cast<int>(shape_.levels.size());
    }

    // This thread's or block's number in the level of a loop.
    Expr* number(int level, bool threads) {
        if (level < 0) return builder_.reg(Register::kThreadX);
        Expr* block = shape_.index(builder_, static_cast<std::size_t>(level));
        if (is_packed(level)) {
            Expr* first = builder_.binary(Op::kMul, block, builder_.reg(Register::kBlockDimY));
            return builder_.binary(Op::kAdd, first, builder_.reg(Register::kThreadY));
        }
        if (!threads) return block;
        Expr* base = builder_.binary(Op::kMul, block, builder_.reg(Register::kBlockDimX));
        return builder_.binary(Op::kAdd, base, builder_.reg(Register::kThreadX));
    }

    // Makes `var = begin + number * step; if var < end: body`.
    void guarded(For& loop, Expr* number, std::int64_t trips, std::int64_t total, Body& out) {
        const Scalar type = loop.var->type.scalar;
        const std::int64_t begin = *constant_integer(loop.begin);
        const std::int64_t step = *constant_integer(loop.step);
        const auto beyond = checked_product(total, step);
        const bool fits = beyond && representable(begin, *beyond, type);
        Expr* guard = nullptr;
        if (trips < total && !fits) {  // the index itself would overflow in the threads left out
            guard = builder_.binary(Op::kLt, clone(module_, number),
                                    builder_.integer(trips, Scalar::kI32));
        } else if (trips < total) {
            guard = builder_.binary(step > 0 ? Op::kLt : Op::kGt, builder_.var(loop.var), loop.end);
        }
        Stmt* index = builder_.assign(loop.var, first_of(loop, number));
        index->labels = loop.labels;
        out.push_back(index);
        if (guard == nullptr) {
            out.insert(out.end(), loop.body.begin(), loop.body.end());
        } else {
            out.push_back(builder_.if_(guard, std::move(loop.body)));
        }
    }

    // Makes `for var in range(begin + number * step, end, step * total)`.
    void strided(For& loop, Expr* number, std::int64_t total, Body& out) {
        if (total == 1) {
            out.push_back(&loop);
            return;
        }
        if (!stride_fits(loop, total)) widen(loop);
        loop.mapping.share = has_room(loop, total);
        const Scalar type = loop.var->type.scalar;
        Expr* first = first_of(loop, number);
        const auto step = constant_integer(loop.step);
        const auto stride = step ? checked_product(*step, total) : std::nullopt;
        loop.begin = first;
        loop.step = stride ? builder_.integer(*stride, type)
                           : builder_.binary(Op::kMul, loop.step, builder_.integer(total, type));
        out.push_back(&loop);
    }

    // Makes `for var in range(first, min(first + length * step, end), step)`: length iterations,
    // where first = begin + number * length * step.
    void chunked(For& loop, Expr* number, std::int64_t total, Body& out) {
        const auto trips = constant_trip_count(loop);
        const std::int64_t length = trips ? (*trips - 1) / total + 1 : 0;
        const std::int64_t step = *constant_integer(loop.step);
        if (!trips || !chunks_fit(loop, length, total)) widen(loop);
        loop.mapping.share = has_room(loop, 1);
        const Scalar type = loop.var->type.scalar;
        Expr* size = nullptr;
        if (trips) {
            size = builder_.integer(length * step, type);
        } else {
            Expr* rounded = builder_.binary(Op::kAdd, trip_count(builder_, loop),
                                            builder_.integer(total - 1, type));
            Var* chunk = builder_.scalar(loop.var->name + "_chunk", type);
            Expr* each = builder_.binary(Op::kFloorDiv, rounded, builder_.integer(total, type));
            out.push_back(builder_.assign(
                chunk, step == 1 ? each : builder_.binary(Op::kMul, each, loop.step)));
            size = builder_.var(chunk);
        }
        Expr* first = builder_.binary(Op::kMul, builder_.convert(number, type), size);
        if (constant_integer(loop.begin) != 0) {
            first = builder_.binary(Op::kAdd, loop.begin, first);
        }
        Expr* last = builder_.binary(Op::kAdd, clone(module_, first), clone(module_, size));
        loop.begin = first;
        if (!trips || *trips != length * total) {
            last = builder_.binary(step > 0 ? Op::kMin : Op::kMax, last, loop.end);
        }
        loop.end = last;
        loop.step = builder_.integer(step, type);
        place(loop, out);
    }

    // Hoists the index and the guard, if they depend on the thread alone, out of the iterations of
    // a block's loop.
    void place(For& loop, Body& out) {
        const auto settled = [&](const Expr& e) {
            const Uses uses = uses_of(e);
            return uses.loaded.empty() && !uses.calls && !uses.read.contains(loop.var) &&
                   invariant(e, uses_of(loop.body));
        };
        while (!loop.body.empty()) {
            auto* assign = loop.body.front()->as<Assign>();
            if (assign == nullptr || assign->update || !settled(*assign->value)) break;
            const Body rest(loop.body.begin() + 1, loop.body.end());
            const Uses others = uses_of(rest);
            const bool bounds = uses_of(*loop.begin).read.contains(assign->var) ||
                                uses_of(*loop.end).read.contains(assign->var);
            if (bounds || others.written.contains(assign->var)) break;
            out.push_back(assign);
            loop.body = rest;
        }
        auto* guard = loop.body.size() == 1 ? loop.body.front()->as<If>() : nullptr;
        if (guard != nullptr && guard->else_body.empty() && settled(*guard->condition)) {
            loop.body = std::move(guard->then_body);
            guard->then_body = {&loop};
            out.push_back(guard);
        } else {
            out.push_back(&loop);
        }
    }

    // Whether consecutive iterations load a common element: some array is read at variable + c and
    // variable + d in one dimension.
    static bool shares_loads(const For& loop) {
        std::map<std::pair<const Var*, std::size_t>, std::int64_t> offsets;
        bool found = false;
        for_each_expr(loop.body, [&](const Expr& e) {
            if (e.op != Op::kLoad) return;
            for (std::size_t i = 0; i < e.operands.size(); ++i) {
                const auto offset = constant_offset(*e.operands[i], *loop.var);
                if (!offset) continue;
                const auto known = offsets.try_emplace({e.var, i}, *offset).first;
                found = found || known->second != *offset;
            }
        });
        return found;
    }

    // Makes `begin + number * step`.
    Expr* first_of(const For& loop, Expr* number) {
        const Scalar type = loop.var->type.scalar;
        Expr* value = builder_.convert(number, type);
        if (constant_integer(loop.step) != 1) {
            value = builder_.binary(Op::kMul, value, clone(module_, loop.step));
        }
        if (constant_integer(loop.begin) != 0) {
            value = builder_.binary(Op::kAdd, clone(module_, loop.begin), value);
        }
        return value;
    }

    // Whether begin + distance is a value of `type`.
    static bool representable(std::int64_t begin, std::int64_t distance, Scalar type) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(begin, distance, &sum)) return false;
        if (type == Scalar::kI64) return true;
        return type == Scalar::kI32 && sum >= std::numeric_limits<std::int32_t>::min() &&
               sum <= std::numeric_limits<std::int32_t>::max();
    }

    // Whether the variable can exceed the end of the loop by one stride without overflow. With 64
    // bits this is assumed, as no loop comes near their end.
    static bool stride_fits(const For& loop, std::int64_t total) {
        if (loop.var->type.scalar == Scalar::kI64) return true;
        const auto step = constant_integer(loop.step);
        const auto end = constant_integer(loop.end);
        const auto begin = constant_integer(loop.begin);
        if (!step || !end || !begin) return false;
        const auto stride = checked_product(*step, total);
        const Scalar type = loop.var->type.scalar;
        return stride && representable(*end, *stride, type) && representable(*begin, *stride, type);
    }

    // Whether the variable can count two strides beyond either end.
    static bool has_room(const For& loop, std::int64_t total) {
        if (loop.var->type.scalar == Scalar::kI64) return true;
        const auto step = constant_integer(loop.step);
        const auto stride = step ? checked_product(*step, total) : std::nullopt;
        const auto room = stride ? checked_product(*stride, 2) : std::nullopt;
        const auto far = [&](const Expr* bound) {
            const auto at = constant_integer(bound);
            return at && room && representable(*at, *room, loop.var->type.scalar) &&
                   representable(*at, -*room, loop.var->type.scalar);
        };
        return far(loop.begin) && far(loop.end);
    }

    // Whether begin + total * length * step, the end of the last chunk, fits the loop's type.
    static bool chunks_fit(const For& loop, std::int64_t length, std::int64_t total) {
        const auto chunk = checked_product(length, *constant_integer(loop.step));
        const auto distance = chunk ? checked_product(*chunk, total) : std::nullopt;
        return distance &&
               representable(*constant_integer(loop.begin), *distance, loop.var->type.scalar);
    }

    // Counts in 64 bits, and narrows the value in the body.
    void widen(For& loop) {
        Var* narrow = loop.var;
        Var* wide = builder_.scalar(narrow->name + "_wide", Scalar::kI64);
        for (Expr** bound : {&loop.begin, &loop.end, &loop.step}) {
            const auto value = constant_integer(*bound);
            *bound = value ? builder_.integer(*value) : builder_.convert(*bound, Scalar::kI64);
        }
        loop.var = wide;
        loop.body.insert(
            loop.body.begin(),
            builder_.assign(narrow, builder_.convert(builder_.var(wide), narrow->type.scalar)));
    }

    Builder builder_;
    Module& module_;
    Function& kernel_;
    Launch& launch_;
    const KernelShape shape_;
    const BlockCode code_;
    std::int64_t rows_ = 1;  // warps packed into a block
};

}  // namespace

void legalize_cuda_loops(PassContext& context) {
    for_each_stmt(context.module.entry_function()->body, [&](Stmt& stmt) {
        if (auto* launch = stmt.as<Launch>()) KernelLoops(context.module, *launch).run();
    });
}

}  // namespace parpy
