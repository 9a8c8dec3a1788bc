// Decides for each name whether it is known which array it refers to, for lower_names: other names
// are refused, or get copies of the elements if no statement can tell the copies from the elements.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/ir.h"
#include "passes/values/name_places.h"

namespace parpy {

// The bind that makes it unknown which array the name refers to where it is used, if there is one,
// with the reason and the other bind.
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

    // `may_move`: the name may transpose or reshape the array that it refers to.
    [[nodiscard]] NameDoubt of(const ir::Var& name, bool may_move = true) const;
    // Gives names in doubt values of their own where copies are as good as the elements.
    void copy_elements();
    // Why the name got such values; null if it did not.
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
