// Whether two arrays may have elements in common: every pass asks this before it moves, keeps,
// joins or drops a load or a store. Callers may rely on `false`; `true` is no proof of sharing.
#pragma once

#include "ir/ir.h"

namespace parpy {

// True for an array and itself. Arguments share memory where the call says so (Var::aliased, with
// Var::placement where the overlap is known); arrays in dynamic shared memory all begin at its
// start. Any other array that a program makes has its own memory.
[[nodiscard]] bool may_share(const ir::Var& a, const ir::Var& b);

// The same for any of `arrays`, a range of pointers.
template <class Arrays>
[[nodiscard]] bool may_share(const Arrays& arrays, const ir::Var& array) {
    for (const ir::Var* other : arrays) {
        if (may_share(*other, array)) return true;
    }
    return false;
}

// Whether different subscripts within the extents are different elements of memory.
[[nodiscard]] bool is_injective(const ir::Var& array);

}  // namespace parpy
