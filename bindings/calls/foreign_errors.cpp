// See foreign_errors.h.
#include "calls/foreign_errors.h"

#include <cctype>
#include <string_view>

#include "ir/visit.h"

namespace parpy {

namespace {

bool is_of_names(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether the text contains the name as a whole word.
bool names(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || !is_of_names(text[at - 1]);
        if (begins && (end == text.size() || !is_of_names(text[end]))) return true;
    }
    return false;
}

// The `f` in `std::f`.
std::string_view last_part(std::string_view name) {
    const std::size_t at = name.rfind(':');
    return at == std::string_view::npos ? name : name.substr(name.find_first_not_of(' ', at + 1));
}

// The name of the header that declares the function; the source that includes it is "<f.h>.cu".
std::string_view header_of(const ir::Function& foreign, const ir::Module& module) {
    std::string_view name = module.sources.at(foreign.span.source).name;
    if (name.ends_with(".cu")) name.remove_suffix(3);
    if (name.starts_with('<') || name.starts_with('"')) name = name.substr(1, name.size() - 2);
    return name;
}

}  // namespace

std::optional<Diagnostic> located_at_call(const RuntimeError& error, const ir::Module& module) {
    if (error.code != Code::kP510 && error.code != Code::kP525) return std::nullopt;
    std::optional<Diagnostic> found;
    for (const ir::Function* function : module.functions) {
        ir::for_each_expr(function->body, [&](const ir::Expr& e) {
            if (found || e.op != ir::Op::kCall) return;
            const ir::Function& callee = *e.callee;
            if (callee.kind != ir::FunctionKind::kForeign || !callee.span.valid()) return;
            const bool itself = names(error.message, last_part(callee.name));
            const std::string_view header = header_of(callee, module);
            if (!itself && (header.empty() || !names(error.message, header))) return;
            found = Diagnostic{.code = error.code, .span = e.span, .message = error.message};
            found->help = error.help;  // for a source that the kernel links
            if (!found->help.empty()) return;
            found->help = "'" + callee.name + "' is an external function: " +
                          (itself ? "its header has to define it for the declared types"
                                  : "check its header, and the folders in opts.includes");
        });
    }
    return found;
}

}  // namespace parpy
