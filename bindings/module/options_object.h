// _native.OptionsBase, the base class of parpy.CompileOptions: it holds the converted options, so
// that a warm call with `opts=` costs one load. They are converted at first use and again after an
// assignment to a field or a change of the default back end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "numpy_api.h"
#include "parpy/options.h"

namespace parpy {

// Options that compare equal but for their thread counts share one record, which lives as long as
// the process.
struct OptionsRecord {
    Options options;         // thread counts are 0; debug_print is off: it is not compiled in
    bool automatic = false;  // the user left the choice of the back end to ParPy
};

// The converted form of one OptionsBase object.
struct ConvertedOptions {
    const OptionsRecord* record = nullptr;  // null: stale
    std::vector<std::int64_t> threads;      // one per label of the mapping, in its order
    std::uint64_t epoch = 0;
    bool debug = false;                   // print the stages of every compilation
    bool write_output = false;            // keep generated text that does not compile
    std::optional<std::uint64_t> stream;  // opts.stream, a CUstream
    bool devices = false;                 // opts.devices, opts.comm: several share the iterations
};

// The options of a record with these thread counts.
Options with_threads(const OptionsRecord& record, std::span<const std::int64_t> threads);

bool is_options(PyObject* object);

// The conversion of an OptionsBase object, cached in it. nullptr with a Python exception set.
const ConvertedOptions* converted_options(PyObject* options);
// The same record with assertions checked, for debug=True.
const OptionsRecord* with_assertions(const OptionsRecord* record);
// The decorator's options for calls without options of their own.
struct CallDefaults {
    bool fast_math = false;
    bool check_bounds = false;
};
// The options of plain calls: no mapping, the default back end; with arrays on a device, CUDA.
// nullptr as above.
const ConvertedOptions* default_options(bool on_device, CallDefaults defaults);

}  // namespace parpy
