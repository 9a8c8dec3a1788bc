// The functions that device code on the simulator calls (prelude/sim.inc): each passes the call
// from the running thread to its block.
#include <cstring>

#include "runtime/sim/simulated_block.h"

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
    constexpr int kOfCluster = 4;
    auto& self = as_fiber(fiber);
    if (kind != kOfCluster) return self.block->barrier(self, line, kind, predicate != 0);
    self.block->cluster_barrier(self, line);
    return 0;
}

void* parpy_sim_map_shared(void* fiber, int line, const void* address, unsigned rank) {
    auto& self = as_fiber(fiber);
    return self.block->map_shared(self, line, address, rank);
}

unsigned parpy_sim_cluster_rank(void* fiber) {
    return as_fiber(fiber).block->cluster_rank();
}

unsigned long long parpy_sim_exchange(void* fiber, int line, int kind, unsigned mask,
                                      unsigned long long value, int from) {
    constexpr int kActive = 5;
    auto& self = as_fiber(fiber);
    self.line = line;
    if (kind == kActive) return self.block->active(self);
    self.kind = kind;
    const unsigned own = 1U << self.linear % static_cast<unsigned>(self.thread.warp_size);
    if ((mask & own) == 0) self.block->check_mask(self, mask);
    self.mask = mask | own;
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

void parpy_sim_write(parpy::sim::Thread* thread, const void* address, unsigned long long bytes,
                     unsigned long long value, const int* lines) {
    const bool there = std::memcmp(address, &value, bytes) == 0;
    as_fiber(thread->fiber)
        .block->touch(*thread, address, bytes,
                      there ? parpy::sim::Touch::kRewrite : parpy::sim::Touch::kWrite, lines);
}

void parpy_sim_declare(parpy::sim::Thread* thread, const void* address, unsigned long long bytes) {
    as_fiber(thread->fiber).block->declare(address, bytes);
}

void parpy_sim_place(parpy::sim::Thread* thread, const int* lines) {
    as_fiber(thread->fiber).tell(lines);
}

void parpy_sim_fence(parpy::sim::Thread* thread) {
    as_fiber(thread->fiber).block->fence(*thread);
}
