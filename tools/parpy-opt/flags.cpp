// See flags.h.
#include "flags.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace parpy {

const std::string_view kHelp =
    R"(usage: parpy-opt [flags] [FILE]      reads FILE or standard input

  --pass A,B,C             run these passes, in this order
  --pipeline cpu|cuda|metal|sim
                           run the pipeline of a back end
  --until PASS             ... up to and including PASS
  --emit cpu|cuda|metal    print the generated program instead; runs that pipeline, unless --pass
                           names passes
  --backend cpu|cuda|metal|sim
                           the target of passes that depend on it (default: that of --pipeline, or cpu)
  --parallelize 'N=threads(64),M=threads(128).reduce().tpb(256)'
  --automatic              the compiler chooses the mapping
  --signature 'f64[10, 20], f32[?; 1] ro, f32[9] aliased=1+4, int=5, float, i32'
                           the arguments of the entry: arrays by extents [; strides], `?` where they
                           are known only at run time; scalars with or without their value
  --implicit-shape-labels
  --clusters N             reductions use thread block clusters of at most N blocks
  --cuda-arch sm_NN        the GPU that kernels are for (default: sm_90)
  --fast-math --deterministic --legality check|strict|trust
  --assertions             check them while the program runs
  --check bounds|races|all check accesses while the program runs
  --verify PROFILE         surface values typed loops mapped kernels target
  --spans                  print `@line:column` behind each statement
  --trace                  print the program after every pass that changed it
  --print-pipeline         each pass with its targets, the profile after it, and the reason for its place
  --eval                   run the result in the reference interpreter instead of printing it, on
                           arrays filled with a fixed pattern, and print their final contents
  --set NAME=VALUE         ... with this value of a scalar parameter (default 3)
  --steps N                ... which ends with an error after N statements
  --halos                  print the elements that blocks of iterations touch beyond their own
  --part TEXT              the program is one part of a call (src/passes/parts/part_text.h)
  --quiet                  print nothing but errors
Errors and warnings go to standard output too, so that golden files show them; the exit status is 1
if there are errors.
)";

namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Splits at `separator` outside of parentheses and brackets; an empty text has no parts.
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

// f64[10, ?; ?, 1] ro aliased; with aliased=0+8: eight bytes after the start of argument 0
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

}  // namespace

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
            const auto result = backend_named(value());
            if (!result && out.error.empty()) {
                out.error = "flag " + std::string(flag) + " takes cpu, cuda, metal or sim";
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
        } else if (flag == "--cuda-arch") {
            out.options.cuda_arch = value();
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
        } else if (flag == "--steps") {
            if (!number(value(), out.steps.emplace())) {
                out.error = "flag --steps takes the most statements of --eval";
            }
        } else if (flag == "--part") {
            out.part = value();
        } else if (flag == "--halos") {
            out.halos = true;
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

}  // namespace parpy
