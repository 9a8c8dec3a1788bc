// A stack for programs that nest deeply. Passes, printers and the compilers behind them recurse
// along the nesting, and generated functions (chains of a thousand `elif`) would overflow the stack
// that a thread has by default.
#pragma once

#include <functional>

namespace parpy {

// Runs `work` on a thread of its own with a stack that is large enough, and waits for it.
// Exceptions come back; throws std::runtime_error where there is no such thread.
void on_deep_stack(const std::function<void()>& work);
// … if `deep`, else here.
void where_it_fits(bool deep, const std::function<void()>& work);

}  // namespace parpy
