// _native.Source and _native.Diagnostics: the sink as Python fills it (the frontend) and reads it
// (_errors.raise_for, which turns it into one exception). Rendering stays in the core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ir/type.h"
#include "module/span_caster.h"
#include "support/diagnostic.h"
#include "support/escape.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace parpy {
namespace {

Code code_named(std::string_view name) {
    if (const auto code = code_from_name(name)) return *code;
    throw nb::value_error(("no diagnostic has the code '" + std::string(name) + "'").c_str());
}

std::string_view flavour_name(Flavour flavour) {
    switch (flavour) {
        case Flavour::kCompile:
            return "compile";
        case Flavour::kType:
            return "type";
        case Flavour::kName:
            return "name";
        case Flavour::kUnbound:
            return "unbound";
        case Flavour::kIndex:
            return "index";
        case Flavour::kKey:
            return "key";
        case Flavour::kValue:
            return "value";
        case Flavour::kAssertion:
            return "assertion";
        case Flavour::kRecursion:
            return "recursion";
        case Flavour::kOverflow:
            return "overflow";
        case Flavour::kZeroDivision:
            return "zero division";
        case Flavour::kParallel:
            return "parallel";
        case Flavour::kBackend:
            return "backend";
        case Flavour::kRaised:
            return "raised";
        case Flavour::kInternal:
            return "internal";
    }
    return "internal";
}

void add_error(Diagnostics& sink, std::string_view code, Span span, std::string message,
               std::string help, std::vector<std::pair<Span, std::string>> notes) {
    Diagnostic& added = sink.error(code_named(code), span, std::move(message));
    added.help = std::move(help);
    for (auto& [place, text] : notes)
        added.notes.push_back({place, std::move(text)});
}

void add_performance(Diagnostics& sink, std::string_view code, Span span, std::string message,
                     std::string help) {
    sink.performance(code_named(code), span, std::move(message)).help = std::move(help);
}

// (code, flavour, facts) of each error, in order.
using Error = std::tuple<std::string_view, std::string_view, std::vector<std::string_view>>;

std::vector<Error> errors(const Diagnostics& sink) {
    std::vector<Error> found;
    for (const Diagnostic& diagnostic : sink.all()) {
        if (diagnostic.severity != Severity::kError) continue;
        found.emplace_back(code_name(diagnostic.code), flavour_name(code_flavour(diagnostic.code)),
                           facts_of(diagnostic.code));
    }
    return found;
}

// Integer attributes of arguments that would become floats, if there are no other errors.
std::vector<std::string> attributes(const Diagnostics& sink) {
    std::vector<std::string> found;
    for (const Diagnostic& diagnostic : sink.all()) {
        if (diagnostic.severity != Severity::kError) continue;
        if (diagnostic.attribute.empty()) return {};
        found.push_back(diagnostic.attribute);
    }
    return found;
}

// Whether Python can run what is refused, if it makes some of the calls.
bool python_may_call(const Diagnostics& sink) {
    return std::ranges::any_of(sink.all(), &Diagnostic::python_may_call);
}

// The exception of the first error, a P431.
struct Raised {
    std::string exception;
    std::string text;
    std::string place;
    std::vector<std::pair<std::string_view, nb::object>> values;  // scalar type and number
};

Raised raised(const Diagnostics& sink, const std::vector<Source>& sources) {
    const Diagnostic& error = sink.all().front();
    Raised out{error.exception, error.message, place(error.span, sources), {}};
    for (std::size_t at = 0; at + 1 < error.words.size(); at += 2) {
        const auto scalar = static_cast<ir::Scalar>(error.words[at]);
        const std::int64_t word = error.words[at + 1];
        nb::object number;
        if (ir::is_float(scalar)) {
            number = nb::cast(std::bit_cast<double>(word));
        } else if (scalar == ir::Scalar::kU64) {
            number = nb::cast(static_cast<std::uint64_t>(word));
        } else {
            number = nb::cast(word);
        }
        out.values.emplace_back(ir::name(scalar), std::move(number));
    }
    return out;
}

}  // namespace

void bind_diagnostics(nb::module_& m) {
    nb::class_<Raised>(m, "Raised")
        .def_ro("exception", &Raised::exception)
        .def_ro("text", &Raised::text)
        .def_ro("place", &Raised::place)
        .def_ro("values", &Raised::values);

    nb::class_<Source>(m, "Source")
        .def(nb::init<std::string, std::string, std::uint32_t>(), "name"_a, "text"_a,
             "first_line"_a)
        .def_ro("name", &Source::name)
        .def_ro("text", &Source::text)
        .def_ro("first_line", &Source::first_line);

    nb::class_<Diagnostics>(m, "Diagnostics")
        .def(nb::init<>())
        .def("error", add_error, "code"_a, "span"_a.none(), "message"_a, "help"_a = "",
             "notes"_a = std::vector<std::pair<Span, std::string>>{})
        .def("performance", add_performance, "code"_a, "span"_a.none(), "message"_a, "help"_a = "")
        .def_prop_ro("has_errors", &Diagnostics::has_errors)
        .def_prop_ro("errors", errors)
        .def_prop_ro("attributes", attributes)
        .def_prop_ro("python_may_call", python_may_call)
        .def(
            "render",
            [](const Diagnostics& self, const std::vector<Source>& sources) {
                return render(self, sources);
            },
            "sources"_a)
        .def("raised", raised, "sources"_a);

    m.def("one_line", one_line, "text"_a, "Fit for a comment of one line in generated text.");
    m.def("string_literal", string_literal, "text"_a, "As a literal of C++, in its quotes.");
}

}  // namespace parpy
