// Compiled code relies on names outside of its function: each must still refer to the same object.
// Every call checks this, almost always without a lookup: before Python 3.12 by the version tag of
// the dicts, since then by watching them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "numpy_api.h"

namespace parpy {

// A value found outside of the function: in a dict, a closure cell or another mapping.
struct Place {
    PyObject* container = nullptr;  // owned references
    PyObject* key = nullptr;
    // A new reference to the current object; null if there is none (or an exception is set).
    [[nodiscard]] PyObject* read_new() const;
    void release();
};

class Guards {
public:
    Guards() = default;
    ~Guards();
    Guards(const Guards&) = delete;
    Guards& operator=(const Guards&) = delete;

    // Steals the references. `expected` null: there must be no object.
    void add(Place place, PyObject* expected);
    [[nodiscard]] bool hold() const;
    int traverse(visitproc visit, void* arg) const;  // for the garbage collector

private:
    struct Guard {
        Place place;
        PyObject* expected;
    };
    // The guards of one container, which must be a dict to have a stamp.
    struct Group {
        explicit Group(PyObject* c) : container(c) {}
        PyObject* container;  // owned by its guards
        bool stamped = false;
        std::vector<Guard> guards;
        mutable std::atomic<std::uint64_t> stamp{0};  // of the last state in which they held
    };
    static bool hold(const Group& group);

    std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace parpy
