// Fibers: stacks, and the switch between them. A fiber stays on the thread that runs it. An error
// in a fiber's code (stack overflow, access to unmapped memory, a trapping division) does not end
// the process: the fiber is abandoned and its owner notified (Landing).
//
// Why not a library: our switch is two dozen instructions per processor, while libraries also save
// floating-point modes, and their stacks report no overflow.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace parpy {

// Many small stacks without guard pages, as one of the 65530 mappings that Linux allows a process:
// only for code that is known to need little stack.
class SmallStacks {
public:
    static constexpr std::size_t kCount = 1024;
    static constexpr std::size_t kBytes = std::size_t{64} << 10;  // of each

    SmallStacks();  // valid() says whether there is memory
    ~SmallStacks();
    SmallStacks(const SmallStacks&) = delete;
    SmallStacks& operator=(const SmallStacks&) = delete;
    [[nodiscard]] bool valid() const { return memory_ != nullptr; }
    [[nodiscard]] char* stack(std::size_t i) const { return memory_ + i * kBytes; }

private:
    char* memory_ = nullptr;
};

class Fiber {
public:
    using Body = void (*)(Fiber& self, void* data);

    // The size of a stack; pages are allocated at the first touch. Four times the stack of a GPU's
    // thread.
    static constexpr std::size_t kStackBytes = std::size_t{2} << 20;

    // A fiber with its own stack above a guard page: two mappings. valid() says whether there was
    // memory.
    Fiber();
    // A fiber on one of the SmallStacks, which must live longer.
    explicit Fiber(char* small) : memory_(small), bytes_(SmallStacks::kBytes) {}
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    [[nodiscard]] bool valid() const { return memory_ != nullptr; }
    [[nodiscard]] bool owns_stack() const { return owns_; }

    // Makes the next switch to this fiber call body(*this, data), which must not return. The frames
    // on the stack are lost.
    void prepare(Body body, void* data);
    [[nodiscard]] void* data() const { return data_; }
    // Frees memory that only deep calls and large arrays use; the fiber must not be running.
    void trim();
    // Whether the address lies on this fiber's stack.
    [[nodiscard]] bool holds(const void* address) const;

private:
    friend class FiberThread;
    void* pointer_ = nullptr;  // the stack pointer while it does not run
    char* memory_ = nullptr;   // its own: guard page, then stack
    std::size_t bytes_ = 0;    // of guard page and stack
    bool owns_ = false;
    Body body_ = nullptr;
    void* data_ = nullptr;
    static void enter(Fiber* self);
};

// Lets another thread end the code of fibers: `asked`, in these ranges of addresses.
struct Interrupt {
    struct Range {
        std::uintptr_t begin = 0, end = 0;
    };
    std::atomic<bool> asked{false};
    std::array<Range, 2> code{};
};

// The fibers of one thread, one of which may be running.
class FiberThread {
public:
    // Called after a fault of code on a fiber, on that fiber, whose frames are gone; must switch
    // away for good. `reason` is the signal's number (`address`: the faulting one), kStackOverflow
    // or kInterrupted.
    using Landing = void (*)(Fiber& self, void* data, int reason, const void* address);
    static constexpr int kStackOverflow = 0;
    static constexpr int kInterrupted = -1;

    // The calling thread's; the first call sets up the handling of faults.
    [[nodiscard]] static FiberThread& current();

    FiberThread(const FiberThread&) = delete;
    FiberThread& operator=(const FiberThread&) = delete;

    // Switches from the thread's own stack to a fiber; returns when a fiber calls leave().
    // `interrupt` may end it: see interrupt_all().
    void run(Fiber& fiber, Landing landing, const Interrupt* interrupt = nullptr);
    // Makes every thread check its Interrupt. A thread outside of the code that may be ended goes
    // on: call this again.
    static void interrupt_all();
    // Switches from the running fiber to another one.
    void switch_to(Fiber& fiber);
    // Switches from the running fiber back to run().
    void leave();
    [[nodiscard]] Fiber* running() const { return running_; }

private:
    FiberThread();
    ~FiberThread();
    static void handle(int signal, siginfo_t* info, void* context);
    static void look(int signal, siginfo_t* info, void* context);
    static void abandon(FiberThread& thread, int reason, const void* address, void* context);
    void enlist();
    [[noreturn]] static void land(Fiber* fiber, int reason, const void* address);

    Fiber* running_ = nullptr;
    Landing landing_ = nullptr;
    void* main_pointer_ = nullptr;
    const Interrupt* interrupt_ = nullptr;
    char* signal_stack_ = nullptr;  // ours, if the thread had none
    const void* listed_ = nullptr;  // the list of threads that interrupt_all() reaches
    pthread_t handle_{};
};

}  // namespace parpy
