// See simulated_block.h. Threads switch directly from one to the next; the worker's own stack runs
// only between blocks.
#include "runtime/simulated_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace parpy::sim {

namespace {

constexpr unsigned kTurn = 64;  // pauses before the next thread's turn

// Stacks that no launch uses.
class SparePool {
public:
    static SparePool& instance() {
        static auto& pool = *new SparePool;
        return pool;
    }
    SimFiber* take() {
        {
            const std::scoped_lock lock(mutex_);
            if (!spare_.empty()) {
                SimFiber* fiber = spare_.back();
                spare_.pop_back();
                return fiber;
            }
        }
        auto made = std::make_unique<SimFiber>();
        return made->fiber.valid() ? made.release() : nullptr;
    }
    void give(std::vector<SimFiber*>& fibers) {
        const std::scoped_lock lock(mutex_);
        spare_.insert(spare_.end(), fibers.begin(), fibers.end());
        fibers.clear();
    }

private:
    std::mutex mutex_;
    std::vector<SimFiber*> spare_;
};

std::string text_of(Index i) {
    return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) +
           ")";
}

}  // namespace

void Grid::stop(Fault fault) {
    const std::scoped_lock lock(mutex_);
    if (fault_.happened()) return;
    fault_ = std::move(fault);
    stopped_.store(true, std::memory_order_relaxed);
}

Worker::~Worker() {
    SparePool::instance().give(idle_);
}

SimFiber* Worker::acquire() {
    if (!idle_.empty()) {
        SimFiber* fiber = idle_.back();
        idle_.pop_back();
        return fiber;
    }
    SimFiber* fiber = SparePool::instance().take();
    if (fiber == nullptr) {
        grid.stop({Code::kP542, "there is no memory for the stacks of the simulated threads", 0, 0,
                   "launch smaller blocks, or raise vm.max_map_count"});
    }
    return fiber;
}

// ---------------------------------------------------------------- start and end

Block::Block(Worker& worker)
    : worker_(worker),
      launch_(worker.grid.launch),
      count_(worker.grid.threads_per_block()),
      by_thread_(count_, nullptr) {
    const std::size_t bytes =
        static_cast<std::size_t>(launch_.kernel->module_shared) + launch_.dynamic_shared;
    shared_.resize(bytes + 64);
    void* begin = shared_.data();
    std::size_t space = shared_.size();
    shared_begin_ = static_cast<unsigned char*>(std::align(64, bytes, begin, space));
    const auto size = static_cast<unsigned>(launch_.settings.warp_size);
    warps_.resize((count_ + size - 1) / size);
}

void Block::recall() {
    for (SimFiber*& fiber : by_thread_) {
        if (fiber != nullptr) worker_.release(fiber);
        fiber = nullptr;
    }
    ready_.clear();
}

// Takes the place of the number-th block.
void Block::find(std::uint64_t number) {
    const std::uint64_t i = worker_.grid.order.empty() ? number : worker_.grid.order[number];
    number_ = i;
    index_ = block_at(i);
    if (AccessWatch* watch = worker_.grid.watch.get()) {
        watch->forget(
            reinterpret_cast<std::uintptr_t>(shared_begin_),
            static_cast<std::size_t>(launch_.kernel->module_shared) + launch_.dynamic_shared,
            false);
    }
    if (launch_.settings.seed == 0) return;
    // What a block finds in its shared memory is nothing to rely on.
    std::fill(shared_.begin(), shared_.end(), static_cast<unsigned char>(0xA5));
    random_ = RandomOrder(launch_.settings.seed + 1 + i);
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), 0U);
    for (unsigned t = count_; t > 1; --t)
        std::swap(order_[t - 1], order_[random_.below(t)]);
}

Index Block::block_at(std::uint64_t number) const {
    const std::uint64_t x = launch_.grid.x, y = launch_.grid.y;
    return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
            static_cast<unsigned>(number / x / y)};
}

void Block::start(std::uint64_t number) {
    recall();
    find(number);
    started_ = arrived_ = holding_ = barriers_ = pauses_ = turns_ = 0;
    alive_ = count_;
    const auto size = static_cast<unsigned>(launch_.settings.warp_size);
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        const unsigned lanes = std::min(size, count_ - static_cast<unsigned>(w) * size);
        warps_[w] = {lanes == 32 ? ~0U : (1U << lanes) - 1, 0, 0};
    }
}

Thread Block::first_thread() const {
    return {{0, 0, 0}, index_,       launch_.block, launch_.grid, launch_.settings.warp_size,
            nullptr,   shared_begin_};
}

Index Block::position(unsigned linear) const {
    const unsigned x = launch_.block.x, y = launch_.block.y;
    return {linear % x, linear / x % y, linear / x / y};
}

bool Block::resume() {
    spinning_ = false;
    turns_ = 0;
    if (SimFiber* fiber = next()) worker_.cpu.run(fiber->fiber, &Block::land);
    if (worker_.grid.stopped()) return true;
    if (spinning_) return false;
    if (alive_ > 0) report_deadlock();
    return true;
}

// ---------------------------------------------------------------- threads that do not wait

void Block::run_rows(std::uint64_t begin, std::uint64_t end) {
    SimFiber* fiber = worker_.acquire();
    if (fiber == nullptr) return;
    rows_begin_ = begin;
    rows_end_ = end;
    fiber->block = this;
    fiber->fiber.prepare(&Block::rows_body, fiber);
    worker_.cpu.run(fiber->fiber, &Block::land);
    worker_.release(fiber);
}

void Block::rows_body(Fiber&, void* data) {
    auto& self = *static_cast<SimFiber*>(data);
    Block& block = *self.block;
    for (std::uint64_t i = block.rows_begin_; i < block.rows_end_; ++i) {
        if (block.worker_.grid.stopped()) break;
        block.find(i);
        block.run_rows(self);
    }
    block.worker_.cpu.leave();
}

void Block::run_rows(SimFiber& self) {
    Thread& thread = self.thread;
    thread = first_thread();
    thread.fiber = &self;
    const auto row = launch_.kernel->row;
    if (order_.empty()) {
        for (thread.thread.z = 0; thread.thread.z < launch_.block.z; ++thread.thread.z) {
            for (thread.thread.y = 0; thread.thread.y < launch_.block.y; ++thread.thread.y)
                row(&thread, launch_.block.x, launch_.arguments);
        }
        return;
    }
    for (const unsigned linear : order_) {
        thread.thread = position(linear);
        row(&thread, thread.thread.x + 1, launch_.arguments);
    }
}

// ---------------------------------------------------------------- who runs

void Block::thread_body(Fiber&, void* data) {
    auto& self = *static_cast<SimFiber*>(data);
    for (;;) {
        const Launch& launch = self.block->launch_;
        launch.kernel->row(&self.thread, self.thread.thread.x + 1, launch.arguments);
        self.block->finish(self);
    }
}

// Puts the next thread that has not started on `fiber`.
void Block::begin_thread(SimFiber& fiber) {
    const unsigned linear = order_.empty() ? started_ : order_[started_];
    ++started_;
    fiber.block = this;
    fiber.linear = linear;
    fiber.at = SimFiber::At::kRunning;
    fiber.thread = first_thread();
    fiber.thread.thread = position(linear);
    fiber.thread.fiber = &fiber;
    fiber.here = &fiber.thread;
    by_thread_[linear] = &fiber;
}

// The thread to go on with, taken from those that are ready; null: none can run. A thread that
// starts takes the running fiber if that one's is `finished`.
SimFiber* Block::next(SimFiber* finished) {
    const std::uint64_t fresh = count_ - started_;
    bool begin = fresh > 0;
    if (!order_.empty() && begin && !ready_.empty()) {
        begin = random_.below(fresh + ready_.size()) < fresh;
    }
    if (begin && finished != nullptr) {
        begin_thread(*finished);
        return finished;
    }
    if (begin) {
        SimFiber* fiber = worker_.acquire();
        if (fiber == nullptr) return nullptr;
        begin_thread(*fiber);
        fiber->fiber.prepare(&Block::thread_body, fiber);
        return fiber;
    }
    if (ready_.empty()) return nullptr;
    if (!order_.empty()) std::swap(ready_.front(), ready_[random_.below(ready_.size())]);
    SimFiber* fiber = ready_.front();
    ready_.pop_front();
    return fiber;
}

void Block::suspend(SimFiber& self) {
    pauses_ = 0;
    SimFiber* other = next();
    if (other == &self) return;
    if (other == nullptr) {
        worker_.cpu.leave();
    } else {
        worker_.cpu.switch_to(other->fiber);
    }
}

void Block::wake(SimFiber& fiber) {
    fiber.at = SimFiber::At::kRunning;
    ready_.push_back(&fiber);
}

void Block::progress() {
    turns_ = 0;
    worker_.grid.idle_pauses = 0;
}

// The thread on `self` has left its kernel. Returns with another one on it, or never.
void Block::finish(SimFiber& self) {
    by_thread_[self.linear] = nullptr;
    --alive_;
    if ((launch_.kernel->needs & kSpins) != 0) progress();
    if (alive_ > 0) {
        Warp& warp = warp_of(self);
        warp.alive &= ~(1U << lane_of(self));
        if (arrived_ == alive_) release_barrier();
        if (warp.arrived != 0) {
            release_exchange(self.linear / static_cast<unsigned>(launch_.settings.warp_size));
        }
    }
    SimFiber* other = next(&self);
    if (other == &self) return;
    worker_.release(&self);  // nothing takes it before it has been left
    if (other == nullptr) {
        worker_.cpu.leave();
    } else {
        worker_.cpu.switch_to(other->fiber);
    }
}

// ---------------------------------------------------------------- barriers

int Block::barrier(SimFiber& self, int line, int kind, bool predicate) {
    self.at = SimFiber::At::kBarrier;
    self.line = line;
    self.kind = kind;
    holding_ += predicate ? 1U : 0U;
    ++arrived_;
    if (arrived_ == alive_) release_barrier();
    suspend(self);
    return static_cast<int>(self.result);
}

// All threads that are left are at a barrier; they go on if it is the same one.
void Block::release_barrier() {
    const SimFiber* first = nullptr;
    for (const SimFiber* fiber : by_thread_) {
        if (fiber == nullptr) continue;
        if (first == nullptr) first = fiber;
        if (fiber->line != first->line) return;
    }
    if (worker_.grid.watch != nullptr && alive_ != count_) return report_skipped(*first);
    ++barriers_;
    for (SimFiber* fiber : by_thread_) {
        if (fiber == nullptr) continue;
        switch (fiber->kind) {
            case 1:
                fiber->result = holding_;
                break;
            case 2:
                fiber->result = holding_ == arrived_ ? 1 : 0;
                break;
            default:
                fiber->result = holding_ > 0 ? 1 : 0;
                break;
        }
        wake(*fiber);
    }
    arrived_ = holding_ = 0;
    if ((launch_.kernel->needs & kSpins) != 0) progress();
}

// ---------------------------------------------------------------- warps

Block::Warp& Block::warp_of(const SimFiber& fiber) {
    return warps_[fiber.linear / static_cast<unsigned>(launch_.settings.warp_size)];
}

unsigned Block::lane_of(const SimFiber& fiber) const {
    return fiber.linear % static_cast<unsigned>(launch_.settings.warp_size);
}

unsigned long long Block::exchange(SimFiber& self) {
    self.at = SimFiber::At::kExchange;
    warp_of(self).arrived |= 1U << lane_of(self);
    release_exchange(self.linear / static_cast<unsigned>(launch_.settings.warp_size));
    suspend(self);
    return self.result;
}

// Whether all lanes that `one` waits for are at the same operation as it.
bool Block::complete(unsigned warp, const SimFiber& one) {
    const unsigned begin = warp * static_cast<unsigned>(launch_.settings.warp_size);
    const unsigned wanted = one.mask & warps_[warp].alive;
    if ((warps_[warp].arrived & wanted) != wanted) return false;
    for (unsigned left = wanted; left != 0; left &= left - 1) {
        const SimFiber& fiber = *by_thread_[begin + static_cast<unsigned>(std::countr_zero(left))];
        if (fiber.line != one.line || fiber.kind != one.kind || fiber.mask != one.mask)
            return false;
    }
    return true;
}

void Block::release_exchange(unsigned warp) {
    const unsigned begin = warp * static_cast<unsigned>(launch_.settings.warp_size);
    Warp& group = warps_[warp];
    const auto fiber_at = [&](unsigned lane) -> SimFiber& { return *by_thread_[begin + lane]; };
    for (unsigned left = group.arrived; left != 0;) {
        const SimFiber& one = fiber_at(static_cast<unsigned>(std::countr_zero(left)));
        const unsigned wanted = one.mask & group.alive;
        if (!complete(warp, one)) {
            left &= left - 1;
            continue;
        }
        unsigned ballot = 0;
        for (unsigned lanes = wanted; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            if (fiber_at(lane).value != 0) ballot |= 1U << lane;
        }
        for (unsigned lanes = wanted; lanes != 0; lanes &= lanes - 1) {
            SimFiber& fiber = fiber_at(static_cast<unsigned>(std::countr_zero(lanes)));
            const auto from = static_cast<unsigned>(fiber.from) & 31U;
            switch (fiber.kind) {
                case 1:
                    fiber.result = (wanted >> from & 1U) != 0 ? fiber_at(from).value : fiber.value;
                    break;
                case 3:
                    fiber.result = 0;
                    for (unsigned others = wanted; others != 0; others &= others - 1) {
                        const auto other = static_cast<unsigned>(std::countr_zero(others));
                        if (fiber_at(other).value == fiber.value) fiber.result |= 1ULL << other;
                    }
                    break;
                default:
                    fiber.result = ballot;
                    break;
            }
            wake(fiber);
        }
        ++group.exchanges;
        group.arrived &= ~wanted;
        left &= ~wanted;
        if ((launch_.kernel->needs & kSpins) != 0) progress();
    }
}

// ---------------------------------------------------------------- waiting loops

void Block::pause(SimFiber& self, int line, unsigned long long seen) {
    Grid& grid = worker_.grid;
    if (seen != self.seen || line != self.line) {
        self.seen = seen;
        self.line = line;
        progress();
    } else {
        ++grid.idle_pauses;
    }
    if (++pauses_ < kTurn) return;
    pauses_ = 0;
    ready_.push_back(&self);
    if (++turns_ > 2 * ready_.size() && started_ == count_) {
        spinning_ = true;
        worker_.cpu.leave();
        return;
    }
    suspend(self);
}

// ---------------------------------------------------------------- faults

std::string Block::name_of(unsigned linear) const {
    return "thread " + text_of(position(linear));
}

std::string Block::place_of(unsigned linear) const {
    return name_of(linear) + " of block " + text_of(index_);
}

void Block::report_deadlock() {
    const SimFiber* first = nullptr;
    const SimFiber* other = nullptr;
    for (const SimFiber* fiber : by_thread_) {
        if (fiber == nullptr) continue;
        if (first == nullptr) {
            first = fiber;
        } else if (fiber->line != first->line || fiber->at != first->at ||
                   (fiber->at == SimFiber::At::kExchange && fiber->mask != first->mask)) {
            other = fiber;
            break;
        }
    }
    Fault fault;
    fault.code = Code::kP540;
    fault.line = first->line;
    fault.message = "the threads of block " + text_of(index_) +
                    " wait for each other: " + name_of(first->linear) + " at {}";
    if (other != nullptr) {
        fault.message += ", " + name_of(other->linear) + " at {}";
        fault.other_line = other->line;
    } else {
        fault.message += ", for lanes that do not come";
    }
    fault.help =
        "every thread of a block must reach the same barrier, and every lane of a mask the same "
        "exchange: move them out of the branch";
    worker_.grid.stop(std::move(fault));
}

void Block::report_spinning(bool more) {
    Fault fault;
    fault.code = Code::kP540;
    const auto waiting = std::ranges::find_if(by_thread_, [](auto* f) { return f != nullptr; });
    if (waiting == by_thread_.end()) return;
    fault.line = (*waiting)->line;
    fault.message = name_of((*waiting)->linear) + " of block " + text_of(index_) +
                    " waits at {} for something that no thread does";
    fault.help = more ? "it may be a block that found no room beside those that wait: launch "
                        "fewer blocks or smaller ones"
                      : "all other threads have finished or wait as well";
    worker_.grid.stop(std::move(fault));
}

// Threads have left the kernel without the barrier that the others are at.
void Block::report_skipped(const SimFiber& waiting) {
    const auto left = std::ranges::find(by_thread_, nullptr);
    Fault fault;
    fault.code = Code::kP540;
    fault.line = waiting.line;
    fault.message = place_of(static_cast<unsigned>(left - by_thread_.begin())) +
                    " has left the kernel, and " + name_of(waiting.linear) + " waits for it at {}";
    fault.help =
        "every thread of a block must reach each barrier: let those that have nothing to "
        "do skip the work, not the barrier";
    worker_.grid.stop(std::move(fault));
}

void Block::fail(SimFiber&, Fault fault) {
    worker_.grid.stop(std::move(fault));
    worker_.cpu.leave();
    __builtin_unreachable();
}

// ---------------------------------------------------------------- watched accesses

Actor Block::actor(const Thread& thread) const {
    const Index at = thread.thread;
    const unsigned linear = at.x + launch_.block.x * (at.y + launch_.block.y * at.z);
    const unsigned warp = linear / static_cast<unsigned>(launch_.settings.warp_size);
    return {static_cast<std::uint32_t>(number_), static_cast<std::uint16_t>(linear),
            static_cast<std::uint16_t>(warp), barriers_, warps_[warp].exchanges};
}

std::string Block::name_of(const Actor& actor) const {
    return name_of(actor.thread) + " of block " + text_of(block_at(actor.block));
}

bool Block::is_shared(const void* address) const {
    const auto* at = static_cast<const unsigned char*>(address);
    return at >= shared_begin_ && at < shared_.data() + shared_.size();
}

void Block::touch(const Thread& thread, const void* address, std::size_t bytes, Touch how,
                  const int* lines) {
    auto& self = *static_cast<SimFiber*>(thread.fiber);
    AccessWatch& watch = *worker_.grid.watch;
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const Actor me = actor(thread);
    std::optional<AccessWatch::Finding> found;
    const bool own = self.fiber.holds(address);
    if (own) {
        if (!watch.touch_own(place, bytes, how == Touch::kWrite)) found = {.unset = true};
    } else {
        found = watch.touch(me, place, bytes, how, lines);
    }
    if (!found) return;
    const std::string memory = own                  ? "a local array"
                               : is_shared(address) ? "shared memory"
                                                    : "an array";
    Fault fault;
    fault.lines = lines;
    if (found->unset) {
        fault.code = Code::kP544;
        fault.message =
            name_of(me) + " reads an element of " + memory + " at {} that nobody has written";
        fault.help = own ? "such memory has arbitrary contents: write it first"
                         : "such memory has arbitrary contents: write it first, and let those who "
                           "read wait with cuda.syncthreads()";
    } else {
        fault.code = Code::kP543;
        fault.other_lines = found->other_lines;
        fault.message = name_of(me) + (how == Touch::kRead ? " reads" : " writes") +
                        " an element of " + memory + " at {} that " + name_of(found->other) +
                        (found->other_wrote ? " writes" : " reads") +
                        " at {}, and nothing says who is first";
        fault.help = found->other.block == me.block
                         ? "put cuda.syncthreads() between the two, or use cuda.atomic for both"
                         : "blocks run in any order: use cuda.atomic for both, a kernel for each, "
                           "or cg.this_grid().sync()";
    }
    fail(self, std::move(fault));
}

void Block::declare(const void* address, std::size_t bytes) {
    worker_.grid.watch->forget(reinterpret_cast<std::uintptr_t>(address), bytes, false);
}

void Block::fence(const Thread& thread) {
    worker_.grid.watch->fence(actor(thread));
}

void Block::land(Fiber&, void* data, int reason, const void* address) {
    auto& self = *static_cast<SimFiber*>(data);
    Block& block = *self.block;
    const bool rows = (block.launch_.kernel->needs & (kWaits | kSpins)) == 0;
    const std::string who =
        (rows ? "a thread" : block.name_of(self.linear)) + " of block " + text_of(block.index_);
    char where[32];
    std::snprintf(where, sizeof where, "%p", address);
    Fault fault;
    fault.code = Code::kP541;
    if (reason == FiberThread::kStackOverflow) {
        fault.message =
            who + " used up its stack of " + std::to_string(Fiber::kStackBytes >> 10) + " KiB";
        fault.help = "end the recursion earlier, or make local arrays smaller";
    } else if (reason == SIGFPE) {
        fault.message = who + " divided an integer by zero";
    } else {
        // The processor does not tell addresses that cannot exist.
        fault.message = who + " accessed memory " +
                        (address == nullptr ? "that cannot exist"
                                            : std::string("at ") + where + ", which is nobody's");
        fault.help = "a subscript is out of range";
    }
    block.fail(self, std::move(fault));
}

}  // namespace parpy::sim

// ---------------------------------------------------------------- what device code calls

namespace {

parpy::sim::SimFiber& running() {
    return *static_cast<parpy::sim::SimFiber*>(parpy::FiberThread::current().running()->data());
}

parpy::sim::SimFiber& as_fiber(void* fiber) {
    return *static_cast<parpy::sim::SimFiber*>(fiber);
}

}  // namespace

parpy::sim::Thread* parpy_sim_here() {
    return running().here;
}

void parpy_sim_enter(parpy::sim::Thread* thread) {
    running().here = thread;
}

int parpy_sim_barrier(void* fiber, int line, int kind, int predicate) {
    auto& self = as_fiber(fiber);
    return self.block->barrier(self, line, kind, predicate != 0);
}

unsigned long long parpy_sim_exchange(void* fiber, int line, int kind, unsigned mask,
                                      unsigned long long value, int from) {
    auto& self = as_fiber(fiber);
    self.line = line;
    self.kind = kind;
    self.mask = mask | 1U << self.linear % static_cast<unsigned>(self.thread.warp_size);
    self.value = value;
    self.from = from;
    return self.block->exchange(self);
}

void parpy_sim_pause(void* fiber, int line, unsigned long long seen) {
    auto& self = as_fiber(fiber);
    self.block->pause(self, line, seen);
}

void parpy_sim_sleep(void* fiber, unsigned) {
    auto& self = as_fiber(fiber);
    self.block->pause(self, self.line, self.seen);
}

void parpy_sim_fail(void* fiber, int line, const char* message) {
    auto& self = as_fiber(fiber);
    parpy::sim::Fault fault;
    fault.code = parpy::Code::kP541;
    fault.line = line;
    fault.message = std::string(message) + " at {}";
    self.block->fail(self, std::move(fault));
}

void parpy_sim_raise(void* fiber, int linear, int site, const long long* values, int count) {
    auto& self = as_fiber(fiber);
    parpy::sim::Fault fault;
    fault.message = self.block->place_of(static_cast<unsigned>(linear));
    fault.site = site;
    fault.values.assign(values, values + count);
    self.block->fail(self, std::move(fault));
}

void parpy_sim_touch(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     int how, const int* lines) {
    as_fiber(thread->fiber)
        .block->touch(*thread, address, bytes, static_cast<parpy::sim::Touch>(how), lines);
}

void parpy_sim_declare(parpy::sim::Thread* thread, const void* address, unsigned long long bytes) {
    as_fiber(thread->fiber).block->declare(address, bytes);
}

void parpy_sim_fence(parpy::sim::Thread* thread) {
    as_fiber(thread->fiber).block->fence(*thread);
}
