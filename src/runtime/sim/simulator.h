// Runs one launch of simulated device code (backend/sim) on the CPU: blocks in parallel, the
// threads of a block one after the other where they never wait for each other, and as fibers
// otherwise, with the barriers, shuffles and votes of a GPU. Threads that wait for each other in
// vain become an error, as do stack overflow and access to memory that is not there.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace parpy::sim {

// Behind dialects/prelude/sim.inc, which has the same two structs.
struct Index {
    unsigned x, y, z;
};
struct Thread {
    Index thread, block, block_dim, grid_dim;
    int warp_size;
    void* fiber;
    unsigned char* shared;
};
struct Kernel {
    void (*row)(const Thread* first, unsigned end, void** arguments);
    int needs;
    long long static_shared, module_shared;  // may be more than any block has
    unsigned cluster[3];                     // blocks
    [[nodiscard]] unsigned cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
};

inline constexpr int kWaits = 1;    // barriers, exchanges
inline constexpr int kSpins = 2;    // atomics whose results it looks at: maybe in a waiting loop
inline constexpr int kDeep = 4;     // large local arrays, calls of calls: stacks grow
inline constexpr int kForeign = 8;  // calls functions whose stacks nobody knows
inline constexpr std::uint64_t kSharedAlign = 16;

// Stacks with guard pages, each two of the 65530 mappings that Linux allows a process: so many are
// made before threads that do not go deep get small ones, and so many for those that do.
inline constexpr unsigned kGuardedFibers = 12 * 1024, kMostGuarded = 20 * 1024;
// Threads that wait for each other: more than the largest GPUs hold, a few gigabytes.
inline constexpr unsigned kMostSmall = 320 * 1024;
[[nodiscard]] inline bool may_be_deep(const Kernel& kernel) {
    return (kernel.needs & (kDeep | kForeign)) != 0;
}
// Threads of the kernel that are alive at a time, at most.
[[nodiscard]] inline unsigned most_threads(const Kernel& kernel) {
    return may_be_deep(kernel) ? kMostGuarded : kMostSmall;
}

// parpy.cuda.sim's settings.
struct Settings {
    int warp_size = 32;
    std::uint64_t seed = 0;  // 0: in order, blocks in parallel; else: an order of its own
    bool watched = false;    // the code tells of its accesses: find those that conflict
};

inline constexpr unsigned kMaxBlockThreads = 1024;
inline constexpr unsigned kMaxClusterBlocks = 16;
inline constexpr unsigned kMaxSharedBytes = 227 * 1024;

struct Launch {
    const Kernel* kernel;
    const char* name;
    Index grid, block;
    unsigned dynamic_shared;
    void** arguments;
    Settings settings;
};

// What stopped a launch: for the whole grid the first.
struct Fault {
    Code code = Code::kP900;
    std::string message;  // names the thread and block; "{}" stands for the place of `line`, …
    int line = 0;         // of the device text; 0: unknown
    int other_line = 0;   // … and the second "{}" for that of this one
    std::string help;
    bool unplaced = false;  // watched code would tell where
    // Instead of `line` and `other_line`: the calls that lead there, the innermost first, then 0.
    const int* lines = nullptr;
    const int* other_lines = nullptr;
    // A failed check of the program: its site and values (failure.h); `message` says who.
    std::optional<std::int64_t> site{};
    std::vector<std::int64_t> values{};
    [[nodiscard]] bool happened() const { return !message.empty(); }
};

// Waits for the launch. Thread-safe.
[[nodiscard]] Fault simulate(const Launch& launch);

}  // namespace parpy::sim

// What device code calls (prelude/sim.inc says when).
extern "C" {
parpy::sim::Thread* parpy_sim_here();
void parpy_sim_enter(parpy::sim::Thread* thread);
int parpy_sim_barrier(void* fiber, int line, int kind, int predicate);
unsigned long long parpy_sim_exchange(void* fiber, int line, int kind, unsigned mask,
                                      unsigned long long value, int from);
void* parpy_sim_map_shared(void* fiber, int line, const void* address, unsigned rank);
unsigned parpy_sim_cluster_rank(void* fiber);
void parpy_sim_pause(void* fiber, int line, unsigned long long seen);
[[noreturn]] void parpy_sim_fail(void* fiber, int line, const char* message);
[[noreturn]] void parpy_sim_raise(void* fiber, int linear, int site, const long long* values,
                                  int count);
void parpy_sim_sleep(void* fiber, unsigned nanoseconds);
// Of watched code: in front of each access (`how`: sim::Touch), behind the declaration of local
// arrays, at fences, and in front of what may wait or fail. `lines`: of the device text, those of
// the calls that lead there, the innermost first, then 0.
void parpy_sim_touch(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     int how, const int* lines);
// As parpy_sim_touch, of an ordinary store of these bytes.
void parpy_sim_write(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     unsigned long long value, const int* lines);
void parpy_sim_declare(parpy::sim::Thread* thread, const void* address, unsigned long long bytes);
void parpy_sim_fence(parpy::sim::Thread* thread);
void parpy_sim_place(parpy::sim::Thread* thread, const int* lines);
}
