// Memory of a GPU, allocated and freed in stream order, and the device copies of a call's host
// arrays. No function waits for the device unless its comment says so. Never managed memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda/device.h"

namespace parpy::cuda {

// `bytes` of uninitialised memory that is valid for work on `stream` from here on; 0 and `error`
// set on failure. Zero bytes give a valid address that must not be read. The device is current.
[[nodiscard]] DevicePointer allocate(const Device& device, std::size_t bytes, Stream stream,
                                     RuntimeError& error);
// The same for memory that may outlive the stream: another allocator lends it in the order of the
// default stream, where it ends (used_streams.h), and `stream` waits for that.
[[nodiscard]] DevicePointer allocate_to_keep(const Device& device, std::size_t bytes, Stream stream,
                                             RuntimeError& error);
// The error of a failed allocation, with the bytes that are free. The device is current.
[[nodiscard]] RuntimeError allocation_failure(const Device& device, Result result,
                                              std::size_t bytes);
// Frees the memory after the work now on `stream`. The device is current.
void release(const Device& device, DevicePointer pointer, Stream stream);
// Waits for the work that may use released memory, and returns that memory to the system; until
// then the pool keeps it. The device is current.
void trim(const Device& device);

// Whether the stream's work is recorded for a graph: waiting for it is impossible.
[[nodiscard]] bool is_captured(Stream stream);

// Copies in stream order; large pageable memory goes through pinned staging buffers
// (host_staging.h). Host memory `from` and `to` must not be used until the stream has been waited
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
// device. Gaps of a strided array are copied in and, unchanged, out with it. The destructor frees
// the device memory in stream order in all cases.
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
