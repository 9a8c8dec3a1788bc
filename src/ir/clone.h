// Copies of IR for a second place in the tree, since a node has exactly one parent.
#pragma once

#include <unordered_map>

#include "ir/ir.h"

namespace parpy::ir {

// The replacements that a copy makes. `vars` renames variables wherever they occur; `values`
// replaces reads of a scalar variable by a copy of an expression (and takes precedence over
// `vars`).
struct Substitution {
    std::unordered_map<const Var*, Var*> vars;
    std::unordered_map<const Var*, const Expr*> values;
    std::unordered_map<const Function*, Function*> functions;
};

// Deep copies, made in `module`; spans, labels and mappings are kept. Null gives null.
[[nodiscard]] Expr* clone(Module& module, const Expr* expr, const Substitution& substitution = {});
[[nodiscard]] Stmt* clone(Module& module, const Stmt* stmt, const Substitution& substitution = {});
[[nodiscard]] Body clone(Module& module, const Body& body, const Substitution& substitution = {});

// Copies all of `from` but its name into the new function `name` of `module`, which has its own
// variables. Adds the pairs of variables to `substitution`, which may already map callees to other
// functions.
Function* clone_function(Module& module, const Function& from, std::string name,
                         Substitution& substitution);

[[nodiscard]] Module clone(const Module& module);

}  // namespace parpy::ir
