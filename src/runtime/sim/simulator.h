// Runs one launch of simulated device code (runtime/sim) on the CPU: blocks in parallel, the
// threads of a block one after the other if they never wait for each other, and as fibers
// otherwise, with the barriers, shuffles and votes of a GPU. Deadlocks are reported as errors, and
// so are stack overflow and accesses to unmapped memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace parpy::sim {

// dialects/prelude/sim.inc has the same two structs.
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
    long long static_shared, module_shared;  // may exceed the limit of a block
    unsigned cluster[3];                     // blocks
    [[nodiscard]] unsigned cluster_size() const { return cluster[0] * cluster[1] * cluster[2]; }
};

inline constexpr int kWaits = 1;    // barriers, exchanges
inline constexpr int kSpins = 2;    // atomics whose results it uses: maybe a waiting loop
inline constexpr int kDeep = 4;     // large local arrays, nested calls: stacks grow
inline constexpr int kForeign = 8;  // calls functions of unknown stack size
inline constexpr std::uint64_t kSharedAlign = 16;

// Stacks with guard pages, each two of the 65530 mappings that Linux allows a process: the number
// made before threads that do not nest deeply get small stacks, and the most for those that do.
inline constexpr unsigned kGuardedFibers = 12 * 1024, kMostGuarded = 20 * 1024;
// The most threads with small stacks: more than the largest GPUs hold, a few gigabytes.
inline constexpr unsigned kMostSmall = 320 * 1024;
[[nodiscard]] inline bool may_be_deep(const Kernel& kernel) {
    return (kernel.needs & (kDeep | kForeign)) != 0;
}
// The most threads of the kernel that may be alive at a time.
[[nodiscard]] inline unsigned most_threads(const Kernel& kernel) {
    return may_be_deep(kernel) ? kMostGuarded : kMostSmall;
}

// The settings of parpy.cuda.sim.
struct Settings {
    int warp_size = 32;
    std::uint64_t seed = 0;  // 0: in order, blocks in parallel; else: a random order
    bool watched = false;    // the code reports its accesses: find conflicts
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

// The reason why a launch stopped: the first one in the grid.
struct Fault {
    Code code = Code::kP900;
    std::string message;  // names the thread and block; "{}" is replaced by the place of `line`, …
    int line = 0;         // of the device text; 0: unknown
    int other_line = 0;   // … and the second "{}" by that of this line
    std::string help;
    bool unplaced = false;  // watched code would have a line
    // Instead of `line` and `other_line`: the calls that lead there, the innermost first, then 0.
    const int* lines = nullptr;
    const int* other_lines = nullptr;
    // A failed check of the program: its site and values (failure.h); `message` names the thread.
    std::optional<std::int64_t> site{};
    std::vector<std::int64_t> values{};
    [[nodiscard]] bool happened() const { return !message.empty(); }
};

// Runs the launch and waits for its end. Thread-safe.
[[nodiscard]] Fault simulate(const Launch& launch);

}  // namespace parpy::sim

// The functions that device code calls (prelude/sim.inc says when).
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
// Watched code: called before each access (`how`: sim::Touch), after the declaration of local
// arrays, at fences, and before operations that may wait or fail. `lines`: of the device text,
// those of the calls that lead there, the innermost first, then 0.
void parpy_sim_touch(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     int how, const int* lines);
// The same for an ordinary store of `value`.
void parpy_sim_write(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     unsigned long long value, const int* lines);
void parpy_sim_declare(parpy::sim::Thread* thread, const void* address, unsigned long long bytes);
void parpy_sim_fence(parpy::sim::Thread* thread);
void parpy_sim_place(parpy::sim::Thread* thread, const int* lines);
}
