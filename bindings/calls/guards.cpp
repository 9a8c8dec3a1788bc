// See guards.h.
#include "calls/guards.h"

#include <utility>

namespace parpy {

PyObject* Place::read_new() const {
    if (PyDict_CheckExact(container)) {
        PyObject* found = PyDict_GetItemWithError(container, key);
        Py_XINCREF(found);
        return found;
    }
    if (PyCell_Check(container)) {
        PyObject* found = PyCell_GET(container);
        Py_XINCREF(found);
        return found;
    }
    PyObject* found = PyObject_GetItem(container, key);
    if (found == nullptr && PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
    return found;
}

void Place::release() {
    Py_CLEAR(container);
    Py_CLEAR(key);
}

namespace {

#if PY_VERSION_HEX < 0x030C0000

bool watch(PyObject*) {
    return true;
}

std::uint64_t stamp_of(PyObject* dict) {
    return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
}

#else

// Counts the changes of all watched dicts together. Starts at 1: a stamp of 0 means none.
std::atomic<std::uint64_t> changes{1};

int on_change(PyDict_WatchEvent, PyObject*, PyObject*, PyObject*) {
    changes.fetch_add(1, std::memory_order_acq_rel);
    return 0;
}

// False if the interpreter has no free watcher: the guards are then looked up.
bool watch(PyObject* dict) {
    static const int watcher = PyDict_AddWatcher(on_change);
    if (watcher >= 0 && PyDict_Watch(watcher, dict) == 0) return true;
    PyErr_Clear();
    return false;
}

std::uint64_t stamp_of(PyObject*) {
    return changes.load(std::memory_order_acquire);
}

#endif

}  // namespace

Guards::~Guards() {
    for (const auto& group : groups_) {
        for (Guard& guard : group->guards) {
            guard.place.release();
            Py_XDECREF(guard.expected);
        }
    }
}

void Guards::add(Place place, PyObject* expected) {
    for (const auto& group : groups_) {
        if (group->container == place.container) {
            group->guards.push_back({place, expected});
            return;
        }
    }
    auto group = std::make_unique<Group>(place.container);
    group->stamped = PyDict_CheckExact(place.container) && watch(place.container);
    group->guards.push_back({place, expected});
    groups_.push_back(std::move(group));
}

bool Guards::hold(const Group& group) {
    const std::uint64_t stamp = group.stamped ? stamp_of(group.container) : 0;
    for (const Guard& guard : group.guards) {
        PyObject* found = guard.place.read_new();
        Py_XDECREF(found);  // compared by identity only
        if (found != guard.expected) return false;
    }
    group.stamp.store(stamp, std::memory_order_relaxed);
    return true;
}

bool Guards::hold() const {
    for (const auto& group : groups_) {
        const std::uint64_t known = group->stamp.load(std::memory_order_relaxed);
        if (known != 0 && known == stamp_of(group->container)) continue;
        if (!hold(*group)) return false;
    }
    return true;
}

int Guards::traverse(visitproc visit, void* arg) const {
    for (const auto& group : groups_) {
        for (const Guard& guard : group->guards) {
            Py_VISIT(guard.place.container);
            Py_VISIT(guard.expected);
        }
    }
    return 0;
}

}  // namespace parpy
