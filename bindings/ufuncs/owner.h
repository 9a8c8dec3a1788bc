// The data behind a ufunc: its loops, and those that dates and durations have.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ufuncs/loop.h"
#include "ufuncs/numpy_ufuncs.h"

namespace parpy {

namespace nb = nanobind;

// The unit of dates and durations, "25s" for example; of other types it is empty.
struct Unit {
    NPY_DATETIMEUNIT base = NPY_FR_ERROR;
    int count = 0;
    bool operator==(const Unit&) const = default;
};

inline bool is_date(int number) {
    return number == NPY_DATETIME || number == NPY_TIMEDELTA;
}

// May be called without the interpreter lock.
inline Unit unit_of(const PyArray_Descr* descriptor) {
    if (!is_date(descriptor->type_num)) return {};
    const auto& meta =
        reinterpret_cast<const PyArray_DatetimeDTypeMetaData*>(PyDataType_C_METADATA(descriptor))
            ->meta;
    return {meta.base, meta.num};
}

// One loop of a ufunc; a list that only grows at its head, which calls read without a lock.
struct Registered {
    std::unique_ptr<Loop> loop;
    std::vector<int> numbers;  // NumPy's numbers of its types
    std::vector<nb::object> descriptors;
    std::vector<Unit> units;  // of the operands, which only dates and durations have
    std::array<std::array<char, 16>, 1> initial{};
    bool has_initial = false;
    const Registered* next = nullptr;
};

// The data of a ufunc. NumPy reads its tables at any time under the GIL; replaced tables are kept.
struct Owner {
    std::string name, doc, layout;
    int inputs = 0, outputs = 0;
    nb::object identity;  // None: there is none, or the order does not matter
    bool reorderable = false;
    nb::object make;  // types of inputs -> a loop; None: no more loops are made
    std::atomic<const Registered*> loops{nullptr};
    int loop_count = 0;
    std::vector<PyObject*> methods;  // NumPy's objects of the loops with dates
    struct Tables {
        std::vector<PyUFuncGenericFunction> functions;
        std::vector<void*> data;
        std::string types;
    };
    std::vector<std::unique_ptr<Tables>> tables;

    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner();
    void drop_loops() {
        for (const Registered* each = loops.exchange(nullptr); each != nullptr;)
            delete std::exchange(each, each->next);
    }
};

// The Python object that owns it: PyUFuncObject::obj, which the garbage collector visits.
struct OwnerObject {
    PyObject_HEAD Owner* owner;
};

inline Owner* owner_of(PyObject* ufunc) {
    return reinterpret_cast<OwnerObject*>(reinterpret_cast<PyUFuncObject*>(ufunc)->obj)->owner;
}

// NumPy's number of a type. Throws nanobind's type_error for a type that NumPy does not have.
int type_number(ir::Scalar scalar);

// The combinations of types as the attribute `types` shows them.
std::string listed_types(PyUFuncObject* ufunc);

// Adds the loop of a LoopSource, or finds the equal one. Throws nb::python_error.
const Registered& add_loop(PyUFuncObject* ufunc, nb::handle source);

// ---------------------------------------------------------------- dates and durations

// Fills the descriptors of a loop's types, with the units of dates and durations. Throws
// nb::python_error.
void note_types(Registered& made, nb::handle source);

// NumPy's resolver of the last loop of the ufunc is resolve_dates.
void note_method(PyUFuncObject* ufunc);

// Chooses among the loops whose types differ only by units, and thereby the units of the results.
int resolve_dates(PyArrayMethodObject_tag* method, PyArray_DTypeMeta* const* types,
                  PyArray_Descr* const* given, PyArray_Descr** loop, npy_intp* view_offset);

[[nodiscard]] bool has_dates(const PyUFuncObject& ufunc, PyArrayObject** operands);

// A type resolver for calls with dates or durations.
int resolve_types_of_dates(PyUFuncObject* ufunc, NPY_CASTING casting, PyArrayObject** operands,
                           PyObject* wanted, PyArray_Descr** out);

}  // namespace parpy
