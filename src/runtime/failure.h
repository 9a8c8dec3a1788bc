// How a running program stops at a failed check (abi.h, parpy_fail). Generated code has no
// destructors, so it is left by a jump to the place where the run-time system entered it: once per
// program, and once per chunk of a parallel loop, which another thread may run. Programs without
// checks are entered directly and pay nothing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <string_view>

#include "runtime/executable.h"

namespace parpy {

// The first failure of one run of a program, in the order of its iterations: that of the lowest
// chunk. Any of its threads may raise; read it only when all of them have stopped.
class Failure {
public:
    void raise(std::int64_t site, std::span<const std::int64_t> values, std::int64_t chunk) {
        const std::scoped_lock lock(mutex_);
        if (chunk >= chunk_.load(std::memory_order_relaxed)) return;
        site_ = static_cast<std::size_t>(site);
        count_ = std::min(values.size(), values_.size());
        std::copy_n(values.begin(), count_, values_.begin());
        chunk_.store(chunk, std::memory_order_release);
    }
    [[nodiscard]] bool raised() const { return raised_before(kNone); }
    // Whether a lower chunk failed: then this chunk need not run.
    [[nodiscard]] bool raised_before(std::int64_t chunk) const {
        return chunk_.load(std::memory_order_acquire) < chunk;
    }
    [[nodiscard]] std::size_t site() const { return site_; }
    [[nodiscard]] std::span<const std::int64_t> values() const { return {values_.data(), count_}; }

private:
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

    std::mutex mutex_;
    std::atomic<std::int64_t> chunk_{kNone};
    std::size_t site_ = 0;
    std::size_t count_ = 0;
    std::array<std::int64_t, 64> values_{};
};

// The place to which this thread jumps on a failure; the innermost landing counts.
struct Landing {
    std::jmp_buf place;
    Failure* failure;
    Landing* around;
    std::int64_t chunk;  // of a parallel loop; 0 for the program itself
};
inline thread_local Landing* innermost_landing = nullptr;

// Calls run(), which a failure abandons: nothing in it may need a destructor.
template <class Run>
void run_until_failure(Failure& failure, const Run& run, std::int64_t chunk = 0) {
    Landing landing;
    landing.failure = &failure;
    landing.chunk = chunk;
    landing.around = innermost_landing;
    innermost_landing = &landing;
    if (_setjmp(landing.place) == 0) run();
    innermost_landing = landing.around;
}

// Whether generated text can fail: host code calls parpy_fail, device code sets parpy_failure.
[[nodiscard]] inline bool can_fail(std::string_view text) {
    return text.find("parpy_fail") != std::string_view::npos;
}

// The error that a failed program reports to its caller.
[[nodiscard]] RuntimeError located_error(const Program& program, const Failure& failure);

// To be called after another run has failed: leaves the innermost run.
[[noreturn]] inline void leave_failed_run() {
    std::longjmp(innermost_landing->place, 1);
}

}  // namespace parpy
