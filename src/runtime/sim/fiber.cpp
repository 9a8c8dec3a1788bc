// See fiber.h. The switch saves the registers that a called function must preserve and nothing
// else: device code does not change floating-point modes.
#include "runtime/sim/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "support/sanitizers.h"

extern "C" {
// Saves the caller's registers on its stack and the stack pointer in *save, and switches to `to`.
void parpy_switch_stack(void** save, void* to);
// The start of a prepared fiber: calls the function and argument that prepare() put in registers.
void parpy_start_stack();
}

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.hidden parpy_switch_stack
.globl parpy_switch_stack
.type parpy_switch_stack,@function
parpy_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size parpy_switch_stack,.-parpy_switch_stack
.hidden parpy_start_stack
.globl parpy_start_stack
.type parpy_start_stack,@function
parpy_start_stack:
    movq %r12, %rdi
    xorl %ebp, %ebp
    callq *%r13
    ud2
.size parpy_start_stack,.-parpy_start_stack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.hidden parpy_switch_stack
.globl parpy_switch_stack
.type parpy_switch_stack,%function
parpy_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size parpy_switch_stack,.-parpy_switch_stack
.hidden parpy_start_stack
.globl parpy_start_stack
.type parpy_start_stack,%function
parpy_start_stack:
    mov x0, x19
    mov x29, xzr
    blr x20
    brk #1
.size parpy_start_stack,.-parpy_start_stack
)");
#else
#error "the simulator's context switch is written for x86-64 and aarch64"
#endif

namespace parpy {

namespace {

struct sigaction old_actions[NSIG];

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

// Null if there is no memory.
char* map_stacks(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kLook = SIGURG;                              // ignored if nobody handles it
constexpr std::size_t kKeptStack = std::size_t{64} << 10;  // kept by trim()
constexpr std::size_t kSignalStack = std::size_t{64} << 10;

// Null in threads that ran no fiber. A signal handler may read it: it needs no allocation.
__attribute__((tls_model("initial-exec"))) thread_local FiberThread* this_thread = nullptr;

// The threads that run fibers. After a fork only one is left, which begins a new list.
struct Enlisted {
    std::mutex mutex;
    std::vector<FiberThread*> threads;
};
std::atomic<Enlisted*> enlisted{new Enlisted};
const int kForgets = pthread_atfork(nullptr, nullptr, [] { enlisted = new Enlisted; });

// Calls the handler that was installed before ours; false: there was none.
bool pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction& old = old_actions[signal];
    if ((old.sa_flags & SA_SIGINFO) != 0 && old.sa_sigaction != nullptr) {
        old.sa_sigaction(signal, info, context);
    } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        old.sa_handler(signal);
    } else {
        return false;
    }
    return true;
}

}  // namespace

// ---------------------------------------------------------------- stacks

Fiber::Fiber() {
    const std::size_t bytes = kStackBytes + page_size();
    char* memory = map_stacks(bytes);
    if (memory == nullptr) return;
    if (mprotect(memory, page_size(), PROT_NONE) != 0) {
        munmap(memory, bytes);
        return;
    }
    madvise(memory, bytes, MADV_NOHUGEPAGE);  // whose first access would allocate two megabytes
    memory_ = memory;
    bytes_ = bytes;
    owns_ = true;
}

Fiber::~Fiber() {
    forget_frames(memory_, bytes_);
    if (owns_) munmap(memory_, bytes_);
}

SmallStacks::SmallStacks() : memory_(map_stacks(kCount * kBytes)) {
    if (memory_ != nullptr) madvise(memory_, kCount * kBytes, MADV_NOHUGEPAGE);
}

SmallStacks::~SmallStacks() {
    forget_frames(memory_, kCount * kBytes);
    if (memory_ != nullptr) munmap(memory_, kCount * kBytes);
}

void Fiber::trim() {
    madvise(memory_ + page_size(), kStackBytes - kKeptStack, MADV_DONTNEED);
}

void Fiber::enter(Fiber* self) {
    StackSwitch::arrive();
    self->body_(*self, self->data_);
}

bool Fiber::holds(const void* address) const {
    const auto* at = static_cast<const char*>(address);
    return at >= memory_ && at < memory_ + bytes_;
}

void Fiber::prepare(Body body, void* data) {
    forget_frames(memory_, bytes_);
    body_ = body;
    data_ = data;
    auto* top = reinterpret_cast<std::uintptr_t*>(memory_ + bytes_);
    const auto start = reinterpret_cast<std::uintptr_t>(&parpy_start_stack);
    const auto function = reinterpret_cast<std::uintptr_t>(&Fiber::enter);
    const auto argument = reinterpret_cast<std::uintptr_t>(this);
#if defined(__x86_64__)
    // r15 r14 r13 r12 rbx rbp, the return address; then the stack is aligned for a call.
    std::uintptr_t* frame = top - 9;
    for (int i = 0; i < 9; ++i)
        frame[i] = 0;
    frame[2] = function;
    frame[3] = argument;
    frame[6] = start;
#else
    std::uintptr_t* frame = top - 20;
    for (int i = 0; i < 20; ++i)
        frame[i] = 0;
    frame[0] = argument;  // x19
    frame[1] = function;  // x20
    frame[11] = start;    // x30
#endif
    pointer_ = frame;
}

// ---------------------------------------------------------------- switching

FiberThread& FiberThread::current() {
    static thread_local FiberThread thread;
    return thread;
}

FiberThread::FiberThread() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (const int signal : kSignals) {
            struct sigaction action = {};
            action.sa_sigaction = &FiberThread::handle;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            sigemptyset(&action.sa_mask);
            sigaction(signal, &action, &old_actions[signal]);
        }
        struct sigaction action = {};
        action.sa_sigaction = &FiberThread::look;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        sigemptyset(&action.sa_mask);
        sigaction(kLook, &action, &old_actions[kLook]);
    });
    stack_t known = {};
    if (sigaltstack(nullptr, &known) == 0 && (known.ss_flags & SS_DISABLE) != 0) {
        signal_stack_ = new char[kSignalStack];
        stack_t mine = {};
        mine.ss_sp = signal_stack_;
        mine.ss_size = kSignalStack;
        sigaltstack(&mine, nullptr);
    }
    this_thread = this;
}

FiberThread::~FiberThread() {
    this_thread = nullptr;
    Enlisted* list = enlisted;
    if (listed_ == list) {
        const std::scoped_lock lock(list->mutex);
        std::erase(list->threads, this);
    }
    if (signal_stack_ == nullptr) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    delete[] signal_stack_;
}

void FiberThread::run(Fiber& fiber, Landing landing, const Interrupt* interrupt) {
    if (interrupt != nullptr && listed_ != enlisted.load(std::memory_order_relaxed)) enlist();
    landing_ = landing;
    interrupt_ = interrupt;
    running_ = &fiber;
    const StackSwitch told(fiber.memory_, fiber.bytes_);
    parpy_switch_stack(&main_pointer_, fiber.pointer_);
}

void FiberThread::switch_to(Fiber& fiber) {
    Fiber* from = running_;
    running_ = &fiber;
    const StackSwitch told(fiber.memory_, fiber.bytes_);
    parpy_switch_stack(&from->pointer_, fiber.pointer_);
}

void FiberThread::leave() {
    Fiber* from = running_;
    running_ = nullptr;
    const ThreadStack own = ThreadStack::current();
    const StackSwitch told(own.begin, own.bytes);
    parpy_switch_stack(&from->pointer_, main_pointer_);
}

// ---------------------------------------------------------------- faults

void FiberThread::land(Fiber* fiber, int reason, const void* address) {
    this_thread->landing_(*fiber, fiber->data_, reason, address);
    __builtin_trap();
}

void FiberThread::handle(int signal, siginfo_t* info, void* context) {
    FiberThread* thread = this_thread;
    if (thread == nullptr || thread->running_ == nullptr) {
        if (!pass_on(signal, info, context)) {
            sigaction(signal, &old_actions[signal], nullptr);  // then the instruction faults again
        }
        return;
    }
    const Fiber* fiber = thread->running_;
    const auto* at = static_cast<const char*>(info->si_addr);
    const bool overflow = at >= fiber->memory_ - page_size() && at < fiber->memory_ + page_size();
    abandon(*thread, overflow ? kStackOverflow : signal, at, context);
}

void FiberThread::look(int signal, siginfo_t* info, void* context) {
    FiberThread* thread = this_thread;
    const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    const auto at = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
    const auto at = static_cast<std::uintptr_t>(machine.pc);
#endif
    const Interrupt* asked =
        thread != nullptr && thread->running_ != nullptr ? thread->interrupt_ : nullptr;
    if (asked != nullptr && asked->asked.load(std::memory_order_acquire)) {
        const bool may_end = std::ranges::any_of(asked->code, [at](const Interrupt::Range& range) {
            return at >= range.begin && at < range.end;
        });
        if (may_end) abandon(*thread, kInterrupted, nullptr, context);
        return;
    }
    pass_on(signal, info, context);
}

// Lets the running fiber continue in land(), from the top of its own stack.
void FiberThread::abandon(FiberThread& thread, int reason, const void* address, void* context) {
    Fiber* fiber = thread.running_;
    forget_frames(fiber->memory_, fiber->bytes_);
    const char* top = fiber->memory_ + fiber->bytes_ - 64;
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&FiberThread::land);
    machine.gregs[REG_RSP] = reinterpret_cast<greg_t>(top - 8);
    machine.gregs[REG_RDI] = reinterpret_cast<greg_t>(fiber);
    machine.gregs[REG_RSI] = reason;
    machine.gregs[REG_RDX] = reinterpret_cast<greg_t>(address);
#else
    machine.pc = reinterpret_cast<std::uintptr_t>(&FiberThread::land);
    machine.sp = reinterpret_cast<std::uintptr_t>(top);
    machine.regs[0] = reinterpret_cast<std::uintptr_t>(fiber);
    machine.regs[1] = static_cast<std::uintptr_t>(reason);
    machine.regs[2] = reinterpret_cast<std::uintptr_t>(address);
#endif
}

// ---------------------------------------------------------------- interruption

void FiberThread::enlist() {
    Enlisted* list = enlisted;
    const std::scoped_lock lock(list->mutex);
    listed_ = list;
    handle_ = pthread_self();
    list->threads.push_back(this);
}

void FiberThread::interrupt_all() {
    Enlisted* list = enlisted;
    const std::scoped_lock lock(list->mutex);
    for (const FiberThread* thread : list->threads)
        pthread_kill(thread->handle_, kLook);
}

}  // namespace parpy
