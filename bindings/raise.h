// Turns C++ failures into Python exceptions, and notes into warnings, with the GIL held. The
// exception classes and the choice among them are in python/parpy/calls/errors.py.
#pragma once

#include <string>
#include <vector>

#include "numpy_api.h"
#include "runtime/executable.h"
#include "support/diagnostic.h"

namespace parpy {

// Each sets a Python exception. `diagnostics` has an error; `error` has failed.
void set_python_error(const Diagnostics& diagnostics, const std::vector<Source>& sources);
// `sources` are for errors that have a place.
void set_python_error(const RuntimeError& error, const std::vector<Source>& sources = {});
// Issues a performance note as a warning (parpy.calls.performance); false: it became an exception.
[[nodiscard]] bool warn_of(const Diagnostic& note, const std::vector<Source>& sources);
// Called in a catch block: sets the Python exception for the C++ exception in flight.
void set_python_error();

// Removes the frames of this package from the traceback of the exception that is set
// (parpy.calls.tracebacks).
void hide_own_frames();

// Reports a compilation to the package's logger and to coverage tools (parpy.calls.logs). False:
// the user interrupted it, with the exception that is set.
bool note_compilation(const std::string& function, const char* backend, double seconds,
                      const std::vector<Source>& sources);

// Warns, once in a process, if the disk cache cannot be used. False: the warning became an
// exception, which is set.
[[nodiscard]] bool warn_of_cache();

}  // namespace parpy
