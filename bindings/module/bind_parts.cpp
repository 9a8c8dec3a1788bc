// The parts of a call that Python runs: run_part and run_device_part call a function with a hook
// for the exchanges of rows and numbers. Teams of GPUs, and memory for their parts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "arrays/device_access.h"
#include "module/python_hook.h"
#include "runtime/cuda/memory/used_streams.h"
#include "runtime/parts/device_team.h"
#include "runtime/parts/parts.h"
#include "runtime/parts/peers.h"
#include "runtime/parts/sparse_memory.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

nb::object run_part(nb::handle function, nb::handle hook) {
    PythonHook python(hook);
    const PartScope scope(python);
    PyObject* result = PyObject_CallNoArgs(function.ptr());
    python.rethrow();
    if (result == nullptr) nb::raise_python_error();
    return nb::steal(result);
}

// ---- GPUs

void check_devices(const std::vector<int>& devices) {
    for (const int index : devices)
        static_cast<void>(device_at(std::max(index, 0)));
}

class Team {
public:
    explicit Team(const std::vector<int>& devices) {
        check_devices(devices);
        RuntimeError error;
        team_ = cuda::DeviceTeam::make(devices, error);
        if (error.failed()) raise(error);
    }

    using Rows = std::tuple<int, std::int64_t, std::int64_t>;
    using Exchange = std::tuple<std::int64_t, std::int64_t, std::int64_t,
                                std::vector<std::vector<Rows>>, std::int64_t>;
    void begin(const std::vector<std::optional<Exchange>>& given) {
        std::vector<cuda::RowExchange> exchanges(given.size());
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!given[i]) continue;
            const auto& [outer, row, pitch, wanted, begun] = *given[i];
            exchanges[i] = {outer, row, pitch, {}, begun};
            for (const std::vector<Rows>& all : wanted) {
                auto& rows = exchanges[i].wanted.emplace_back();
                for (const auto& [source, first, last] : all)
                    rows.push_back({source, first, last});
            }
        }
        if (const RuntimeError error = team_->begin(std::move(exchanges)); error.failed())
            raise(error);
    }
    void exchange(std::size_t part, std::int64_t number, std::uint64_t pointer) const {
        RuntimeError error;
        {
            const nb::gil_scoped_release released;
            const cuda::CurrentContext current(team_->device(part), error);
            if (!error.failed())
                static_cast<void>(
                    team_->exchange(part, number, reinterpret_cast<void*>(pointer), error));
        }
        if (error.failed()) raise(error);
    }
    [[nodiscard]] std::uint64_t stream(std::size_t part) const {
        return reinterpret_cast<std::uint64_t>(team_->stream(part));
    }
    void fail() { team_->fail(); }
    void synchronize() const {
        RuntimeError error;
        {
            const nb::gil_scoped_release released;
            error = team_->synchronize();
        }
        if (error.failed()) raise(error);
    }
    [[nodiscard]] cuda::DeviceTeam& team() const { return *team_; }

private:
    std::unique_ptr<cuda::DeviceTeam> team_;
};

// Rows are copied between devices; the Python hook handles all other actions.
class DeviceHook final : public PythonHook {
public:
    DeviceHook(nb::handle hook, cuda::DeviceTeam& team, std::size_t part)
        : PythonHook(hook), team_(team), part_(part) {}

    [[nodiscard]] int device() const override { return team_.device(part_).index; }
    bool array(std::int64_t action, void* data) override {
        if (!team_.exchanges(action)) return PythonHook::array(action, data);
        const bool done = team_.exchange(part_, action, data, failure);
        left = !done && !failure.failed();
        return done;
    }

    RuntimeError failure;
    bool left = false;  // another part failed

private:
    cuda::DeviceTeam& team_;
    std::size_t part_;
};

nb::object run_device_part(nb::handle function, nb::handle hook, const Team& team,
                           std::size_t part) {
    DeviceHook own(hook, team.team(), part);
    const Selected selected(team.team().device(part));
    PyObject* result = nullptr;
    {
        const PartScope scope(own);
        result = PyObject_CallNoArgs(function.ptr());
    }
    own.rethrow();
    if (own.failure.failed()) {
        PyErr_Clear();
        raise(own.failure);
    }
    if (own.left) {
        PyErr_Clear();
        const nb::object kind = nb::module_::import_("threading").attr("BrokenBarrierError");
        PyErr_SetNone(kind.ptr());
        nb::raise_python_error();
    }
    if (result == nullptr) nb::raise_python_error();
    return nb::steal(result);
}

void copy_between(std::uint64_t to, int to_device, std::uint64_t from, int from_device,
                  std::size_t bytes, std::uint64_t stream) {
    const cuda::Device& source = device_at(from_device);
    without_gil(to_device, [&](const cuda::Device& device) {
        RuntimeError error = cuda::copy_between(device, to, source, from, bytes, stream_of(stream));
        cuda::UsedStreams::of(device).note(stream_of(stream));
        return error;
    });
}

class PartMemory {
public:
    PartMemory(std::size_t bytes, int device, const std::vector<int>& peers) {
        check_devices(peers);
        RuntimeError error;
        memory_ = cuda::SparseMemory::make(device_at(device), bytes, peers, error);
        if (error.failed()) raise(error);
    }
    [[nodiscard]] std::uint64_t pointer() const { return memory_->pointer(); }
    [[nodiscard]] int device() const { return memory_->device().index; }
    [[nodiscard]] std::size_t mapped() const { return memory_->mapped(); }
    void cover(std::size_t first, std::size_t last) {
        if (const RuntimeError error = memory_->cover(first, last); error.failed()) raise(error);
    }

private:
    std::unique_ptr<cuda::SparseMemory> memory_;
};

}  // namespace

void bind_parts(nb::module_& m) {
    m.def("run_part", run_part, "function"_a, "hook"_a,
          "function(), in which programs made for one part of a call call hook(action, value).");
    m.def("run_device_part", run_device_part, "function"_a, "hook"_a, "team"_a, "part"_a,
          "The same on the GPU of this part, which exchanges rows with those of the team itself.");
    nb::class_<Team>(m, "DeviceTeam", "GPUs that share a call, one call at a time.")
        .def(nb::init<const std::vector<int>&>(), "devices"_a)
        .def("begin", &Team::begin, "exchanges"_a,
             "Before a call: by number of the action (times, bytes of a row, pitch, by part the "
             "rows (source, first, last) that it gets, -1 for a whole exchange, -2 for its begin, "
             "or "
             "the action of its begin for its end), or None where Python is asked.")
        .def("exchange", &Team::exchange, "part"_a, "number"_a, "pointer"_a,
             "Thread `part` takes part in an exchange of the array at this address.")
        .def("stream", &Team::stream, "part"_a, "The stream of the part.")
        .def("fail", &Team::fail, "No part waits for another one any more.")
        .def("synchronize", &Team::synchronize, "Waits for the work of all parts.");
    nb::class_<PartMemory>(m, "PartMemory",
                           "Addresses on a GPU for an array of which some bytes are used alone.")
        .def(nb::init<std::size_t, int, const std::vector<int>&>(), "bytes"_a, "device"_a,
             "peers"_a)
        .def_prop_ro("pointer", &PartMemory::pointer)
        .def_prop_ro("device", &PartMemory::device)
        .def_prop_ro("mapped", &PartMemory::mapped, "Bytes that are there.")
        .def("cover", &PartMemory::cover, "first"_a, "last"_a,
             "Memory for the bytes first … last - 1; what is there stays.");
    m.def("copy_between", copy_between, "to"_a, "to_device"_a, "from_"_a, "from_device"_a,
          "bytes"_a, "stream"_a,
          "Enqueued on a stream of `to_device`, behind and in front of the work of the other "
          "one's default stream.");
    m.def(
        "peer_access",
        [](int device, int other) { return cuda::can_access(device_at(device), device_at(other)); },
        "device"_a, "other"_a, "Whether work on one GPU may touch memory of the other.");
    m.def(
        "let_access",
        [](int device, int other) {
            RuntimeError error;
            cuda::let_access(device_at(device), device_at(other), error);
            if (error.failed()) raise(error);
        },
        "device"_a, "other"_a, "Lets work on each of two GPUs touch the memory of the other.");
}

}  // namespace parpy
