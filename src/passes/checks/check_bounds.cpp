// See check_bounds.h; analysis/memory/dependences.h finds the iterations.
#include "passes/checks/check_bounds.h"

#include "analysis/memory/dependences.h"
#include "analysis/memory/occurrence_text.h"
#include "passes/legality/legality_text.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::size_t kMostReports = 5;

void report(Diagnostics& diagnostics, const Dependences::Violation& violation) {
    const Access& access = *violation.at.access;
    const std::int64_t extent = *access.array->dims[violation.axis].extent;
    // Subscripts that count from the end were moved by normalize_indices.
    const std::int64_t from_start = violation.subscript;
    const Interval all = Interval::all();
    std::string subscript = "subscript ";
    if (from_start == all.high || from_start <= all.low + extent) {
        subscript = from_start == all.high ? "a subscript of 2**63 - 1 or more"
                                           : "a subscript of less than -2**63";
    } else {
        subscript += std::to_string(from_start < 0 ? from_start - extent : from_start);
    }
    std::string message = subscript + " is out of bounds for axis " +
                          std::to_string(violation.axis) + " of '" + access.array->shown() +
                          "', whose size is " + std::to_string(extent);
    if (!violation.at.iteration.empty()) message += ", in " + iteration_text(violation.at);
    auto& error = diagnostics.error(Code::kP405, access.span, std::move(message));
    error.help = extent == 0 ? "pass an array that is not empty"
                             : "use a subscript from " + std::to_string(-extent) + " to " +
                                   std::to_string(extent - 1);
}

}  // namespace

void check_bounds(PassContext& context) {
    if (context.options.legality == Legality::kTrust) return;
    Dependences dependences(*context.module.entry_function());
    std::vector<Alternatives> conditions;
    std::size_t reports = 0;
    for (const Dependences::Violation& violation : dependences.out_of_bounds(conditions)) {
        if (++reports > kMostReports) break;
        report(context.diagnostics, violation);
    }
    add_requirements(context.module, dependences.accesses(), conditions);
}

}  // namespace parpy
