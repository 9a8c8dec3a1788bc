// Finds where the names of arrays of one function are bound, and whether a bind dominates all uses,
// for lower_names.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/ir.h"

namespace parpy {

struct NamePlace {
    std::vector<ir::Bind*> binds;        // in the order of the text
    const ir::Body* body = nullptr;      // the body that contains the first one
    std::vector<const ir::Stmt*> loops;  // around the first one, outermost first
    bool led = true;                     // all uses follow the first bind, in its body
    bool dominated = true;               // … and there is no other bind
    bool unbound = false;                // a use may come before any bind
};

class NamePlaces {
public:
    explicit NamePlaces(const ir::Function& function);

    [[nodiscard]] const NamePlace& of(const ir::Var* array) const { return places_.at(array); }
    [[nodiscard]] bool has(const ir::Var* array) const { return places_.contains(array); }
    [[nodiscard]] bool empty() const { return places_.empty(); }
    // The names in the order of their first binds.
    [[nodiscard]] const std::vector<ir::Var*>& names() const { return names_; }

private:
    void binds(const ir::Body& body);
    void uses(const ir::Body& body);
    void use(const ir::Var* array);

    std::unordered_map<const ir::Var*, NamePlace> places_;
    std::vector<ir::Var*> names_;
    std::vector<const ir::Stmt*> loops_;
    // The bodies around the current statement, and the names bound so far in each.
    std::vector<std::unordered_set<const ir::Var*>> bound_;
};

}  // namespace parpy
