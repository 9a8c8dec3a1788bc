// Random programs keep their meaning through every pass, through print and parse, and through the
// emitter and the CPU compiler: all compute the results of the first run in the reference
// interpreter. PARPY_FUZZ_SEED and PARPY_FUZZ_COUNT choose other or more programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "emit/emit.h"
#include "ir/clone.h"
#include "ir/eval/eval.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "passes/pass.h"
#include "program_generator.h"
#include "runtime/executable.h"

namespace parpy::fuzz {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Outcome {
    std::string fault;     // empty: no difference
    bool refused = false;  // a pass reported an error in the program
};

std::string evaluate_into(const ir::Module& module, const RandomData& data, ir::Profile profile) {
    return ir::evaluate(module, data.arguments(), {.profile = profile}).error;
}

std::string round_trip_fault(const ir::Module& original) {
    ir::Module module = ir::clone(original);
    module.requirements.clear();  // printed as comments
    const std::string text = ir::print(module);
    ir::Module again;
    Diagnostics diagnostics;
    if (!ir::parse(text, "printed.ir", again, diagnostics)) {
        return render(diagnostics, again.sources);
    }
    const std::string second = ir::print(again);
    return second == text ? "" : "prints differently once parsed:\n" + second;
}

class Fuzzer {
public:
    Fuzzer(std::uint64_t seed, Backend backend, Check check)
        : seed_(seed),
          original_(random_program(seed, backend == Backend::kCpu)),
          expected_(original_, seed + 1) {
        options_.backend = backend;
        options_.check = check;
        options_.mapping = original_.mapping;
    }

    Outcome run() {
        if (const std::string error =
                evaluate_into(original_.module, expected_, ir::Profile::kTyped);
            !error.empty()) {
            return {"the generated program does not run: " + error + "\n" +
                    ir::print(original_.module)};
        }
        ir::Module module = ir::clone(original_.module);
        PassContext context{module, options_, signature_, diagnostics_};
        bool typed = false;
        for (const Pass& pass : pipeline(options_.backend)) {
            // The program is typed already, so the passes up to infer-types cannot run.
            if (typed) {
                const std::string before = ir::print(module);
                if (!run_passes(context, {&pass, 1})) {
                    return stopped(pass, before);
                }
                const std::string fault = fault_after(pass, module);
                if (!fault.empty()) {
                    return {"after " + std::string(pass.name) + ": " + fault + "\n--- before\n" +
                            before + "--- after\n" + ir::print(module)};
                }
            }
            typed = typed || pass.name == "infer-types";
        }
        return {emission_fault(module)};
    }

private:
    Outcome stopped(const Pass& pass, const std::string& before) {
        for (const Diagnostic& d : diagnostics_.all()) {
            if (code_flavour(d.code) == Flavour::kInternal) {
                return {"pass " + std::string(pass.name) + ": " + render(diagnostics_, {}) +
                        before};
            }
        }
        return {"", true};
    }

    std::string fault_after(const Pass& pass, const ir::Module& module) const {
        if (std::string fault = round_trip_fault(module); !fault.empty()) {
            return fault;
        }
        // At kKernels a scalar that a kernel reduces is still a parameter passed by value.
        const bool runs = pass.after <= ir::Profile::kMapped ||
                          (options_.backend == Backend::kCpu && pass.after == ir::Profile::kTarget);
        if (!runs) {
            return {};
        }
        const RandomData data(original_, seed_ + 1);
        const std::string error = evaluate_into(module, data, pass.after);
        return error.empty() ? expected_.difference(data) : error;
    }

    std::string emission_fault(const ir::Module& module) const {
        const Program program = emit_program(module, options_.backend, options_);
        if (options_.backend != Backend::kCpu) {
            return {};
        }
        RuntimeError error;
        const auto executable = load(program, options_, error);
        if (executable == nullptr) {
            return error.message + "\n" + program.text;
        }
        const RandomData data(original_, seed_ + 1);
        if (error = executable->run(data.slots().data(), nullptr, nullptr); error.failed()) {
            return error.message + "\n" + program.text;
        }
        const std::string difference = expected_.difference(data);
        return difference.empty() ? ""
                                  : "machine code: " + difference + "\n" +
                                        ir::print(original_.module) + program.text;
    }

    const std::uint64_t seed_;
    const RandomProgram original_;
    const RandomData expected_;  // holds the results once run() has begun
    Options options_;
    Signature signature_;
    Diagnostics diagnostics_;
};

void fuzz(Backend backend, std::uint64_t usual_count, Check check = Check::kNothing) {
    const std::uint64_t first = from_environment("PARPY_FUZZ_SEED", 1);
    const std::uint64_t count = from_environment("PARPY_FUZZ_COUNT", usual_count);
    std::uint64_t refused = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const Outcome outcome = Fuzzer(seed, backend, check).run();
        ASSERT_TRUE(outcome.fault.empty()) << "seed " << seed << ": " << outcome.fault;
        refused += outcome.refused ? 1U : 0U;
    }
    EXPECT_LE(refused * 4, count) << "too many programs are refused for the test to mean much";
}

TEST(Fuzz, CpuPipeline) {
    fuzz(Backend::kCpu, 25);
}
// The programs are correct: no check finds a fault.
TEST(Fuzz, CheckedCpuPipeline) {
    fuzz(Backend::kCpu, 25, Check::kAll);
}
TEST(Fuzz, CudaPipeline) {
    fuzz(Backend::kCuda, 100);
}

}  // namespace
}  // namespace parpy::fuzz
