// See call_pattern.h.
#include "calls/call_pattern.h"

#include <algorithm>
#include <bit>

namespace parpy {

namespace {

bool is_comparable(PyObject* object) {
    return PyArray_CheckExact(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
           PyBool_Check(object);
}

}  // namespace

std::unique_ptr<const CallPattern> CallPattern::of(PyObject* const* args, Arguments arguments,
                                                   const Specialization& specialization) {
    const Program& program = specialization.executable().program;
    if (specialization.scope() != Scope::kOwn || !specialization.has_fixed_shapes() ||
        !program.requirements.empty() ||
        !std::all_of(args, args + arguments.size(), is_comparable) ||
        specialization.overlap(arguments)) {
        return nullptr;
    }
    std::unique_ptr<CallPattern> made(new CallPattern(specialization));
    const Generality& generality = specialization.generality();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Generality::Position general =
            generality.any ? generality.positions[i] : Generality::Position{};
        if (!made->add(args[i], arguments[i], general, generality.by_size)) return nullptr;
    }
    const auto none = static_cast<std::uint32_t>(arguments.size());
    for (Argument& argument : made->arguments_)
        argument.slot = none;
    for (std::uint32_t i = 0; i < program.slots.size(); ++i) {
        const Slot& slot = program.slots[i];
        Argument& argument = made->arguments_[slot.argument];
        const bool one_word = slot.kind == Slot::Kind::kPointer || slot.kind == Slot::Kind::kScalar;
        if (!one_word || argument.slot != none) return nullptr;
        argument.slot = i;
    }
    for (const auto& [i, j] : specialization.exclusive()) {
        const ByteRange first = specialization.ranges()[i], second = specialization.ranges()[j];
        made->apart_.push_back({i, j, second.first - first.last, second.last - first.first});
    }
    return made;
}

CallPattern::~CallPattern() {
    for (const Argument& argument : arguments_)
        Py_XDECREF(argument.descr);
}

bool CallPattern::add(PyObject* object, const ArgumentView& view,
                      const Generality::Position& general, bool by_size) {
    Argument made;
    made.type = Py_TYPE(object);
    made.any_value = general.value;
    made.least = made.most = static_cast<std::int64_t>(view.value);
    if (PyArray_CheckExact(object)) {
        auto* array = reinterpret_cast<PyArrayObject*>(object);
        // An array without dimensions is a number, and an aligned copy may replace another array.
        if (!view.is_array() || PyArray_DATA(array) != view.data) return false;
        made.kind = Kind::kArray;
        made.rank = view.rank();
        made.flags = PyArray_FLAGS(array) & kFlags;
        made.layout = layouts_.size();
        layouts_.insert(layouts_.end(), view.extents, view.extents + view.rank());
        layouts_.insert(layouts_.end(), view.strides, view.strides + view.rank());
        made.descr = PyArray_DESCR(array);
        Py_INCREF(made.descr);
    } else if (PyFloat_CheckExact(object)) {
        made.kind = Kind::kFloat;
    } else if (PyLong_CheckExact(object)) {
        made.kind = Kind::kInteger;
        if (general.value) {
            if (!is_small(view, general.small)) return false;
            made.least = -general.small;
            made.most = general.small;
            if (by_size) {
                const SizeClass size(static_cast<std::int64_t>(view.value));
                made.least = std::max(made.least, size.least());
                made.most = std::min(made.most, size.most());
            }
        }
    } else {
        made.kind = Kind::kBool;
    }
    arguments_.push_back(made);
    return true;
}

bool CallPattern::match_array(const Argument& argument, PyArrayObject* array) const {
    if (PyArray_DESCR(array) != argument.descr || PyArray_NDIM(array) != argument.rank ||
        (PyArray_FLAGS(array) & kFlags) != argument.flags) {
        return false;
    }
    const npy_intp* extents = layouts_.data() + argument.layout;
    const npy_intp* strides = extents + argument.rank;
    for (int d = 0; d < argument.rank; ++d) {
        if (PyArray_DIMS(array)[d] != extents[d] || PyArray_STRIDES(array)[d] != strides[d]) {
            return false;
        }
    }
    return true;
}

bool CallPattern::match(PyObject* const* args, std::uint64_t* slots) const {
    const auto data = [&](std::size_t i) {
        return reinterpret_cast<std::int64_t>(
            PyArray_DATA(reinterpret_cast<PyArrayObject*>(args[i])));
    };
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const Argument& argument = arguments_[i];
        PyObject* object = args[i];
        if (Py_TYPE(object) != argument.type) return false;
        std::int64_t word = 0;
        switch (argument.kind) {
            case Kind::kArray:
                if (!match_array(argument, reinterpret_cast<PyArrayObject*>(object))) return false;
                word = data(i);
                break;
            case Kind::kFloat:
                word = std::bit_cast<std::int64_t>(PyFloat_AS_DOUBLE(object));
                if (word != argument.least && !argument.any_value) return false;
                break;
            case Kind::kInteger: {
                int overflow = 0;
                word = PyLong_AsLongLongAndOverflow(object, &overflow);
                if (overflow != 0 || word < argument.least || word > argument.most) return false;
                break;
            }
            case Kind::kBool:
                word = object == Py_True ? 1 : 0;
                if (word != argument.least && !argument.any_value) return false;
                break;
        }
        slots[argument.slot] = static_cast<std::uint64_t>(word);
    }
    for (const Apart& pair : apart_) {
        const std::int64_t distance = data(pair.first) - data(pair.second);
        if (distance > pair.low && distance < pair.high) return false;
    }
    return true;
}

void CallPatterns::add(PyObject* const* args, Arguments arguments,
                       const Specialization& specialization) {
    if (published_.back().load(std::memory_order_relaxed) != nullptr) return;
    const std::lock_guard lock(mutex_);
    if (owned_.size() == kMost) return;
    std::unique_ptr<const CallPattern> made = CallPattern::of(args, arguments, specialization);
    if (made == nullptr) return;
    published_[owned_.size()].store(made.get(), std::memory_order_release);
    owned_.push_back(std::move(made));
}

}  // namespace parpy
