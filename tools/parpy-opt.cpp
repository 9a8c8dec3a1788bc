// parpy-opt: reads IR text, runs named passes or a whole pipeline, and prints, verifies, emits or
// evaluates the result. What the golden tests run; `parpy-opt --help` lists the flags.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "backend/emit.h"
#include "ir/builder.h"
#include "ir/eval.h"
#include "ir/eval_ops.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass.h"

namespace parpy {
namespace {

constexpr std::string_view kHelp =
    R"(usage: parpy-opt [flags] [FILE]      reads FILE or standard input

  --pass A,B,C             run these passes, in this order
  --pipeline cpu|cuda|metal
                           run the pipeline of a back end
  --until PASS             ... up to and including PASS
  --emit cpu|cuda|metal    print the generated program instead; runs that pipeline, unless --pass
                           says what to run
  --backend cpu|cuda|metal the target of passes that ask for it (default: that of --pipeline, or cpu)
  --parallelize 'N=threads(64),M=threads(128).reduce().tpb(256)'
  --automatic              the compiler chooses the mapping
  --signature 'f64[10, 20], f32[?; 1] ro, f32[9] aliased=1+4, int=5, float, i32'
                           the arguments of the entry: arrays by extents [; strides], `?` where they
                           are known at run time only; scalars with or without their value
  --implicit-shape-labels
  --clusters N             reductions use thread block clusters, of at most so many blocks
  --fast-math --deterministic --legality check|strict|trust
  --assertions             check them while the program runs
  --check bounds|races|all check accesses while the program runs
  --verify PROFILE         surface typed loops mapped kernels target
  --spans                  print `@line:column` behind each statement
  --trace                  print the program after every pass that changed it
  --print-pipeline         the passes, where they run, what they leave and why they stand there
  --eval                   run the result in the reference interpreter instead of printing it, on
                           arrays filled with a fixed pattern, and print what they hold afterwards
  --set NAME=VALUE         ... with this value of a scalar parameter (default 3)
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
    bool print_pipeline = false;
    bool spans = false, trace = false, quiet = false, help = false, eval = false;
    std::map<std::string, double> values;  // --set
    std::optional<Backend> emit;
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
    constexpr std::pair<std::string_view, Backend> kNames[] = {
        {"cpu", Backend::kCpu}, {"cuda", Backend::kCuda}, {"metal", Backend::kMetal}};
    for (const auto& [known, found] : kNames) {
        if (name == known) return found;
    }
    return std::nullopt;
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

// f64[10, ?; ?, 1] ro aliased; with aliased=0+8: eight bytes behind the start of argument 0
bool parse_array(std::string_view text, Argument& argument) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
        return false;
    }
    for (const std::string& word : split(text.substr(close + 1), ' ')) {
        argument.read_only = argument.read_only || word == "ro";
        argument.aliased = argument.aliased || word.starts_with("aliased");
        if (word.starts_with("aliased=")) {
            const std::vector<std::string> place = split(word.substr(8), '+');
            ir::Placement& placement = argument.placement.emplace();
            std::int64_t group = 0;
            if (place.size() != 2 || !number(place[0], group) ||
                !number(place[1], placement.offset)) {
                return false;
            }
            placement.group = static_cast<std::size_t>(group);
        }
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
    for (std::string item : split(text, ',')) {
        Argument& argument = signature.emplace_back();
        if (const std::size_t at = item.find(" limit="); at != std::string::npos) {
            if (!number(item.substr(at + 7), argument.limit)) return false;
            item.erase(at);
        }
        const std::size_t stop = item.find_first_of("[=");
        const std::string name(trimmed(std::string_view(item).substr(0, stop)));
        if (name == "int" || name == "float" || name == "complex" || name == "pybool") {
            argument.type = Type::weak_of(name == "int"      ? Scalar::kI64
                                          : name == "float"  ? Scalar::kF64
                                          : name == "pybool" ? Scalar::kBool
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
                out.error = "flag " + std::string(flag) + " takes cpu, cuda or metal";
            }
            return result;
        };
        if (flag == "--pass") {
            for (std::string& name : split(value(), ',')) {
                out.passes.push_back(std::move(name));
            }
        } else if (flag == "--pipeline") {
            out.pipeline = target_value();
        } else if (flag == "--emit") {
            out.emit = target_value();
        } else if (flag == "--until") {
            out.until = value();
        } else if (flag == "--backend") {
            target = target_value();
        } else if (flag == "--print-pipeline") {
            out.print_pipeline = true;
        } else if (flag == "--parallelize") {
            if (!parse_mapping(value(), out.options.mapping)) {
                out.error = "malformed --parallelize";
            }
        } else if (flag == "--automatic") {
            out.options.automatic = true;
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
        } else if (flag == "--clusters") {
            out.options.use_cuda_thread_block_clusters = true;
            if (!number(value(), out.options.max_thread_blocks_per_cluster)) {
                out.error = "flag --clusters takes the most blocks of a cluster";
            }
        } else if (flag == "--implicit-shape-labels") {
            out.options.implicit_shape_labels = true;
        } else if (flag == "--deterministic") {
            out.options.deterministic = true;
        } else if (flag == "--legality") {
            const std::string name = value();
            out.options.legality = name == "strict"  ? Legality::kStrict
                                   : name == "trust" ? Legality::kTrust
                                                     : Legality::kCheck;
        } else if (flag == "--assertions") {
            out.options.assertions = true;
        } else if (flag == "--check") {
            const std::string what = value();
            out.options.check = what == "bounds"  ? Check::kBounds
                                : what == "races" ? Check::kRaces
                                : what == "all"   ? Check::kAll
                                                  : Check::kNothing;
            if (out.options.check == Check::kNothing) {
                out.error = "flag --check takes bounds, races or all";
            }
        } else if (flag == "--spans") {
            out.spans = true;
        } else if (flag == "--trace") {
            out.trace = true;
        } else if (flag == "--eval") {
            out.eval = true;
        } else if (flag == "--set") {
            const std::string setting = value();
            const std::size_t equals = std::min(setting.find('='), setting.size());
            const std::string digits = setting.substr(std::min(equals + 1, setting.size()));
            if (!number(digits, out.values[setting.substr(0, equals)])) {
                out.error = "malformed --set";
            }
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
    if (out.emit && !out.pipeline && out.passes.empty()) {
        out.pipeline = out.emit;
    }
    target = out.emit ? out.emit : target;
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
        const Pass* pass = find_pass(name, arguments.options.backend);
        if (pass == nullptr) {
            arguments.error = "unknown pass '" + name + "'";
            return {};
        }
        passes.push_back(*pass);
    }
    return passes;
}

struct PipelineRow {
    const Pass* pass;
    std::string_view where;
};

// The passes of both back ends in one order, which is that of each.
std::vector<PipelineRow> merged_pipelines() {
    const std::span<const Pass> cpu = pipeline(Backend::kCpu);
    const std::span<const Pass> cuda = pipeline(Backend::kCuda);
    const auto has = [](std::span<const Pass> passes, std::string_view name) {
        return std::ranges::any_of(passes, [&](const Pass& p) { return p.name == name; });
    };
    std::vector<PipelineRow> rows;
    std::size_t next = 0;  // of cpu
    for (const Pass& pass : cuda) {
        if (!has(cpu, pass.name)) {
            rows.push_back({&pass, "cuda"});
            continue;
        }
        for (; cpu[next].name != pass.name; ++next) {
            rows.push_back({&cpu[next], "cpu"});
        }
        rows.push_back({&cpu[next++], "all"});
    }
    for (; next < cpu.size(); ++next) {
        rows.push_back({&cpu[next], "cpu"});
    }
    return rows;
}

void print_pipeline() {
    const std::vector<PipelineRow> rows = merged_pipelines();
    std::size_t width = 0;
    for (const PipelineRow& row : rows) {
        width = std::max(width, row.pass->name.size());
    }
    const auto padded = [](std::string_view text, std::size_t to) {
        return std::string(text) + std::string(to + 2 - text.size(), ' ');
    };
    for (const auto& [pass, where] : rows) {
        std::cout << padded(pass->name, width) << padded(where, 4)
                  << padded(kProfiles[static_cast<std::size_t>(pass->after)], 7) << pass->why_here
                  << '\n';
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

// ---------------------------------------------------------------- --eval

// A number that depends on the position alone: small, of both signs where the type has them.
ir::Constant pattern(ir::Scalar type, std::size_t parameter, std::int64_t index) {
    const std::int64_t value = (index * 37 + static_cast<std::int64_t>(parameter) * 11) % 23;
    if (ir::is_integer(type) || type == ir::Scalar::kBool) {
        const bool is_signed = ir::is_signed_integer(type);
        return ir::convert_constant(ir::Constant{is_signed ? value - 7 : value}, ir::Scalar::kI64,
                                    type);
    }
    return ir::convert_constant(ir::Constant{static_cast<double>(value - 7) * 0.5},
                                ir::Scalar::kF64, type);
}

// The arguments of one evaluation, and the memory behind the arrays.
struct EvalData {
    std::vector<ir::EvalArgument> arguments;
    std::vector<std::vector<std::byte>> memory;
};

std::int64_t scalar_value(const Arguments& arguments, const ir::Var& var) {
    const auto found = arguments.values.find(var.name);
    return found == arguments.values.end() ? 3 : static_cast<std::int64_t>(found->second);
}

void add_array(const Arguments& arguments, const ir::Var& param, EvalData& data) {
    ir::ArrayView view;
    view.element = param.type.scalar;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    for (const ir::Dim& dim : param.dims) {
        const auto size = [&](const std::optional<std::int64_t>& constant, const ir::Var* var) {
            return constant || var == nullptr ? constant.value_or(1)
                                              : scalar_value(arguments, *var);
        };
        view.extents.push_back(size(dim.extent, dim.extent_var));
        view.strides.push_back(size(dim.stride, dim.stride_var));
        const std::int64_t reach =
            std::max<std::int64_t>(view.extents.back() - 1, 0) * view.strides.back();
        (reach < 0 ? lowest : highest) += reach;
    }
    const int size = ir::size_in_bytes(view.element);
    auto& bytes = data.memory.emplace_back(static_cast<std::size_t>((highest - lowest + 1) * size));
    for (std::int64_t i = 0; i <= highest - lowest; ++i) {
        ir::store_element(view.element, bytes.data() + i * size,
                          pattern(view.element, data.arguments.size(), i));
    }
    view.data = bytes.data() - lowest * size;
    data.arguments.emplace_back(std::move(view));
}

void print_array(const ir::Var& param, const std::vector<std::byte>& bytes, ir::Module& scratch) {
    const int size = ir::size_in_bytes(param.type.scalar);
    ir::Builder builder(scratch);
    std::cout << param.name << ':';
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(size)) {
        const ir::Constant value = ir::load_element(param.type.scalar, bytes.data() + at);
        std::cout << ' ' << ir::print(*builder.constant(ir::Type::of(param.type.scalar), value));
    }
    std::cout << '\n';
}

// Prints the memory of every array (in the order of addresses) and what the function returned.
bool evaluate_and_print(const Arguments& arguments, const ir::Module& module, ir::Profile profile,
                        Diagnostics& diagnostics) {
    EvalData data;
    const ir::Function& entry = *module.entry_function();
    for (const ir::Var* param : entry.params) {
        if (param->type.is_array()) {
            add_array(arguments, *param, data);
        } else {
            const auto found = arguments.values.find(param->name);
            const double value = found == arguments.values.end() ? 3 : found->second;
            data.arguments.emplace_back(
                ir::convert_constant(ir::Constant{value}, ir::Scalar::kF64, param->type.scalar));
        }
    }
    const ir::EvalResult result = ir::evaluate(module, data.arguments, {.profile = profile});
    if (!result.ok()) {
        if (result.failure) {
            diagnostics.report(*result.failure);
        } else {
            diagnostics.error(Code::kP802, result.span, result.error);
        }
        return false;
    }
    ir::Module scratch;
    std::size_t next = 0;
    for (const ir::Var* param : entry.params) {
        if (param->type.is_array()) {
            print_array(*param, data.memory[next++], scratch);
        }
    }
    if (result.value && entry.result.is_scalar()) {
        std::cout << "returned: "
                  << ir::print(*ir::Builder(scratch).constant(entry.result, *result.value)) << '\n';
    }
    return true;
}

// What must hold of the text: what the pass in front of the first one leaves behind.
// Nothing of text that is only parsed and printed.
std::optional<ir::Profile> input_profile(const Arguments& arguments,
                                         const std::vector<Pass>& passes) {
    if (passes.empty()) {
        return arguments.eval || arguments.emit ? arguments.verify.value_or(ir::Profile::kTyped)
                                                : arguments.verify;
    }
    for (const Backend backend : {arguments.options.backend, Backend::kCpu, Backend::kCuda}) {
        ir::Profile before = ir::Profile::kSurface;
        for (const Pass& pass : pipeline(backend)) {
            if (pass.name == passes[0].name) {
                return before;
            }
            before = pass.after;
        }
    }
    return std::nullopt;
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
    if (const auto profile = input_profile(arguments, passes); ok && profile) {
        ok = ir::verify(module, *profile, diagnostics);
    }
    if (ok) {
        PassContext context{module, arguments.options, arguments.signature, diagnostics};
        ok = run_passes(context, passes, trace);
    }
    if (ok && arguments.verify && !passes.empty()) {
        ok = ir::verify(module, *arguments.verify, diagnostics);
    }
    if (ok && arguments.eval) {
        const ir::Profile profile =
            arguments.verify.value_or(passes.empty() ? ir::Profile::kTyped : passes.back().after);
        ok = evaluate_and_print(arguments, module, profile, diagnostics);
    } else if (ok && arguments.emit) {
        std::cout << emit_program(module, *arguments.emit, arguments.options).text;
    } else if (ok && !arguments.quiet && !arguments.trace) {
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
        parpy::print_pipeline();
        return 0;
    }
    return parpy::run(arguments);
}
