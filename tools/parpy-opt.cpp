// parpy-opt: reads IR text, runs named passes or a whole pipeline, and prints, verifies, emits or
// evaluates the result. What the golden tests run; `parpy-opt --help` lists the flags.
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass.h"

namespace parpy {
namespace {

constexpr std::string_view kHelp =
    R"(usage: parpy-opt [flags] [FILE]      reads FILE or standard input

  --pass A,B,C             run these passes, in this order
  --pipeline cpu|cuda      run the pipeline of a back end
  --until PASS             ... up to and including PASS
  --backend cpu|cuda       the target of passes that ask for it (default: that of --pipeline, or cpu)
  --parallelize 'N=threads(64),M=threads(128).reduce().tpb(256)'
  --signature 'f64[10, 20], f32[?; 1] ro, int=5, float, i32'
                           the arguments of the entry: arrays by extents [; strides], `?` where they
                           are known at run time only; scalars with or without their value
  --fast-math --deterministic
  --verify PROFILE         surface typed loops mapped kernels target
  --spans                  print `@line:column` behind each statement
  --trace                  print the program after every pass that changed it
  --print-pipeline cpu|cuda
  --quiet                  print nothing but errors
Errors and warnings go to standard output too, so that golden files show them; the exit status tells.
)";

constexpr std::string_view kProfiles[] = {"surface", "typed",   "loops",
                                          "mapped",  "kernels", "target"};

struct Arguments {
    std::vector<std::string> passes;
    std::optional<Backend> pipeline;
    std::string until;
    Options options;
    Signature signature;
    std::optional<ir::Profile> verify;
    bool spans = false, trace = false, quiet = false, help = false;
    std::optional<Backend> print_pipeline;
    std::string file;
    std::string error;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Splits at `separator` outside of parentheses and brackets; no parts of an empty text.
std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == separator && depth == 0)) {
            parts.emplace_back(trimmed(text.substr(begin, i - begin)));
            begin = i + 1;
        } else if (text[i] == '(' || text[i] == '[') {
            ++depth;
        } else if (text[i] == ')' || text[i] == ']') {
            --depth;
        }
    }
    return trimmed(text).empty() ? std::vector<std::string>{} : parts;
}

template <class T>
bool number(std::string_view text, T& out) {
    text = trimmed(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

std::optional<Backend> backend(std::string_view name) {
    if (name == "cpu") {
        return Backend::kCpu;
    }
    return name == "cuda" ? std::optional(Backend::kCuda) : std::nullopt;
}

// label=threads(128).reduce().tpb(256), …
bool parse_mapping(std::string_view text, Mapping& mapping) {
    for (const std::string& item : split(text, ',')) {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos) {
            return false;
        }
        LoopPar& par = mapping[std::string(trimmed(item.substr(0, equals)))];
        for (const std::string& call : split(item.substr(equals + 1), '.')) {
            const std::size_t open = call.find('(');
            if (open == std::string::npos || !call.ends_with(')')) {
                return false;
            }
            const std::string name = call.substr(0, open);
            const std::string value = call.substr(open + 1, call.size() - open - 2);
            if (name == "reduce" && value.empty()) {
                par.reduce = true;
            } else if (!((name == "threads" && number(value, par.threads)) ||
                         (name == "tpb" && number(value, par.threads_per_block)))) {
                return false;
            }
        }
    }
    return true;
}

bool parse_size(const std::string& text, std::optional<std::int64_t>& size) {
    std::int64_t value = 0;
    if (text == "?") {
        return true;
    }
    size = value;
    return number(text, *size);
}

// f64[10, ?; ?, 1] ro aliased
bool parse_array(std::string_view text, Argument& argument) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
        return false;
    }
    for (const std::string& word : split(text.substr(close + 1), ' ')) {
        argument.read_only = argument.read_only || word == "ro";
        argument.aliased = argument.aliased || word == "aliased";
    }
    const std::vector<std::string> halves = split(text.substr(0, close), ';');
    const std::vector<std::string> extents = halves.empty() ? halves : split(halves[0], ',');
    argument.dims.resize(extents.size());
    std::optional<std::int64_t> stride = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
        Argument::Dim& dim = argument.dims[i];
        if (!parse_size(extents[i], dim.extent)) {
            return false;
        }
        dim.stride = stride;
        stride = stride && dim.extent ? std::optional(*stride * *dim.extent) : std::nullopt;
    }
    if (halves.size() == 2) {
        const std::vector<std::string> strides = split(halves[1], ',');
        for (std::size_t i = 0; i < std::min(strides.size(), extents.size()); ++i) {
            argument.dims[i].stride.reset();
            if (!parse_size(strides[i], argument.dims[i].stride)) {
                return false;
            }
        }
    }
    argument.type = ir::Type::array(argument.type.scalar, static_cast<int>(extents.size()));
    return true;
}

bool parse_signature(std::string_view text, Signature& signature) {
    using ir::Scalar;
    using ir::Type;
    for (const std::string& item : split(text, ',')) {
        Argument& argument = signature.emplace_back();
        const std::size_t stop = item.find_first_of("[=");
        const std::string name(trimmed(std::string_view(item).substr(0, stop)));
        if (name == "int" || name == "float" || name == "complex") {
            argument.type = Type::weak_of(name == "int"     ? Scalar::kI64
                                          : name == "float" ? Scalar::kF64
                                                            : Scalar::kC128);
        } else if (const auto scalar = ir::scalar_from_name(name)) {
            argument.type = Type::of(*scalar);
        } else {
            return false;
        }
        if (stop == std::string::npos) {
            continue;
        }
        const std::string_view rest = std::string_view(item).substr(stop + 1);
        if (item[stop] == '[') {
            if (!parse_array(rest, argument)) {
                return false;
            }
        } else if (ir::is_float(argument.type.scalar)) {
            if (!number(rest, argument.real.emplace())) {
                return false;
            }
        } else if (!number(rest, argument.integer.emplace())) {
            return false;
        }
    }
    return true;
}

Arguments parse_arguments(int count, char** values) {
    Arguments out;
    std::optional<Backend> target;
    for (int i = 1; i < count && out.error.empty(); ++i) {
        const std::string_view flag = values[i];
        const auto value = [&]() -> std::string {
            if (i + 1 >= count) {
                out.error = "flag " + std::string(flag) + " needs a value";
                return {};
            }
            return values[++i];
        };
        const auto target_value = [&]() -> std::optional<Backend> {
            const auto result = backend(value());
            if (!result && out.error.empty()) {
                out.error = "flag " + std::string(flag) + " takes cpu or cuda";
            }
            return result;
        };
        if (flag == "--pass") {
            for (std::string& name : split(value(), ',')) {
                out.passes.push_back(std::move(name));
            }
        } else if (flag == "--pipeline") {
            out.pipeline = target_value();
        } else if (flag == "--until") {
            out.until = value();
        } else if (flag == "--backend") {
            target = target_value();
        } else if (flag == "--print-pipeline") {
            out.print_pipeline = target_value();
        } else if (flag == "--parallelize") {
            if (!parse_mapping(value(), out.options.mapping)) {
                out.error = "malformed --parallelize";
            }
        } else if (flag == "--signature") {
            if (!parse_signature(value(), out.signature)) {
                out.error = "malformed --signature";
            }
        } else if (flag == "--verify") {
            const std::string name = value();
            const auto found = std::find(std::begin(kProfiles), std::end(kProfiles), name);
            if (found == std::end(kProfiles)) {
                out.error = "unknown profile '" + name + "'";
            }
            out.verify = static_cast<ir::Profile>(found - std::begin(kProfiles));
        } else if (flag == "--fast-math") {
            out.options.fast_math = true;
        } else if (flag == "--deterministic") {
            out.options.deterministic = true;
        } else if (flag == "--spans") {
            out.spans = true;
        } else if (flag == "--trace") {
            out.trace = true;
        } else if (flag == "--quiet") {
            out.quiet = true;
        } else if (flag == "--help") {
            out.help = true;
        } else if (flag.starts_with("--")) {
            out.error = "unknown flag " + std::string(flag);
        } else {
            out.file = flag;
        }
    }
    out.options.backend = target.value_or(out.pipeline.value_or(Backend::kCpu));
    return out;
}

std::vector<Pass> chosen_passes(Arguments& arguments) {
    std::vector<Pass> passes;
    if (arguments.pipeline) {
        for (const Pass& pass : pipeline(*arguments.pipeline)) {
            passes.push_back(pass);
            if (pass.name == arguments.until) {
                break;
            }
        }
        if (!arguments.until.empty() && (passes.empty() || passes.back().name != arguments.until)) {
            arguments.error = "no pass '" + arguments.until + "' in this pipeline";
        }
    }
    for (const std::string& name : arguments.passes) {
        const Pass* pass = find_pass(name);
        if (pass == nullptr) {
            arguments.error = "unknown pass '" + name + "'";
            return {};
        }
        passes.push_back(*pass);
    }
    return passes;
}

void print_pipeline(Backend target) {
    std::size_t width = 0;
    for (const Pass& pass : pipeline(target)) {
        width = std::max(width, pass.name.size());
    }
    for (const Pass& pass : pipeline(target)) {
        const std::string_view profile = kProfiles[static_cast<std::size_t>(pass.after)];
        std::cout << pass.name << std::string(width + 2 - pass.name.size(), ' ') << profile
                  << std::string(9 - profile.size(), ' ') << pass.why_here << '\n';
    }
}

bool read(const std::string& file, std::string& text) {
    if (file.empty() || file == "-") {
        text.assign(std::istreambuf_iterator<char>(std::cin), {});
        return true;
    }
    std::ifstream stream(file, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(stream), {});
    return static_cast<bool>(stream);
}

int run(Arguments& arguments) {
    const std::vector<Pass> passes = chosen_passes(arguments);
    std::string text;
    if (arguments.error.empty() && !read(arguments.file, text)) {
        arguments.error = "cannot read '" + arguments.file + "'";
    }
    if (!arguments.error.empty()) {
        std::cerr << "parpy-opt: " << arguments.error << '\n';
        return 2;
    }
    const std::string name = arguments.file.empty()
                                 ? "<stdin>"
                                 : arguments.file.substr(arguments.file.find_last_of('/') + 1);
    Diagnostics diagnostics;
    ir::Module module;
    Trace trace;
    if (arguments.trace) {
        trace = [](std::string_view pass, double, const std::string& after) {
            std::cout << "# after " << pass << '\n' << after << '\n';
        };
    }
    bool ok = ir::parse(text, name, module, diagnostics);
    if (ok) {
        PassContext context{module, arguments.options, arguments.signature, diagnostics};
        ok = run_passes(context, passes, trace);
    }
    if (ok && arguments.verify) {
        ok = ir::verify(module, *arguments.verify, diagnostics);
    }
    if (ok && !arguments.quiet && !arguments.trace) {
        std::cout << ir::print(module, {.spans = arguments.spans});
    }
    std::cout << render(diagnostics, module.sources);
    return ok ? 0 : 1;
}

}  // namespace
}  // namespace parpy

int main(int count, char** values) {
    parpy::Arguments arguments = parpy::parse_arguments(count, values);
    if (arguments.help) {
        std::cout << parpy::kHelp;
        return 0;
    }
    if (arguments.error.empty() && arguments.print_pipeline) {
        parpy::print_pipeline(*arguments.print_pipeline);
        return 0;
    }
    return parpy::run(arguments);
}
