// See driver.h. The library stays open until the process ends, for its threads and exit handlers.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace parpy::cuda {

namespace {

constexpr Result kNotInitialized = 3;
constexpr Result kDeinitialized = 4;
constexpr Result kStubLibrary = 34;
constexpr Result kNoDevice = 100;
constexpr Result kSystemDriverMismatch = 803;

std::atomic<const char*> last_kernel{nullptr};
std::atomic<bool> initialized{false};
std::atomic<bool> forked{false};

RuntimeError missing(const std::string& file, const char* reason) {
    RuntimeError error{Code::kP520,
                       "there is no NVIDIA driver on this machine: '" + file + "' cannot be loaded",
                       "install NVIDIA's driver, or use backend=CompileBackend.Cpu"};
    if (reason != nullptr) error.message += " (" + std::string(reason) + ")";
    return error;
}

RuntimeError cannot_start(const Driver& driver, Result result) {
    if (result == kNoDevice) {
        return {Code::kP521, "the NVIDIA driver finds no GPU on this machine",
                "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use backend=CompileBackend.Cpu"};
    }
    if (result == kStubLibrary) {
        return {Code::kP520, "the libcuda.so.1 that was loaded is the toolkit's stub, not a driver",
                "remove the toolkit's 'stubs' directory from LD_LIBRARY_PATH"};
    }
    RuntimeError error = driver.failure(result, "starting the NVIDIA driver", Code::kP521);
    if (error.help.empty()) {
        error.help =
            result == kSystemDriverMismatch
                ? "the loaded kernel module and libcuda.so.1 differ in version: reboot after "
                  "a driver update"
                : "check that nvidia-smi works, or use backend=CompileBackend.Cpu";
    }
    return error;
}

}  // namespace

Driver Driver::load(const std::string& file) {
    Driver driver;
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        driver.unavailable = missing(file, ::dlerror());
        return driver;
    }
    const char* absent = nullptr;
#define DRIVER(name, symbol, parameters)                                            \
    driver.name = reinterpret_cast<Result(*) parameters>(::dlsym(library, symbol)); \
    if (driver.name == nullptr && absent == nullptr) absent = symbol;
#define DRIVER_OPTIONAL(name, symbol, parameters) \
    driver.name = reinterpret_cast<Result(*) parameters>(::dlsym(library, symbol));
#include "runtime/cuda/driver_functions.def"
#undef DRIVER_OPTIONAL
#undef DRIVER
    if (absent != nullptr) {
        driver.unavailable = {
            Code::kP522,
            "the NVIDIA driver is too old: '" + file + "' has no function '" + absent + "'",
            "install a driver of release 470 (CUDA 11.4) or newer"};
        return driver;
    }
    if (const Result result = driver.cuInit(0); result != kSuccess) {
        driver.unavailable = cannot_start(driver, result);
        return driver;
    }
    driver.cuDriverGetVersion(&driver.version);
    return driver;
}

const Driver& Driver::instance() {
    // Never destroyed: arrays are freed until the very end of the process.
    static const Driver& driver = *[] {
        const char* file = std::getenv("PARPY_CUDA_DRIVER");
        auto* driver = new Driver(load(file != nullptr && *file != '\0' ? file : "libcuda.so.1"));
        if (!driver->unavailable.failed()) {
            initialized.store(true, std::memory_order_relaxed);
            // CUDA does not survive fork(): all calls of the child fail, and failure() says why.
            ::pthread_atfork(nullptr, nullptr, [] {
                if (initialized.load(std::memory_order_relaxed)) forked.store(true);
            });
        }
        return driver;
    }();
    return driver;
}

bool Driver::in_use() {
    return initialized.load(std::memory_order_relaxed) && !forked.load(std::memory_order_relaxed);
}

std::string Driver::describe(Result result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (cuGetErrorName != nullptr) cuGetErrorName(result, &name);
    if (cuGetErrorString != nullptr) cuGetErrorString(result, &text);
    std::string description = name != nullptr ? name : "CUDA error " + std::to_string(result);
    if (text != nullptr) description += " (" + std::string(text) + ")";
    return description;
}

RuntimeError Driver::failure(Result result, std::string_view attempt, Code code) const {
    const std::string description = describe(result);
    if (is_fault(result)) {
        const char* kernel = last_kernel.load(std::memory_order_relaxed);
        std::string message =
            "a kernel faulted on the GPU: " + description + ", found while " + std::string(attempt);
        if (kernel != nullptr) {
            message += "; the last kernel that ParPy launched is '" + std::string(kernel) + "'";
        }
        return {Code::kP530, std::move(message),
                "the GPU memory of this process is lost: start a new process; with "
                "CUDA_LAUNCH_BLOCKING=1 in the environment the error names the kernel that "
                "faulted, and "
                "backend=CompileBackend.Cpu runs the same function on the CPU"};
    }
    RuntimeError error{code, std::string(attempt) + " failed: " + description, {}};
    if (result == kOutOfMemory) {
        error.code = Code::kP528;
        error.message = "the GPU is out of memory while " + std::string(attempt);
        error.help =
            "delete arrays that are no longer needed, or empty the caches of other libraries "
            "(torch.cuda.empty_cache(), cupy's free_all_blocks())";
    } else if (forked.load(std::memory_order_relaxed) || result == kNotInitialized) {
        error.code = Code::kP534;
        error.help =
            "CUDA cannot be used in a process that was forked after its first use: start "
            "processes with multiprocessing's 'spawn' method";
    } else if (result == kDeinitialized) {
        error.help = "the process is shutting down: call no ParPy function from exit handlers";
    }
    return error;
}

bool is_fault(Result result) {
    switch (result) {
        case 214:  // uncorrectable ECC error
        case 220:  // uncorrectable NVLink error
        case 226:  // contained memory error
        case 700:  // illegal address
        case 702:  // launch timeout
        case 709:  // context destroyed
        case 710:  // device-side assertion
        case 714:  // hardware stack error
        case 715:  // illegal instruction
        case 716:  // misaligned address
        case 717:  // invalid address space
        case 718:  // invalid program counter
        case 719:  // launch failed
        case 721:  // tensor memory leak
            return true;
        default:
            return false;
    }
}

void note_launch(const char* kernel) {
    last_kernel.store(kernel, std::memory_order_relaxed);
}

}  // namespace parpy::cuda
