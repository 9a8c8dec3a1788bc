// See device_memory.h.
#include "runtime/cuda/memory/device_memory.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/cuda/memory/allocators.h"
#include "runtime/cuda/memory/host_staging.h"
#include "runtime/cuda/memory/used_streams.h"

namespace parpy::cuda {

namespace {

constexpr std::uintptr_t kAlignment =
    256;  // of device memory; spans keep their host address modulo this

std::string size_text(std::size_t bytes) {
    if (bytes < 10'000'000) return std::to_string(bytes) + " bytes";
    return std::to_string(bytes / 1'000'000) + " MB";
}

Result allocate_once(const Device& device, std::size_t bytes, Stream stream, DevicePointer& at) {
    const Driver& driver = Driver::instance();
    if (MemoryPool pool = device.pool()) {
        return driver.cuMemAllocFromPoolAsync(&at, bytes, pool, stream);
    }
    return driver.cuMemAlloc(&at, bytes);
}

// Whether staging is faster than the driver: for large copies of pageable memory.
bool stages(std::size_t bytes, const void* host) {
    return bytes >= kStageFrom &&
           place_of(reinterpret_cast<DevicePointer>(host)).kind == PointerPlace::Kind::kUnknown;
}

}  // namespace

RuntimeError allocation_failure(const Device& device, Result result, std::size_t bytes) {
    const Driver& driver = Driver::instance();
    RuntimeError error = driver.failure(
        result, "allocating " + size_text(bytes) + " on GPU " + std::to_string(device.index));
    std::size_t free = 0, total = 0;
    if (result == kOutOfMemory && driver.cuMemGetInfo(&free, &total) == kSuccess) {
        error.message += ": " + size_text(free) + " of " + size_text(total) + " are free";
    }
    return error;
}

namespace {

// Whole words: atomic updates of single bytes read the whole word (prelude/cuda.inc).
std::size_t whole_words(std::size_t bytes) {
    return std::max((bytes + 3) / 4 * 4, std::size_t{4});
}

DevicePointer allocate_from_pool(const Device& device, std::size_t bytes, Stream stream,
                                 RuntimeError& error) {
    const std::size_t size = whole_words(bytes);
    const BesideCaptures beside;
    DevicePointer at = 0;
    Result result = allocate_once(device, size, stream, at);
    if (result == kOutOfMemory && !is_captured(stream)) {
        // Memory that other streams have freed, and the pool keeps in pieces, may be enough.
        Driver::instance().cuStreamSynchronize(stream);
        trim(device);
        result = allocate_once(device, size, stream, at);
    }
    if (result == kSuccess) return at;
    error = allocation_failure(device, result, bytes);
    return 0;
}

}  // namespace

DevicePointer allocate(const Device& device, std::size_t bytes, Stream stream,
                       RuntimeError& error) {
    std::shared_ptr<Allocator> chosen = chosen_allocator();
    if (chosen == nullptr || is_captured(stream))
        return allocate_from_pool(device, bytes, stream, error);
    return LentMemory::borrow(std::move(chosen), whole_words(bytes), stream, error);
}

DevicePointer allocate_to_keep(const Device& device, std::size_t bytes, Stream stream,
                               RuntimeError& error) {
    std::shared_ptr<Allocator> chosen = chosen_allocator();
    if (chosen == nullptr) return allocate_from_pool(device, bytes, stream, error);
    {
        const BesideCaptures beside;
        if (!beside.has_default_stream() || is_captured(stream))
            return allocate_from_pool(device, bytes, stream, error);
    }
    const DevicePointer at =
        LentMemory::borrow(std::move(chosen), whole_words(bytes), nullptr, error);
    if (at != 0) let_wait(stream, nullptr);
    return at;
}

void release(const Device& device, DevicePointer pointer, Stream stream) {
    if (pointer == 0) return;
    if (const std::optional<LentMemory> lent = LentMemory::taken(pointer)) {
        lent->wait_for(stream);
        return lent->give_back();
    }
    const BesideCaptures beside;
    const Driver& driver = Driver::instance();
    if (device.pool() != nullptr) {
        driver.cuMemFreeAsync(pointer, stream);
    } else {
        driver.cuMemFree(pointer);  // waits for the device
    }
}

void trim(const Device& device) {
    UsedStreams::of(device).wait();
    if (MemoryPool pool = device.pool()) {
        const BesideCaptures beside;
        Driver::instance().cuMemPoolTrimTo(pool, 0);
    }
}

bool is_captured(Stream stream) {
    int status = 0;
    return Driver::instance().cuStreamIsCapturing(stream, &status) == kSuccess && status != 0;
}

RuntimeError copy_to_device(const Device& device, DevicePointer to, const void* from,
                            std::size_t bytes, Stream stream) {
    RuntimeError error;
    if (bytes == 0) return error;
    if (stages(bytes, from) && HostStaging::of(device).to_device(to, from, bytes, stream, error)) {
        return error;
    }
    const Driver& driver = Driver::instance();
    if (const Result r = driver.cuMemcpyHtoDAsync(to, from, bytes, stream); r != kSuccess) {
        error = driver.failure(r, "copying an array to the GPU");
    }
    return error;
}

RuntimeError copy_to_host(const Device& device, void* to, DevicePointer from, std::size_t bytes,
                          Stream stream) {
    RuntimeError error;
    if (bytes == 0) return error;
    if (stages(bytes, to) && HostStaging::of(device).to_host(to, from, bytes, stream, error)) {
        return error;
    }
    const Driver& driver = Driver::instance();
    if (const Result r = driver.cuMemcpyDtoHAsync(to, from, bytes, stream); r != kSuccess) {
        error = driver.failure(r, "copying an array from the GPU");
    }
    return error;
}

HostCopies::~HostCopies() {
    for (const Span& span : spans_)
        release(device_, span.device, stream_);
}

void HostCopies::add(void* begin, std::size_t bytes, bool written) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    spans_.push_back({address, address + bytes, written, 0});
}

void HostCopies::merge() {
    std::ranges::sort(spans_, {}, &Span::begin);
    std::size_t kept = 0;
    for (const Span& span : spans_) {
        if (kept > 0 &&
            (span.begin < spans_[kept - 1].end || span.begin == spans_[kept - 1].begin)) {
            Span& last = spans_[kept - 1];
            last.end = std::max(last.end, span.end);
            last.written |= span.written;
        } else {
            spans_[kept++] = span;
        }
    }
    spans_.resize(kept);
}

RuntimeError HostCopies::copy_in() {
    merge();
    for (Span& span : spans_) {
        const std::uintptr_t offset = span.begin % kAlignment;
        RuntimeError error;
        span.device = allocate(device_, span.end - span.begin + offset, stream_, error);
        if (error.failed()) return error;
        error = copy_to_device(device_, span.device + offset, reinterpret_cast<void*>(span.begin),
                               span.end - span.begin, stream_);
        if (error.failed()) return error;
    }
    return {};
}

DevicePointer HostCopies::pointer(const void* host) const {
    const auto address = reinterpret_cast<std::uintptr_t>(host);
    auto after = std::ranges::upper_bound(spans_, address, {}, &Span::begin);
    if (after == spans_.begin()) return 0;
    const Span& span = *--after;
    return span.device + span.begin % kAlignment + (address - span.begin);
}

RuntimeError HostCopies::copy_out() {
    for (const Span& span : spans_) {
        if (!span.written) continue;
        RuntimeError error =
            copy_to_host(device_, reinterpret_cast<void*>(span.begin),
                         span.device + span.begin % kAlignment, span.end - span.begin, stream_);
        if (error.failed()) return error;
    }
    const Driver& driver = Driver::instance();
    if (const Result r = driver.cuStreamSynchronize(stream_); r != kSuccess) {
        return driver.failure(r, "waiting for the GPU");
    }
    return {};
}

}  // namespace parpy::cuda
