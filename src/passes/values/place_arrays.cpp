// See place_arrays.h.
#include "passes/values/place_arrays.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kMostBytes = 48 << 10;  // of static shared memory

class ArrayPlaces {
public:
    explicit ArrayPlaces(Function& entry) : entry_(entry) {}

    void run() {
        body(entry_.body, nullptr);
        entry_.body.insert(entry_.body.begin(), at_entry_.begin(), at_entry_.end());
    }

private:
    // `around`: the innermost loop that several threads or blocks run.
    void body(Body& stmts, const For* around) {
        std::erase_if(stmts, [&](Stmt* stmt) { return moves(*stmt, stmts, around); });
        for (Stmt* stmt : stmts) {
            const auto* loop = stmt->as<For>();
            // The host runs other loops, and launches a kernel for each of their parts
            // (split_kernels), unless one block runs the whole loop with its arrays.
            const bool parallel = loop != nullptr && loop->mapping.parallel() &&
                                  (spreads(*loop) || loop->mapping.level == Level::kThreads ||
                                   (!contains_spreading(loop->body) && makes_small(loop->body)));
            for_each_body(*stmt, [&](Body& inner) { body(inner, parallel ? loop : around); });
        }
    }

    // Whether the arrays made in the body fit into the shared memory of a block.
    static bool makes_small(const Body& stmts) {
        std::int64_t bytes = 0;
        for_each_stmt(stmts, [&](const Stmt& stmt) {
            const auto* alloc = stmt.as<Alloc>();
            if (alloc == nullptr) return;
            std::int64_t size = size_in_bytes(alloc->array->type.scalar);
            for (const Dim& dim : alloc->array->dims)
                size = std::min(size * dim.extent.value_or(kMostBytes), kMostBytes + 1);
            bytes += size;
        });
        return bytes <= kMostBytes;
    }

    // Chooses the memory of the array that the statement makes; whether that is at the entry.
    bool moves(Stmt& stmt, const Body& scope, const For* around) {
        auto* alloc = stmt.as<Alloc>();
        if (alloc == nullptr || alloc->array->space != Space::kLocal) return false;
        if (around == nullptr) {
            alloc->array->space = Space::kScratch;
            at_entry_.push_back(&stmt);
            return true;
        }
        const bool spread = std::ranges::any_of(scope, [&](const Stmt* user) {
            return any_stmt(*user, [&](const Stmt& inner) {
                const auto* loop = inner.as<For>();
                return loop != nullptr && loop->mapping.parallel() &&
                       uses_of(loop->body).stored.contains(alloc->array);
            });
        });
        if (spread) alloc->array->space = Space::kShared;
        return false;
    }

    Function& entry_;
    Body at_entry_;
};

}  // namespace

void place_arrays(PassContext& context) {
    Function& entry = *context.module.entry_function();
    if (!is_by_hand(entry)) ArrayPlaces(entry).run();
}

}  // namespace parpy
