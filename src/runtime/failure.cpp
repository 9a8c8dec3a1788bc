// See failure.h.
#include "runtime/failure.h"

#include <pthread.h>

#include "ir/site.h"
#include "support/abi.h"

namespace parpy {
namespace {

// 0, which is below every frame, if the system does not know the limit.
std::int64_t find_stack_limit() {
    constexpr std::size_t kReserve = 128 * 1024;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* lowest = nullptr;
    std::size_t size = 0;
    std::size_t guard = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<std::int64_t>(lowest) +
           static_cast<std::int64_t>(guard + std::min(kReserve, size / 2));
}

}  // namespace

RuntimeError located_error(const Program& program, const Failure& failure) {
    auto located = std::make_shared<const Diagnostic>(
        ir::describe(program.sites, failure.site(), failure.values()));
    return {located->code, located->message, located->help, located};
}

}  // namespace parpy

extern "C" std::int64_t parpy_stack_limit() {
    static thread_local const std::int64_t limit = parpy::find_stack_limit();
    return limit;
}

extern "C" void parpy_fail(std::int64_t site, const std::int64_t* values, std::int64_t count) {
    const parpy::Landing& here = *parpy::innermost_landing;
    here.failure->raise(site, {values, static_cast<std::size_t>(count)}, here.chunk);
    parpy::leave_failed_run();
}
