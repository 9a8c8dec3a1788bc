// Lets GPU memory come from an allocator that is a Python function.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cuda/memory/allocators.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

namespace {

class PythonAllocator final : public cuda::Allocator {
public:
    explicit PythonAllocator(nb::object allocate) : allocate_(std::move(allocate)) {}
    ~PythonAllocator() override {
        if (Py_IsInitialized() == 0) {
            (void)allocate_.release();
            return;
        }
        const nb::gil_scoped_acquire gil;
        allocate_.reset();
    }
    PythonAllocator(const PythonAllocator&) = delete;
    PythonAllocator& operator=(const PythonAllocator&) = delete;

    Memory allocate(std::size_t bytes, cuda::Stream stream, RuntimeError& error) override {
        const nb::gil_scoped_acquire gil;
        try {
            nb::object owner = allocate_(bytes, reinterpret_cast<std::uintptr_t>(stream));
            const auto pointer = nb::cast<std::uint64_t>(nb::int_(owner.attr("ptr")));
            if (pointer == 0) throw nb::value_error("the attribute 'ptr' of its result is 0");
            return {pointer, owner.release().ptr()};
        } catch (const std::exception& e) {
            error = {
                Code::kP528,
                "the chosen allocator gave no " + std::to_string(bytes) +
                    " bytes of GPU memory: " + e.what(),
                "an allocator gets a number of bytes and the address of a stream, and returns an "
                "object whose attribute 'ptr' is the address of memory that it keeps; "
                "parpy.buffer.set_allocator(None) returns to ParPy's own pool"};
            return {};
        }
    }

    void release(void* owner) override {
        if (Py_IsInitialized() == 0) return;  // the memory ends with the process
        const nb::gil_scoped_acquire gil;
        Py_DECREF(static_cast<PyObject*>(owner));
    }

private:
    nb::object allocate_;
};

}  // namespace

void bind_allocator(nb::module_& m) {
    m.def(
        "set_allocator",
        [](nb::object allocate) {
            cuda::choose_allocator(allocate.is_none()
                                       ? nullptr
                                       : std::make_shared<PythonAllocator>(std::move(allocate)));
        },
        "allocate"_a.none(),
        "GPU memory comes from allocate(bytes, stream) from now on; None: from the driver's pool.");
}

}  // namespace parpy
