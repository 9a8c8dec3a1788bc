// See device_headers.h.
#include "emit/device_headers.h"

namespace parpy {

namespace {

// The declarations of CUDA's own C++ library for NVRTC.
constexpr char kIntegers[] = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int8_t int_least8_t;
typedef int16_t int_least16_t;
typedef int32_t int_least32_t;
typedef int64_t int_least64_t;
typedef uint8_t uint_least8_t;
typedef uint16_t uint_least16_t;
typedef uint32_t uint_least32_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef int16_t int_fast16_t;
typedef int32_t int_fast32_t;
typedef int64_t int_fast64_t;
typedef uint8_t uint_fast8_t;
typedef uint16_t uint_fast16_t;
typedef uint32_t uint_fast32_t;
typedef uint64_t uint_fast64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#define SIZE_MAX 18446744073709551615ul
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
)";

constexpr char kIntegersOfStd[] = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

constexpr char kLimits[] = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
)";

constexpr char kFloats[] = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MAX 3.40282346638528859812e+38f
#define FLT_MIN 1.17549435082228750797e-38f
#define FLT_EPSILON 1.1920928955078125e-7f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_EPSILON 2.22044604925031308085e-16
)";

// INFINITY and NAN as in prelude/cuda.inc, which may precede it.
constexpr char kMath[] = R"(#pragma once
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

constexpr char kMathOfStd[] = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::log;
using ::log10; using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround;
using ::modf; using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::rint;
using ::round; using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan;
using ::tanh; using ::tgamma; using ::trunc;
}
)";

constexpr char kMathConstants[] = R"(#pragma once
#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MIN_DENORM_F __int_as_float(0x00000001)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7f7fffff)
#define CUDART_NEG_ZERO_F __int_as_float(0x80000000)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_LN2_F 0.693147181f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN __longlong_as_double(0xfff8000000000000ull)
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO 1.4142135623730951e+0
#define CUDART_SQRT_HALF 7.0710678118654757e-1
#define CUDART_LN2 6.9314718055994529e-1
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2 1.5707963267948966e+0
#define CUDART_PIO4 7.8539816339744828e-1
#define CUDART_2_OVER_PI 6.3661977236758138e-1
)";

constexpr char kKnown[] = "#pragma once\n";  // NVRTC knows its contents by itself

constexpr DeviceHeader kHeaders[] = {
    {"stdint.h", kIntegers},
    {"inttypes.h", kIntegers},
    {"cstdint", kIntegersOfStd},
    {"limits.h", kLimits},
    {"climits", kLimits},
    {"float.h", kFloats},
    {"cfloat", kFloats},
    {"math.h", kMath},
    {"cmath", kMathOfStd},
    {"math_constants.h", kMathConstants},
    {"stddef.h", kKnown},
    {"cstddef", "#pragma once\nnamespace std {\nusing ::size_t;\nusing ::ptrdiff_t;\n}\n"},
    {"stdio.h", kKnown},
    {"cstdio", "#pragma once\nnamespace std {\nusing ::printf;\n}\n"},
    {"stdlib.h", kKnown},
    {"cstdlib", "#pragma once\nnamespace std {\nusing ::abs;\nusing ::free;\nusing ::malloc;\n}\n"},
    {"string.h", kKnown},
    {"cstring", "#pragma once\nnamespace std {\nusing ::memcpy;\nusing ::memset;\n}\n"},
    {"assert.h", kKnown},
    {"cassert", kKnown},
    {"cuda.h", kKnown},
    {"cuda_runtime.h", kKnown},
    {"cuda_runtime_api.h", kKnown},
    {"device_launch_parameters.h", kKnown},
    {"device_functions.h", kKnown},
    {"math_functions.h", kKnown},
    {"sm_60_atomic_functions.h", kKnown},
    {"vector_types.h", kKnown},
    {"vector_functions.h", kKnown},
};

}  // namespace

std::span<const DeviceHeader> device_headers() {
    return kHeaders;
}

}  // namespace parpy
