// See call_cuda.h.
#include "call_cuda.h"

#include "run.h"
#include "runtime/device_memory.h"

namespace parpy {
namespace {

// sys.modules[name], borrowed, if it is loaded. Never imports anything.
PyObject* loaded_module(const char* name) {
    PyObject* modules = PyImport_GetModuleDict();
    return modules != nullptr ? PyDict_GetItemString(modules, name) : nullptr;
}

// An attribute chain such as torch.cuda.current_stream().cuda_stream; nothing where it does not
// exist.
std::optional<std::uint64_t> integer_at(PyObject* object) {
    if (object == nullptr || !PyLong_Check(object)) return std::nullopt;
    return PyLong_AsUnsignedLongLongMask(object);
}

// The stream on which the library that owns `array` is working now.
std::optional<std::uint64_t> library_stream(PyObject* array, int device) {
    const std::string_view type = Py_TYPE(array)->tp_name;
    PyObject* stream = nullptr;
    const char* field = nullptr;
    if (type == "Tensor" || type == "Parameter" || type.starts_with("torch.")) {
        if (PyObject* torch = loaded_module("torch.cuda")) {
            stream = PyObject_CallMethod(torch, "current_stream", "i", device);
            field = "cuda_stream";
        }
    } else if (type.starts_with("cupy.")) {
        if (PyObject* cuda = loaded_module("cupy.cuda")) {
            stream = PyObject_CallMethod(cuda, "get_current_stream", nullptr);
            field = "ptr";
        }
    }
    std::optional<std::uint64_t> handle;
    if (stream != nullptr) {
        PyObject* number = PyObject_GetAttrString(stream, field);
        handle = integer_at(number);
        Py_XDECREF(number);
        Py_DECREF(stream);
    }
    PyErr_Clear();
    return handle;
}

// __cuda_array_interface__ writes 1 for the legacy default stream; to the driver that is 0 as well
// as 1.
cuda::Stream stream_of(const Intake& intake, std::optional<std::uint64_t> requested, int device) {
    std::optional<std::uint64_t> handle = requested;
    if (!handle) handle = intake.stream;
    if (!handle && intake.stream_owner != nullptr)
        handle = library_stream(intake.stream_owner, device);
    return reinterpret_cast<cuda::Stream>(handle.value_or(0));
}

RuntimeError run_with_copies(const Specialization& specialization, Arguments arguments,
                             const cuda::Device& device, cuda::Stream stream,
                             std::uint64_t* slots) {
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
    if (error = specialization.executable().run(slots, stream); error.failed()) return error;
    return copies.copy_out();
}

}  // namespace

RuntimeError run_on_cuda(const Specialization& specialization, Arguments arguments,
                         const Intake& intake, std::optional<std::uint64_t> requested,
                         std::uint64_t* slots) {
    if (const RuntimeError& missing = cuda::unavailable(); missing.failed()) return missing;
    int index = -1;
    bool on_host = false;
    for (const ArgumentView& view : arguments) {
        if (!view.is_array()) continue;
        if (!view.on_device()) {
            on_host = true;
        } else if (index < 0) {
            // __cuda_array_interface__ does not say which device; the pointer does.
            index = view.device();
            if (cuda::device_count() > 1) {
                const auto place = cuda::place_of(reinterpret_cast<cuda::DevicePointer>(view.data));
                if (place.device >= 0) index = place.device;
            }
        }
    }
    const cuda::Device& device = index >= 0 ? cuda::device(index) : cuda::current_device();
    const cuda::Stream stream = stream_of(intake, requested, device.index);
    RuntimeError error;
    if (!on_host) {
        const cuda::CurrentContext context(device, error);
        if (error.failed()) return error;
        specialization.fill(arguments, slots);
        return run_program(specialization, slots, stream);
    }
    // Copies wait for the stream: other Python threads may run meanwhile.
    PyThreadState* thread = PyEval_SaveThread();
    {
        const cuda::CurrentContext context(device, error);
        if (!error.failed())
            error = run_with_copies(specialization, arguments, device, stream, slots);
    }
    PyEval_RestoreThread(thread);
    return error;
}

}  // namespace parpy
