// See failure.h.
#include "runtime/failure.h"

#include "runtime/abi.h"

extern "C" void parpy_fail(std::int64_t site, const std::int64_t* values, std::int64_t count) {
    parpy::innermost_landing->failure->raise(site, {values, static_cast<std::size_t>(count)});
    parpy::leave_failed_run();
}
