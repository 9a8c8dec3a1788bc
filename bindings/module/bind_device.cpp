// The GPUs of this machine, their streams and events, for parpy.cuda.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>

#include "arrays/device_access.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

using cuda::CurrentContext;
using cuda::Device;
using cuda::Driver;
using cuda::kSuccess;
using cuda::Result;

void raise(const RuntimeError& error) {
    set_python_error(error);
    throw nb::python_error();
}

void require(Result result, const char* attempt) {
    if (result != kSuccess) raise(Driver::instance().failure(result, attempt));
}

const Device& device_at(int index) {
    constexpr int kInvalidDevice = 101;
    if (const RuntimeError& missing = cuda::unavailable(); missing.failed()) raise(missing);
    if (index < 0) return cuda::current_device();
    if (index >= cuda::device_count()) {
        raise(Driver::instance().failure(kInvalidDevice, "selecting a GPU"));
    }
    return cuda::device(index);
}

namespace {

constexpr int kNotReady = 600;

// The destructors may run on any thread and report no failure.
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
        if (result != kNotReady) require(result, "querying an event");
        return result == kSuccess;
    }
    // The stream may belong to another device; the default stream is that of the thread's device.
    void wait(std::uint64_t stream) const {
        const Selected selected(device_at(-1));
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

void synchronize_stream(std::uint64_t stream, int index) {
    without_gil(index,
                [&](const Device& device) { return cuda::synchronize(device, stream_of(stream)); });
}

int device_attribute(int which, int index) {
    const Device& device = device_at(index);
    int value = 0;
    require(Driver::instance().cuDeviceGetAttribute(&value, which, device.handle),
            "querying a GPU");
    return value;
}

}  // namespace

void bind_device(nb::module_& m) {
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
    m.def("synchronize_stream", synchronize_stream, "stream"_a, "device"_a = -1);
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
    m.def("current_device", [] { return device_at(-1).index; }, "The GPU of this thread.");
}

}  // namespace parpy
