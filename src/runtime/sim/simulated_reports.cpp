// Reports the errors that a simulated block finds: deadlocks, barriers that some threads skip,
// errors of watched accesses, faults of the processor.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "runtime/sim/simulated_block.h"

namespace parpy::sim {

namespace {

std::string mask_text(unsigned mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", mask);
    return text;
}

std::string text_of(Index i) {
    return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) +
           ")";
}

}  // namespace

// ---------------------------------------------------------------- faults

std::string Block::name_of(unsigned linear) const {
    return "thread " + text_of(position(linear));
}

std::string Block::place_of(unsigned linear) const {
    return name_of(linear) + " of block " + text_of(index_);
}

namespace {

// Sets the place where a thread waits, as far as it is known.
void place(Fault& fault, const SimFiber& fiber) {
    fault.line = fiber.line;
    fault.lines = fiber.lines;
}
void place_other(Fault& fault, const SimFiber& fiber) {
    fault.other_line = fiber.line;
    fault.other_lines = fiber.lines;
}

}  // namespace

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
    place(fault, *first);
    fault.message = "the threads of block " + text_of(index_) +
                    " wait for each other: " + name_of(first->linear) + " at {}";
    if (other != nullptr) {
        fault.message += ", " + name_of(other->linear) + " at {}";
        place_other(fault, *other);
    } else {
        fault.message += ", for lanes that never arrive";
    }
    fault.help =
        "every thread of a block must reach the same barrier, and every lane of a mask the same "
        "exchange: move them out of the branch";
    worker_.grid.stop(std::move(fault));
}

void Block::report_spinning(bool more) {
    if (unset_) return report_unset();
    Fault fault;
    fault.code = Code::kP540;
    const auto waiting = std::ranges::find_if(by_thread_, [](auto* f) { return f != nullptr; });
    if (waiting == by_thread_.end()) return;
    place(fault, **waiting);
    fault.message = name_of((*waiting)->linear) + " of block " + text_of(index_) +
                    " waits at {} for something that no thread does";
    fault.help = more ? "a block that has not started may do it, but there is no room for it "
                        "beside the waiting ones: launch fewer or smaller blocks"
                      : "all other threads have finished or wait as well";
    worker_.grid.stop(std::move(fault));
}

// Threads have ended without reaching the barrier at which the others wait.
void Block::report_skipped(const SimFiber& waiting) {
    const auto left = std::ranges::find(by_thread_, nullptr);
    Fault fault;
    fault.code = Code::kP540;
    place(fault, waiting);
    fault.message = place_of(static_cast<unsigned>(left - by_thread_.begin())) +
                    " has left the kernel, and " + name_of(waiting.linear) + " waits for it at {}";
    fault.help =
        "every thread of a block must reach each barrier: let those that have nothing to "
        "do skip the work, not the barrier";
    worker_.grid.stop(std::move(fault));
}

void Block::fail(SimFiber&, Fault fault) {
    worker_.grid.stop(std::move(fault));
    leave_for_good();
}

void Block::leave_for_good() {
    worker_.cpu.leave();
    __builtin_unreachable();
}

void Block::report_unset() {
    worker_.grid.stop(*std::exchange(unset_, std::nullopt));
}

void Block::report_lane(const SimFiber& fiber, unsigned from) {
    Fault fault;
    fault.code = Code::kP541;
    place(fault, fiber);
    fault.message =
        place_of(fiber.linear) + " reads at {} the value of lane " + std::to_string(from);
    if ((fiber.mask >> from & 1U) == 0) {
        fault.message += ", which is not in the mask " + mask_text(fiber.mask);
        fault.help = "the mask must name all lanes that take part: 0xffffffff for a whole warp";
    } else {
        fault.message +=
            ", which the mask " + mask_text(fiber.mask) + " names but which does not take part";
        fault.help = "let all lanes that the mask names make the call: take it out of the branch";
    }
    worker_.grid.stop(std::move(fault));
}

void Block::check_mask(SimFiber& self, unsigned mask) {
    if (worker_.grid.watch == nullptr) return;
    Fault fault;
    fault.code = Code::kP541;
    place(fault, self);
    fault.message = place_of(self.linear) + " is lane " + std::to_string(lane_of(self)) +
                    " and takes part at {} under the mask " + mask_text(mask) +
                    ", which does not name it";
    fault.help = "every lane that takes part in an exchange or a vote must be in its mask";
    fail(self, std::move(fault));
}

void Block::report_reading(SimFiber& self) {
    Fault fault;
    fault.code = Code::kP540;
    place(fault, self);
    fault.message = place_of(self.linear) +
                    " reads the same elements at {} repeatedly, and no thread writes them";
    fault.help = "all other threads have finished or wait as well";
    fail(self, std::move(fault));
}

void Block::report_mapping(SimFiber& self, const void* address, unsigned rank) {
    Fault fault;
    fault.code = Code::kP541;
    place(fault, self);
    fault.message = place_of(self.linear) + " accesses at {} shared memory of block " +
                    std::to_string(rank) + " of its cluster, ";
    if (rank >= cluster_.size()) {
        fault.message += "which has " + std::to_string(cluster_.size());
        fault.help = "__cluster_dims__ says how many blocks a cluster has";
    } else if (!is_shared(address)) {
        fault.message += "at an address outside of shared memory";
        fault.help = "give it the address of a __shared__ variable";
    } else {
        fault.message += "whose threads have all left the kernel";
        fault.help = "let all threads of the cluster wait for each other at the kernel's end";
    }
    fail(self, std::move(fault));
}

// ---------------------------------------------------------------- watched accesses

Actor Block::actor(const Thread& thread) const {
    const Index at = thread.thread;
    const unsigned linear = at.x + launch_.block.x * (at.y + launch_.block.y * at.z);
    const unsigned warp = linear / static_cast<unsigned>(launch_.settings.warp_size);
    return {static_cast<std::uint32_t>(number_), static_cast<std::uint16_t>(linear),
            static_cast<std::uint16_t>(warp), barriers_, warps_[warp].syncs};
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
    self.tell(lines);
    lines = self.lines;
    linger(self, address, how);
    AccessWatch& watch = *worker_.grid.watch;
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    const Actor me = actor(thread);
    std::optional<AccessWatch::Finding> found;
    const bool own = self.fiber.holds(address);
    if (own) {
        if (!watch.touch_own(place, bytes, writes(how))) found = {.unset = true};
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
            name_of(me) + " reads an element of " + memory + " at {} that no thread has written";
        fault.help = own ? "such memory has arbitrary contents: write it first"
                         : "such memory has arbitrary contents: write it first, and let the "
                           "reading threads wait with cuda.syncthreads()";
        if (!own && is_shared(address)) {
            if (!unset_) unset_ = std::move(fault);
            leave_to_others();
        }
    } else {
        fault.code = Code::kP543;
        fault.other_lines = found->other_lines;
        fault.message = name_of(me) + (how == Touch::kRead ? " reads" : " writes") +
                        " an element of " + memory + " at {} that " + name_of(found->other) +
                        (found->other_wrote ? " writes" : " reads") +
                        " at {}, and nothing orders the two accesses";
        fault.help = found->other.block == me.block && found->other.warp == me.warp
                         ? "put cuda.syncthreads() or cuda.syncwarp() between the two, or use "
                           "cuda.atomic for both; shuffles and votes order no memory"
                     : found->other.block == me.block
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
    if (reason == FiberThread::kInterrupted) block.leave_for_good();
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
        // The processor does not report addresses that cannot exist.
        fault.message =
            who + " accessed memory " +
            (address == nullptr ? "at an invalid address"
                                : std::string("at ") + where + ", which belongs to no array");
        fault.help = "a subscript is out of range";
    }
    if (self.lines != nullptr && reason != SIGFPE) {
        fault.message += ", at {}";
        fault.lines = self.lines;
    } else {
        fault.unplaced = reason != FiberThread::kStackOverflow && reason != SIGFPE;
    }
    block.fail(self, std::move(fault));
}

}  // namespace parpy::sim
