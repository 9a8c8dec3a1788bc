// Calls of ufuncs whose operands need nothing of NumPy's preparations: arrays of a loop's types and
// of equal shapes, or of one loop dimension, that do not overlap. They take a fraction of the time
// of NumPy's call. NumPy makes every other call, so that this file decides no error and no
// conversion.
#include "ufuncs/direct_calls.h"

#include <algorithm>

#include "arrays/buffer.h"
#include "ufuncs/float_flags.h"

namespace parpy {

namespace {

constexpr std::size_t kMostOperands = 12;
constexpr std::size_t kMostSizes = 64;           // of all operands together
constexpr std::int64_t kLeastWithoutLock = 500;  // elements, as in NumPy
vectorcallfunc call_of_numpy = nullptr;          // that of every ufunc

struct Call {
    const PyUFuncObject& ufunc;
    const Owner& owner;
    const std::size_t inputs, all;
    PyArrayObject* operands[kMostOperands] = {};
    bool makes_outputs = false;
    const Registered* loop = nullptr;
    char* data[kMostOperands];
    npy_intp dimensions[kMostSizes];
    npy_intp steps[kMostSizes];
    std::int64_t elements = 1;

    // Leaves the tables uninitialised.
    Call(const PyUFuncObject& called, const Owner& owned)
        : ufunc(called),
          owner(owned),
          inputs(static_cast<std::size_t>(called.nin)),
          all(static_cast<std::size_t>(called.nargs)) {}

    // False where NumPy must make the call; then no exception is set.
    bool take(PyObject* const* arguments, std::size_t count, PyObject* names);
    bool find_loop();
    bool plan_elements();
    bool plan_cores();
    // Null with an exception.
    PyObject* run();

    [[nodiscard]] bool make_output(std::size_t operand, int rank, const npy_intp* shape);
    [[nodiscard]] bool are_apart(bool same_elements_may_meet) const;
};

bool Call::take(PyObject* const* arguments, std::size_t count, PyObject* names) {
    std::size_t given = count;
    if (names != nullptr && PyTuple_GET_SIZE(names) != 0) {
        if (PyTuple_GET_SIZE(names) != 1 || count != inputs || all != inputs + 1) return false;
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") != 0) return false;
        ++given;
    }
    makes_outputs = given == inputs;
    if (all > kMostOperands || (given != all && !makes_outputs)) return false;
    for (std::size_t i = 0; i < given; ++i) {
        if (!PyArray_CheckExact(arguments[i])) return false;
        operands[i] = reinterpret_cast<PyArrayObject*>(arguments[i]);
        if (!PyArray_ISBEHAVED_RO(operands[i])) return false;
        if (i >= inputs && !PyArray_ISWRITEABLE(operands[i])) return false;
    }
    return true;
}

bool Call::find_loop() {
    // Loops that were made at calls may differ only by the types of outputs.
    if (makes_outputs && ufunc.core_enabled != 0 && !owner.make.is_none()) return false;
    const std::size_t given = makes_outputs ? inputs : all;
    const auto suits = [&](const Registered& each) {
        for (std::size_t i = 0; i < given; ++i) {
            const PyArray_Descr* type = PyArray_DESCR(operands[i]);
            if (type->type_num != each.numbers[i]) return false;
            if (is_date(type->type_num) && unit_of(type) != each.units[i]) return false;
        }
        return true;
    };
    loop = owner.loops.load(std::memory_order_acquire);
    while (loop != nullptr && !suits(*loop))
        loop = loop->next;
    return loop != nullptr;
}

bool Call::make_output(std::size_t operand, int rank, const npy_intp* shape) {
    PyObject* type = loop->descriptors[operand].ptr();
    Py_INCREF(type);
    operands[operand] = reinterpret_cast<PyArrayObject*>(
        PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(type), rank, shape,
                             nullptr, nullptr, 0, nullptr));
    return operands[operand] != nullptr;
}

bool Call::are_apart(bool same_elements_may_meet) const {
    if (makes_outputs && all == inputs + 1) return true;
    struct Span {
        const char *first, *last;
    };
    Span spans[kMostOperands];
    for (std::size_t i = 0; i < all; ++i) {
        const char* first = PyArray_BYTES(operands[i]);
        const char* last = first + PyArray_ITEMSIZE(operands[i]);
        for (int d = 0; d < PyArray_NDIM(operands[i]); ++d) {
            const npy_intp reach =
                (PyArray_DIM(operands[i], d) - 1) * PyArray_STRIDE(operands[i], d);
            (reach < 0 ? first : last) += reach;
        }
        spans[i] = {first, last};
    }
    for (std::size_t o = inputs; o < all; ++o) {
        for (std::size_t i = 0; i < o; ++i) {
            if (spans[o].first >= spans[i].last || spans[i].first >= spans[o].last) continue;
            const bool same = same_elements_may_meet && i < inputs && data[i] == data[o] &&
                              steps[i] == steps[o] &&
                              PyArray_ITEMSIZE(operands[i]) == PyArray_ITEMSIZE(operands[o]);
            if (!same) return false;
        }
    }
    return true;
}

bool Call::plan_elements() {
    const int rank = PyArray_NDIM(operands[0]);
    const npy_intp* shape = PyArray_DIMS(operands[0]);
    if (rank == 0) return false;
    const std::size_t given = makes_outputs ? inputs : all;
    for (std::size_t i = 0; i < given; ++i) {
        PyArrayObject* each = operands[i];
        if (PyArray_NDIM(each) != rank || !std::equal(shape, shape + rank, PyArray_DIMS(each)))
            return false;
        if (rank > 1 && !PyArray_IS_C_CONTIGUOUS(each)) return false;
        data[i] = PyArray_BYTES(each);
        steps[i] = rank > 1 ? PyArray_ITEMSIZE(each) : PyArray_STRIDE(each, 0);
    }
    elements = dimensions[0] = PyArray_SIZE(operands[0]);
    if (elements == 0) return false;
    for (std::size_t o = given; o < all; ++o) {
        if (!make_output(o, rank, shape)) return false;
        data[o] = PyArray_BYTES(operands[o]);
        steps[o] = PyArray_ITEMSIZE(operands[o]);
    }
    return are_apart(true);
}

bool Call::plan_cores() {
    for (std::size_t i = 0; i < inputs; ++i) {
        if (ufunc.op_flags[i] != 0) return false;  // an input that the function stores to
    }
    const auto names = static_cast<std::size_t>(ufunc.core_num_dim_ix);
    std::size_t used = all;
    for (std::size_t i = 0; i < all; ++i)
        used += static_cast<std::size_t>(ufunc.core_num_dims[i]);
    if (1 + names > kMostSizes || used > kMostSizes) return false;
    npy_intp* const sizes = dimensions + 1;
    for (std::size_t n = 0; n < names; ++n) {
        if ((ufunc.core_dim_flags[n] & UFUNC_CORE_DIM_CAN_IGNORE) != 0) return false;
        sizes[n] = ufunc.core_dim_sizes[n];  // -1 if an operand has it
    }
    bool has_loop = false;
    dimensions[0] = 1;
    const std::size_t given = makes_outputs ? inputs : all;
    npy_intp* core_steps = steps + all;
    for (std::size_t i = 0; i < given; ++i) {
        PyArrayObject* each = operands[i];
        const int cores = ufunc.core_num_dims[i], loops = PyArray_NDIM(each) - cores;
        if (loops < 0 || loops > 1) return false;
        steps[i] = 0;
        data[i] = PyArray_BYTES(each);
        if (loops == 1) {
            const npy_intp size = PyArray_DIM(each, 0);
            if (i >= inputs && (!has_loop || size != dimensions[0])) return false;
            if (has_loop && size != dimensions[0] && size != 1 && dimensions[0] != 1) return false;
            has_loop = true;
            if (size != 1) {
                dimensions[0] = size;
                steps[i] = PyArray_STRIDE(each, 0);
            }
        }
        for (int d = 0; d < cores; ++d) {
            npy_intp& size = sizes[ufunc.core_dim_ixs[ufunc.core_offsets[i] + d]];
            const npy_intp own = PyArray_DIM(each, loops + d);
            if (size < 0) size = own;
            if (size != own) return false;
            *core_steps++ = PyArray_STRIDE(each, loops + d);
        }
    }
    elements = dimensions[0];
    for (std::size_t n = 0; n < names; ++n) {
        if (sizes[n] <= 0) return false;
        elements *= sizes[n];
    }
    if (elements == 0) return false;
    for (std::size_t o = inputs; o < given; ++o) {  // outputs do not broadcast
        const int loops = PyArray_NDIM(operands[o]) - ufunc.core_num_dims[o];
        if (loops != (has_loop ? 1 : 0)) return false;
    }
    for (std::size_t o = given; o < all; ++o) {
        npy_intp shape[NPY_MAXDIMS];
        const int cores = ufunc.core_num_dims[o], loops = has_loop ? 1 : 0;
        if (loops + cores == 0) return false;  // NumPy returns a number
        shape[0] = dimensions[0];
        for (int d = 0; d < cores; ++d)
            shape[loops + d] = sizes[ufunc.core_dim_ixs[ufunc.core_offsets[o] + d]];
        if (!make_output(o, loops + cores, shape)) return false;
        data[o] = PyArray_BYTES(operands[o]);
        steps[o] = has_loop && dimensions[0] != 1 ? PyArray_STRIDE(operands[o], 0) : 0;
        for (int d = 0; d < cores; ++d)
            *core_steps++ = PyArray_STRIDE(operands[o], loops + d);
    }
    return are_apart(false);
}

PyObject* Call::run() {
    FloatFlags::forget();
    PyThreadState* thread = nullptr;
    if (elements >= kLeastWithoutLock || loop->loop->uses_workers()) thread = PyEval_SaveThread();
    const bool done = loop->loop->run(data, dimensions, steps);
    if (thread != nullptr) PyEval_RestoreThread(thread);
    const int raised = FloatFlags::raised();
    if (!done) return nullptr;
    if (raised != 0) {
        const int shown = ((raised & FE_DIVBYZERO) != 0 ? NPY_FPE_DIVIDEBYZERO : 0) |
                          ((raised & FE_OVERFLOW) != 0 ? NPY_FPE_OVERFLOW : 0) |
                          ((raised & FE_UNDERFLOW) != 0 ? NPY_FPE_UNDERFLOW : 0) |
                          ((raised & FE_INVALID) != 0 ? NPY_FPE_INVALID : 0);
        FloatFlags::forget();
        if (PyUFunc_GiveFloatingpointErrors(ufunc.name, shown) < 0) return nullptr;
    }
    const std::size_t outputs = all - inputs;
    PyObject* result = outputs == 1 ? nullptr : PyTuple_New(static_cast<Py_ssize_t>(outputs));
    if (outputs > 1 && result == nullptr) return nullptr;
    for (std::size_t o = inputs; o < all; ++o) {
        auto* each = reinterpret_cast<PyObject*>(operands[o]);
        Py_INCREF(each);
        if (outputs == 1) return each;
        PyTuple_SET_ITEM(result, static_cast<Py_ssize_t>(o - inputs), each);
    }
    return result;
}

// NumPy assumes that a loop reads each element before it stores to it, where an input is an output.
// A loop with core dimensions may not: it gets copies of such inputs.
PyObject* call_with_copies(PyObject* callable, PyObject* const* arguments, std::size_t given,
                           PyObject* names) {
    const auto& ufunc = *reinterpret_cast<PyUFuncObject*>(callable);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(given));
    const auto inputs = static_cast<std::size_t>(ufunc.nin);
    const std::size_t named =
        names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
    std::vector<PyObject*> all(arguments, arguments + count + named);
    std::vector<PyObject*> outputs(
        all.begin() + static_cast<std::ptrdiff_t>(std::min(inputs, count)),
        all.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = 0; k < named; ++k) {
        PyObject* each = all[count + k];
        const auto index = static_cast<Py_ssize_t>(k);
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, index), "out") != 0) continue;
        if (!PyTuple_Check(each)) outputs.push_back(each);
        for (Py_ssize_t o = 0; PyTuple_Check(each) && o < PyTuple_GET_SIZE(each); ++o)
            outputs.push_back(PyTuple_GET_ITEM(each, o));
    }
    const auto is_output = [&](PyObject* input) {
        return std::ranges::any_of(outputs, [&](PyObject* output) {
            return PyArray_Check(output) &&
                   PyArray_BYTES(reinterpret_cast<PyArrayObject*>(output)) ==
                       PyArray_BYTES(reinterpret_cast<PyArrayObject*>(input));
        });
    };
    std::vector<nb::object> copies;
    for (std::size_t i = 0; i < std::min(inputs, count); ++i) {
        if (ufunc.core_num_dims[i] == 0 || ufunc.op_flags[i] != 0) continue;
        if (!PyArray_Check(all[i]) || !is_output(all[i])) continue;
        auto* array = reinterpret_cast<PyArrayObject*>(all[i]);
        copies.push_back(nb::steal(PyArray_NewCopy(array, NPY_KEEPORDER)));
        if (!copies.back().is_valid()) return nullptr;
        all[i] = copies.back().ptr();
    }
    return call_of_numpy(callable, all.data(), count, names);
}

PyObject* call_directly(PyObject* callable, PyObject* const* arguments, std::size_t given,
                        PyObject* names) {
    auto* ufunc = reinterpret_cast<PyUFuncObject*>(callable);
    Call call(*ufunc, *owner_of(callable));
    PyObject* result = nullptr;
    bool taken = call.take(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(given)), names) &&
                 call.find_loop();
    if (taken) {
        taken = ufunc->core_enabled != 0 ? call.plan_cores() : call.plan_elements();
        if (taken) result = call.run();
        for (std::size_t o = call.inputs; o < call.all && call.makes_outputs; ++o)
            Py_XDECREF(call.operands[o]);
    }
    if (result != nullptr || PyErr_Occurred() != nullptr) return result;
    return ufunc->core_enabled != 0 ? call_with_copies(callable, arguments, given, names)
                                    : call_of_numpy(callable, arguments, given, names);
}

}  // namespace

void call_without_numpy(PyUFuncObject* ufunc) {
    if (ufunc->vectorcall == nullptr || ufunc->vectorcall == &call_directly) return;
    call_of_numpy = ufunc->vectorcall;
    ufunc->vectorcall = &call_directly;
}

}  // namespace parpy
