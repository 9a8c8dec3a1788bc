// See call_cuda.h.
#include "calls/call_cuda.h"

#include "calls/run.h"
#include "owned.h"
#include "runtime/cuda/memory/device_memory.h"
#include "runtime/parts/parts.h"

namespace parpy {
namespace {

// CuPy's function for other extension modules, under its C signature; null if it is not there.
using StreamGetter = std::intptr_t (*)();
StreamGetter cupy_stream_getter() {
    PyObject* modules = PyImport_GetModuleDict();  // borrowed
    PyObject* module =
        modules != nullptr ? PyDict_GetItemString(modules, "cupy.cuda.stream") : nullptr;
    const Owned exports(module != nullptr ? PyObject_GetAttrString(module, "__pyx_capi__")
                                          : nullptr);
    PyObject* capsule = exports && PyDict_Check(exports.get())
                            ? PyDict_GetItemString(exports.get(), "get_current_stream_ptr")
                            : nullptr;
    PyErr_Clear();
    constexpr const char* kSignature = "intptr_t (void)";
    if (capsule == nullptr || PyCapsule_IsValid(capsule, kSignature) == 0) return nullptr;
    return reinterpret_cast<StreamGetter>(PyCapsule_GetPointer(capsule, kSignature));
}

// CuPy's current stream. CuPy is loaded, since some argument is one of its arrays.
std::optional<std::uint64_t> cupy_stream() {
    static const StreamGetter fast = cupy_stream_getter();
    if (fast != nullptr) {
        const auto handle = static_cast<std::uint64_t>(fast());
        if (PyErr_Occurred() == nullptr) return handle;
        PyErr_Clear();
    }
    static PyObject* const module_name = PyUnicode_InternFromString("cupy.cuda");
    static PyObject* const getter = PyUnicode_InternFromString("get_current_stream");
    static PyObject* const field = PyUnicode_InternFromString("ptr");
    PyObject* modules = PyImport_GetModuleDict();  // borrowed
    PyObject* module = modules != nullptr ? PyDict_GetItemWithError(modules, module_name) : nullptr;
    const Owned stream(module != nullptr ? PyObject_CallMethodNoArgs(module, getter) : nullptr);
    const Owned number(stream ? PyObject_GetAttr(stream.get(), field) : nullptr);
    if (number && PyLong_Check(number.get())) return PyLong_AsUnsignedLongLongMask(number.get());
    PyErr_Clear();
    return std::nullopt;
}

// opts.stream, else the current stream of the arrays' library, else the default stream. The driver
// interprets the handles 1 and 2 (legacy and per-thread default stream) in the same way.
cuda::Stream stream_of(const Intake& intake, std::optional<std::uint64_t> requested) {
    std::optional<std::uint64_t> handle = requested;
    if (!handle) handle = intake.stream;
    if (!handle && intake.has_cupy_arrays) handle = cupy_stream();
    return reinterpret_cast<cuda::Stream>(handle.value_or(0));
}

RuntimeError run_with_copies(const Specialization& specialization, Arguments arguments,
                             const cuda::Device& device, cuda::Stream stream, std::uint64_t* slots,
                             ReturnedArrays* results, bool returns_to_host) {
    const ProfilerRange named(specialization.executable().program.name.c_str());
    RuntimeError error;
    cuda::HostCopies copies(device, stream);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        if (!view.is_array() || view.on_device()) continue;
        const ByteRange range = byte_range(view);
        copies.add(static_cast<char*>(view.data) + range.first,
                   static_cast<std::size_t>(range.last - range.first), specialization.writes(i));
    }
    if (error = copies.copy_in(); error.failed()) return error;
    std::vector<void*> pointers(arguments.size(), nullptr);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentView& view = arguments[i];
        if (!view.is_array()) continue;
        pointers[i] =
            view.on_device() ? view.data : reinterpret_cast<void*>(copies.pointer(view.data));
    }
    specialization.fill(arguments, slots, pointers.data());
    error = specialization.executable().run(slots, stream, results);
    // Stores before a failure are visible, as on the CPU.
    if (error.located != nullptr) (void)copies.copy_out().failed();
    if (error.failed()) return error;
    if (returns_to_host) error = results->copy_out();
    if (error.failed()) return error;
    return copies.copy_out();
}

}  // namespace

RuntimeError run_on_cuda(const Specialization& specialization, Arguments arguments,
                         const Intake& intake, std::optional<std::uint64_t> requested,
                         std::uint64_t* slots, ReturnedArrays* results) {
    if (const RuntimeError& missing = cuda::unavailable(); missing.failed()) return missing;
    int index = -1;
    bool on_host = false, on_device = false;
    for (const ArgumentView& view : arguments) {
        if (!view.is_array()) continue;
        on_device = on_device || view.on_device();
        if (!view.on_device()) {
            on_host = true;
        } else if (index < 0) {
            // __cuda_array_interface__ does not name the device; the pointer determines it.
            index = view.device();
            if (cuda::device_count() > 1) {
                const auto place = cuda::place_of(reinterpret_cast<cuda::DevicePointer>(view.data));
                if (place.device >= 0) index = place.device;
            }
        }
    }
    if (const PartHook* part = running_part(); part != nullptr && part->device() >= 0)
        index = part->device();
    const cuda::Device& device = index >= 0 ? cuda::device(index) : cuda::current_device();
    const cuda::Stream stream = stream_of(intake, requested);
    RuntimeError error;
    const bool returns_to_host = results != nullptr && !on_device;
    if (results != nullptr) results->use_device(device, stream);
    if (!on_host && !returns_to_host) {
        const cuda::CurrentContext context(device, error);
        if (error.failed()) return error;
        specialization.fill(arguments, slots);
        return run_program(specialization, slots, stream, results);
    }
    // Copies wait for the stream: other Python threads may run meanwhile.
    PyThreadState* thread = PyEval_SaveThread();
    {
        const cuda::CurrentContext context(device, error);
        if (!error.failed())
            error = run_with_copies(specialization, arguments, device, stream, slots, results,
                                    returns_to_host);
    }
    PyEval_RestoreThread(thread);
    return error;
}

}  // namespace parpy
