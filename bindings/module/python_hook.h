// Calls Python as the hook of a program that is one part of a call (runtime/parts/parts.h).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>

#include "runtime/parts/parts.h"

namespace parpy {

// Calls hook(action, address or number). An exception of the hook is kept, and rethrow() raises it
// when the program has ended.
class PythonHook : public PartHook {
public:
    explicit PythonHook(nanobind::handle hook) : hook_(hook) {}

    bool array(std::int64_t action, void* data) override {
        const nanobind::gil_scoped_acquire acquired;
        return guarded([&] { (void)hook_(action, reinterpret_cast<std::uintptr_t>(data)); });
    }
    bool real(std::int64_t action, double& value) override {
        const nanobind::gil_scoped_acquire acquired;
        return guarded(
            [&] { value = nanobind::cast<double>(nanobind::float_(hook_(action, value))); });
    }
    bool integer(std::int64_t action, std::int64_t& value) override {
        const nanobind::gil_scoped_acquire acquired;
        return guarded([&] { value = nanobind::cast<std::int64_t>(hook_(action, value)); });
    }

    void rethrow() {
        if (error_ == nullptr) return;
        PyErr_Clear();  // the exception that the program's failure became
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

    nanobind::handle hook_;
    std::exception_ptr error_;
};

}  // namespace parpy
