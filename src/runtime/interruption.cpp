// See interruption.h.
#include "runtime/interruption.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace parpy::sim {

namespace {

std::atomic<Grid*> launched{nullptr};  // by the main thread
std::atomic<bool> interrupted{false};
std::atomic<bool> asks{false};   // the handlers decide: the main thread calls them
std::atomic<bool> noted{false};  // SIGINT has come, for the handlers
InterruptHooks known_hooks;
struct sigaction handler_before;
sem_t wake;

struct Watcher {
    std::mutex mutex;  // held while the watcher accesses the launch
    bool started = false;
};
Watcher& watcher() {
    static auto& one = *new Watcher;
    return one;
}

void on_interrupt(int signal, siginfo_t* info, void* context) {
    if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
        handler_before.sa_sigaction(signal, info, context);
    } else {
        handler_before.sa_handler(signal);
    }
    if (launched.load() == nullptr) return;
    if (asks.load()) {
        noted.store(true);
        return;
    }
    interrupted.store(true);
    sem_post(&wake);
}

Fault interruption() {
    return {Code::kP541, "was interrupted", 0, 0, ""};
}

// The executable mapping that contains the address.
Interrupt::Range code_at(std::uintptr_t address) {
    std::FILE* maps = std::fopen("/proc/self/maps", "re");
    Interrupt::Range found;
    if (maps == nullptr) return found;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        std::uintptr_t begin = 0, end = 0;
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
        if (address < begin || address >= end) continue;
        found = {begin, end};
        break;
    }
    std::fclose(maps);
    return found;
}

// Asks the launch to end; false if there is none any more.
bool ask_once() {
    const std::scoped_lock lock(watcher().mutex);
    Grid* grid = launched.load();
    if (grid == nullptr || !interrupted.load()) return false;
    if (!grid->interrupt.asked.load()) {
        // The kernel's program, and the mathematical functions: neither holds resources.
        double (*const sine)(double) = &std::sin;
        const auto row = reinterpret_cast<std::uintptr_t>(grid->launch.kernel->row);
        grid->interrupt.code = {code_at(row), code_at(reinterpret_cast<std::uintptr_t>(sine))};
        grid->stop(interruption());
        grid->interrupt.asked.store(true, std::memory_order_release);
    }
    FiberThread::interrupt_all();
    return true;
}

void watch() {
    for (;;) {
        while (sem_wait(&wake) != 0) {
        }
        while (ask_once())
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

// One watcher per process; a fork does not inherit it.
void start_watcher() {
    if (watcher().started) return;
    watcher().started = true;
    sem_init(&wake, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(watch).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A thread that runs launches while the main thread handles signals.
struct Aside {
    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void()>* launch = nullptr;  // the one to run
    std::exception_ptr thrown;                      // by the launch
    bool started = false;
};
Aside* aside = new Aside;

void run_launches(Aside& own) {
    std::unique_lock lock(own.mutex);
    for (;;) {
        own.changed.wait(lock, [&] { return own.launch != nullptr; });
        lock.unlock();
        std::exception_ptr thrown;
        try {
            (*own.launch)();
        } catch (...) {
            thrown = std::current_exception();
        }
        lock.lock();
        own.thrown = std::move(thrown);
        own.launch = nullptr;
        own.changed.notify_all();
    }
}

thread_local std::optional<bool> known_main;

// The thread that forks becomes the main thread of the new process, which has no other threads:
// there is no launch and no watcher, and nobody holds the mutex.
void follow_forks() {
    static const int followed =
        pthread_atfork([] { watcher().mutex.lock(); }, [] { watcher().mutex.unlock(); },
                       [] {
                           launched.store(nullptr);
                           watcher().started = false;
                           aside = new Aside;
                           known_main = true;
                           watcher().mutex.unlock();
                       });
    static_cast<void>(followed);
}

bool is_main_thread() {
    if (!known_main) known_main = syscall(SYS_gettid) == getpid();
    return *known_main;
}

bool has_function(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 ||
           (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Whether our handler receives SIGINT first. It replaces its predecessor again if that is back, as
// Python restores it; any other handler may pass the signal on to ours, and is kept.
bool handles_interrupts() {
    static bool ever = false;
    struct sigaction found = {};
    if (sigaction(SIGINT, nullptr, &found) != 0) return false;
    if ((found.sa_flags & SA_SIGINFO) != 0 && found.sa_sigaction == &on_interrupt) return true;
    if (!has_function(found)) return false;
    if (ever && found.sa_handler != handler_before.sa_handler) return false;
    handler_before = found;
    ever = true;
    found.sa_sigaction = &on_interrupt;
    found.sa_flags |= SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGINT, &found, nullptr);
    asks.store(known_hooks.may_go_on != nullptr && known_hooks.may_go_on());
    return true;
}

}  // namespace

void set_interrupt_hooks(const InterruptHooks& hooks) {
    known_hooks = hooks;
}

Interruptible::Interruptible(Grid& grid) : grid_(grid) {
    follow_forks();
    if (!is_main_thread() || launched.load(std::memory_order_relaxed) != nullptr) return;
    if (!handles_interrupts()) return;
    start_watcher();
    interrupted.store(false, std::memory_order_relaxed);
    noted.store(false, std::memory_order_relaxed);
    launched.store(&grid);
    active_ = true;
}

Interruptible::~Interruptible() {
    if (!active_) return;
    const std::scoped_lock lock(watcher().mutex);
    launched.store(nullptr);
}

void Interruptible::run(const std::function<void()>& launch) {
    if (active_ && asks.load()) {
        run_aside(launch);
    } else {
        launch();
    }
}

void Interruptible::run_aside(const std::function<void()>& launch) {
    Aside& other = *aside;
    std::unique_lock lock(other.mutex);
    if (!other.started) {
        other.started = true;
        std::thread(run_launches, std::ref(other)).detach();
    }
    other.launch = &launch;
    other.changed.notify_all();
    while (other.launch != nullptr) {
        other.changed.wait_for(lock, std::chrono::milliseconds(10));
        if (!noted.exchange(false)) continue;
        lock.unlock();
        const bool ends = known_hooks.ends();
        if (aside != &other) {  // the handler forked, and this is the child: no thread runs it
            grid_.stop({Code::kP541, "does not run on in a process that was forked meanwhile", 0, 0,
                        "launch it again there"});
            return;
        }
        if (ends) {
            grid_.stop(interruption());
            interrupted.store(true);
            sem_post(&wake);
        } else {
            handles_interrupts();  // also if the handler has installed another one
        }
        lock.lock();
    }
    if (const std::exception_ptr thrown = std::exchange(other.thrown, nullptr)) {
        std::rethrow_exception(thrown);
    }
}

}  // namespace parpy::sim
