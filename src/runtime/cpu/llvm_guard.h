// Keeps LLVM from ending the process. LLVM reports fatal errors to a handler that must not return
// (its default aborts); ours throws. LLVM is built without exceptions, so its frames are unwound
// without clean-up: objects that the failed call used must be abandoned, not destroyed.
#pragma once

#include <functional>
#include <string>

namespace parpy {

// Runs `work`; false, with LLVM's reason in `reason`, if it ended in a fatal error. `work` must own
// nothing whose destructor uses LLVM: the caller keeps such objects, and releases them afterwards.
[[nodiscard]] bool guard_llvm(const std::function<void()>& work, std::string& reason);

}  // namespace parpy
