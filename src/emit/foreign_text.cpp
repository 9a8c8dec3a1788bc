// See foreign_text.h.
#include "emit/foreign_text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "support/escape.h"

namespace parpy {

namespace {

struct LinkedSource {
    std::string file;
    std::size_t begin = 0;  // the place of its #line
};

// All sources in the text but the last, which is that of the program itself.
std::vector<LinkedSource> sources_in(std::string_view device) {
    constexpr std::string_view kLine = "#line 1 ", kLinked = "  // linked\n";
    std::vector<LinkedSource> sources;
    for (std::size_t at = device.find(kLine); at != std::string_view::npos;
         at = device.find(kLine, at + 1)) {
        const bool starts_line = at == 0 || device[at - 1] == '\n';
        const std::string_view name = device.substr(at + kLine.size());
        const std::optional<ReadLiteral> file = read_string_literal(name);
        if (starts_line && file && name.substr(file->length).starts_with(kLinked))
            sources.push_back({file->value, at});
    }
    return sources;
}

std::string demangled(std::string_view symbol) {
    const std::string name(symbol);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> found(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return found ? found.get() : name;
}

// The functions named in a message of a linker: the simulator's, ptxas, or nvJitLink.
std::vector<std::string> missing_in(std::string_view message) {
    std::vector<std::string> names;
    const auto add = [&](std::string_view symbol) {
        std::string name = demangled(symbol);
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    };
    constexpr std::string_view kList = "Symbols not found: [ ";
    if (const std::size_t at = message.find(kList); at != std::string_view::npos) {
        std::string_view list = message.substr(at + kList.size());
        list = list.substr(0, list.find(" ]"));
        for (std::size_t end = 0; end != std::string_view::npos;) {
            end = list.find(", ");
            add(list.substr(0, end));
            if (end != std::string_view::npos) list.remove_prefix(end + 2);
        }
    }
    for (const std::string_view phrase :
         {"Unresolved extern function '", "Undefined reference to '"}) {
        for (std::size_t at = message.find(phrase); at != std::string_view::npos;
             at = message.find(phrase, at + 1)) {
            const std::string_view name = message.substr(at + phrase.size());
            add(name.substr(0, name.find('\'')));
        }
    }
    return names;
}

std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "'" : ", '") + one_line(part) + "'";
    return text;
}

}  // namespace

void blame_foreign_text(RuntimeError& error, std::string_view device, const CompileText& compile) {
    const std::vector<LinkedSource> sources = sources_in(device);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const bool last = i + 1 == sources.size();
        const std::size_t end = last ? device.rfind("\n#line ") + 1 : sources[i + 1].begin;
        const std::size_t begin = sources.front().begin;
        RuntimeError found =
            compile(std::string(device.substr(begin, end - begin)), sources[i].file);
        if (!found.failed()) continue;
        error = std::move(found);
        error.help = "this is in '" + one_line(sources[i].file) + "', which the kernel links";
        return;
    }
}

void name_missing_functions(RuntimeError& error, std::string_view device,
                            std::span<const std::string> libraries) {
    const std::vector<std::string> names = missing_in(error.message);
    if (names.empty()) return;
    std::vector<std::string> files;
    for (LinkedSource& source : sources_in(device))
        files.push_back(std::move(source.file));
    for (const std::string& library : libraries)
        files.push_back(library.substr(library.find_last_of('/') + 1));
    const bool one = names.size() == 1;
    error.code = Code::kP512;
    error.message =
        "the kernel's code calls " + listed(names) + ", which " +
        (files.empty() ? "no file is linked to define"
                       : (one ? "is not defined in " : "are not defined in ") + listed(files));
    error.help = std::string("link the file that defines ") + (one ? "it" : "them") +
                 ": cuda.jit(link=[…]), or declare_device(…, link=…); a .cu file, or for a GPU "
                 ".ptx, .cubin, .fatbin, .o, .a or .ltoir";
}

}  // namespace parpy
