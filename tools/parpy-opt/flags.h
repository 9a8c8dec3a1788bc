// The command line of parpy-opt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/verify.h"
#include "parpy/options.h"
#include "passes/pass.h"

namespace parpy {

extern const std::string_view kHelp;

// The names of the profiles, by number as in ir::Profile.
inline constexpr std::string_view kProfiles[] = {"surface", "values",  "typed", "loops",
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
    bool halos = false;
    std::optional<std::string> part;
    std::map<std::string, double> values;  // --set
    std::optional<std::int64_t> steps;
    std::optional<Backend> emit;
    std::string file;
    std::string error;
};

// `error` describes the first error in the flags.
[[nodiscard]] Arguments parse_arguments(int count, char** values);

}  // namespace parpy
