// See place_arrays.h.
#include "passes/values/place_arrays.h"

#include <algorithm>

#include "analysis/geometry.h"
#include "analysis/uses.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

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
            // (split_kernels).
            const bool parallel = loop != nullptr && loop->mapping.parallel() &&
                                  (spreads(*loop) || loop->mapping.level == Level::kThreads);
            for_each_body(*stmt, [&](Body& inner) { body(inner, parallel ? loop : around); });
        }
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
