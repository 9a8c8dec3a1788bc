// See peers.h.
#include "runtime/parts/peers.h"

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

}  // namespace parpy::cuda
