// See expand_arrays.h. Loops are examined from the outermost one inwards: an array that has an
// element for each iteration of a loop is no obstacle to inner loops, either.
#include "passes/nests/expand_arrays.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/geometry.h"
#include "analysis/nests.h"
#include "analysis/pragmas.h"
#include "analysis/uses.h"
#include "ir/builder.h"
#include "ir/visit.h"
#include "mapping/plan.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostOnStack = std::int64_t{128} << 10;   // of one iteration
constexpr std::int64_t kMostOnDevice = std::int64_t{512} << 20;  // of all iterations

// Each judgement analyses all statements of the function again.
constexpr std::size_t kMostAnalysed = 100'000;

class Expansion {
public:
    enum class Memory : std::uint8_t { kOfIteration, kOfAllIterations };

    Expansion(PassContext& context, Memory memory)
        : module_(context.module),
          entry_(*context.module.entry_function()),
          options_(context.options),
          memory_(memory) {}

    void run() {
        if (!options_.automatic && options_.mapping.empty() && !has_pragmas(module_)) return;
        for_each_stmt(entry_.body, [&](const Stmt& stmt) {
            const auto* alloc = stmt.as<Alloc>();
            if (alloc != nullptr && alloc->array->space == Space::kScratch)
                made_.push_back(alloc->array);
        });
        if (made_.empty()) return;
        keys_ = mapping_keys(entry_);
        body(entry_.body);
    }

private:
    void body(Body& stmts) {
        for (Stmt* stmt : stmts) {
            if (auto* loop = stmt->as<For>(); loop != nullptr && is_wanted(*loop)) expand(*loop);
            for_each_body(*stmt, [&](Body& inner) { body(inner); });
        }
    }

    [[nodiscard]] bool is_wanted(const For& loop) const {
        const Pragma pragma = pragma_of(loop);
        if (pragma.sequential) return false;
        if (options_.automatic || pragma.spreads()) return true;
        return options_.mapping.contains(keys_.at(&loop)) ||
               std::ranges::any_of(loop.labels, [&](const std::string& label) {
                   return options_.mapping.contains(label);
               });
    }

    void expand(For& loop) {
        const auto begin = constant_integer(loop.begin);
        const auto trips = constant_trip_count(loop);
        if (!begin || !trips || *trips < 2 || constant_integer(loop.step) != 1 ||
            loop.var->type != Type::of(Scalar::kI64)) {
            return;
        }
        std::vector<Var*> arrays;
        std::int64_t bytes = 0;
        for (Var* array : made_) {
            const auto size = size_of(*array);
            if (!size || !is_of_iteration(*array, loop)) continue;
            arrays.push_back(array);
            bytes += *size;
        }
        const bool of_all = memory_ == Memory::kOfAllIterations;
        if (arrays.empty() || bytes > (of_all ? kMostOnDevice / *trips : kMostOnStack)) return;
        for_each_stmt(entry_.body, [&](const Stmt&) { analysed_ += 2; });
        if (analysed_ > kMostAnalysed) return;
        if (ParallelLoops(entry_, options_.deterministic).legal(loop)) return;
        if (!of_all) {
            move_into(arrays, loop);
            return;
        }
        for (Var* array : arrays)
            add_dimension(*array, loop, *begin, *trips);
        if (ParallelLoops(entry_, options_.deterministic).legal(loop)) return;
        for (Var* array : arrays)
            drop_dimension(*array, loop);
    }

    // Moves the allocations into the loop, once for each iteration.
    void move_into(const std::vector<Var*>& arrays, For& loop) {
        const Body before = entry_.body, inside = loop.body;
        Body made;
        for (Var* array : arrays) {
            const auto alloc = std::ranges::find_if(entry_.body, [&](const Stmt* stmt) {
                const auto* each = stmt->as<Alloc>();
                return each != nullptr && each->array == array;
            });
            if (alloc == entry_.body.end()) continue;
            made.push_back(*alloc);
            entry_.body.erase(alloc);
            array->space = Space::kLocal;
        }
        loop.body.insert(loop.body.begin(), made.begin(), made.end());
        if (!made.empty() && ParallelLoops(entry_, options_.deterministic).legal(loop)) {
            for (const Stmt* stmt : made)
                std::erase(made_, stmt->as<Alloc>()->array);
            return;
        }
        for (const Stmt* stmt : made)
            stmt->as<Alloc>()->array->space = Space::kScratch;
        loop.body = inside;
        entry_.body = before;
    }

    static std::optional<std::int64_t> size_of(const Var& array) {
        std::int64_t size = size_in_bytes(array.type.scalar);
        for (const Dim& dim : array.dims) {
            if (!dim.extent || !dim.stride || *dim.extent < 1) return std::nullopt;
            if (*dim.extent > kMostOnDevice / size) return std::nullopt;
            size *= *dim.extent;
        }
        return size;
    }

    // Whether only the loop uses it, and each iteration stores all of it first.
    [[nodiscard]] bool is_of_iteration(const Var& array, For& loop) const {
        bool elements = true;
        std::size_t all = 0, inside = 0;
        const auto count = [&](auto& code, std::size_t& number) {
            for_each_expr(code, [&](const Expr& e) {
                if (e.var != &array) return;
                ++number;
                elements = elements && e.op == Op::kLoad;
            });
            for_each_stmt(code, [&](const Stmt& stmt) {
                const auto* store = stmt.template as<Store>();
                number += store != nullptr && store->array == &array;
            });
        };
        count(static_cast<const Body&>(entry_.body), all);
        count(static_cast<const Body&>(loop.body), inside);
        return elements && inside > 0 && all == inside && stores_first(array, loop.body);
    }

    static bool stores_first(const Var& array, const Body& stmts) {
        const auto first = std::ranges::find_if(
            stmts, [&](const Stmt* stmt) { return uses_of(*stmt).touches(&array); });
        if (first == stmts.end() || (*first)->kind != StmtKind::kFor) return false;
        auto& loop = *const_cast<For*>((*first)->as<For>());
        if (stores_all(array, loop)) return true;
        // The array is used only in the loop: so each iteration must store it first.
        return std::none_of(first + 1, stmts.end(),
                            [&](const Stmt* stmt) { return uses_of(*stmt).touches(&array); }) &&
               stores_first(array, loop.body);
    }

    // Whether it is a nest over all elements of the array that begins with the store.
    static bool stores_all(const Var& array, For& top) {
        const Nest nest = nest_of(top);
        const Body& inner = nest.back()->body;
        const auto touches = [&](const Stmt* stmt) { return uses_of(*stmt).touches(&array); };
        const auto first = std::ranges::find_if(inner, touches);
        const auto* store = first == inner.end() ? nullptr : (*first)->as<Store>();
        if (store == nullptr || store->array != &array || store->update || store->atomic ||
            uses_of(*store->value).touches(&array) ||
            std::any_of(inner.begin(), first, [](const Stmt* s) { return leaves_loop(*s); })) {
            return false;
        }
        // Later loads of the same iteration read the element that it has stored.
        bool own = true;
        for (auto it = first + 1; it != inner.end(); ++it) {
            for_each_expr(static_cast<const Stmt&>(**it), [&](const Expr& e) {
                if (e.var == &array) own = own && same(e.operands, store->indices);
            });
        }
        std::vector<const For*> used;
        for (std::size_t axis = 0; axis < store->indices.size() && own; ++axis) {
            const Expr& index = *store->indices[axis];
            const std::int64_t extent = *array.dims[axis].extent;
            if (constant_integer(&index) == 0 && extent == 1) continue;
            const auto found = std::ranges::find_if(nest, [&](const For* loop) {
                return constant_offset(index, *loop->var).has_value();
            });
            if (found == nest.end() || std::ranges::find(used, *found) != used.end()) return false;
            used.push_back(*found);
            const auto begin = constant_integer((*found)->begin),
                       end = constant_integer((*found)->end);
            const std::int64_t offset = *constant_offset(index, *(*found)->var);
            if (!begin || !end || constant_integer((*found)->step) != 1 || *begin + offset != 0 ||
                *end + offset != extent) {
                return false;
            }
        }
        // All other loops must run at least once.
        return own && std::ranges::all_of(nest, [&](const For* loop) {
                   return std::ranges::find(used, loop) != used.end() ||
                          constant_trip_count(*loop).value_or(0) > 0;
               });
    }

    void add_dimension(Var& array, For& loop, std::int64_t begin, std::int64_t trips) {
        std::int64_t size = 1;
        for (const Dim& dim : array.dims)
            size *= *dim.extent;
        array.dims.insert(array.dims.begin(), Dim{.extent = trips, .stride = size});
        ++array.type.rank;
        const auto place = [&](Span span) -> Expr* {
            Builder b(module_, span);
            if (begin == 0) return b.var(loop.var);
            return begin > 0 ? b.binary(Op::kSub, b.var(loop.var), b.integer(begin))
                             : b.binary(Op::kAdd, b.var(loop.var), b.integer(-begin));
        };
        for_each_expr(loop.body, [&](Expr& e) {
            if (e.var == &array) e.operands.insert(e.operands.begin(), place(e.span));
        });
        for_each_stmt(loop.body, [&](Stmt& stmt) {
            auto* store = stmt.as<Store>();
            if (store != nullptr && store->array == &array)
                store->indices.insert(store->indices.begin(), place(stmt.span));
        });
    }

    static void drop_dimension(Var& array, For& loop) {
        array.dims.erase(array.dims.begin());
        --array.type.rank;
        for_each_expr(loop.body, [&](Expr& e) {
            if (e.var == &array) e.operands.erase(e.operands.begin());
        });
        for_each_stmt(loop.body, [&](Stmt& stmt) {
            auto* store = stmt.as<Store>();
            if (store != nullptr && store->array == &array)
                store->indices.erase(store->indices.begin());
        });
    }

    Module& module_;
    Function& entry_;
    const Options& options_;
    const Memory memory_;
    std::vector<Var*> made_;
    std::unordered_map<const For*, std::string> keys_;
    std::size_t analysed_ = 0;  // statements, so far
};

}  // namespace

void expand_cpu_arrays(PassContext& context) {
    Expansion(context, Expansion::Memory::kOfIteration).run();
}

void expand_cuda_arrays(PassContext& context) {
    Expansion(context, Expansion::Memory::kOfAllIterations).run();
}

}  // namespace parpy
