// Calls of ufuncs with plain arrays, without NumPy's preparations: see direct_calls.cpp.
#pragma once

#include "ufuncs/owner.h"

namespace parpy {

// Makes calls of this ufunc run without NumPy's preparations where the operands allow it. Results,
// errors and floating-point warnings stay the same.
void call_without_numpy(PyUFuncObject* ufunc);

}  // namespace parpy
