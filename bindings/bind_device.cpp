// What parpy.cuda's arrays, streams and events are made of on a GPU: objects that own memory,
// streams and events of the driver, and copies between host and device. Everything about shapes
// stands in python/parpy/cuda/.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>
#include <utility>

#include "array_intake.h"
#include "raise.h"
#include "runtime/device.h"
#include "runtime/device_memory.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

namespace {

using cuda::CurrentContext;
using cuda::Device;
using cuda::DevicePointer;
using cuda::Driver;
using cuda::kSuccess;
using cuda::Result;

constexpr int kInvalidDevice = 101;
constexpr int kNotReady = 600;
constexpr unsigned kPortable = 1, kMapped = 2;  // flags of pinned memory

[[noreturn]] void raise(const RuntimeError& error) {
    set_python_error(error);
    throw nb::python_error();
}

void require(Result result, const char* attempt) {
    if (result != kSuccess) raise(Driver::instance().failure(result, attempt));
}

const Device& device_at(int index) {
    if (const RuntimeError& missing = cuda::unavailable(); missing.failed()) raise(missing);
    if (index < 0) return cuda::current_device();
    if (index >= cuda::device_count()) {
        raise(Driver::instance().failure(kInvalidDevice, "selecting a GPU"));
    }
    return cuda::device(index);
}

// Makes the device current for what follows, or raises.
class Selected {
public:
    explicit Selected(const Device& device) : context_(device, error_) {
        if (error_.failed()) raise(error_);
    }

private:
    RuntimeError error_;
    CurrentContext context_;
};

cuda::Stream stream_of(std::uint64_t handle) {
    return reinterpret_cast<cuda::Stream>(handle);
}

// The destructors run wherever the last reference goes; nobody hears of what fails there.
class DeviceMemory {
public:
    DeviceMemory(std::size_t bytes, std::uint64_t stream, int index)
        : device_(device_at(index)), stream_(stream_of(stream)) {
        const Selected selected(device_);
        RuntimeError error;
        pointer_ = cuda::allocate(device_, bytes, stream_, error);
        if (error.failed()) raise(error);
    }
    ~DeviceMemory() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (!ignored.failed()) cuda::release(device_, pointer_, stream_);
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    [[nodiscard]] std::uint64_t pointer() const { return pointer_; }
    [[nodiscard]] int device() const { return device_.index; }

private:
    const Device& device_;
    cuda::Stream stream_;
    DevicePointer pointer_ = 0;
};

class PinnedMemory {
public:
    PinnedMemory(std::size_t bytes, bool mapped) : device_(device_at(-1)) {
        const Selected selected(device_);
        require(Driver::instance().cuMemHostAlloc(&memory_, bytes == 0 ? 1 : bytes,
                                                  kPortable | (mapped ? kMapped : 0)),
                "allocating pinned memory");
    }
    ~PinnedMemory() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (!ignored.failed()) Driver::instance().cuMemFreeHost(memory_);
    }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }
    [[nodiscard]] std::uint64_t device_pointer() const {
        const Selected selected(device_);
        DevicePointer pointer = 0;
        require(Driver::instance().cuMemHostGetDevicePointer(&pointer, memory_, 0),
                "mapping memory to the GPU");
        return pointer;
    }

private:
    const Device& device_;
    void* memory_ = nullptr;
};

class DeviceStream {
public:
    DeviceStream() : device_(device_at(-1)) {
        const Selected selected(device_);
        require(Driver::instance().cuStreamCreate(&stream_, 0), "making a stream");
    }
    ~DeviceStream() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (!ignored.failed()) Driver::instance().cuStreamDestroy(stream_);
    }
    DeviceStream(const DeviceStream&) = delete;
    DeviceStream& operator=(const DeviceStream&) = delete;

    [[nodiscard]] std::uint64_t handle() const { return reinterpret_cast<std::uint64_t>(stream_); }

private:
    const Device& device_;
    cuda::Stream stream_ = nullptr;
};

class DeviceEvent {
public:
    explicit DeviceEvent(bool timing) : device_(device_at(-1)) {
        constexpr unsigned kNoTiming = 2;
        const Selected selected(device_);
        require(Driver::instance().cuEventCreate(&event_, timing ? 0 : kNoTiming),
                "making an event");
    }
    ~DeviceEvent() {
        RuntimeError ignored;
        const CurrentContext current(device_, ignored);
        if (!ignored.failed()) Driver::instance().cuEventDestroy(event_);
    }
    DeviceEvent(const DeviceEvent&) = delete;
    DeviceEvent& operator=(const DeviceEvent&) = delete;

    void record(std::uint64_t stream) const {
        const Selected selected(device_);
        require(Driver::instance().cuEventRecord(event_, stream_of(stream)), "recording an event");
    }
    [[nodiscard]] bool query() const {
        const Selected selected(device_);
        const Result result = Driver::instance().cuEventQuery(event_);
        if (result != kNotReady) require(result, "asking for an event");
        return result == kSuccess;
    }
    void wait(std::uint64_t stream) const {
        const Selected selected(device_);
        require(Driver::instance().cuStreamWaitEvent(stream_of(stream), event_, 0),
                "waiting for an event");
    }
    void synchronize() const {
        const nb::gil_scoped_release released;
        RuntimeError error;
        const CurrentContext current(device_, error);
        const Result result =
            error.failed() ? kSuccess : Driver::instance().cuEventSynchronize(event_);
        if (result != kSuccess) {
            error = Driver::instance().failure(result, "waiting for an event");
        }
        if (error.failed()) {
            const nb::gil_scoped_acquire held;
            raise(error);
        }
    }
    [[nodiscard]] double milliseconds_until(const DeviceEvent& end) const {
        const Selected selected(device_);
        float milliseconds = 0;
        require(Driver::instance().cuEventElapsedTime(&milliseconds, event_, end.event_),
                "measuring the time between two events");
        return static_cast<double>(milliseconds);
    }

private:
    const Device& device_;
    cuda::Event event_ = nullptr;
};

// Runs work(device) with the device current and without the GIL; raises what it reports.
template <class Work>
void without_gil(int index, const Work& work) {
    const Device& device = device_at(index);
    RuntimeError error;
    {
        const nb::gil_scoped_release released;
        const CurrentContext current(device, error);
        if (!error.failed()) error = work(device);
    }
    if (error.failed()) raise(error);
}

void copy_to_device(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                    int index) {
    without_gil(index, [&](const Device& device) {
        return cuda::copy_to_device(device, to, reinterpret_cast<const void*>(from), bytes,
                                    stream_of(stream));
    });
}

void copy_to_host(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                  int index) {
    without_gil(index, [&](const Device& device) {
        return cuda::copy_to_host(device, reinterpret_cast<void*>(to), from, bytes,
                                  stream_of(stream));
    });
}

void copy_on_device(std::uint64_t to, std::uint64_t from, std::size_t bytes, std::uint64_t stream,
                    int index) {
    without_gil(index, [&](const Device&) -> RuntimeError {
        const Driver& driver = Driver::instance();
        const Result result = driver.cuMemcpyDtoDAsync(to, from, bytes, stream_of(stream));
        return result == kSuccess ? RuntimeError{} : driver.failure(result, "copying on the GPU");
    });
}

void synchronize_stream(std::uint64_t stream, int index) {
    without_gil(index,
                [&](const Device& device) { return cuda::synchronize(device, stream_of(stream)); });
}

std::tuple<std::size_t, std::size_t> memory_info(int index) {
    const Device& device = device_at(index);
    const Selected selected(device);
    std::size_t free = 0, total = 0;
    require(Driver::instance().cuMemGetInfo(&free, &total), "asking for free memory");
    return {free, total};
}

int device_attribute(int which, int index) {
    const Device& device = device_at(index);
    int value = 0;
    require(Driver::instance().cuDeviceGetAttribute(&value, which, device.handle),
            "asking a GPU about itself");
    return value;
}

}  // namespace

void bind_device(nb::module_& m) {
    nb::class_<DeviceMemory>(m, "DeviceMemory",
                             "Memory of a GPU; freed in the order of its stream.")
        .def(nb::init<std::size_t, std::uint64_t, int>(), "bytes"_a, "stream"_a = 0,
             "device"_a = -1)
        .def_prop_ro("pointer", &DeviceMemory::pointer)
        .def_prop_ro("device", &DeviceMemory::device);
    nb::class_<PinnedMemory>(m, "PinnedMemory", "Host memory that stays where it is.")
        .def(nb::init<std::size_t, bool>(), "bytes"_a, "mapped"_a = false)
        .def_prop_ro("address", &PinnedMemory::address)
        .def_prop_ro("device_pointer", &PinnedMemory::device_pointer);
    nb::class_<DeviceStream>(m, "DeviceStream")
        .def(nb::init<>())
        .def_prop_ro("handle", &DeviceStream::handle);
    nb::class_<DeviceEvent>(m, "DeviceEvent")
        .def(nb::init<bool>(), "timing"_a = true)
        .def("record", &DeviceEvent::record, "stream"_a)
        .def("query", &DeviceEvent::query)
        .def("wait", &DeviceEvent::wait, "stream"_a)
        .def("synchronize", &DeviceEvent::synchronize)
        .def("milliseconds_until", &DeviceEvent::milliseconds_until, "end"_a);
    m.def("copy_to_device", copy_to_device, "to"_a, "from_"_a, "bytes"_a, "stream"_a,
          "device"_a = -1, "Enqueued; `from_` is the address of host memory.");
    m.def("copy_to_host", copy_to_host, "to"_a, "from_"_a, "bytes"_a, "stream"_a, "device"_a = -1,
          "Enqueued; `to` is the address of host memory.");
    m.def("copy_on_device", copy_on_device, "to"_a, "from_"_a, "bytes"_a, "stream"_a,
          "device"_a = -1, "Enqueued.");
    m.def("synchronize_stream", synchronize_stream, "stream"_a, "device"_a = -1);
    m.def("memory_info", memory_info, "device"_a = -1, "Free and total bytes.");
    m.def("device_attribute", device_attribute, "which"_a, "device"_a = -1,
          "As cuDeviceGetAttribute numbers them.");
    m.def("device_name", [](int index) { return device_at(index).name; }, "device"_a = -1);
    m.def("device_count", [] { return cuda::device_count(); }, "0 where CUDA cannot be used.");
    m.def(
        "select_device",
        [](int index) {
            const Device& device = device_at(index);
            RuntimeError error;
            if (cuda::Context context = device.context(error)) {
                require(Driver::instance().cuCtxSetCurrent(context), "selecting a GPU");
            }
            if (error.failed()) raise(error);
        },
        "device"_a, "The GPU of this thread from now on.");
    m.def(
        "set_device_array_type",
        [](nb::handle type) {
            if (!PyType_Check(type.ptr())) throw nb::type_error("a type");
            set_device_array_type(reinterpret_cast<PyTypeObject*>(type.ptr()));
        },
        "type"_a, "The type of parpy.cuda's arrays, which calls then read directly.");
    m.def("current_device", [] { return device_at(-1).index; }, "The GPU of this thread.");
}

}  // namespace parpy
