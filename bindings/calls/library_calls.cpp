// Calls of functions of NVIDIA's libraries, and the layouts of their arrays as keys, for
// python/parpy/cudalib. A call takes less time than one of ctypes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "numpy_api.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {

namespace {

constexpr std::size_t kMostArguments = 24;

// A C function whose parameters are integers and pointers. On the 64-bit platforms of CUDA each of
// them has a register or 8 bytes of the stack, and a function ignores arguments that follow its
// own.
using Function = int (*)(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t);

template <std::size_t... kIndices>
int called(Function function, const std::array<std::int64_t, kMostArguments>& arguments,
           std::index_sequence<kIndices...>) {
    return function(arguments[kIndices]...);
}

// A function and its arguments after the first, some of which are given by each call.
class LibraryCall {
public:
    // `places`: the positions of the arguments that a call gives, and a number to add to each.
    LibraryCall(std::uintptr_t function, const std::vector<std::int64_t>& arguments,
                std::vector<std::tuple<std::size_t, std::int64_t>> places)
        : function_(reinterpret_cast<Function>(function)), places_(std::move(places)) {
        if (arguments.size() >= kMostArguments) throw nb::value_error("too many arguments");
        std::ranges::copy(arguments, arguments_.begin() + 1);
        for (const auto& [place, _] : places_) {
            if (place >= arguments.size()) throw nb::index_error("no such argument");
        }
    }

    // The status that the function returns. `first` is its first argument.
    int operator()(std::int64_t first, const nb::args& given) const {
        if (given.size() != places_.size()) throw nb::type_error("another number of arguments");
        std::array<std::int64_t, kMostArguments> arguments = arguments_;
        arguments[0] = first;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const auto [place, offset] = places_[i];
            const long long value = PyLong_AsLongLong(PyTuple_GET_ITEM(given.ptr(), i));
            if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
            arguments[place + 1] = value + offset;
        }
        const nb::gil_scoped_release released;
        return called(function_, arguments, std::make_index_sequence<kMostArguments>());
    }

private:
    Function function_;
    std::array<std::int64_t, kMostArguments> arguments_ = {};
    std::vector<std::tuple<std::size_t, std::int64_t>> places_;
};

// The layout of a NumPy array as bytes, and the address of its first element. Equal bytes mean
// equal types, shapes and strides; None stands for types that are not NumPy's own numbers.
nb::object layout_of(nb::handle given) {
    if (!PyArray_Check(given.ptr())) throw nb::type_error("a NumPy array");
    auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
    const int type = PyArray_TYPE(array);
    if (type >= NPY_OBJECT && type != NPY_HALF) return nb::none();
    const auto rank = static_cast<std::size_t>(PyArray_NDIM(array));
    std::array<npy_intp, 1 + 2 * NPY_MAXDIMS> words;
    words[0] =
        type | (PyArray_ISWRITEABLE(array) ? 256 : 0) | (PyArray_ISNOTSWAPPED(array) ? 0 : 512);
    std::memcpy(&words[1], PyArray_DIMS(array), rank * sizeof(npy_intp));
    std::memcpy(&words[1 + rank], PyArray_STRIDES(array), rank * sizeof(npy_intp));
    const nb::bytes layout(words.data(), (1 + 2 * rank) * sizeof(npy_intp));
    return nb::make_tuple(layout, reinterpret_cast<std::uintptr_t>(PyArray_DATA(array)));
}

}  // namespace

void bind_library_calls(nb::module_& m) {
    nb::class_<LibraryCall>(m, "LibraryCall", "A call of a C function of integers and pointers.")
        .def(nb::init<std::uintptr_t, const std::vector<std::int64_t>&,
                      std::vector<std::tuple<std::size_t, std::int64_t>>>(),
             "function"_a, "arguments"_a, "places"_a)
        .def("__call__", &LibraryCall::operator(), "first"_a, "given"_a,
             "Calls the function, and returns its status.");
    m.def("layout_of", layout_of, "array"_a,
          "The layout of a NumPy array as bytes and its address; None for other elements than "
          "numbers.");
}

}  // namespace parpy
