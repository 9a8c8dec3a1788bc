// A stack for programs that nest deeply. Passes, printers and the compilers that run after them
// recurse along the nesting, and generated functions (chains of a thousand `elif`) would overflow
// the default stack of a thread.
#pragma once

#include <functional>

namespace parpy {

// Runs `work` on a separate thread with a stack that is large enough, and waits for it. Exceptions
// are passed on; throws std::runtime_error if the thread cannot be made.
void on_deep_stack(const std::function<void()>& work);
// The same if `deep`; else runs `work` here.
void where_it_fits(bool deep, const std::function<void()>& work);

}  // namespace parpy
