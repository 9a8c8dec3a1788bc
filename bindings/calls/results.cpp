// Assembles the results of a program in the form in which the function returns them.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "calls/jit_function.h"

namespace nb = nanobind;

namespace parpy {

namespace {

// A number as a Python object if Python has such a type, else as a NumPy scalar.
PyObject* python_number(ir::Scalar scalar, const void* data) {
    const auto read = [&](auto value) {
        std::memcpy(&value, data, sizeof value);
        return value;
    };
    switch (scalar) {
        case ir::Scalar::kBool:
            return PyBool_FromLong(read(std::uint8_t{}));
        case ir::Scalar::kI64:
            return PyLong_FromLongLong(read(std::int64_t{}));
        case ir::Scalar::kF64:
            return PyFloat_FromDouble(read(double{}));
        case ir::Scalar::kC128: {
            const auto parts = read(std::array<double, 2>{});
            return PyComplex_FromDoubles(parts[0], parts[1]);
        }
        case ir::Scalar::kBF16: {
            const std::uint32_t bits = std::uint32_t{read(std::uint16_t{})} << 16;
            return PyFloat_FromDouble(static_cast<double>(std::bit_cast<float>(bits)));
        }
        default:
            break;
    }
    for (int number = 0; number < static_cast<int>(kScalarOfTypeNumber.size()); ++number) {
        if (kScalarOfTypeNumber[static_cast<std::size_t>(number)] !=
            static_cast<std::uint8_t>(scalar)) {
            continue;
        }
        PyArray_Descr* descr = PyArray_DescrFromType(number);
        PyObject* made = PyArray_Scalar(const_cast<void*>(data), descr, nullptr);
        Py_DECREF(descr);
        return made;
    }
    PyErr_SetString(PyExc_SystemError, "a result without a NumPy type");
    return nullptr;
}

// The number of numbers and arrays in such a form.
std::size_t numbers_in(std::string_view form) {
    const auto count = [&](char each) { return std::ranges::count(form, each); };
    return static_cast<std::size_t>(count('.') + 2 * count('?'));
}

// Takes the results of one call from left to right.
class Results {
public:
    Results(const Program& program, std::size_t first, const Intake& intake, ReturnedArrays& arrays,
            PyObject* classes, const std::function<PyObject*(std::size_t)>& given)
        : program_(program),
          next_(first),
          first_(first),
          intake_(intake),
          arrays_(arrays),
          classes_(classes),
          given_(given) {}

    // The object of the form that begins at `at`, which moves behind it. A new reference.
    PyObject* put_together(std::string_view form, std::size_t& at) {
        const char what = form[at++];
        if (what == '-') Py_RETURN_NONE;
        if (what == '.') return single();
        if (what == '{') return one_of(form, at);
        if (what == '?') {
            const nb::object value = nb::steal(single()), is_set = nb::steal(single());
            if (!value.is_valid() || !is_set.is_valid()) return nullptr;
            return Py_NewRef(is_set.ptr() == Py_True ? value.ptr() : Py_None);
        }
        std::optional<Py_ssize_t> named;  // the class of a named tuple
        if (what == '<') {
            named = 0;
            for (; form[at] != '>'; ++at)
                named = *named * 10 + (form[at] - '0');
            at += 2;
        }
        std::vector<nb::object> parts;
        while (form[at] != ')') {
            parts.push_back(nb::steal(put_together(form, at)));
            if (!parts.back().is_valid()) return nullptr;
        }
        ++at;
        PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(parts.size()));
        for (std::size_t i = 0; tuple != nullptr && i < parts.size(); ++i)
            PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), parts[i].release().ptr());
        if (tuple == nullptr || !named || classes_ == nullptr) return tuple;
        const nb::object given = nb::steal(tuple);
        const nb::object made = nb::steal(PySequence_GetItem(classes_, *named));
        return made.is_valid() ? PyObject_CallObject(made.ptr(), given.ptr()) : nullptr;
    }

private:
    // Chooses among the forms from `at` on the one that the first result names.
    PyObject* one_of(std::string_view form, std::size_t& at) {
        const nb::object chosen = nb::steal(put_together(form, at));
        if (!chosen.is_valid()) return nullptr;
        PyObject* value = nullptr;
        for (long way = 0; way == 0 || form[at - 1] != '}'; ++way, ++at) {
            const std::size_t end = form.find_first_of("|}", at);
            if (PyLong_AsLong(chosen.ptr()) == way) {
                value = put_together(form, at);
                if (value == nullptr) return nullptr;
            } else {
                next_ += numbers_in(form.substr(at, end - at));
            }
            at = end;
        }
        return value;
    }

    PyObject* single() {
        const std::size_t number = next_++;
        const bool shared = std::ranges::any_of(
            program_.results, [&](const ResultArray& each) { return each.given == number; });
        PyObject* value = taken(number);
        if (shared && value != nullptr) shared_.emplace_back(number, nb::borrow(value));
        return value;
    }

    PyObject* given_object(std::size_t number) {
        if (number < first_) return given_(number);
        const auto known =
            std::ranges::find(shared_, number, &std::pair<std::size_t, nb::object>::first);
        return known == shared_.end() ? nullptr : Py_NewRef(known->second.ptr());
    }

    PyObject* taken(std::size_t number) {
        PyObject* value = program_.results.empty() ? nullptr : arrays_.take(number);
        for (const ResultArray& result : program_.results) {
            const bool is_this = result.argument == number && result.given;
            if (is_this && value == nullptr && PyErr_Occurred() == nullptr)
                value = given_object(*result.given);
        }
        for (const Slot& slot : program_.slots) {
            const bool is_this = slot.argument == number && slot.kind == Slot::Kind::kPointer;
            if (value == nullptr && is_this && PyErr_Occurred() == nullptr)
                value = python_number(slot.scalar, &intake_.results[number - first_]);
        }
        if (value == nullptr && PyErr_Occurred() == nullptr)
            PyErr_SetString(PyExc_SystemError, "a program stored no result");
        return value;
    }

    const Program& program_;
    std::size_t next_;
    const std::size_t first_;
    const Intake& intake_;
    ReturnedArrays& arrays_;
    PyObject* const classes_;
    const std::function<PyObject*(std::size_t)>& given_;
    std::vector<std::pair<std::size_t, nb::object>> shared_;  // results that later ones are too
};

}  // namespace

PyObject* results_of(const Program& program, std::size_t first, const Intake& intake,
                     ReturnedArrays& arrays, PyObject* classes,
                     const std::function<PyObject*(std::size_t)>& given) {
    std::size_t at = 0;
    return Results(program, first, intake, arrays, classes, given)
        .put_together(program.result_form, at);
}

}  // namespace parpy
