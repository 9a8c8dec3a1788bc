// Places of a program that can fail while it runs. A Fail statement has the number of a site and
// the values for its message; describe() combines the two, for the interpreter and for the run-time
// system alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostic.h"

namespace parpy::ir {

// The texts contain `{k}` for value k, `{ku}` for the same without a sign, and `{{` for a brace.
struct Site {
    Code code{};
    Span span;
    std::string message;
    std::string note;    // empty: none
    bool other = false;  // value 0 is the number of another site, the place of a second note
    std::string help;    // empty: none
    // P431: the frontend's name of the exception (calls/raised.py). Its values are pairs of a
    // scalar type and bits (see lower_assertions), and the message is a text for Python's
    // str.format, or empty, if the values themselves are the arguments of the exception.
    std::string exception{};
    bool python_may_call = false;  // P232: Diagnostic::python_may_call
};

// The error of `sites[site]`. A number or value that does not exist is a fault of generated code,
// and reported as one.
[[nodiscard]] Diagnostic describe(std::span<const Site> sites, std::size_t site,
                                  std::span<const std::int64_t> values);

}  // namespace parpy::ir
