// Converts Python tuples (source, line, column, end_line, end_column) to Span, None to a Span
// without a place. The frontend makes one for each node, and a tuple of plain integers is cheapest.
#pragma once

#include <nanobind/nanobind.h>

#include "support/span.h"

namespace nanobind::detail {

template <>
struct type_caster<parpy::Span> {
    NB_TYPE_CASTER(parpy::Span, const_name("tuple[int, int, int, int, int] | None"))

    bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
        if (source.is_none()) {
            value = parpy::Span{};
            return true;
        }
        if (!PyTuple_CheckExact(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != 5) return false;
        std::uint32_t* const fields[] = {&value.source, &value.line, &value.column, &value.end_line,
                                         &value.end_column};
        for (Py_ssize_t i = 0; i < 5; ++i) {
            const unsigned long field = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(source.ptr(), i));
            if (field == static_cast<unsigned long>(-1) && PyErr_Occurred()) {
                PyErr_Clear();
                return false;
            }
            *fields[i] = static_cast<std::uint32_t>(field);
        }
        return true;
    }

    static handle from_cpp(const parpy::Span& span, rv_policy, cleanup_list*) noexcept {
        if (!span.valid()) return none().release();
        return Py_BuildValue("(IIIII)", span.source, span.line, span.column, span.end_line,
                             span.end_column);
    }
};

}  // namespace nanobind::detail
