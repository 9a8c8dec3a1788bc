// The NVIDIA GPUs of this machine. Enumerated once, at first use; a device's primary context, which
// the process's other CUDA libraries (PyTorch, CuPy, JAX) share, is retained at its first use and
// kept. device_memory.h has the memory.
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
        false;  // may start a kernel while the one launched before it still runs

    // Null and `error` set if the context cannot be made.
    [[nodiscard]] Context context(RuntimeError& error) const {
        if (Context known = context_.load(std::memory_order_acquire)) return known;
        return retain(error);
    }

    // Whether this process has retained the context.
    [[nodiscard]] bool in_use() const {
        return context_.load(std::memory_order_relaxed) != nullptr;
    }

    // The pool that freed memory of this device returns to; null if the device has no pools, or no
    // context yet.
    [[nodiscard]] MemoryPool pool() const { return pool_.load(std::memory_order_acquire); }

private:
    Context retain(RuntimeError& error) const;

    mutable std::mutex mutex_;
    mutable std::atomic<Context> context_{nullptr};
    mutable std::atomic<MemoryPool> pool_{nullptr};
};

// Why CUDA code cannot run here; no message: it can run.
[[nodiscard]] const RuntimeError& unavailable();

// 0 where CUDA is unavailable.
[[nodiscard]] int device_count();

// Requires `index` < device_count().
[[nodiscard]] const Device& device(int index);

// The device of the calling thread's current context, so that PyTorch's or CuPy's choice is kept;
// device 0 if the thread has none. Requires device_count() > 0.
[[nodiscard]] const Device& current_device();

// The architecture to generate code for: that of current_device(), or "sm_90" without a GPU.
[[nodiscard]] std::string current_architecture();
// Whether GPUs of an architecture ("sm_90a") have thread block clusters.
[[nodiscard]] bool has_clusters(std::string_view architecture);

// Makes a device's context current on this thread during its lifetime. If it is current already, as
// in every call of a thread but the first, that costs one look at the driver's thread state. A
// thread that had no context keeps the new one.
class CurrentContext {
public:
    CurrentContext(const Device& device, RuntimeError& error);
    ~CurrentContext() {
        if (previous_ != nullptr) Driver::instance().cuCtxSetCurrent(previous_);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

private:
    Context previous_ = nullptr;  // to be restored; null: nothing to restore
};

// During its lifetime, this thread may free memory and wait while another thread captures a graph,
// which would otherwise end that capture. If a stream that waits for the default stream is
// captured, the default stream must not be used: has_default_stream().
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
    int mode_ = 2;  // relaxed; then the mode to restore
};

// The kind and device of the memory at `pointer`; kUnknown: host memory unknown to CUDA.
struct PointerPlace {
    enum class Kind : std::uint8_t { kUnknown, kHost, kDevice, kManaged };
    Kind kind = Kind::kUnknown;
    int device = -1;
};
[[nodiscard]] PointerPlace place_of(DevicePointer pointer);

// The device of the memory at these addresses, which must agree; if none is on a GPU, this thread's
// device. Null and `error` set if they differ; `name` is the program that receives them.
[[nodiscard]] const Device* device_of(std::span<const DevicePointer> pointers,
                                      std::string_view name, RuntimeError& error);

// Waits for all work on `stream` (null: the default stream) of `device`; reports faults of earlier
// kernels.
[[nodiscard]] RuntimeError synchronize(const Device& device, Stream stream);

// Waits for all work of every device that this process uses.
[[nodiscard]] RuntimeError synchronize_all();

}  // namespace parpy::cuda
