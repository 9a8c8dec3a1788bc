// The NVIDIA GPUs of this machine. Enumerated once, at the first question; a device's primary
// context, which it shares with every other CUDA library of the process (PyTorch, CuPy, JAX), is
// retained at the first use and kept. Memory stands in device_memory.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver.h"

namespace parpy::cuda {

// Thread-safe. Lives until the process ends.
class Device {
public:
    Device(int index, DeviceHandle handle);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const int index;
    const DeviceHandle handle;
    std::string name;          // "NVIDIA H200"
    std::string architecture;  // "sm_90"
    int multiprocessors = 0;
    std::size_t memory = 0;  // bytes
    bool has_pools = false;  // stream-ordered allocation
    bool overlaps_launches =
        false;  // starts a kernel while the one in front of it ends, if told to

    // Null and `error` set where the context cannot be made.
    [[nodiscard]] Context context(RuntimeError& error) const {
        if (Context known = context_.load(std::memory_order_acquire)) return known;
        return retain(error);
    }

    // Whether this process has asked for the context.
    [[nodiscard]] bool in_use() const {
        return context_.load(std::memory_order_relaxed) != nullptr;
    }

    // Memory of this device that freed allocations return to; null where the device has no pools,
    // or no context yet.
    [[nodiscard]] MemoryPool pool() const { return pool_.load(std::memory_order_acquire); }

private:
    Context retain(RuntimeError& error) const;

    mutable std::mutex mutex_;
    mutable std::atomic<Context> context_{nullptr};
    mutable std::atomic<MemoryPool> pool_{nullptr};
};

// Why CUDA code cannot run here; no message: it can.
[[nodiscard]] const RuntimeError& unavailable();

// 0 where CUDA is unavailable.
[[nodiscard]] int device_count();

// `index` < device_count().
[[nodiscard]] const Device& device(int index);

// The device of the calling thread's current context, so that PyTorch's or CuPy's choice is kept;
// device 0 where the thread has none. device_count() > 0.
[[nodiscard]] const Device& current_device();

// The architecture to generate code for: that of current_device(), or "sm_90" without a GPU.
[[nodiscard]] std::string current_architecture();
// Whether GPUs of an architecture ("sm_90a") have thread block clusters.
[[nodiscard]] bool has_clusters(std::string_view architecture);

// Makes a device's context current on this thread while it lives. Where it already is, which is
// what every call but the first of a thread finds, that costs one look at the driver's thread
// state. A thread without any context keeps the new one.
class CurrentContext {
public:
    CurrentContext(const Device& device, RuntimeError& error);
    ~CurrentContext() {
        if (previous_ != nullptr) Driver::instance().cuCtxSetCurrent(previous_);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    Context previous_ = nullptr;  // to restore; null: leave as it is
};

// While it lives, this thread may free and wait although somebody else captures a graph, which
// would end that capture otherwise. Nothing may be asked of the default stream where a stream that
// waits for it is captured: has_default_stream().
class BesideCaptures {
public:
    BesideCaptures() { Driver::instance().cuThreadExchangeStreamCaptureMode(&mode_); }
    ~BesideCaptures() { Driver::instance().cuThreadExchangeStreamCaptureMode(&mode_); }
    BesideCaptures(const BesideCaptures&) = delete;
    BesideCaptures& operator=(const BesideCaptures&) = delete;

    [[nodiscard]] bool has_default_stream() const {
        int status = 0;
        return Driver::instance().cuStreamIsCapturing(nullptr, &status) == kSuccess;
    }

private:
    int mode_ = 2;  // relaxed; then that of before
};

// The device that memory at `pointer` belongs to; nothing for host memory that CUDA does not know.
struct PointerPlace {
    enum class Kind : std::uint8_t { kUnknown, kHost, kDevice, kManaged };
    Kind kind = Kind::kUnknown;
    int device = -1;
};
[[nodiscard]] PointerPlace place_of(DevicePointer pointer);

// That of the memory at these addresses, which must agree; where none is on a GPU, that of this
// thread. Null and `error` set where they differ; `name` is the program's that gets them.
[[nodiscard]] const Device* device_of(std::span<const DevicePointer> pointers,
                                      std::string_view name, RuntimeError& error);

// Waits for all work on `stream` (null: the default stream) of `device`; reports what earlier
// kernels did wrong.
[[nodiscard]] RuntimeError synchronize(const Device& device, Stream stream);

// Waits for all work of every device that this process uses.
[[nodiscard]] RuntimeError synchronize_all();

}  // namespace parpy::cuda
