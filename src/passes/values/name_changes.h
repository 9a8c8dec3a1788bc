// Names that are bound several times, for lower_names.
#pragma once

#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/ir.h"

namespace parpy {

// The properties in which a name that is bound several times differs from its first bind. They are
// found during lowering, which then starts again from the original function.
struct NameChanges {
    std::set<std::pair<const ir::Var*, std::size_t>>
        parts;  // all of a dimension at some binds only
    std::set<std::pair<const ir::Var*, std::size_t>> steps;  // by dimension of the array
    std::set<std::pair<const ir::Var*, std::size_t>> sizes;  // by dimension of the name
};

// A copy of a function in which names are bound several times, made before any change.
class OriginalFunction {
public:
    OriginalFunction(ir::Module& module, ir::Function& function);

    void restore() const;

private:
    ir::Module& module_;
    ir::Function& function_;
    const std::size_t sites_;
    ir::Body body_;
    decltype(ir::Function::given) given_;
    std::unordered_map<ir::Var*, ir::Var> arrays_;
};

}  // namespace parpy
