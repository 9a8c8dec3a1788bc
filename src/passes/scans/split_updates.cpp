// See split_updates.h.
#include "passes/scans/split_updates.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/pragmas.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"
#include "passes/mapped/partial_values.h"
#include "passes/nests/own_arrays.h"

namespace parpy {

using namespace ir;

namespace {

constexpr double kWorthwhile = 0.9;             // of the time before
constexpr std::int64_t kBlocks = 16;            // twice the cores of a typical machine
constexpr std::int64_t kMostBytes = 1 << 15;    // of a block's arrays, which are on its stack
constexpr std::int64_t kFewestPerElement = 16;  // iterations for each element of the arrays

// An array that the loop touches by updates alone.
struct Target {
    Var* array = nullptr;
    Op op{};  // combines the results of blocks
    std::vector<std::int64_t> extents;
};

class Splitting {
public:
    explicit Splitting(PassContext& context)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options),
          deterministic_(context.options.deterministic) {}

    void run() { body(entry_.body); }

private:
    void body(Body& stmts) {
        for (std::size_t i = 0; i < stmts.size(); ++i) {
            auto* loop = stmts[i]->as<For>();
            if (loop != nullptr && split(stmts, i)) continue;
            for_each_body(*stmts[i], [&](Body& inner) {
                if (loop != nullptr) around_.push_back(loop);
                body(inner);
                if (loop != nullptr) around_.pop_back();
            });
        }
    }

    bool split(Body& stmts, std::size_t& place) {
        For& loop = *stmts[place]->as<For>();
        if (!accumulates(loop) || !constant_integer(loop.step) || *constant_integer(loop.step) != 1)
            return false;
        std::vector<Target> targets;
        {
            ParallelLoops loops(entry_, deterministic_);
            if (std::ranges::any_of(around_, [&](For* each) { return loops.legal(*each); }))
                return false;
            targets = targets_of(loop, loops);
        }
        if (targets.empty() || !is_long(loop, targets) || !is_asked_for(loop)) return false;
        const Body made = blocks_of(loop, targets);
        if (!replace_if_faster(stmts, place, made, kWorthwhile, entry_, deterministic_, plan_cpu))
            return false;
        if (around_.empty()) {
            place += made.size() - 1;
        } else {  // memory for the whole call
            const std::size_t rest = stmts.size() - place - made.size();
            hoist_allocations(entry_, stmts, place);
            place = stmts.size() - rest - 1;
        }
        return true;
    }

    static std::string name_of_blocks(const For& loop) { return loop.var->name + "_block"; }

    // Whether the compiler chooses the mapping, or a mapping by hand names the loop over blocks.
    [[nodiscard]] bool is_asked_for(const For& loop) const {
        const std::string name = name_of_blocks(loop) + "@" + std::to_string(loop.span.line);
        return options_.automatic || std::ranges::any_of(options_.mapping, [&](const auto& each) {
                   return each.first == name || each.first.starts_with(name + "#");
               });
    }

    // The arrays of updates that meet; none if the loop cannot be split.
    std::vector<Target> targets_of(For& loop, ParallelLoops& loops) const {
        const Uses uses = uses_of(static_cast<const Stmt&>(loop));
        const bool ends = contains_jump(loop.body) || any_stmt(loop.body, [](const Stmt& stmt) {
                              return stmt.kind == StmtKind::kFail;
                          });
        if (ends || has_pragma(loop) || !invariant(*loop.begin, uses) ||
            !invariant(*loop.end, uses))
            return {};
        const std::vector<Update> scattered = loops.scattered(loop);
        const LoopFacts& facts = loops.facts(loop);
        if (!facts.conditions.empty() || !facts.carried_scalars.empty() ||
            !facts.last_values.empty()) {
            return {};
        }
        std::vector<Target> found;
        for (const Update& update : scattered) {
            const auto target = target_of(loop, update);
            if (!target) return {};
            const auto known = std::ranges::find(found, target->array, &Target::array);
            if (known == found.end()) {
                found.push_back(*target);
            } else if (known->op != target->op) {
                return {};
            }
        }
        return found;
    }

    // Whether all uses of the array in the loop are updates by one operator of integers.
    static std::optional<Target> target_of(For& loop, const Update& update) {
        Var& array = *update.var;
        const Scalar type = array.type.scalar;
        const auto op = reduction_of(update.update, Type::of(type));
        if (!array.type.is_array() || !is_integer(type) || !op || update.forgets_nan)
            return std::nullopt;
        // Wider values wrap around, which only sums, products and bits survive in any order.
        const bool wraps = *op == Op::kAdd || *op == Op::kMul || *op == Op::kBitAnd ||
                           *op == Op::kBitOr || *op == Op::kBitXor;
        if (!wraps && update.value->type != Type::of(type)) return std::nullopt;
        std::size_t uses = 0;
        for_each_expr(loop.body, [&](const Expr& e) { uses += e.var == &array; });
        for_each_stmt(loop.body, [&](const Stmt& stmt) {
            const auto* store = stmt.as<Store>();
            uses += store != nullptr && store->array == &array;
        });
        for (const Update& each : find_updates(loop.body)) {
            if (each.var != &array) continue;
            if (!is_integer(each.value->type.scalar)) return std::nullopt;
            uses -= 1 + static_cast<std::size_t>(each.reads);
        }
        if (uses != 0) return std::nullopt;
        Target target{&array, *op, {}};
        for (const Dim& dim : array.dims) {
            if (!dim.extent || *dim.extent < 1) return std::nullopt;
            target.extents.push_back(*dim.extent);
        }
        return target;
    }

    static bool is_long(const For& loop, const std::vector<Target>& targets) {
        std::int64_t bytes = 0, elements = 0;
        for (const Target& target : targets) {
            std::int64_t size = 1;
            for (const std::int64_t extent : target.extents)
                if (__builtin_mul_overflow(size, extent, &size) || size > kMostBytes) return false;
            elements += size;
            bytes += size * size_in_bytes(target.array->type.scalar);
        }
        const auto trips = constant_trip_count(loop);
        return bytes <= kMostBytes && (!trips || *trips / kFewestPerElement >= elements);
    }

    // A nest over all elements, whose body is made of their subscripts.
    For* over_elements(Builder& b, const Target& target,
                       const std::function<Stmt*(const std::vector<Var*>&)>& inside) {
        std::vector<Var*> places;
        for (std::size_t i = 0; i < target.extents.size(); ++i)
            places.push_back(b.scalar("element", Scalar::kI64));
        Stmt* made = inside(places);
        For* loop = nullptr;
        for (std::size_t i = places.size(); i-- > 0;)
            made = loop = b.loop(places[i], b.integer(0), b.integer(target.extents[i]), {made});
        return loop;
    }

    Body blocks_of(const For& loop, const std::vector<Target>& targets) {
        Builder b(module_, loop.span);
        Var* number = b.scalar(name_of_blocks(loop), Scalar::kI64);
        const auto read = [&](const std::vector<Var*>& places, Var* first = nullptr) {
            std::vector<Expr*> indices;
            if (first != nullptr) indices.push_back(b.var(first));
            for (Var* place : places)
                indices.push_back(b.var(place));
            return indices;
        };
        Body made, begins, ends, sums;
        Substitution own;
        for (const Target& target : targets) {
            const Scalar type = target.array->type.scalar;
            std::vector<std::int64_t> of_all = {kBlocks};
            of_all.insert(of_all.end(), target.extents.begin(), target.extents.end());
            const std::string& name = target.array->name;
            Var* parts = b.local_array(name + "_parts", type, of_all, Space::kScratch);
            Var* mine = b.local_array(name, type, target.extents, Space::kLocal);
            mine->user_name = target.array->shown();
            own.vars[target.array] = mine;
            made.push_back(b.alloc(parts));
            begins.push_back(b.alloc(mine));
            begins.push_back(over_elements(b, target, [&](const auto& places) {
                return b.store(mine, read(places), identity(b, target.op, type));
            }));
            ends.push_back(over_elements(b, target, [&](const auto& places) {
                return b.store(parts, read(places, number), b.load(mine, read(places)));
            }));
            Var* from = b.scalar(name_of_blocks(loop), Scalar::kI64);
            Stmt* sum = over_elements(b, target, [&](const auto& places) {
                return b.update(target.array, read(places), target.op,
                                b.load(parts, read(places, from)));
            });
            sums.push_back(b.loop(from, b.integer(0), b.integer(kBlocks), {sum}));
        }
        Body inside = std::move(begins);
        inside.push_back(block(b, loop, number, made, own));
        inside.insert(inside.end(), ends.begin(), ends.end());
        For* all = b.loop(number, b.integer(0), b.integer(kBlocks), std::move(inside));
        all->labels = loop.labels;
        made.push_back(all);
        made.insert(made.end(), sums.begin(), sums.end());
        return made;
    }

    // The iterations of a block. `made` gets the statements that compute their number.
    For* block(Builder& b, const For& loop, Var* number, Body& made, Substitution& own) {
        const Scalar type = loop.var->type.scalar;
        const auto wide = [&](const Expr* value) {
            return b.convert(clone(module_, value), Scalar::kI64);
        };
        const auto trips = constant_trip_count(loop);
        Var* length = nullptr;
        if (!trips) {
            length = b.scalar(loop.var->name + "_length", Scalar::kI64);
            Expr* past = b.binary(Op::kAdd, b.binary(Op::kSub, wide(loop.end), wide(loop.begin)),
                                  b.integer(kBlocks - 1));
            Expr* each = b.binary(Op::kFloorDiv, past, b.integer(kBlocks));
            made.push_back(b.assign(length, b.binary(Op::kMax, each, b.integer(0))));
        }
        const auto at = [&](std::int64_t more) {
            Expr* blocks = b.var(number);
            if (more > 0) blocks = b.binary(Op::kAdd, blocks, b.integer(more));
            Expr* size = trips ? b.integer((*trips + kBlocks - 1) / kBlocks) : b.var(length);
            Expr* iterations = b.binary(Op::kMul, blocks, size);
            if (constant_integer(loop.begin) == 0) return iterations;
            return b.binary(Op::kAdd, wide(loop.begin), iterations);
        };
        Var* var = own.vars[loop.var] = module_.make_like(*loop.var);
        Expr* end = b.binary(Op::kMin, at(1), wide(loop.end));
        return b.loop(var, b.convert(at(0), type), b.convert(end, type),
                      clone(module_, loop.body, own));
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    const bool deterministic_;
    std::vector<For*> around_;
};

}  // namespace

void split_updates(PassContext& context) {
    Splitting(context).run();
}

}  // namespace parpy
