// Ctrl-C while a kernel runs on the simulator. The handler of SIGINT that was present still runs
// (Python's notes the signal), and the launch of the main thread ends: a watcher thread makes the
// launch's threads check for it until the launch has ended, since run-time system code is never
// abandoned halfway. If a handler may let the launch go on, another thread runs the launch, and the
// main thread calls the handler meanwhile.
#pragma once

#include <functional>

#include "runtime/sim/simulated_block.h"

namespace parpy::sim {

// Callbacks to the owner of the SIGINT handlers, in the main thread. Without them SIGINT ends every
// launch.
struct InterruptHooks {
    bool (*may_go_on)() = nullptr;  // whether a handler is set that may let a launch go on
    bool (*ends)() = nullptr;       // calls the handlers that are due: do they end the launch?
};
void set_interrupt_hooks(const InterruptHooks& hooks);

// Active during its lifetime in the main thread, if SIGINT has a handler. Has no effect in others.
class Interruptible {
public:
    explicit Interruptible(Grid& grid);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

    // Runs the launch, on this thread or another.
    void run(const std::function<void()>& launch);

private:
    void run_aside(const std::function<void()>& launch);

    Grid& grid_;
    bool active_ = false;
};

}  // namespace parpy::sim
