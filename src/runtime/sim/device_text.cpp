// See device_text.h. The prelude is dialects/prelude/sim.inc.
#include "runtime/sim/device_text.h"

#include <utility>

#include "emit/emit.h"
#include "support/escape.h"

namespace parpy::sim {

namespace {

constexpr std::string_view kPrelude =
#include "dialects/prelude/sim.inc"
    ;

constexpr std::string_view kForeignPrelude =
#include "dialects/prelude/sim_foreign.inc"
    ;

// Whether the text calls foreign functions: of files that are part of it, each under a #line of its
// own (foreign_text.h), of included files, or of CUDA.
bool has_foreign(std::string_view device) {
    constexpr std::string_view kLine = "\n#line 1 \"";
    return device.starts_with(kLine.substr(1)) || device.find(kLine) != std::string_view::npos ||
           device.find("#include") != std::string_view::npos ||
           device.find(kKnownMarker) != std::string_view::npos;
}

}  // namespace

std::string kernel_symbol(std::string_view kernel) {
    return "parpy_sim_kernel_" + std::string(kernel);
}

SimulatorText simulator_text(std::string_view device, std::span<const std::string> kernels,
                             std::string_view file_name) {
    std::string text("#line 1 \"prelude\"\n");  // no line of it is one of the program's
    if (device.find("#include") != std::string_view::npos)
        text += "#define PARPY_NOEXCEPT noexcept\n";
    text += kPrelude;
    if (has_foreign(device)) text += kForeignPrelude;
    const std::size_t prelude = text.size();
    if (device.find("#include") != std::string_view::npos) text += "#include <stdint.h>\n";
    text += "#line 1 " + string_literal(file_name) + "\n";
    text += device;
    text += "\n";
    for (const std::string& kernel : kernels) {
        text += "extern \"C\" parpy_sim::Kernel " + kernel_symbol(kernel) + " = {parpy_sim::Run<" +
                kernel + ">::row, 0, 0, 0, {1, 1, 1}};\n";
    }
    return {std::move(text), prelude};
}

}  // namespace parpy::sim
