// run_part: calls a function with somebody to ask where the program exchanges rows and numbers.
#include <nanobind/nanobind.h>

#include <exception>

#include "runtime/parts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

// Calls hook(action, address or number). An exception is kept by the first one that failed, and
// raised again when the program has ended.
class PythonHook final : public PartHook {
public:
    explicit PythonHook(nb::handle hook) : hook_(hook) {}

    bool array(std::int64_t action, void* data) override {
        const nb::gil_scoped_acquire acquired;
        return guarded([&] { (void)hook_(action, reinterpret_cast<std::uintptr_t>(data)); });
    }
    bool real(std::int64_t action, double& value) override {
        const nb::gil_scoped_acquire acquired;
        return guarded([&] { value = nb::cast<double>(nb::float_(hook_(action, value))); });
    }
    bool integer(std::int64_t action, std::int64_t& value) override {
        const nb::gil_scoped_acquire acquired;
        return guarded([&] { value = nb::cast<std::int64_t>(hook_(action, value)); });
    }

    void rethrow() {
        if (error_ == nullptr) return;
        PyErr_Clear();  // what the program made of it
        std::rethrow_exception(error_);
    }

private:
    template <class F>
    bool guarded(F&& call) {
        try {
            call();
            return true;
        } catch (...) {
            error_ = std::current_exception();
            return false;
        }
    }

    nb::handle hook_;
    std::exception_ptr error_;
};

nb::object run_part(nb::handle function, nb::handle hook) {
    PythonHook python(hook);
    const PartScope scope(python);
    PyObject* result = PyObject_CallNoArgs(function.ptr());
    python.rethrow();
    if (result == nullptr) nb::raise_python_error();
    return nb::steal(result);
}

}  // namespace

void bind_parts(nb::module_& m) {
    m.def("run_part", run_part, "function"_a, "hook"_a,
          "function(), in which programs made for one part of a call call hook(action, value).");
}

}  // namespace parpy
