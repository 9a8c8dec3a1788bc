// Gives each independent value of a name a variable of its own. `t = x32[i]; …; t = x64[i]; …` uses
// one name for two values, which Python types apart; definitions that reach a common use stay one
// variable. Also removes unreachable statements, and reports names that are read where no
// definition reaches. Part of infer_types.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostic.h"

namespace parpy {

struct Webs {
    // Every local variable, and the user's name for it.
    struct Split {
        ir::Var* var = nullptr;
        std::string name;
    };
    // `target` got its value from `source`, an earlier value of the same name.
    struct Step {
        ir::Assign* stmt = nullptr;
        ir::Var* source = nullptr;
        ir::Var* target = nullptr;
        bool update = false;    // was written as an augmented assignment
        bool only_use = false;  // of `source`
    };
    std::vector<Split> splits;
    std::vector<Step> steps;
    std::unordered_set<const ir::Assign*> augmented;  // written as augmented assignments
};

// Scalar parameters keep their variable unless they are assigned; then a local variable replaces
// it. An augmented assignment that ends one variable and starts another becomes a plain one.
[[nodiscard]] Webs split_variables(ir::Module& module, ir::Function& function,
                                   Diagnostics& diagnostics);

// When all types are known: joins variables of one name again where one is computed from the other
// and they have one type, restores augmented assignments, and gives every variable a unique name.
void rejoin_variables(ir::Function& function, const Webs& webs);

}  // namespace parpy
