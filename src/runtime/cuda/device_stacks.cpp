// See device_stacks.h.
#include "runtime/cuda/device_stacks.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/cuda/memory/device_memory.h"

namespace parpy::cuda {

namespace {

constexpr int kStackSize = 0;  // context limit: bytes of each thread's stack
constexpr int kThreadsPerMultiprocessor = 39;

}  // namespace

DeviceStacks& DeviceStacks::of(const Device& device) {
    // Never destroyed: modules are unloaded until the very end of the process.
    static auto& all = *[] {
        auto* made = new std::vector<std::unique_ptr<DeviceStacks>>;
        for (int i = 0; i < device_count(); ++i)
            made->emplace_back(new DeviceStacks(cuda::device(i)));
        return made;
    }();
    return *all[static_cast<std::size_t>(device.index)];
}

std::size_t DeviceStacks::begin(RuntimeError& error) {
    const std::scoped_lock lock(mutex_);
    const Driver& driver = Driver::instance();
    if (users_ == 0) {
        Result result = driver.cuCtxGetLimit(&before_, kStackSize);
        bytes_ = std::max(before_, kWanted);
        if (result == kSuccess && bytes_ > before_) {
            result = driver.cuCtxSetLimit(kStackSize, bytes_);
            if (result == kOutOfMemory) {
                trim(device_);
                result = driver.cuCtxSetLimit(kStackSize, bytes_);
            }
            const std::size_t least = std::max(before_, kLeast);
            while (result == kOutOfMemory && bytes_ / 2 >= least) {
                bytes_ /= 2;
                result = driver.cuCtxSetLimit(kStackSize, bytes_);
            }
        }
        if (result != kSuccess) {
            int threads = 0;
            driver.cuDeviceGetAttribute(&threads, kThreadsPerMultiprocessor, device_.handle);
            const auto count = static_cast<std::size_t>(threads * device_.multiprocessors);
            error = driver.failure(result, "reserving stacks of " + std::to_string(bytes_) +
                                               " bytes for a recursive function, for each of the " +
                                               std::to_string(count) + " threads that GPU " +
                                               std::to_string(device_.index) + " holds at once (" +
                                               std::to_string(count * bytes_ / 1'000'000) + " MB)");
            return 0;
        }
    }
    ++users_;
    return bytes_;
}

void DeviceStacks::end() {
    const std::scoped_lock lock(mutex_);
    if (--users_ > 0 || bytes_ == before_) return;
    Driver::instance().cuCtxSetLimit(kStackSize, before_);
}

}  // namespace parpy::cuda
