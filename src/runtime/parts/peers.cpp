// See peers.h.
#include "runtime/parts/peers.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace parpy::cuda {

namespace {

constexpr Result kAlreadyEnabled = 704;

bool wanted() {
    static const bool result = [] {
        const char* given = std::getenv("PARPY_PEER_ACCESS");
        return given == nullptr || std::string_view(given) != "0";
    }();
    return result;
}

void enable(const Device& device, const Device& other, RuntimeError& error) {
    if (!can_access(device, other)) return;
    const Driver& driver = Driver::instance();
    Context theirs = other.context(error);
    if (error.failed()) return;
    const CurrentContext current(device, error);
    if (error.failed()) return;
    Result result = driver.cuCtxEnablePeerAccess(theirs, 0);
    if (result == kAlreadyEnabled) result = kSuccess;  // by another library
    if (result == kSuccess && other.pool() != nullptr && driver.cuMemPoolSetAccess != nullptr) {
        AccessDescription access;
        access.location = device.index;
        result = driver.cuMemPoolSetAccess(other.pool(), &access, 1);
    }
    if (result != kSuccess) {
        error = driver.failure(result, "giving GPU " + std::to_string(device.index) +
                                           " access to the memory of GPU " +
                                           std::to_string(other.index));
    }
}

// An event after the work of a stream, for another stream to wait for.
class Behind {
public:
    Behind(const Device& device, Stream stream, RuntimeError& error) : device_(device) {
        constexpr unsigned kNoTiming = 2;
        const CurrentContext current(device, error);
        if (error.failed()) return;
        const Driver& driver = Driver::instance();
        Result result = driver.cuEventCreate(&event_, kNoTiming);
        if (result == kSuccess) result = driver.cuEventRecord(event_, stream);
        if (result != kSuccess) error = driver.failure(result, "recording an event");
    }
    ~Behind() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (event_ != nullptr) Driver::instance().cuEventDestroy(event_);
    }
    Behind(const Behind&) = delete;
    Behind& operator=(const Behind&) = delete;

    void let_wait(const Device& device, Stream stream, RuntimeError& error) const {
        if (error.failed()) return;
        const CurrentContext current(device, error);
        if (error.failed()) return;
        const Driver& driver = Driver::instance();
        const Result result = driver.cuStreamWaitEvent(stream, event_, 0);
        if (result != kSuccess) error = driver.failure(result, "waiting for an event");
    }

private:
    const Device& device_;
    Event event_ = nullptr;
};

}  // namespace

bool can_access(const Device& device, const Device& other) {
    if (device.index == other.index) return true;
    const Driver& driver = Driver::instance();
    if (!wanted() || driver.cuDeviceCanAccessPeer == nullptr ||
        driver.cuCtxEnablePeerAccess == nullptr) {
        return false;
    }
    int can = 0;
    return driver.cuDeviceCanAccessPeer(&can, device.handle, other.handle) == kSuccess && can != 0;
}

void let_access(const Device& a, const Device& b, RuntimeError& error) {
    if (a.index == b.index) return;
    static std::mutex& mutex = *new std::mutex;
    static auto& done = *new std::set<std::pair<int, int>>;
    const std::scoped_lock lock(mutex);
    const std::pair pair(std::min(a.index, b.index), std::max(a.index, b.index));
    if (done.contains(pair)) return;
    enable(a, b, error);
    if (!error.failed()) enable(b, a, error);
    if (!error.failed()) done.insert(pair);
}

RuntimeError copy_between(const Device& to_device, DevicePointer to, const Device& from_device,
                          DevicePointer from, std::size_t bytes, Stream stream) {
    RuntimeError error;
    let_access(to_device, from_device, error);
    if (error.failed() || bytes == 0) return error;
    const Driver& driver = Driver::instance();
    const bool apart = to_device.index != from_device.index;
    if (apart) Behind(from_device, nullptr, error).let_wait(to_device, stream, error);
    Context target = error.failed() ? nullptr : to_device.context(error);
    Context source = error.failed() ? nullptr : from_device.context(error);
    if (error.failed()) return error;
    {
        const CurrentContext current(to_device, error);
        if (error.failed()) return error;
        const Result result =
            apart ? driver.cuMemcpyPeerAsync(to, target, from, source, bytes, stream)
                  : driver.cuMemcpyDtoDAsync(to, from, bytes, stream);
        if (result != kSuccess) return driver.failure(result, "copying between GPUs");
    }
    if (apart) Behind(to_device, stream, error).let_wait(from_device, nullptr, error);
    return error;
}

}  // namespace parpy::cuda
