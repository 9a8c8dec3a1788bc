// Compares the declared types of the parameters of a jit function (parpy.types) with the types and
// extents that a call is compiled for. A declared equality of run-time values becomes a requirement
// of the program, so that a warm call needs no other check.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "numpy_api.h"
#include "parpy/compile.h"

namespace parpy {

class Annotations {
public:
    // `items`: for each argument None or a parpy.syntax.annotations.Declared.
    void read(PyObject* items);  // throws nb::python_error

    // Reports arguments that contradict their annotations. `describe` and `place` name and locate
    // the function's parameters.
    struct Names {
        std::function<std::string(std::size_t)> describe;
        std::function<Span(std::size_t)> place;
    };
    void check(const Signature& signature, const Names& names, Diagnostics& diagnostics) const;
    // Adds the requirements on calls to `program`.
    void require(const Signature& signature, Program& program) const;

private:
    static constexpr std::int64_t kNone = -1;
    struct Dim {
        std::int64_t extent = kNone;
        std::int64_t symbol = kNone;  // number of a symbol; kNone: see `extent`
    };
    struct Item {
        std::size_t argument = 0;
        std::string shown;
        bool is_array = false;
        std::optional<ir::Scalar> scalar;
        std::int64_t variable = kNone;  // number of a type variable
        std::vector<Dim> dims;
        std::int64_t symbol = kNone;  // of a number: the symbol that it is equal to
    };
    // An extent, or a number that an annotation compares with extents.
    struct Extent {
        std::size_t argument = 0;
        int dimension = kWhole;
        std::int64_t extent = kNone;
        std::int64_t symbol = kNone;
    };
    static constexpr int kWhole = -1;

    [[nodiscard]] std::vector<Extent> extents() const;
    void check_types(const Signature& signature, const Names& names,
                     Diagnostics& diagnostics) const;
    void check_extents(const Signature& signature, const Names& names,
                       Diagnostics& diagnostics) const;

    std::vector<Item> items_;
};

}  // namespace parpy
