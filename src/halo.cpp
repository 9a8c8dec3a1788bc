// halos(): runs the pipeline up to the point where loops have their normal form, then analyses the
// loops.
#include "parpy/halo.h"

#include <algorithm>
#include <exception>

#include "analysis/halos/forms.h"
#include "analysis/halos/halos.h"
#include "ir/clone.h"
#include "ir/depth.h"
#include "passes/pass.h"
#include "support/deep_stack.h"

namespace parpy {

namespace {

Halos halos_here(const ir::Module& surface, const Signature& signature, const Options& options,
                 Diagnostics& diagnostics) {
    ir::Module module = clone(surface);
    PassContext context{module, options, signature, diagnostics};
    const std::span<const Pass> passes = pipeline(options.backend);
    const auto normal = std::ranges::find(passes, std::string_view("partition-loops"), &Pass::name);
    const auto count = static_cast<std::size_t>(normal - passes.begin());
    if (!run_passes(context, passes.first(count))) return {};
    Halos halos = halos_of(module, signature.size());
    take_form(module, halos);
    return halos;
}

}  // namespace

Halos halos(const ir::Module& surface, const Signature& signature, const Options& options,
            Diagnostics& diagnostics) {
    try {
        Halos out;
        where_it_fits(nests_deeply(surface),
                      [&] { out = halos_here(surface, signature, options, diagnostics); });
        return out;
    } catch (const std::exception& e) {
        diagnostics.internal({}, std::string("the compiler failed: ") + e.what());
        return {};
    }
}

}  // namespace parpy
