// parpy-opt: reads IR text, runs named passes or a whole pipeline, and prints, verifies, emits or
// evaluates the result. The golden tests run it; `parpy-opt --help` lists the flags.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "analysis/halos/halos.h"
#include "emit/emit.h"
#include "evaluation.h"
#include "flags.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify.h"
#include "passes/parts/part_text.h"
#include "passes/pass.h"

namespace parpy {
namespace {

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

// The passes of both back ends in one order, which agrees with the order of each.
std::vector<PipelineRow> merged_pipelines() {
    const std::span<const Pass> cpu = pipeline(Backend::kCpu);
    const std::span<const Pass> cuda = pipeline(Backend::kCuda);
    const auto has = [](std::span<const Pass> passes, std::string_view name) {
        return std::ranges::any_of(passes, [&](const Pass& p) { return p.name == name; });
    };
    std::vector<PipelineRow> rows;
    std::size_t next = 0;  // the position in cpu
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

// The profile that the text must satisfy: that after the pass before the first one.
// Text that is only parsed and printed needs none.
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
    if (ok && arguments.part)
        module.sources.push_back({std::string(kPartSource), *arguments.part, 1});
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
    } else if (ok && arguments.halos) {
        std::cout << text_of(halos_of(module));
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
