// C++ failures as Python exceptions, and what is no failure as warnings, with the GIL held. The
// exception classes and the choice among them stand in python/parpy/calls/errors.py.
#pragma once

#include <string>
#include <vector>

#include "numpy_api.h"
#include "runtime/executable.h"
#include "support/diagnostic.h"

namespace parpy {

// Each sets a Python exception. `diagnostics` holds an error; `error` has failed.
void set_python_error(const Diagnostics& diagnostics, const std::vector<Source>& sources);
// `sources` are for errors that have a place.
void set_python_error(const RuntimeError& error, const std::vector<Source>& sources = {});
// Warns with a performance note (parpy.calls.performance); false: that is a Python exception now.
[[nodiscard]] bool warn_of(const Diagnostic& note, const std::vector<Source>& sources);
// From within a catch block: the Python exception for the C++ exception in flight.
void set_python_error();

// Takes the frames of this package out of the traceback of the exception that is set
// (parpy.calls.tracebacks).
void hide_own_frames();

// Tells the logger of the package, and who measures coverage, of a compilation (parpy.calls.logs).
// False: the user interrupted it, with the exception that is set.
bool note_compilation(const std::string& function, const char* backend, double seconds,
                      const std::vector<Source>& sources);

// Warns, once in a process, where the disk cache could not be used. False: the user made the
// warning an exception, which is set.
[[nodiscard]] bool warn_of_cache();

}  // namespace parpy
