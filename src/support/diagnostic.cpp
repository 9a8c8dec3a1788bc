// The sink of diagnostics and the text that users see: place, message, source line, carets, notes,
// help.
#include "support/diagnostic.h"

#include <algorithm>
#include <optional>

#include "support/escape.h"

namespace parpy {
namespace {

struct CodeRow {
    std::string_view name;
    std::string_view title;
    Flavour flavour;
    std::uint32_t facts;
};

using namespace facts;  // for the table

constexpr CodeRow kCodes[] = {
#define DIAGNOSTIC(code, flavour, title, facts) {#code, title, Flavour::k##flavour, facts},
#include "support/diagnostics.def"
#undef DIAGNOSTIC
};

struct FactName {
    std::uint32_t fact;
    std::string_view name;
};

constexpr FactName kFactNames[] = {
    {kStatement, "statement"}, {kCertain, "certain"},
    {kMapping, "mapping"},     {kRun, "run"},
    {kBackEnd, "back end"},    {kArgument, "argument"},
    {kName, "name"},           {kStored, "stored"},
    {kText, "text"},           {kAsNumber, "as number"},
    {kApart, "apart"},         {kNumberOfNumPy, "number of NumPy"},
    {kByKey, "by key"},        {kElements, "elements"},
    {kInPlace, "in place"},
};

const CodeRow& row(Code code) {
    return kCodes[static_cast<std::size_t>(code)];
}

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::kError:
            return "error";
        case Severity::kWarning:
            return "warning";
        case Severity::kPerformance:
            return "performance";
        case Severity::kNote:
            break;
    }
    return "note";
}

const Source* source_of(const Span& span, const std::vector<Source>& sources) {
    return span.valid() && span.source < sources.size() ? &sources[span.source] : nullptr;
}

// Line `number` (numbered as in spans) of the captured text, without its end of line.
std::optional<std::string_view> line_of(const Source& source, std::uint32_t number) {
    if (number < source.first_line) {
        return std::nullopt;
    }
    std::string_view rest = source.text;
    for (std::uint32_t line = source.first_line; line < number; ++line) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        rest.remove_prefix(end + 1);
    }
    rest = rest.substr(0, rest.find('\n'));
    if (rest.ends_with('\r')) {
        rest.remove_suffix(1);
    }
    return rest;
}

bool continues_code_point(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// The column that readers expect: spans count UTF-8 bytes, this counts code points.
std::size_t visible_column(std::string_view line, std::size_t byte_column) {
    const std::string_view before = line.substr(0, std::min(byte_column - 1, line.size()));
    const auto inside = std::ranges::count_if(before, continues_code_point);
    return byte_column - static_cast<std::size_t>(inside);
}

}  // namespace

std::string place(const Span& span, const std::vector<Source>& sources) {
    const Source* source = source_of(span, sources);
    if (source == nullptr) {
        return {};
    }
    const auto line = line_of(*source, span.line);
    const std::size_t column =
        line ? visible_column(*line, std::max(span.column, 1U)) : span.column;
    return one_line(source->name) + ":" + std::to_string(span.line) + ":" + std::to_string(column) +
           ": ";
}

namespace {

// The source line and the carets under the span; the first line, if the span has several.
void append_excerpt(std::string& out, const Span& span, const std::vector<Source>& sources) {
    const Source* source = source_of(span, sources);
    const auto found = source != nullptr ? line_of(*source, span.line) : std::nullopt;
    if (!found || source->text.empty()) {
        return;
    }
    const std::string_view line = *found;
    const std::size_t begin = std::min<std::size_t>(std::max(span.column, 1U) - 1, line.size());
    std::size_t end = line.find_last_not_of(" \t") + 1;
    if (span.end_line == span.line) {
        end = std::min<std::size_t>(std::max(span.end_column, 1U) - 1, line.size());
    }
    std::string number = std::to_string(span.line);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, ' ');
    out += number + " | " + std::string(line) + "\n" + std::string(number.size(), ' ') + " | ";
    for (const char c : line.substr(0, begin)) {
        if (!continues_code_point(c)) {
            out += c == '\t' ? '\t' : ' ';
        }
    }
    out += '^';
    for (std::size_t i = begin + 1; i < end; ++i) {
        if (!continues_code_point(line[i])) {
            out += '~';
        }
    }
    out += '\n';
}

}  // namespace

std::string_view code_name(Code code) {
    return row(code).name;
}
std::string_view code_title(Code code) {
    return row(code).title;
}
Flavour code_flavour(Code code) {
    return row(code).flavour;
}
std::vector<std::string_view> facts_of(Code code) {
    std::vector<std::string_view> names;
    for (const auto& [fact, name] : kFactNames)
        if ((row(code).facts & fact) != 0) names.push_back(name);
    return names;
}
std::optional<Code> code_from_name(std::string_view name) {
    const auto* found =
        std::ranges::find_if(kCodes, [&](const CodeRow& r) { return r.name == name; });
    return found == std::end(kCodes) ? std::nullopt
                                     : std::optional(static_cast<Code>(found - std::begin(kCodes)));
}

Diagnostic& Diagnostics::error(Code code, Span span, std::string message) {
    ++errors_;
    return add(Severity::kError, code, span, std::move(message));
}

Diagnostic& Diagnostics::warning(Code code, Span span, std::string message) {
    return add(Severity::kWarning, code, span, std::move(message));
}

Diagnostic& Diagnostics::performance(Code code, Span span, std::string message) {
    return add(Severity::kPerformance, code, span, std::move(message));
}

Diagnostic& Diagnostics::internal(Span span, std::string message) {
    Diagnostic& diagnostic = error(Code::kP900, span, std::move(message));
    diagnostic.help =
        "this is a fault of ParPy, not of your program; please report it with the function, its "
        "arguments and the output of a call with debug=True";
    return diagnostic;
}

void Diagnostics::report(Diagnostic diagnostic) {
    errors_ += diagnostic.severity == Severity::kError ? 1 : 0;
    all_.push_back(std::move(diagnostic));
}

bool Diagnostics::contains(Code code) const {
    return std::ranges::find(all_, code, &Diagnostic::code) != all_.end();
}

void Diagnostics::clear() {
    all_.clear();
    errors_ = 0;
}

Diagnostic& Diagnostics::add(Severity severity, Code code, Span span, std::string message) {
    Diagnostic& diagnostic = all_.emplace_back();
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.span = span;
    diagnostic.message = std::move(message);
    return diagnostic;
}

std::string_view source_line(const std::vector<Source>& sources, const Span& span) {
    const Source* source = source_of(span, sources);
    const auto line = source != nullptr ? line_of(*source, span.line) : std::nullopt;
    if (!line) return {};
    const std::size_t first = line->find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return line->substr(first, line->find_last_not_of(" \t\\") + 1 - first);
}

std::string render(const Diagnostic& diagnostic, const std::vector<Source>& sources) {
    std::string out = place(diagnostic.span, sources);
    out += severity_name(diagnostic.severity);
    out += "[" + std::string(code_name(diagnostic.code)) + "]: " + diagnostic.message + "\n";
    append_excerpt(out, diagnostic.span, sources);
    for (const Note& note : diagnostic.notes) {
        out += place(note.span, sources) + "note: " + note.message + "\n";
        append_excerpt(out, note.span, sources);
    }
    if (!diagnostic.help.empty()) {
        out += "help: " + diagnostic.help + "\n";
    }
    return out;
}

std::string render(const Diagnostics& diagnostics, const std::vector<Source>& sources) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        out += render(diagnostic, sources);
    }
    return out;
}

}  // namespace parpy
