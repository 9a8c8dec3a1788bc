// Compares the declared types of the parameters of a jit function (parpy.types) with the types and
// extents that a call is compiled for. An equality that is declared and whose values are passed at
// run time becomes a requirement of the program, so that a warm call is compared with nothing else.
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
    // `items`: per argument None or a parpy.syntax.annotations.Declared.
    void read(PyObject* items);  // throws nb::python_error

    // Reports arguments that are not what their annotations say. `describe` and `place` are those
    // of the function's parameters.
    struct Names {
        std::function<std::string(std::size_t)> describe;
        std::function<Span(std::size_t)> place;
    };
    void check(const Signature& signature, const Names& names, Diagnostics& diagnostics) const;
    // Adds to `program` what calls must satisfy.
    void require(const Signature& signature, Program& program) const;

private:
    static constexpr std::int64_t kNone = -1;
    struct Dim {
        std::int64_t extent = kNone;
        std::int64_t symbol = kNone;  // number of a symbol; kNone: `extent` says it
    };
    struct Item {
        std::size_t argument = 0;
        std::string shown;
        bool is_array = false;
        std::optional<ir::Scalar> scalar;
        std::int64_t variable = kNone;  // number of a type variable
        std::vector<Dim> dims;
        std::int64_t symbol = kNone;  // of a number: the symbol whose extent it is
    };
    // An extent, or a number that is one.
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
