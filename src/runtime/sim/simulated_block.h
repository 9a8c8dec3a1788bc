// One block of a simulated launch: its threads, their waits, and the choice of the next to run.
// A block that waits for its cluster yields to the scheduler of the cluster (simulated_cluster.h).
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/sim/access_watch.h"
#include "runtime/sim/fiber.h"
#include "runtime/sim/simulator.h"

namespace parpy::sim {

// A sequence determined by the seed.
class RandomOrder {
public:
    explicit RandomOrder(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
        z = (z ^ z >> 27) * 0x94D049BB133111EBU;
        return (z ^ z >> 31) % bound;
    }

private:
    std::uint64_t state_;
};

// The state that the workers of one launch share.
class Grid {
public:
    explicit Grid(const Launch& l) : launch(l) {
        if (l.settings.watched) watch = std::make_unique<AccessWatch>();
    }
    const Launch& launch;
    // The order of the blocks, those of a cluster together; empty: by number.
    std::vector<std::uint64_t> order;
    std::uint64_t idle_pauses = 0;  // of waiting loops, since the last progress; one worker only
    std::unique_ptr<AccessWatch> watch;  // null: not watched; one worker only
    Interrupt interrupt;                 // by Ctrl-C

    [[nodiscard]] unsigned threads_per_block() const {
        return launch.block.x * launch.block.y * launch.block.z;
    }
    [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void stop(Fault fault);  // the first one counts
    [[nodiscard]] Fault take_fault() { return std::move(fault_); }

private:
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    Fault fault_;
};

class Block;

// A thread of a block on a fiber, or all of a block's threads in turn.
struct SimFiber {
    SimFiber() = default;
    explicit SimFiber(char* small_stack) : fiber(small_stack) {}
    Fiber fiber;
    Thread thread{};
    Thread* here = nullptr;  // parpy_sim_here()
    Block* block = nullptr;
    unsigned linear = 0;
    enum class At : std::uint8_t {
        kRunning,
        kBarrier,
        kCluster,
        kExchange,
        kActive
    } at = At::kRunning;
    int line = 0;
    const int* lines = nullptr;  // watched code: of the last place that it reported
    void tell(const int* at_lines) {
        if (*at_lines != 0 || lines == nullptr) lines = at_lines;  // else it is in foreign code
    }
    int kind = 0;
    unsigned mask = 0;
    unsigned long long value = 0;
    int from = 0;
    unsigned long long result = 0;
    unsigned long long seen = 0;  // by its last pause
    // Watched code: the places that it has read since it did anything else.
    std::array<const void*, 4> places{};
    unsigned next_place = 0, repeats = 0, rounds = 0;
};

// One thread of the machine that works for a launch, with its fibers.
class Worker {
public:
    explicit Worker(Grid& g) : grid(g), cpu(FiberThread::current()) {}
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    [[nodiscard]] SimFiber* acquire();  // null, and the grid stopped, without memory
    void release(SimFiber* fiber) { idle_.push_back(fiber); }

    Grid& grid;
    FiberThread& cpu;

private:
    [[nodiscard]] SimFiber* acquire_small();

    std::vector<SimFiber*> idle_;
    // Used beyond kGuardedFibers; freed with the launch.
    std::deque<SmallStacks> stacks_;
    std::deque<SimFiber> small_;
};

class Block {
public:
    explicit Block(Worker& worker);
    ~Block() { recall(); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    // Runs the blocks from `begin` to `end` of a kernel whose threads do not wait.
    void run_rows(std::uint64_t begin, std::uint64_t end);

    // Other kernels: starts one block, the number-th in the grid's order.
    void start(std::uint64_t number);
    // Runs until all threads have ended or the launch is stopped (kEnded), all threads that can run
    // are in waiting loops (kSpins), or all remaining threads wait for the cluster (kWaits).
    enum class State : std::uint8_t { kEnded, kSpins, kWaits };
    State resume();
    // Sets the blocks of its cluster, in the order of their ranks.
    void join(std::span<const std::unique_ptr<Block>> cluster, unsigned rank);
    // Lets all threads that wait at the cluster's barrier go on.
    void release_cluster();
    [[nodiscard]] unsigned cluster_rank() const { return rank_; }
    // Every block is in waiting loops: ends the launch. `more`: further blocks found no room.
    void report_spinning(bool more);

    // The operations of the running thread `self`.
    int barrier(SimFiber& self, int line, int kind, bool predicate);
    void cluster_barrier(SimFiber& self, int line);
    void* map_shared(SimFiber& self, int line, const void* address, unsigned rank);
    unsigned long long exchange(SimFiber& self);
    unsigned long long active(SimFiber& self);
    void pause(SimFiber& self, int line, unsigned long long seen);
    void touch(const Thread& thread, const void* address, std::size_t bytes, Touch how,
               const int* lines);
    void declare(const void* address, std::size_t bytes);
    void fence(const Thread& thread);
    // Fails if the mask of an exchange does not include the thread.
    void check_mask(SimFiber& self, unsigned mask);
    [[noreturn]] void fail(SimFiber& self, Fault fault);
    // "thread (1, 0, 0) of block (2, 0, 0)"
    [[nodiscard]] std::string place_of(unsigned linear) const;

private:
    struct Warp {
        unsigned alive = 0, arrived = 0;
        unsigned asking = 0;  // lanes in active()
        unsigned syncs = 0;   // completed __syncwarp()
    };

    static void thread_body(Fiber&, void* data);
    static void rows_body(Fiber&, void* data);
    static void land(Fiber&, void* data, int reason, const void* address);

    // Runs up to `most` blocks from the current one on, row by row; returns their number.
    std::uint64_t run_rows(SimFiber& self, std::uint64_t most);
    [[nodiscard]] unsigned neighbours(std::uint64_t most) const;
    void find(std::uint64_t number);
    [[nodiscard]] Thread first_thread() const;
    [[nodiscard]] Index position(unsigned linear) const;
    [[nodiscard]] std::string name_of(unsigned linear) const;
    [[nodiscard]] Index block_at(std::uint64_t number) const;
    [[nodiscard]] Actor actor(const Thread& thread) const;
    [[nodiscard]] std::string name_of(const Actor& actor) const;
    [[nodiscard]] bool is_shared(const void* address) const;
    [[nodiscard]] Warp& warp_of(const SimFiber& fiber);
    [[nodiscard]] unsigned lane_of(const SimFiber& fiber) const;

    void begin_thread(SimFiber& fiber);
    [[nodiscard]] SimFiber* next(SimFiber* finished = nullptr);
    void suspend(SimFiber& self);
    void yield(SimFiber& self);
    void wake(SimFiber& fiber);
    void finish(SimFiber& self);
    void release_barrier();
    void release_exchange(unsigned warp);
    bool complete(unsigned warp, const SimFiber& one);
    unsigned long long shuffled(const SimFiber& fiber, unsigned warp, unsigned present);
    [[nodiscard]] bool is_still(unsigned warp) const;
    void answer(unsigned warp);
    void linger(SimFiber& self, const void* address, Touch how);
    void progress();
    void report_deadlock();
    void report_skipped(const SimFiber& waiting);
    void report_unset();
    void report_lane(const SimFiber& fiber, unsigned from);
    [[noreturn]] void report_mapping(SimFiber& self, const void* address, unsigned rank);
    [[noreturn]] void report_reading(SimFiber& self);
    void recall();
    [[noreturn]] void leave_for_good();
    [[noreturn]] void leave_to_others();

    Worker& worker_;
    const Launch& launch_;
    const unsigned count_;  // number of threads
    Index index_{};
    std::uint64_t rows_begin_ = 0, rows_end_ = 0;  // blocks of run_rows
    std::vector<unsigned char> shared_;
    unsigned char* shared_begin_ = nullptr;
    RandomOrder random_{0};
    std::vector<unsigned> order_;       // of starting; empty: by number
    std::vector<SimFiber*> by_thread_;  // null: not started, or finished
    std::vector<Warp> warps_;
    std::deque<SimFiber*> ready_;
    unsigned started_ = 0, alive_ = 0;
    unsigned arrived_ = 0, holding_ = 0;  // at the barrier; of these, with a true predicate
    unsigned barriers_ = 0;               // completed by all
    std::span<const std::unique_ptr<Block>> cluster_;
    unsigned rank_ = 0, at_cluster_ = 0;  // in the cluster; threads at its barrier
    // A read of shared memory that was never written. The reader stops: it is a race if another
    // thread writes there; if all others end or wait first, this fault is reported.
    std::optional<Fault> unset_;
    std::uint64_t number_ = 0;         // the number of the block in the grid
    unsigned pauses_ = 0, turns_ = 0;  // of the running thread; of threads in waiting loops
    bool spinning_ = false;
};

}  // namespace parpy::sim
