// The CUDA driver API, found at run time: libcuda.so.1 is opened at the first use, its functions
// are declared here by hand, and no part of CUDA is needed to build ParPy. Driver errors become
// RuntimeErrors only here. Devices and contexts are in runtime/cuda/device.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/runtime_error.h"

namespace parpy::cuda {

// The types of cuda.h.
using Result = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextRecord*;
using Stream = struct StreamRecord*;
using Event = struct EventRecord*;
using Module = struct ModuleRecord*;
using Function = struct FunctionRecord*;
using MemoryPool = struct MemoryPoolRecord*;
using CapturedWork = struct GraphRecord*;
using GraphExec = struct GraphExecRecord*;
using UserObject = struct UserObjectRecord*;  // an object that graphs own

struct PoolProperties {
    int allocation_type = 1;  // pinned
    int handle_types = 0;     // not exported
    int location_type = 1;    // a device
    int location = 0;         // its index
    void* security = nullptr;
    std::size_t maximum = 0;
    unsigned short usage = 0;
    unsigned char reserved[54] = {};
};
static_assert(sizeof(PoolProperties) == 88);

using Pages = unsigned long long;  // physical memory, to be mapped to addresses

struct PageProperties {
    int allocation_type = 1;  // pinned
    int handle_types = 0;     // not exported
    int location_type = 1;    // a device
    int location = 0;         // its index
    void* metadata = nullptr;
    unsigned char flags[8] = {};
};
static_assert(sizeof(PageProperties) == 32);

struct AccessDescription {
    int location_type = 1;  // a device
    int location = 0;       // its index
    int access = 3;         // reads and writes
};
static_assert(sizeof(AccessDescription) == 12);

// A copy of `height` rows of `width` bytes between the memory of two contexts.
struct PeerCopy {
    struct Place {
        std::size_t x = 0, y = 0, z = 0, level = 0;
        int memory_type = 2;  // a device's
        void* host = nullptr;
        DevicePointer at = 0;
        void* array = nullptr;
        Context context = nullptr;
        std::size_t pitch = 0, height = 0;
    };
    Place from, to;
    std::size_t width = 0, height = 1, depth = 1;
};
static_assert(sizeof(PeerCopy) == 200);

struct LaunchAttribute {
    int id = 6;  // programmatic stream serialization, or kCooperative
    int unused = 0;
    int allowed = 1;
    unsigned char reserved[60] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

inline constexpr unsigned kNonBlocking = 1;  // a stream that does not wait for the default one
inline constexpr int kCooperative = 2;       // all blocks run at once, or the launch fails

struct LaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    Stream stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kTooManyBlocks = 720;
inline constexpr Result kInvalidClusterSize = 912;

// The driver of this machine. Immutable once loaded; safe from any thread.
struct Driver {
#define DRIVER(name, symbol, parameters) Result(*name) parameters = nullptr;
#define DRIVER_OPTIONAL DRIVER
#include "runtime/cuda/driver_functions.def"
#undef DRIVER_OPTIONAL
#undef DRIVER

    int version = 0;           // 13000: the newest CUDA version that it supports
    RuntimeError unavailable;  // why it cannot be used; no message: it can

    // Loaded and initialised at the first call. PARPY_CUDA_DRIVER names a file to open instead of
    // libcuda.so.1.
    [[nodiscard]] static const Driver& instance();
    // Whether this process has called instance(), and there is a driver.
    [[nodiscard]] static bool in_use();
    [[nodiscard]] static Driver load(const std::string& file);

    // The text "CUDA_ERROR_INVALID_VALUE (invalid argument)".
    [[nodiscard]] std::string describe(Result result) const;

    // The error to report if `attempt` ("copying 'x' to the GPU") gave `result`. Faults of kernels,
    // lack of memory and use after fork have their own code and help, whichever call of the driver
    // returned them.
    [[nodiscard]] RuntimeError failure(Result result, std::string_view attempt,
                                       Code code = Code::kP529) const;
};

// Whether the context is lost: every further call in this process fails with the same result.
[[nodiscard]] bool is_fault(Result result);

// Sets the kernel that failure() names in a fault. The name must live as long as the process.
void note_launch(const char* kernel);

}  // namespace parpy::cuda
