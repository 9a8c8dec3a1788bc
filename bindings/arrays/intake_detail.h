// Declarations that array_intake.cpp and array_protocols.cpp share.
#pragma once

#include <string>

#include "arrays/array_intake.h"
#include "owned.h"

namespace parpy::intake {

inline constexpr const char* kSupportedTypes =
    "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 and "
    "complex128";

// Fills in the fault; returns false.
bool refuse(IntakeFault& fault, Code code, std::string message, std::string help);
bool refuse_device_scalar(IntakeFault& fault);
bool refuse_elements(IntakeFault& fault, const std::string& described);
[[nodiscard]] bool check_rank(int rank, IntakeFault& fault);
[[nodiscard]] bool check_dtype(PyArray_Descr* descr, IntakeFault& fault);
// The element type of a dtype, or kNoScalar.
[[nodiscard]] std::uint8_t scalar_of(const PyArray_Descr* descr);
// Reads a scalar from its bytes in memory, in the form that a slot has.
void read_scalar(const void* bytes, ir::Scalar scalar, ArgumentView& view);
// The attribute, or null without an exception if there is none. Any other exception stays set.
[[nodiscard]] PyObject* optional_attribute(PyObject* object, const char* name);

}  // namespace parpy::intake
