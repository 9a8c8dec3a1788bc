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
#define DIAGNOSTIC(code, flavour, title) k##code,
#include "support/diagnostics.def"
#undef DIAGNOSTIC
};

[[nodiscard]] std::string_view code_name(Code code);   // "P203"
[[nodiscard]] std::string_view code_title(Code code);  // the meaning of the code, one line
[[nodiscard]] Flavour code_flavour(Code code);
[[nodiscard]] std::optional<Code> code_from_name(std::string_view name);

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
