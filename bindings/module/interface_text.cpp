// See interface_text.h.
#include "module/interface_text.h"

#include <array>
#include <charconv>

#include "support/escape.h"

namespace parpy {
namespace {

template <class T, class F>
std::string joined(const std::vector<T>& items, const F& text) {
    std::string out;
    for (const T& item : items)
        out += (out.empty() ? "" : ", ") + text(item);
    return out;
}

std::string number_text(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

std::string known(const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : "?";  // kernels written by hand: any value
}

std::string argument_text(const Argument& argument, bool written) {
    using Dim = Argument::Dim;
    const std::string limit =
        argument.limit != 0 ? " limit " + std::to_string(argument.limit) : std::string();
    if (!argument.type.is_array()) {
        std::string out = to_string(argument.type);
        if (argument.integer) out += " = " + std::to_string(*argument.integer);
        if (argument.real) out += " = " + number_text(*argument.real);
        return out + limit;
    }
    std::string out(ir::name(argument.type.scalar));
    out += '[' + joined(argument.dims, [](const Dim& d) { return known(d.extent); });
    out +=
        "] strides [" + joined(argument.dims, [](const Dim& d) { return known(d.stride); }) + ']';
    if (written) out += " written";
    if (argument.aliased) out += " shared";
    return out + limit;
}

// The type of one result: for an array that of its elements and its rank, which the text repeats
// when it makes the array.
std::string result_text(const Program& program, std::size_t argument, std::size_t first) {
    std::string text;
    for (const ResultArray& array : program.results) {
        if (array.argument == argument && array.given)
            text = *array.given < first ? "argument " + std::to_string(*array.given)
                                        : "result " + std::to_string(*array.given - first);
        else if (array.argument == argument)
            text = std::string(ir::name(array.scalar)) + "[" + std::to_string(array.rank) + "]";
    }
    for (const Slot& slot : program.slots) {
        if (slot.argument == argument)
            text += (text.empty() ? "" : " or ") + std::string(ir::name(slot.scalar));
    }
    return text.empty() ? "i64" : text;  // empty: the result of a path that the call rules out
}

// The results of the program: f64, (f64, f32[1]), (i64, None); an optional one is f64?, and paths
// that differ are {f64[1] | None}.
std::string results_text(const Program& program, std::size_t count) {
    std::string out;
    std::size_t first = count;
    bool chooses = false;
    for (const char each : program.result_form) {
        if (each == '<' || each == '>' || (each >= '0' && each <= '9')) continue;  // its class
        if (each == '|') {
            out += " | ";
            continue;
        }
        if (each == '.' && !out.empty() && out.back() == '{' && !chooses) {
            ++first;  // skips the number of the path
            chooses = true;
            continue;
        }
        const bool follows =
            !out.empty() && out.find_last_of("({ ") != out.size() - 1 && each != ')' && each != '}';
        out += follows ? ", " : "";
        if (each == '?') {
            out += result_text(program, first, count) + "?";
            first += 2;
            continue;
        }
        out += each == '-'   ? "None"
               : each == '.' ? result_text(program, first++, count)
                             : std::string(1, each);
    }
    return out;
}

}  // namespace

std::string interface_text(const Program& program, const Signature& signature,
                           const std::vector<std::string>& parameters,
                           const std::vector<std::string>& arguments,
                           const std::vector<Source>& sources, Backend backend) {
    std::vector<bool> written(signature.size() + result_count(program), false);
    for (const Slot& slot : program.slots)
        written[slot.argument] = written[slot.argument] || slot.written;
    std::string out(kInterfaceMarker);
    out += "\n// " + program.name + "(" +
           joined(parameters, [](const std::string& name) { return name; }) + ")\n";
    out += "// back end: " + std::string(name(text_of(backend))) + "\n";
    for (std::size_t i = 0; i < signature.size(); ++i)
        out += "// " + arguments[i] + ": " + argument_text(signature[i], written[i]) + "\n";
    if (!program.result_form.empty())
        out += "// returns: " + results_text(program, signature.size()) + "\n";
    const auto slot_name = [&](const Slot& slot) {
        return slot.argument < signature.size()
                   ? arguments[slot.argument]
                   : "result " + std::to_string(slot.argument - signature.size());
    };
    out += "// slots: " + joined(program.slots, slot_name) + "\n";
    for (std::size_t i = 0; i < program.sites.size(); ++i) {
        const ir::Site& site = program.sites[i];
        std::string place = std::string(code_name(site.code)) + " ";
        if (site.span.valid() && site.span.source < sources.size()) {
            place += sources[site.span.source].name + ":" + std::to_string(site.span.line) + ":" +
                     std::to_string(site.span.column) + ": ";
        }
        out += "// place " + std::to_string(i) + ": " + one_line(place + site.message) + "\n";
    }
    return out + "\n";
}

}  // namespace parpy
