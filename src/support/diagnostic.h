// Messages of the compiler to the user: each has a place and a code. Passes report to a Diagnostics
// sink and continue where they can, so that one call shows several errors; the bindings turn the
// sink into one Python exception. diagnostics.def has the codes and the exception that each raises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/span.h"

namespace parpy {

enum class Severity { kError, kWarning, kPerformance, kNote };

// The Python exception that an error becomes (SPEC §11).
enum class Flavour {
    kCompile,
    kType,
    kName,
    kUnbound,
    kIndex,
    kKey,
    kValue,
    kAssertion,
    kRecursion,
    kOverflow,
    kZeroDivision,
    kParallel,
    kBackend,
    kRaised,
    kInternal
};

enum class Code {
#define DIAGNOSTIC(code, flavour, title, facts) k##code,
#include "support/diagnostics.def"
#undef DIAGNOSTIC
};

[[nodiscard]] std::string_view code_name(Code code);   // "P203"
[[nodiscard]] std::string_view code_title(Code code);  // the meaning of the code, one line
[[nodiscard]] Flavour code_flavour(Code code);
[[nodiscard]] std::optional<Code> code_from_name(std::string_view name);

// What an error says to a caller that can do something about it: bits, which stand in each code's
// row. `facts_of` gives their names, by which Python asks (CompileError.says).
namespace facts {
enum : std::uint32_t {
    kNone = 0,
    kStatement = 1U << 0U,       // Python can run such a statement
    kCertain = 1U << 1U,         // it is wrong whatever the arguments are
    kMapping = 1U << 2U,         // about pragmas, labels and how loops run
    kRun = 1U << 3U,             // found when the program runs, or would
    kBackEnd = 1U << 4U,         // about a compiler or a device
    kArgument = 1U << 5U,        // about an argument
    kName = 1U << 6U,            // a name may have a value later
    kStored = 1U << 7U,          // something is stored to that cannot be
    kText = 1U << 8U,            // a text, or None, is used as a number
    kAsNumber = 1U << 9U,        // something is used as a number, or a number as something else
    kNumberOfNumPy = 1U << 10U,  // a number has another type than its annotation: Python's converts
    kApart = 1U << 11U,          // an argument that may be taken apart into numbers and arrays
    kByKey = 1U << 12U,          // an argument whose attributes or keys Python may look up
    kElements = 1U << 13U,       // an array whose elements may be taken apart
    kInPlace = 1U << 14U         // an array that may be read first
};
}  // namespace facts

[[nodiscard]] std::vector<std::string_view> facts_of(Code code);

struct Note {
    Span span;  // may be invalid: then the note has no place
    std::string message;
};

struct Diagnostic {
    Severity severity = Severity::kError;
    Code code{};
    Span span;
    std::string message;  // lower case, one sentence, names in single quotes
    std::vector<Note> notes;
    std::string help;  // the fix, or empty
    // P431 (ir/site.h): the frontend's name of the exception, and the words of its values.
    std::string exception{};
    std::vector<std::int64_t> words{};
    // P233: the attribute whose integer would become a float.
    std::string attribute{};
    // What is refused is a call, or what one gives: Python can run the program if it makes the
    // calls of functions that give arrays itself.
    bool python_may_call = false;
};

class Diagnostics {
public:
    // Each returns the new diagnostic, to which the caller can add notes and help until it adds
    // another one.
    Diagnostic& error(Code code, Span span, std::string message);
    Diagnostic& warning(Code code, Span span, std::string message);
    Diagnostic& performance(Code code, Span span, std::string message);
    // A fault of the compiler itself (P900): says how to report it.
    Diagnostic& internal(Span span, std::string message);

    // Reports a complete diagnostic.
    void report(Diagnostic diagnostic);

    [[nodiscard]] bool has_errors() const { return errors_ != 0; }
    [[nodiscard]] bool contains(Code code) const;
    [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }
    void clear();

private:
    Diagnostic& add(Severity severity, Code code, Span span, std::string message);

    std::vector<Diagnostic> all_;
    std::size_t errors_ = 0;
};

// The line that `span` begins on, without indentation; empty if unknown.
[[nodiscard]] std::string_view source_line(const std::vector<Source>& sources, const Span& span);

// `file.py:12:9: `, or nothing for a span without a place.
[[nodiscard]] std::string place(const Span& span, const std::vector<Source>& sources);

// `file.py:12:9: error[P203]: …` + source line + carets + notes + help, for each diagnostic in
// order.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, const std::vector<Source>& sources);
[[nodiscard]] std::string render(const Diagnostics& diagnostics,
                                 const std::vector<Source>& sources);

}  // namespace parpy
