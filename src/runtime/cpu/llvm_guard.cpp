// Installs the fatal-error handlers of our private copy of LLVM (llvm_guard.h).
#include "runtime/cpu/llvm_guard.h"

#include <llvm/Support/ErrorHandling.h>

#include <mutex>

namespace parpy {

namespace {

struct FatalError {
    std::string reason;
};

[[noreturn]] void throw_fatal(void*, const char* reason, bool) {
    throw FatalError{reason};
}

void install_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::install_fatal_error_handler(throw_fatal, nullptr);
        llvm::install_bad_alloc_error_handler(throw_fatal, nullptr);
    });
}

}  // namespace

bool guard_llvm(const std::function<void()>& work, std::string& reason) {
    install_handlers();
    try {
        work();
        return true;
    } catch (const FatalError& e) {
        reason = e.reason;
    } catch (const std::exception& e) {
        reason = e.what();
    }
    return false;
}

}  // namespace parpy
