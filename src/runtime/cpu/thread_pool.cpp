// parpy_chunks and parpy_parallel_for on oneTBB. The split into chunks depends on the arguments
// alone; TBB decides which thread runs a chunk, and when.
#include "runtime/cpu/thread_pool.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/context.h"
#include "support/abi.h"
#include "support/environment.h"
#include "support/sanitizers.h"

namespace parpy {

namespace {

// Nanoseconds from which on a chunk is worth another thread; more chunks than threads even out
// iterations of different cost. On 16 cores whose threads have just run another
// loop, 20 us of work take 13 us in 2 chunks, 9 in 4 and 8 in 8; 10 us take 7 in any number.
constexpr double kChunkWork = 5'000;
constexpr std::int64_t kChunksPerWorker = 4;

// A loop of fewer nanoseconds is not worth waking two or three threads.
constexpr std::int64_t kFewWorkers = 4;
constexpr double kSerialBelowForFew = 40'000;

std::atomic<bool> workers_exist{false};
std::atomic<bool> workers_lost{false};  // we are a fork of a process that had workers

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    if (workers_exist.load(std::memory_order_relaxed)) workers_lost.store(true);
});

using Body = void (*)(void*, std::int64_t, std::int64_t, std::int64_t);

struct Split {
    std::int64_t iterations, chunks;
    [[nodiscard]] std::int64_t begin(std::int64_t chunk) const {
        const std::int64_t each = iterations / chunks, rest = iterations % chunks;
        return chunk * each + std::min(chunk, rest);
    }
};

// The places where the chunks of a loop ran when this thread last started it: they run there again
// unless another thread is idle, so that data that one loop leaves in a core's cache is there for
// the next (loops over 1.3 MB on 16 cores: 13 us in place of 30).
class Affinity {
public:
    explicit Affinity(Body loop) : place_(places_[std::hash<Body>()(loop) / 16 % kPlaces]) {
        if (!place_.used) partitioner_ = &place_.partitioner;
        if (partitioner_ != nullptr) place_.used = true;
    }
    ~Affinity() {
        if (partitioner_ != nullptr) place_.used = false;
    }
    Affinity(const Affinity&) = delete;
    Affinity& operator=(const Affinity&) = delete;

    // Null within a loop that uses it: this thread may start it again while it waits for others.
    [[nodiscard]] tbb::affinity_partitioner* partitioner() const { return partitioner_; }

private:
    struct Place {
        tbb::affinity_partitioner partitioner;
        bool used = false;
    };
    static constexpr std::size_t kPlaces = 16;
    static thread_local std::array<Place, kPlaces> places_;

    Place& place_;
    tbb::affinity_partitioner* partitioner_ = nullptr;
};

thread_local std::array<Affinity::Place, Affinity::kPlaces> Affinity::places_;

void run_in_arena(const Split& split, Body loop, Body body, void* frame) {
    const Affinity affinity(loop);
    const auto run = [&](std::int64_t chunk) {
        take_over(&workers_exist);
        body(frame, split.begin(chunk), split.begin(chunk + 1), chunk);
        hand_over(&workers_exist);
    };
    hand_over(&workers_exist);
    if (auto* partitioner = affinity.partitioner()) {
        tbb::parallel_for(std::int64_t{0}, split.chunks, run, *partitioner);
    } else {
        tbb::parallel_for(std::int64_t{0}, split.chunks, run);
    }
    take_over(&workers_exist);
}

std::int64_t processor_count() {
    static const std::int64_t count = std::max(tbb::info::default_concurrency(), 1);
    return count;
}

// TBB's own locks may be held, in a fork, by threads that no longer exist.
struct LeaveLost {
    void operator()(tbb::task_arena* arena) const {
        if (!workers_lost.load(std::memory_order_relaxed)) delete arena;
    }
};

// An arena of at most `workers` threads; each calling thread keeps the one it used last.
tbb::task_arena& bounded_arena(std::int64_t workers) {
    static thread_local std::unique_ptr<tbb::task_arena, LeaveLost> arena;
    static thread_local std::int64_t size = 0;
    if (!arena || size != workers) {
        arena.reset(new tbb::task_arena(static_cast<int>(workers)));
        size = workers;
    }
    return *arena;
}

// A body that may fail: it stops at the failure, and later chunks that have not begun do not run.
struct Checked {
    Failure& failure;
    Body body;
    void* frame;

    static void run(void* self, std::int64_t begin, std::int64_t end, std::int64_t chunk) {
        const Checked& checked = *static_cast<const Checked*>(self);
        if (checked.failure.raised_before(chunk)) return;
        run_until_failure(
            checked.failure, [&] { checked.body(checked.frame, begin, end, chunk); }, chunk);
    }
};

// Runs the chunks. `loop` identifies the loop; `body` runs a chunk of it.
void run_chunks(const Split& split, std::int64_t max_workers, Body loop, Body body, void* frame) {
    std::int64_t workers = worker_count();
    if (max_workers > 0) workers = std::min(workers, max_workers);
    if (workers < 2 || workers_lost.load(std::memory_order_relaxed)) {
        for (std::int64_t chunk = 0; chunk < split.chunks; ++chunk) {
            body(frame, split.begin(chunk), split.begin(chunk + 1), chunk);
        }
        return;
    }
    workers_exist.store(true, std::memory_order_relaxed);
    if (workers == processor_count()) {
        run_in_arena(split, loop, body, frame);
    } else {
        bounded_arena(workers).execute([&] { run_in_arena(split, loop, body, frame); });
    }
}

}  // namespace

std::int64_t worker_count() {
    static const std::int64_t count = [] {
        const auto most = static_cast<std::uint64_t>(processor_count());
        const std::uint64_t wanted = environment_number("PARPY_NUM_THREADS").value_or(0);
        return static_cast<std::int64_t>(wanted > 0 ? std::min(wanted, most) : most);
    }();
    return count;
}

std::string threading_version() {
    std::string version = TBB_runtime_version();
    return version;
}

namespace {

thread_local bool one_worker = false;

}  // namespace

OneWorker::OneWorker() : before_(std::exchange(one_worker, true)) {}
OneWorker::~OneWorker() {
    one_worker = before_;
}

void warm_workers() {
    if (worker_count() < 2 || workers_lost.load(std::memory_order_relaxed)) return;
    static std::once_flag once;
    std::call_once(once, [] {
        workers_exist.store(true, std::memory_order_relaxed);
        tbb::task_arena(static_cast<int>(worker_count())).enqueue([] {});
    });
}

}  // namespace parpy

extern "C" std::int64_t parpy_chunks(ParpyContext*, std::int64_t iterations, double cost,
                                     std::int64_t max_workers) {
    using namespace parpy;
    if (iterations <= 0) return 0;
    static const std::uint64_t forced = environment_number("PARPY_CHUNKS").value_or(0);
    if (forced > 0) {
        const auto most = static_cast<std::uint64_t>(std::min(iterations, kParpyMaxChunks));
        return static_cast<std::int64_t>(std::min(forced, most));
    }
    std::int64_t workers = worker_count();
    if (max_workers > 0) workers = std::min(workers, max_workers);
    const double work = static_cast<double>(iterations) * cost;
    const double least = workers < kFewWorkers ? kSerialBelowForFew : kParpySerialBelow;
    if (workers < 2 || one_worker || iterations < 2 || !(work >= least)) return 1;
    const std::int64_t most = std::min({iterations, workers * kChunksPerWorker, kParpyMaxChunks});
    const double wanted = std::min(work / kChunkWork, static_cast<double>(most));
    std::int64_t chunks = std::max(static_cast<std::int64_t>(wanted), std::int64_t{2});
    if (chunks > workers) chunks -= chunks % workers;
    return chunks;
}

extern "C" void parpy_parallel_for(ParpyContext* context, std::int64_t iterations,
                                   std::int64_t chunks, std::int64_t max_workers, parpy::Body body,
                                   void* frame) {
    using namespace parpy;
    if (iterations <= 0) return;
    const Split split{iterations, std::clamp(chunks, std::int64_t{1}, iterations)};
    if (split.chunks == 1) {
        body(frame, 0, iterations, 0);
        return;
    }
    if (context != nullptr && context->failure != nullptr) {
        Checked checked{*context->failure, body, frame};
        run_chunks(split, max_workers, body, Checked::run, &checked);
        if (checked.failure.raised()) leave_failed_run();
        return;
    }
    run_chunks(split, max_workers, body, body, frame);
}
