// See device.h.
#include "runtime/cuda/device.h"

#include <deque>
#include <limits>

#include "parpy/options.h"
#include "support/architecture.h"

namespace parpy::cuda {

namespace {

constexpr int kMultiprocessorCount = 16;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kMemoryPoolsSupported = 115;

constexpr int kMemoryType = 2;
constexpr int kIsManaged = 8;
constexpr int kDeviceOrdinal = 9;
constexpr unsigned kHostMemory = 1;

constexpr int kReleaseThreshold = 4;
// The pool keeps all memory that was freed until trim() of device_memory.h, since mapping it anew
// takes milliseconds.
constexpr std::uint64_t kKeptBytes = std::numeric_limits<std::uint64_t>::max();

struct Devices {
    RuntimeError unavailable;
    std::deque<Device> all;
};

const Devices& devices() {
    // Never destroyed: arrays, streams and functions are freed until the very end of the process.
    static const Devices& found = *[] {
        auto* made = new Devices;
        Devices& result = *made;
        const Driver& driver = Driver::instance();
        result.unavailable = driver.unavailable;
        if (result.unavailable.failed()) return made;
        int count = 0;
        if (const Result r = driver.cuDeviceGetCount(&count); r != kSuccess) {
            result.unavailable = driver.failure(r, "counting the GPUs", Code::kP521);
            return made;
        }
        for (int i = 0; i < count; ++i) {
            DeviceHandle handle = 0;
            if (const Result r = driver.cuDeviceGet(&handle, i); r != kSuccess) {
                result.unavailable =
                    driver.failure(r, "opening GPU " + std::to_string(i), Code::kP521);
                result.all.clear();
                return made;
            }
            result.all.emplace_back(i, handle);
        }
        if (count == 0) {
            result.unavailable = {
                Code::kP521, "the NVIDIA driver finds no GPU on this machine",
                "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use backend=CompileBackend.Cpu"};
        }
        return made;
    }();
    return found;
}

}  // namespace

Device::Device(int i, DeviceHandle h) : index(i), handle(h) {
    const Driver& driver = Driver::instance();
    const auto attribute = [&](int which) {
        int value = 0;
        driver.cuDeviceGetAttribute(&value, which, handle);
        return value;
    };
    char text[256] = "";
    driver.cuDeviceGetName(text, sizeof text - 1, handle);
    name = text;
    architecture = "sm_" + std::to_string(attribute(kCapabilityMajor)) +
                   std::to_string(attribute(kCapabilityMinor));
    multiprocessors = attribute(kMultiprocessorCount);
    driver.cuDeviceTotalMem(&memory, handle);
    has_pools = attribute(kMemoryPoolsSupported) != 0;
    // Older drivers refuse overlapped launches while a stream is captured.
    constexpr int kCapturesOverlap = 12030;
    overlaps_launches = attribute(kCapabilityMajor) >= 9 && driver.version >= kCapturesOverlap &&
                        driver.cuLaunchKernelEx != nullptr;
}

Context Device::retain(RuntimeError& error) const {
    const std::scoped_lock lock(mutex_);
    if (Context known = context_.load(std::memory_order_relaxed)) return known;
    const Driver& driver = Driver::instance();
    Context context = nullptr;
    if (const Result r = driver.cuDevicePrimaryCtxRetain(&context, handle); r != kSuccess) {
        error = driver.failure(r, "making a context on GPU " + std::to_string(index));
        return nullptr;
    }
    if (has_pools) {
        PoolProperties properties;
        properties.location = index;
        MemoryPool pool = nullptr;
        if (driver.cuMemPoolCreate(&pool, &properties) == kSuccess) {
            std::uint64_t kept = kKeptBytes;
            driver.cuMemPoolSetAttribute(pool, kReleaseThreshold, &kept);
            pool_.store(pool, std::memory_order_release);
        }
    }
    context_.store(context, std::memory_order_release);
    return context;
}

const RuntimeError& unavailable() {
    return devices().unavailable;
}

int device_count() {
    return static_cast<int>(devices().all.size());
}

const Device& device(int index) {
    return devices().all[static_cast<std::size_t>(index)];
}

const Device& current_device() {
    const std::deque<Device>& all = devices().all;
    if (all.size() > 1) {
        Context current = nullptr;
        RuntimeError ignored;
        if (Driver::instance().cuCtxGetCurrent(&current) == kSuccess && current != nullptr) {
            DeviceHandle handle = 0;
            if (Driver::instance().cuCtxGetDevice(&handle) == kSuccess) {
                for (const Device& one : all) {
                    if (one.handle == handle) return one;
                }
            }
        }
    }
    return all.front();
}

std::string current_architecture() {
    return device_count() == 0 ? Options{}.cuda_arch : current_device().architecture;
}

bool has_clusters(std::string_view architecture) {
    return compute_capability(architecture) >= 90;
}

CurrentContext::CurrentContext(const Device& device, RuntimeError& error) {
    const Driver& driver = Driver::instance();
    Context wanted = device.context(error);
    if (wanted == nullptr) return;
    Context current = nullptr;
    Result result = driver.cuCtxGetCurrent(&current);
    if (result == kSuccess && current != wanted) {
        result = driver.cuCtxSetCurrent(wanted);
        if (result == kSuccess) previous_ = current;
    }
    if (result != kSuccess) error = driver.failure(result, "selecting a GPU");
}

PointerPlace place_of(DevicePointer pointer) {
    const Driver& driver = Driver::instance();
    unsigned type = 0;
    // The driver returns "invalid value" for memory that it does not know.
    if (device_count() == 0 ||
        driver.cuPointerGetAttribute(&type, kMemoryType, pointer) != kSuccess) {
        return {};
    }
    PointerPlace place{
        type == kHostMemory ? PointerPlace::Kind::kHost : PointerPlace::Kind::kDevice, -1};
    unsigned managed = 0;
    if (driver.cuPointerGetAttribute(&managed, kIsManaged, pointer) == kSuccess && managed != 0) {
        place.kind = PointerPlace::Kind::kManaged;
    }
    if (driver.cuPointerGetAttribute(&place.device, kDeviceOrdinal, pointer) != kSuccess) {
        place.device = -1;
    }
    return place;
}

const Device* device_of(std::span<const DevicePointer> pointers, std::string_view name,
                        RuntimeError& error) {
    int found = -1;
    for (const DevicePointer pointer : pointers) {
        if (pointer == 0) continue;
        const PointerPlace place = place_of(pointer);
        if (place.kind != PointerPlace::Kind::kDevice || place.device < 0) continue;
        if (found >= 0 && place.device != found) {
            error = {Code::kP533,
                     "the arguments of '" + std::string(name) + "' are on different GPUs: " +
                         std::to_string(found) + " and " + std::to_string(place.device),
                     "move them to one GPU"};
            return nullptr;
        }
        found = place.device;
    }
    return found >= 0 ? &device(found) : &current_device();
}

RuntimeError synchronize(const Device& device, Stream stream) {
    RuntimeError error;
    const CurrentContext current(device, error);
    if (error.failed()) return error;
    const Driver& driver = Driver::instance();
    if (const Result r = driver.cuStreamSynchronize(stream); r != kSuccess) {
        return driver.failure(r, "waiting for the GPU");
    }
    return {};
}

RuntimeError synchronize_all() {
    for (int i = 0; i < device_count(); ++i) {
        const Device& one = device(i);
        if (!one.in_use()) continue;
        RuntimeError error;
        const CurrentContext current(one, error);
        if (error.failed()) return error;
        const Driver& driver = Driver::instance();
        if (const Result r = driver.cuCtxSynchronize(); r != kSuccess) {
            return driver.failure(r, "waiting for the GPU");
        }
    }
    return {};
}

}  // namespace parpy::cuda
