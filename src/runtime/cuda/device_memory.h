// Memory of a GPU, allocated and freed in stream order, and the device copies of a call's host
// arrays. Nothing here waits for the device except where it says so. Never managed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// `bytes` of uninitialised memory that is valid for work on `stream` from here on; 0 and `error`
// set on failure. Zero bytes give a valid address nothing may be read from. The device is current.
[[nodiscard]] DevicePointer allocate(const Device& device, std::size_t bytes, Stream stream,
                                     RuntimeError& error);
// What to report where so many bytes could not be had: how many are free. The device is current.
[[nodiscard]] RuntimeError allocation_failure(const Device& device, Result result,
                                              std::size_t bytes);
// Once the work now on `stream` is done. The device is current.
void release(const Device& device, DevicePointer pointer, Stream stream);
// Waits for the work that may use released memory, and gives it back to the system: the pool keeps
// it until then. The device is current.
void trim(const Device& device);

// Work on the stream is recorded for a graph: nothing can be waited for.
[[nodiscard]] bool is_captured(Stream stream);

// Copies in stream order; large pageable memory goes through pinned staging buffers
// (host_staging.h). `from` and `to` on the host are the device's until the stream has been waited
// for. The device is current.
[[nodiscard]] RuntimeError copy_to_device(const Device& device, DevicePointer to, const void* from,
                                          std::size_t bytes, Stream stream);
[[nodiscard]] RuntimeError copy_to_host(const Device& device, void* to, DevicePointer from,
                                        std::size_t bytes, Stream stream);

// The device copies of the host arrays of one call:
//
//     HostCopies copies(device, stream);
//     copies.add(begin, bytes, written);   // each host array: the bytes that its elements span
//     if (error = copies.copy_in(); …)     // allocates and copies; pointer() works from here on
//     … = copies.pointer(array.data);      // any address inside an added span
//     … enqueue the program on the same device and stream …
//     if (error = copies.copy_out(); …)    // copies the written ones back and waits for the stream
//
// Spans that overlap share their device memory, so that arrays which alias on the host alias on the
// device. Gaps of a strided array travel with it and come back as they went. The destructor frees
// the device memory in stream order, whatever happened.
class HostCopies {
public:
    HostCopies(const Device& device, Stream stream) : device_(device), stream_(stream) {}
    ~HostCopies();
    HostCopies(const HostCopies&) = delete;
    HostCopies& operator=(const HostCopies&) = delete;

    void add(void* begin, std::size_t bytes, bool written);
    [[nodiscard]] RuntimeError copy_in();
    [[nodiscard]] DevicePointer pointer(const void* host) const;
    [[nodiscard]] RuntimeError copy_out();

private:
    struct Span {
        std::uintptr_t begin, end;
        bool written;
        DevicePointer device;
    };

    void merge();

    const Device& device_;
    Stream stream_;
    std::vector<Span> spans_;  // disjoint and ascending after copy_in
};

}  // namespace parpy::cuda
