// Gives the name that messages use for a function. A copy of the entry, which calls itself, has
// another name in the program than in its source.
#pragma once

#include <string>

#include "ir/ir.h"

namespace parpy {

inline const std::string& shown_name(const ir::Module& module, const ir::Function& function) {
    const ir::Function* entry = module.entry_function();
    const bool is_copy = entry != nullptr && entry->span.valid() && entry->span == function.span;
    return is_copy ? entry->name : function.name;
}

}  // namespace parpy
