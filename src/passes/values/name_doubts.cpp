// See name_doubts.h.
#include "passes/values/name_doubts.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "analysis/memory/sharing.h"
#include "ir/ops.h"
#include "passes/values/own_values.h"

namespace parpy {

using namespace ir;

// The array whose elements the bind names, followed through other names as long as all of these
// refer to one array.
const Var* NameDoubts::root_of(const Bind& bind) const {
    std::unordered_set<const Var*> seen{bind.array};
    std::vector<const Var*> open{viewed(*bind.value).var};
    const Var* root = nullptr;
    while (!open.empty()) {
        const Var* array = open.back();
        open.pop_back();
        if (!seen.insert(array).second) continue;
        if (places_.has(array) && !places_.of(array).binds.front()->fresh) {
            for (const Bind* other : places_.of(array).binds)
                open.push_back(viewed(*other->value).var);
        } else if (root != nullptr) {
            return viewed(*bind.value).var;
        } else {
            root = array;
        }
    }
    return root;  // null: the name refers only to itself
}

NameDoubt NameDoubts::of(const Var& name, bool may_move) const {
    const NamePlace& place = places_.of(&name);
    const Bind& first = *place.binds.front();
    const Var* root = nullptr;
    for (const Bind* bind : place.binds) {
        const Var* own = bind->fresh ? nullptr : root_of(*bind);
        const bool other_root = own != nullptr && root != nullptr && own != root;
        if (bind->fresh != first.fresh || other_root)
            return {bind, "refers to several arrays", &first};
        root = root != nullptr ? root : own;
        const bool moved = !bind->fresh && bind->value->op != Op::kLoad;
        const bool may = may_move && place.binds.size() == 1 && name.space != Space::kResult;
        if (moved && (!may || viewed(*bind->value).op != Op::kLoad))
            return {bind, "is a transposed or reshaped part of an array", bind};
    }
    if (first.fresh || name.space == Space::kResult) return {};
    // The values may be replaced while another name still refers to them.
    std::unordered_set<const Var*> seen;
    for (const Var* array = viewed(*first.value).var;
         places_.has(array) && seen.insert(array).second;) {
        const NamePlace& made = places_.of(array);
        const Bind& origin = *made.binds.front();
        const bool replaced = made.binds.size() > 1 || !made.loops.empty();
        if (origin.fresh && replaced && !(place.dominated && made.dominated))
            return {&first, "may outlive the values of '" + array->shown() + "'", &origin};
        if (origin.fresh) break;
        array = viewed(*origin.value).var;
    }
    return {};
}

// Threads of a kernel see the stores of other threads; only arrays of the thread alone, and arrays
// that no thread stores to, keep their values.
bool NameDoubts::others_may_store(const Var& array) const {
    if (array.space == Space::kLocal || places_.has(&array)) return false;
    if (array.written || array.space != Space::kGlobal || function_.kind != FunctionKind::kEntry)
        return true;
    return std::ranges::any_of(function_.params, [&](const Var* param) {
        return param->type.is_array() && param->written && may_share(*param, array);
    });
}

// Repeated, since replaced values may bring other names in doubt.
void NameDoubts::copy_elements() {
    for (bool again = true; again;) {
        std::unordered_set<const Var*> doubtful;
        for (const Var* name : places_.names()) {
            const NameDoubt doubt = of(*name, by_hand_);  // copies have the order of the loops
            if (doubt.bind == nullptr) continue;
            const bool shared =
                by_hand_ && std::ranges::any_of(places_.of(name).binds, [&](const Bind* bind) {
                    return !bind->fresh && others_may_store(*viewed(*bind->value).var);
                });
            if (shared) continue;
            copied_[name] = doubt;
            doubtful.insert(name);
        }
        const auto copied = copyable_names(function_, doubtful);
        for (const Var* name : copied) {
            for (Bind* bind : places_.of(name).binds)
                bind->fresh = true;
        }
        again = !copied.empty();
    }
}

const NameDoubt* NameDoubts::copied(const Var& name) const {
    const auto found = copied_.find(&name);
    return found != copied_.end() ? &found->second : nullptr;
}

}  // namespace parpy
