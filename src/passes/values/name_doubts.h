// Whether it is known which array each name stands for, for lower_names: names for which it is not
// are refused, or get copies of the elements where nobody can tell these from the elements.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/ir.h"
#include "passes/values/name_places.h"

namespace parpy {

// The bind that makes it unknown what the name stands for where it is used, if there is one, with
// the reason and the other bind.
struct NameDoubt {
    const ir::Bind* bind = nullptr;
    std::string why;
    const ir::Bind* other = nullptr;
};

class NameDoubts {
public:
    // `by_hand`: the function is the entry of a kernel written by hand.
    NameDoubts(const ir::Function& function, const NamePlaces& places, bool by_hand)
        : function_(function), places_(places), by_hand_(by_hand) {}

    // `may_move`: the name may transpose or reshape what it stands for.
    [[nodiscard]] NameDoubt of(const ir::Var& name, bool may_move = true) const;
    // Names in doubt get values of their own where these are as good as the elements.
    void copy_elements();
    // Why the name got such values; null of others.
    [[nodiscard]] const NameDoubt* copied(const ir::Var& name) const;

private:
    [[nodiscard]] const ir::Var* root_of(const ir::Bind& bind) const;
    [[nodiscard]] bool others_may_store(const ir::Var& array) const;

    const ir::Function& function_;
    const NamePlaces& places_;
    const bool by_hand_;
    std::unordered_map<const ir::Var*, NameDoubt> copied_;
};

}  // namespace parpy
