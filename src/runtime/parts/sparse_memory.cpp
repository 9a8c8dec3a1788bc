// See sparse_memory.h.
#include "runtime/parts/sparse_memory.h"

#include <algorithm>

#include "runtime/cuda/memory/device_memory.h"
#include "runtime/parts/peers.h"

namespace parpy::cuda {

namespace {

constexpr int kMapsMemory = 102;  // device attribute

bool maps_memory(const Device& device) {
    const Driver& driver = Driver::instance();
    int value = 0;
    return driver.cuMemAddressReserve != nullptr && driver.cuMemCreate != nullptr &&
           driver.cuMemMap != nullptr && driver.cuMemSetAccess != nullptr &&
           driver.cuDeviceGetAttribute(&value, kMapsMemory, device.handle) == kSuccess &&
           value != 0;
}

PageProperties pages_of(const Device& device) {
    PageProperties properties;
    properties.location = device.index;
    return properties;
}

}  // namespace

std::unique_ptr<SparseMemory> SparseMemory::make(const Device& device, std::size_t bytes,
                                                 const std::vector<int>& peers,
                                                 RuntimeError& error) {
    const CurrentContext current(device, error);
    if (error.failed()) return nullptr;
    const Driver& driver = Driver::instance();
    std::size_t granule = 0;
    if (maps_memory(device)) {
        const PageProperties properties = pages_of(device);
        constexpr int kLeast = 0;
        if (driver.cuMemGetAllocationGranularity(&granule, &properties, kLeast) != kSuccess)
            granule = 0;
    }
    const std::size_t size = std::max(bytes, std::size_t{1});
    const std::size_t whole = granule == 0 ? size : (size + granule - 1) / granule * granule;
    std::unique_ptr<SparseMemory> made(new SparseMemory(device, whole));
    made->granule_ = granule;
    for (const int peer : peers) {
        let_access(device, cuda::device(peer), error);
        if (error.failed()) return nullptr;
        if (can_access(cuda::device(peer), device)) made->accessing_.push_back(peer);
    }
    if (std::ranges::find(made->accessing_, device.index) == made->accessing_.end())
        made->accessing_.push_back(device.index);
    if (granule == 0) {
        const Result result = driver.cuMemAlloc(&made->begin_, whole);
        made->mapped_ = whole;
        if (result == kSuccess) return made;
        error = allocation_failure(device, result, whole);
        made->begin_ = 0;
        return nullptr;
    }
    const Result result = driver.cuMemAddressReserve(&made->begin_, whole, 0, 0, 0);
    if (result == kSuccess) return made;
    made->begin_ = 0;
    error = driver.failure(result, "reserving addresses on GPU " + std::to_string(device.index));
    return nullptr;
}

SparseMemory::~SparseMemory() {
    if (begin_ == 0) return;
    RuntimeError ignored;
    const CurrentContext current(device_, ignored);
    if (ignored.failed()) return;
    const Driver& driver = Driver::instance();
    const BesideCaptures beside;
    driver.cuCtxSynchronize();
    if (granule_ == 0) {
        driver.cuMemFree(begin_);
        return;
    }
    for (const auto& [first, piece] : there_) {
        driver.cuMemUnmap(begin_ + first, piece.first - first);
        driver.cuMemRelease(piece.second);
    }
    driver.cuMemAddressFree(begin_, bytes_);
}

RuntimeError SparseMemory::cover(std::size_t first, std::size_t last) {
    if (granule_ == 0 || first >= last) return {};
    std::size_t at = first / granule_ * granule_;
    const std::size_t end = std::min((last + granule_ - 1) / granule_ * granule_, bytes_);
    RuntimeError error;
    const CurrentContext current(device_, error);
    // Pieces are disjoint: the last one that begins before `at` may extend beyond it.
    auto next = there_.upper_bound(at);
    if (next != there_.begin()) at = std::max(at, std::prev(next)->second.first);
    while (at < end && !error.failed()) {
        const std::size_t stop = next == there_.end() ? end : std::min(end, next->first);
        const std::size_t behind = next == there_.end() ? end : next->second.first;
        if (at < stop) error = map(at, stop);
        at = std::max(stop, behind);
        if (next != there_.end()) next = there_.lower_bound(at);
    }
    return error;
}

RuntimeError SparseMemory::map(std::size_t first, std::size_t last) {
    const Driver& driver = Driver::instance();
    const PageProperties properties = pages_of(device_);
    const std::size_t bytes = last - first;
    Pages pages = 0;
    Result result = driver.cuMemCreate(&pages, bytes, &properties, 0);
    if (result == kOutOfMemory) {
        trim(device_);  // freed memory may be enough
        result = driver.cuMemCreate(&pages, bytes, &properties, 0);
    }
    if (result != kSuccess) return allocation_failure(device_, result, bytes);
    result = driver.cuMemMap(begin_ + first, bytes, 0, pages, 0);
    if (result == kSuccess) {
        std::vector<AccessDescription> access(accessing_.size());
        for (std::size_t i = 0; i < access.size(); ++i)
            access[i].location = accessing_[i];
        result = driver.cuMemSetAccess(begin_ + first, bytes, access.data(), access.size());
        if (result != kSuccess) driver.cuMemUnmap(begin_ + first, bytes);
    }
    if (result != kSuccess) {
        driver.cuMemRelease(pages);
        return driver.failure(result, "mapping memory of GPU " + std::to_string(device_.index));
    }
    there_.emplace(first, std::pair(last, pages));
    mapped_ += bytes;
    return {};
}

}  // namespace parpy::cuda
