// Recognises calls by comparison alone. Most calls of a function pass arrays of the types, shapes
// and layout of an earlier call: compared in place with that call's arguments, they need neither a
// view of each argument nor a key. Patterns cover host arrays and Python numbers alone;
// jit_function.cpp runs all calls that no pattern matches in the general way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "numpy_api.h"
#include "runtime/calls/dispatch.h"

namespace parpy {

class CallPattern {
public:
    // A pattern of a call whose arguments are the parameters in order, and for which
    // `specialization` was found. Null if a comparison cannot decide whether the specialisation
    // fits a call.
    [[nodiscard]] static std::unique_ptr<const CallPattern> of(
        PyObject* const* args, Arguments arguments, const Specialization& specialization);
    ~CallPattern();
    CallPattern(const CallPattern&) = delete;
    CallPattern& operator=(const CallPattern&) = delete;

    // Whether the specialisation fits this call; if so, its slots are filled. `slots` has room for
    // one more than there are arguments, and may be written in any case.
    [[nodiscard]] bool match(PyObject* const* args, std::uint64_t* slots) const;
    [[nodiscard]] const Specialization& specialization() const { return specialization_; }

private:
    enum class Kind : std::uint8_t { kArray, kFloat, kInteger, kBool };
    struct Argument {
        PyTypeObject* type = nullptr;  // ndarray, float, int or bool, which live for ever
        Kind kind{};
        bool any_value = false;  // kFloat, kBool: a run-time value
        std::uint32_t slot = 0;  // the number of arguments: none
        // Numbers: bounds of the value; kFloat, kBool: the bits are those of `least`.
        std::int64_t least = 0, most = 0;
        // Arrays.
        PyArray_Descr* descr = nullptr;  // owned
        int rank = 0;
        int flags = 0;           // of kFlags
        std::size_t layout = 0;  // the place of its extents, followed by its strides
    };
    // Two arrays share bytes if the distance of the first one's begin from the second's is between
    // these bounds.
    struct Apart {
        std::size_t first = 0, second = 0;
        std::int64_t low = 0, high = 0;
    };
    static constexpr int kFlags = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;

    explicit CallPattern(const Specialization& specialization) : specialization_(specialization) {}
    [[nodiscard]] bool add(PyObject* object, const ArgumentView& view,
                           const Generality::Position& general, bool by_size);
    [[nodiscard]] bool match_array(const Argument& argument, PyArrayObject* array) const;

    const Specialization& specialization_;
    std::vector<Argument> arguments_;
    std::vector<npy_intp> layouts_;
    std::vector<Apart> apart_;
};

// The first few patterns of a function under one set of options. Sizes that change more often
// become run-time values, which patterns do not cover.
class CallPatterns {
public:
    [[nodiscard]] const Specialization* match(PyObject* const* args, std::uint64_t* slots) const {
        for (const auto& cell : published_) {
            const CallPattern* pattern = cell.load(std::memory_order_acquire);
            if (pattern == nullptr) return nullptr;
            if (pattern->match(args, slots)) return &pattern->specialization();
        }
        return nullptr;
    }
    // Adds a pattern after a call that no pattern matched.
    void add(PyObject* const* args, Arguments arguments, const Specialization& specialization);

private:
    static constexpr std::size_t kMost = 4;
    std::array<std::atomic<const CallPattern*>, kMost> published_{};
    std::mutex mutex_;
    std::vector<std::unique_ptr<const CallPattern>> owned_;
};

}  // namespace parpy
