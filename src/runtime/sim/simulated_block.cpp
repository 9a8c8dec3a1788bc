// See simulated_block.h. Threads switch directly from one to the next; the worker's own stack runs
// only between blocks.
#include "runtime/sim/simulated_block.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace parpy::sim {

namespace {

constexpr unsigned kTurn = 64;  // pauses before another thread runs

// Stacks that no launch uses at the moment.
class SparePool {
public:
    static SparePool& instance() {
        static auto& pool = *new SparePool;
        return pool;
    }
    // Makes one if there are fewer than `most`; null: the limit is reached.
    SimFiber* take(std::size_t most) {
        {
            const std::scoped_lock lock(mutex_);
            if (!spare_.empty()) {
                SimFiber* fiber = spare_.back();
                spare_.pop_back();
                return fiber;
            }
            if (made_ >= most) return nullptr;
            ++made_;
        }
        auto made = std::make_unique<SimFiber>();
        if (made->fiber.valid()) return made.release();
        const std::scoped_lock lock(mutex_);
        --made_;
        return nullptr;
    }
    void give(std::vector<SimFiber*>& fibers) {
        const std::scoped_lock lock(mutex_);
        spare_.insert(spare_.end(), fibers.begin(), fibers.end());
        fibers.clear();
    }

private:
    std::mutex mutex_;
    std::vector<SimFiber*> spare_;
    std::size_t made_ = 0;
};

}  // namespace

void Grid::stop(Fault fault) {
    const std::scoped_lock lock(mutex_);
    if (fault_.happened()) return;
    fault_ = std::move(fault);
    stopped_.store(true, std::memory_order_relaxed);
}

Worker::~Worker() {
    if (!small_.empty()) {
        std::erase_if(idle_, [](const SimFiber* fiber) { return !fiber->fiber.owns_stack(); });
    }
    if ((grid.launch.kernel->needs & kDeep) != 0) {
        for (SimFiber* fiber : idle_)
            fiber->fiber.trim();
    }
    SparePool::instance().give(idle_);
}

SimFiber* Worker::acquire() {
    if (!idle_.empty()) {
        SimFiber* fiber = idle_.back();
        idle_.pop_back();
        return fiber;
    }
    const bool deep = may_be_deep(*grid.launch.kernel);
    SimFiber* fiber =
        small_.empty() ? SparePool::instance().take(deep ? kMostGuarded : kGuardedFibers) : nullptr;
    if (fiber == nullptr && !deep) fiber = acquire_small();
    if (fiber == nullptr) {
        grid.stop({Code::kP542, "there is no memory for the stacks of the simulated threads", 0, 0,
                   "launch smaller blocks, or raise vm.max_map_count"});
    }
    return fiber;
}

SimFiber* Worker::acquire_small() {
    const std::size_t i = small_.size() % SmallStacks::kCount;
    if (i == 0 && !stacks_.emplace_back().valid()) {
        stacks_.pop_back();
        return nullptr;
    }
    return &small_.emplace_back(stacks_.back().stack(i));
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

// Turns this object into the number-th block.
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
    // The initial contents of shared memory are a pattern, so that no kernel can rely on it.
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
    started_ = arrived_ = holding_ = barriers_ = at_cluster_ = pauses_ = turns_ = 0;
    alive_ = count_;
    unset_.reset();
    const auto size = static_cast<unsigned>(launch_.settings.warp_size);
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        const unsigned lanes = std::min(size, count_ - static_cast<unsigned>(w) * size);
        warps_[w] = {lanes == 32 ? ~0U : (1U << lanes) - 1, 0, 0, 0};
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

Block::State Block::resume() {
    spinning_ = false;
    turns_ = 0;
    if (SimFiber* fiber = next())
        worker_.cpu.run(fiber->fiber, &Block::land, &worker_.grid.interrupt);
    if (worker_.grid.stopped()) return State::kEnded;
    if (spinning_) return State::kSpins;
    if (unset_) {
        report_unset();
    } else if (alive_ > 0 && at_cluster_ == alive_) {
        return State::kWaits;
    } else if (alive_ > 0) {
        report_deadlock();
    }
    return State::kEnded;
}

// ---------------------------------------------------------------- threads that do not wait

void Block::run_rows(std::uint64_t begin, std::uint64_t end) {
    SimFiber* fiber = worker_.acquire();
    if (fiber == nullptr) return;
    rows_begin_ = begin;
    rows_end_ = end;
    fiber->block = this;
    fiber->lines = nullptr;
    fiber->fiber.prepare(&Block::rows_body, fiber);
    worker_.cpu.run(fiber->fiber, &Block::land, &worker_.grid.interrupt);
    worker_.release(fiber);
}

void Block::rows_body(Fiber&, void* data) {
    auto& self = *static_cast<SimFiber*>(data);
    Block& block = *self.block;
    for (std::uint64_t i = block.rows_begin_; i < block.rows_end_;) {
        if (block.worker_.grid.stopped()) break;
        block.find(i);
        i += block.run_rows(self, block.rows_end_ - i);
    }
    block.worker_.cpu.leave();
}

std::uint64_t Block::run_rows(SimFiber& self, std::uint64_t most) {
    Thread& thread = self.thread;
    thread = first_thread();
    thread.fiber = &self;
    const auto row = launch_.kernel->row;
    if (!order_.empty()) {
        for (const unsigned linear : order_) {
            thread.thread = position(linear);
            row(&thread, thread.thread.x + 1, launch_.arguments);
        }
        return 1;
    }
    const unsigned first = index_.x, count = neighbours(most);
    for (thread.thread.z = 0; thread.thread.z < launch_.block.z; ++thread.thread.z) {
        for (thread.thread.y = 0; thread.thread.y < launch_.block.y; ++thread.thread.y) {
            for (unsigned b = 0; b < count; ++b) {
                thread.block.x = index_.x = first + b;
                row(&thread, launch_.block.x, launch_.arguments);
            }
        }
    }
    return count;
}

// How many blocks to run side by side: only without shared memory, as many as suit caches.
unsigned Block::neighbours(std::uint64_t most) const {
    constexpr unsigned kThreadsOfRow = 4096;
    if (launch_.kernel->module_shared != 0 || launch_.dynamic_shared != 0 ||
        launch_.settings.watched) {
        return 1;
    }
    const unsigned count = std::max(1U, kThreadsOfRow / launch_.block.x);
    return static_cast<unsigned>(
        std::min({most, std::uint64_t{count}, std::uint64_t{launch_.grid.x - index_.x}}));
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

// Starts the next thread on `fiber`.
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
    fiber.lines = nullptr;
    if (worker_.grid.watch != nullptr) {
        fiber.places = {};
        fiber.repeats = fiber.rounds = 0;
    }
    by_thread_[linear] = &fiber;
}

// Removes the thread to run next from the ready ones; null: none can run. A new thread runs on the
// current fiber if the thread on it is `finished`.
SimFiber* Block::next(SimFiber* finished) {
    if (worker_.grid.stopped()) return nullptr;
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
    if (ready_.empty()) {
        for (unsigned w = 0; w < warps_.size() && ready_.empty(); ++w)
            answer(w);
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

// Switches from the running thread, which waits, to another one.
void Block::leave_to_others() {
    if (SimFiber* other = next()) worker_.cpu.switch_to(other->fiber);
    worker_.cpu.leave();
    __builtin_unreachable();
}

void Block::wake(SimFiber& fiber) {
    fiber.at = SimFiber::At::kRunning;
    ready_.push_back(&fiber);
}

void Block::progress() {
    turns_ = 0;
    worker_.grid.idle_pauses = 0;
}

// Ends the thread on `self`. Returns with another thread on this fiber, or never.
void Block::finish(SimFiber& self) {
    by_thread_[self.linear] = nullptr;
    --alive_;
    if ((launch_.kernel->needs & kSpins) != 0) progress();
    if (alive_ > 0) {
        Warp& warp = warp_of(self);
        warp.alive &= ~(1U << lane_of(self));
        if (arrived_ == alive_) release_barrier();
        const unsigned number = self.linear / static_cast<unsigned>(launch_.settings.warp_size);
        if (warp.arrived != 0) release_exchange(number);
        if (is_still(number)) answer(number);
    }
    SimFiber* other = next(&self);
    if (other == &self) return;
    worker_.release(&self);  // no other worker uses it before it has been left
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
    const unsigned warp = self.linear / static_cast<unsigned>(launch_.settings.warp_size);
    if (self.at == SimFiber::At::kBarrier && is_still(warp)) answer(warp);
    suspend(self);
    return static_cast<int>(self.result);
}

constexpr int kOfGrid = 5;  // prelude/sim.inc: the first thread synchronises with the other blocks

// All remaining threads are at a barrier; they go on if it is the same one.
void Block::release_barrier() {
    const SimFiber* first = nullptr;
    for (const SimFiber* fiber : by_thread_) {
        if (fiber == nullptr) continue;
        if (first == nullptr) first = fiber;
        if (fiber->line != first->line) return;
    }
    // Threads that have ended count as arrived, unless the first one must act for the block.
    const bool needed = first->kind == kOfGrid && by_thread_[0] == nullptr;
    if ((worker_.grid.watch != nullptr && alive_ != count_) || needed)
        return report_skipped(*first);
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
    const unsigned warp = self.linear / static_cast<unsigned>(launch_.settings.warp_size);
    self.at = SimFiber::At::kExchange;
    warp_of(self).arrived |= 1U << lane_of(self);
    release_exchange(warp);
    if (self.at == SimFiber::At::kExchange && is_still(warp)) answer(warp);
    suspend(self);
    return self.result;
}

// The active lanes: those that reach this place while all other lanes of the warp reach a place to
// wait. Fibers define no other lockstep; a thread in a waiting loop does not delay them.
unsigned long long Block::active(SimFiber& self) {
    const unsigned warp = self.linear / static_cast<unsigned>(launch_.settings.warp_size);
    self.at = SimFiber::At::kActive;
    warps_[warp].asking |= 1U << lane_of(self);
    if (is_still(warp)) answer(warp);
    suspend(self);
    return self.result;
}

// Whether no thread of the warp is running.
bool Block::is_still(unsigned warp) const {
    const Warp& group = warps_[warp];
    if (group.asking == 0) return false;
    const unsigned begin = warp * static_cast<unsigned>(launch_.settings.warp_size);
    for (unsigned left = group.alive; left != 0; left &= left - 1) {
        const SimFiber* fiber = by_thread_[begin + static_cast<unsigned>(std::countr_zero(left))];
        if (fiber == nullptr || fiber->at == SimFiber::At::kRunning) return false;
    }
    return true;
}

// Gives the asking lanes the set of lanes at the same place, beginning with the place furthest
// behind: other places may be where paths join.
void Block::answer(unsigned warp) {
    const unsigned begin = warp * static_cast<unsigned>(launch_.settings.warp_size);
    Warp& group = warps_[warp];
    const auto fiber_at = [&](unsigned lane) -> SimFiber& { return *by_thread_[begin + lane]; };
    int first = std::numeric_limits<int>::max();
    unsigned same = 0;
    for (unsigned left = group.asking; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const int line = fiber_at(lane).line;
        if (line < first) same = 0;
        first = std::min(first, line);
        if (line == first) same |= 1U << lane;
    }
    group.asking &= ~same;
    for (unsigned left = same; left != 0; left &= left - 1) {
        SimFiber& fiber = fiber_at(static_cast<unsigned>(std::countr_zero(left)));
        fiber.result = same;
        wake(fiber);
    }
}

// Whether all lanes that `one` waits for are at the same operation.
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
    constexpr int kSyncWarp = 0;  // prelude/sim.inc; other exchanges order no memory
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
            switch (fiber.kind) {
                case 1:
                case 4:
                    fiber.result = shuffled(fiber, warp, wanted);
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
        if (one.kind == kSyncWarp) ++group.syncs;
        group.arrived &= ~wanted;
        left &= ~wanted;
        if ((launch_.kernel->needs & kSpins) != 0) progress();
    }
}

// The value that a lane reads; a GPU makes one up if the source does not take part. A watched
// launch treats it as undefined, and as an error if the program itself names the lane.
unsigned long long Block::shuffled(const SimFiber& fiber, unsigned warp, unsigned present) {
    constexpr int kOfLane = 4;  // prelude/sim.inc
    const auto from = static_cast<unsigned>(fiber.from) & 31U;
    const unsigned begin = warp * static_cast<unsigned>(launch_.settings.warp_size);
    if ((present >> from & 1U) != 0) return by_thread_[begin + from]->value;
    if (worker_.grid.watch == nullptr) return fiber.value;
    if (fiber.kind == kOfLane) report_lane(fiber, from);
    return ~0ULL;
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
    answer(self.linear / static_cast<unsigned>(launch_.settings.warp_size));
    yield(self);
}

// Runs the next thread; or another block, if all threads of this block are in waiting loops.
void Block::yield(SimFiber& self) {
    ready_.push_back(&self);
    if (++turns_ > 2 * ready_.size() && started_ == count_) {
        spinning_ = true;
        worker_.cpu.leave();
        return;
    }
    suspend(self);
}

// A thread that reads the same few places again and again may wait for a write by another thread:
// it yields. If no thread makes progress for long, the wait is in vain.
void Block::linger(SimFiber& self, const void* address, Touch how) {
    constexpr unsigned kRepeats = 4096, kRounds = 1 << 12;
    if (how == Touch::kAtomic) return;  // which pause by themselves
    if (how != Touch::kRead) {
        self.repeats = self.rounds = 0;
        return;
    }
    if (std::ranges::find(self.places, address) == self.places.end()) {
        self.places[self.next_place++ % self.places.size()] = address;
        self.repeats = self.rounds = 0;
        return;
    }
    if (++self.repeats < kRepeats) return;
    self.repeats = 0;
    const auto lingers = [](const SimFiber* fiber) { return fiber->rounds > kRounds / 2; };
    if (++self.rounds > kRounds && started_ == count_ && std::ranges::all_of(ready_, lingers))
        report_reading(self);
    yield(self);
}

}  // namespace parpy::sim
