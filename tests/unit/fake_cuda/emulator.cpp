// See emulator.h.
#include "emulator.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

namespace emulator {

namespace {

constexpr char kMagic[] = "FAKECUDA";
constexpr const char* kPrologue =
#include "prologue.inc"
    ;

std::string read_file(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The names that follow `__global__ void`, launch bounds skipped.
std::vector<std::string> kernels_of(const std::string& text) {
    std::vector<std::string> names;
    const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (std::size_t at = 0; (at = text.find("__global__ void", at)) != std::string::npos;) {
        at += std::strlen("__global__ void");
        if (const std::size_t bounds = text.find("__launch_bounds__", at); bounds == at + 1) {
            at = text.find(')', bounds) + 1;
        }
        while (!is_word(text[at]))
            ++at;
        const std::size_t begin = at;
        while (is_word(text[at]))
            ++at;
        names.push_back(text.substr(begin, at - begin));
    }
    return names;
}

// ---- threads of a block -------------------------------------------------------------------------

struct Dim {
    unsigned x, y, z;
};

// The same struct as in prologue.inc.
struct Gpu {
    Dim thread, block, block_dim, grid_dim;
    char* exchange;
    int lane;
    void (*wait)(int);
};

enum class State { kReady, kWaitsForWarp, kWaitsForBlock, kDone };

constexpr std::size_t kStack = 64 * 1024;
constexpr unsigned kWarp = 32;

struct Fiber {
    jmp_buf here;
    ucontext_t start;
    State state = State::kReady;
    bool started = false;
    Dim thread{};
};

struct Scheduler {
    Gpu gpu{};
    void (*kernel)(void**) = nullptr;
    void** arguments = nullptr;
    std::vector<Fiber> fibers;
    std::vector<std::size_t> order;
    std::minstd_rand random;
    std::vector<char> exchange;
    Fiber* running = nullptr;
    jmp_buf home;
    char* stacks = nullptr;
    std::size_t stack_count = 0;
};

Scheduler* scheduler = nullptr;
std::mutex mutex;

void wait(int kind) {
    Fiber& self = *scheduler->running;
    self.state = kind == 0 ? State::kWaitsForWarp : State::kWaitsForBlock;
    if (_setjmp(self.here) == 0) _longjmp(scheduler->home, 1);
}

void fiber_main() {
    scheduler->kernel(scheduler->arguments);
    scheduler->running->state = State::kDone;
    _longjmp(scheduler->home, 1);
}

void resume(Scheduler& s, std::size_t index) {
    Fiber& fiber = s.fibers[index];
    s.running = &fiber;
    s.gpu.thread = fiber.thread;
    s.gpu.lane = static_cast<int>(index % kWarp);
    s.gpu.exchange = s.exchange.data() + index / kWarp * kWarp * 16;
    if (_setjmp(s.home) != 0) return;
    if (fiber.started) _longjmp(fiber.here, 1);
    fiber.started = true;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = s.stacks + index * kStack;
    fiber.start.uc_stack.ss_size = kStack;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, fiber_main, 0);
    setcontext(&fiber.start);
}

// Whether every thread of [begin, end) that still runs waits in `state`; releases them if so.
bool release(Scheduler& s, std::size_t begin, std::size_t end, State state) {
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) {
        if (s.fibers[i].state == State::kDone) continue;
        if (s.fibers[i].state != state) return false;
        any = true;
    }
    for (std::size_t i = begin; any && i < end; ++i) {
        if (s.fibers[i].state == state) s.fibers[i].state = State::kReady;
    }
    return any;
}

bool run_block(Scheduler& s) {
    for (Fiber& fiber : s.fibers) {
        fiber.state = State::kReady;
        fiber.started = false;
    }
    const std::size_t count = s.fibers.size();
    for (;;) {
        std::ranges::shuffle(s.order, s.random);
        bool done = true;
        for (const std::size_t i : s.order) {
            if (s.fibers[i].state == State::kReady) resume(s, i);
            done = done && s.fibers[i].state == State::kDone;
        }
        if (done) return true;
        bool released = false;
        for (std::size_t i = 0; i < count; i += kWarp)
            released |=
                release(s, i, std::min<std::size_t>(i + kWarp, count), State::kWaitsForWarp);
        if (!released && !release(s, 0, count, State::kWaitsForBlock)) return false;
    }
}

}  // namespace

std::string compile(const std::string& text, std::string& log) {
    char folder[] = "/tmp/fake_cuda_XXXXXX";
    if (::mkdtemp(folder) == nullptr) return {};
    const std::string base = std::string(folder) + "/kernel";
    {
        std::ofstream file(base + ".cpp");
        file << kPrologue << "#line 1 \"kernel.cu\"\n" << text << "\n";
        for (const std::string& name : kernels_of(text))
            file << "extern \"C\" void " << name << "_fake(void** a) { fake_call(&" << name
                 << ", a); }\nextern \"C\" void " << name
                 << "_copy(void** a, void** to) { fake_copy(&" << name << ", a, to); }\n";
    }
    const std::string command =
        "clang++-19 -std=c++17 -O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -fPIC -shared "
        "-fno-math-errno " +
        base + ".cpp -o " + base + ".so -lm -lgcc_s > " + base + ".log 2>&1";
    const int status = std::system(command.c_str());
    log = read_file(base + ".log");
    std::string library = read_file(base + ".so");
    for (const char* suffix : {".cpp", ".so", ".log"})
        ::unlink((base + suffix).c_str());
    ::rmdir(folder);
    if (status != 0) return {};
    const std::uint64_t size = library.size();
    std::string image = kMagic;
    image.append(reinterpret_cast<const char*>(&size), sizeof size);
    return image + library;
}

void* load(const std::string& image) {
    const std::size_t head = std::strlen(kMagic);
    std::uint64_t size = 0;
    if (image.compare(0, head, kMagic) != 0) return nullptr;
    std::memcpy(&size, image.data() + head, sizeof size);
    // The name must be new: the loader returns the same library for equal names.
    char name[] = "/tmp/fake_cuda_XXXXXX";
    const int file = ::mkstemp(name);
    const char* at = image.data() + head + sizeof size;
    void* library = nullptr;
    if (file >= 0 && ::write(file, at, size) == static_cast<ssize_t>(size)) {
        library = ::dlopen(name, RTLD_NOW);
        if (library == nullptr) std::fprintf(stderr, "emulated GPU: %s\n", ::dlerror());
    }
    ::close(file);
    ::unlink(name);
    return library;
}

void* find_kernel(void* library, const char* name) {
    return ::dlsym(library, (std::string(name) + "_fake").c_str());
}

void copy_arguments(void* library, const char* name, void** arguments, void** copies) {
    void* copy = ::dlsym(library, (std::string(name) + "_copy").c_str());
    reinterpret_cast<void (*)(void**, void**)>(copy)(arguments, copies);
}

void* find_variable(void* library, const char* name) {
    return ::dlsym(library, name);
}

bool launch(void* library, void* kernel, const unsigned grid[3], const unsigned block[3],
            void** arguments, std::string& message) {
    const std::scoped_lock lock(mutex);
    static Scheduler& s = *new Scheduler;
    scheduler = &s;
    const std::size_t count = std::size_t{block[0]} * block[1] * block[2];
    if (s.stack_count < count) {
        if (s.stacks != nullptr) ::munmap(s.stacks, s.stack_count * kStack);
        s.stacks = static_cast<char*>(::mmap(nullptr, count * kStack, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        s.stack_count = count;
    }
    s.fibers = std::vector<Fiber>(count);
    s.order.resize(count);
    std::iota(s.order.begin(), s.order.end(), std::size_t{0});
    s.exchange.assign((count + kWarp - 1) / kWarp * kWarp * 16, 0);
    for (std::size_t i = 0; i < count; ++i) {
        const auto n = static_cast<unsigned>(i);
        s.fibers[i].thread = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
    }
    s.kernel = reinterpret_cast<void (*)(void**)>(kernel);
    s.arguments = arguments;
    s.gpu.block_dim = {block[0], block[1], block[2]};
    s.gpu.grid_dim = {grid[0], grid[1], grid[2]};
    s.gpu.wait = wait;
    reinterpret_cast<void (*)(Gpu*)>(::dlsym(library, "fake_bind"))(&s.gpu);
    for (unsigned z = 0; z < grid[2]; ++z) {
        for (unsigned y = 0; y < grid[1]; ++y) {
            for (unsigned x = 0; x < grid[0]; ++x) {
                s.gpu.block = {x, y, z};
                if (run_block(s)) continue;
                message = "threads of block " + std::to_string(x) + " wait at barriers for ever";
                return false;
            }
        }
    }
    return true;
}

}  // namespace emulator
