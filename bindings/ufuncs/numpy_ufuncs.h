// NumPy's C API for ufuncs, imported by ufunc_object.cpp: loops that report errors (NumPy 2).
#pragma once

#define PY_UFUNC_UNIQUE_SYMBOL parpy_ufunc_api
#ifndef PARPY_IMPORTS_UFUNCS
#define NO_IMPORT_UFUNC
#endif
#include <numpy/ufuncobject.h>

#include "numpy_api.h"
