"""CUDA's own functions of numbers under the names of libdevice, with their names in CUDA C++ and their types.

They are builtins of NVRTC. The simulator has them in dialects/prelude/sim_foreign.inc, and those with a rounding other
than to nearest below.
"""

from __future__ import annotations

from collections.abc import Iterator

from .device import ForeignFunction

_INT_TO_INT = "i32(i32)"
_ROUNDINGS = ("rn", "rz", "ru", "rd")

# Functions of float64 by their numbers of operands; the names for float32 end with `f`.
_REAL = {
    1: (
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 "
        "fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rint round rsqrt sin "
        "sinh sinpi sqrt tan tanh tgamma trunc y0 y1"
    ),
    2: "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder",
    3: "fma",
}

# By name, the function of CUDA C++ and its types.
_OTHERS = {
    "abs": ("abs", _INT_TO_INT), "llabs": ("llabs", "i64(i64)"),
    "max": ("max", "i32(i32,i32)"), "min": ("min", "i32(i32,i32)"),
    "umax": ("umax", "u32(u32,u32)"), "umin": ("umin", "u32(u32,u32)"),
    "llmax": ("llmax", "i64(i64,i64)"), "llmin": ("llmin", "i64(i64,i64)"),
    "ullmax": ("ullmax", "u64(u64,u64)"), "ullmin": ("ullmin", "u64(u64,u64)"),
    "clz": ("__clz", _INT_TO_INT), "ffs": ("__ffs", _INT_TO_INT), "popc": ("__popc", "i32(u32)"),
    "brev": ("__brev", "u32(u32)"), "clzll": ("__clzll", "i32(i64)"), "ffsll": ("__ffsll", "i32(i64)"),
    "popcll": ("__popcll", "i32(u64)"), "brevll": ("__brevll", "u64(u64)"),
    "byte_perm": ("__byte_perm", "u32(u32,u32,u32)"),
    "mul24": ("__mul24", "i32(i32,i32)"), "umul24": ("__umul24", "u32(u32,u32)"),
    "mulhi": ("__mulhi", "i32(i32,i32)"), "umulhi": ("__umulhi", "u32(u32,u32)"),
    "mul64hi": ("__mul64hi", "i64(i64,i64)"), "umul64hi": ("__umul64hi", "u64(u64,u64)"),
    "hadd": ("__hadd", "i32(i32,i32)"), "rhadd": ("__rhadd", "i32(i32,i32)"),
    "uhadd": ("__uhadd", "u32(u32,u32)"), "urhadd": ("__urhadd", "u32(u32,u32)"),
    "sad": ("__sad", "u32(i32,i32,u32)"), "usad": ("__usad", "u32(u32,u32,u32)"),
    "double_as_longlong": ("__double_as_longlong", "i64(f64)"),
    "longlong_as_double": ("__longlong_as_double", "f64(i64)"),
    "float_as_int": ("__float_as_int", "i32(f32)"), "int_as_float": ("__int_as_float", "f32(i32)"),
    "double2hiint": ("__double2hiint", "i32(f64)"), "double2loint": ("__double2loint", "i32(f64)"),
    "hiloint2double": ("__hiloint2double", "f64(i32,i32)"),
    "fast_cosf": ("__cosf", "f32(f32)"), "fast_sinf": ("__sinf", "f32(f32)"), "fast_tanf": ("__tanf", "f32(f32)"),
    "fast_expf": ("__expf", "f32(f32)"), "fast_exp10f": ("__exp10f", "f32(f32)"),
    "fast_logf": ("__logf", "f32(f32)"), "fast_log2f": ("__log2f", "f32(f32)"),
    "fast_log10f": ("__log10f", "f32(f32)"), "fast_powf": ("__powf", "f32(f32,f32)"),
    "fast_fdividef": ("__fdividef", "f32(f32,f32)"), "saturatef": ("__saturatef", "f32(f32)"),
    "frsqrt_rn": ("__frsqrt_rn", "f32(f32)"),
    "ldexp": ("ldexp", "f64(f64,i32)"), "ldexpf": ("ldexpf", "f32(f32,i32)"),
    "scalbn": ("scalbn", "f64(f64,i32)"), "scalbnf": ("scalbnf", "f32(f32,i32)"),
    "jn": ("jn", "f64(i32,f64)"), "jnf": ("jnf", "f32(i32,f32)"),
    "yn": ("yn", "f64(i32,f64)"), "ynf": ("ynf", "f32(i32,f32)"),
    "ilogb": ("ilogb", "i32(f64)"), "ilogbf": ("ilogbf", "i32(f32)"),
    "llrint": ("llrint", "i64(f64)"), "llrintf": ("llrintf", "i64(f32)"),
    "llround": ("llround", "i64(f64)"), "llroundf": ("llroundf", "i64(f32)"),
    "powi": ("parpy_powi", "f64(f64,i32)"), "powif": ("parpy_powif", "f32(f32,i32)"),
    "isnand": ("parpy_isnan", "i32(f64)"), "isnanf": ("parpy_isnanf", "i32(f32)"),
    "isinfd": ("parpy_isinf", "i32(f64)"), "isinff": ("parpy_isinff", "i32(f32)"),
    "isfinited": ("parpy_isfinite", "i32(f64)"), "finitef": ("parpy_isfinitef", "i32(f32)"),
    "signbitd": ("parpy_signbit", "i32(f64)"), "signbitf": ("parpy_signbitf", "i32(f32)"),
}  # fmt: skip

# Functions for operations that are macros or overloads in CUDA C++.
_TEXTS = {
    "parpy_powi": "double parpy_powi(double x, int n) { return pow(x, (double)n); }",
    "parpy_powif": "float parpy_powif(float x, int n) { return powf(x, (float)n); }",
}
for _asked in ("isnan", "isinf", "isfinite", "signbit"):
    _TEXTS[f"parpy_{_asked}"] = f"int parpy_{_asked}(double x) {{ return {_asked}(x) ? 1 : 0; }}"
    _TEXTS[f"parpy_{_asked}f"] = f"int parpy_{_asked}f(float x) {{ return {_asked}(x) ? 1 : 0; }}"

_C_NAMES = {"double": "f64", "float": "f32", "int": "i32", "uint": "u32", "ll": "i64", "ull": "u64"}
_C_TYPES = {"double": "double", "float": "float", "int": "int", "uint": "unsigned", "ll": "long long",
            "ull": "unsigned long long"}  # fmt: skip
_TO_WHOLE = ("int", "uint", "ll", "ull")

# The simulator rounds to nearest, and then, depending on the exact error, moves to the next number in the direction of
# the rounding. A result that overflows becomes the largest finite number if the direction is towards 0.
_DIRECTED = """
#ifdef PARPY_SIM
namespace parpy_rounding {
template <class T> PARPY_SIM T next(T x, bool up) {
    return nextafter(x, up ? (T)__builtin_inf() : -(T)__builtin_inf());
}
template <class T> PARPY_SIM T rounded(T x, double error, int mode) {  // error: exact - x; 1: rz, 2: ru, 3: rd
    const bool down = mode == 3 || (mode == 1 && x > 0), up = mode == 2 || (mode == 1 && x < 0);
    if ((error > 0 && up && !(mode == 1 && x > 0)) || (error < 0 && down)) return next(x, up);
    return x;
}
template <class T> PARPY_SIM T finite(T x, bool of_finite, int mode) {
    if (!of_finite || !__builtin_isinf(x)) return x;
    const bool kept = x > 0 ? mode == 2 : mode == 3;
    return kept ? x : next(x, x < 0);
}
template <class T> PARPY_SIM bool all_finite(T a, T b) {
    return __builtin_isfinite(a) && __builtin_isfinite(b);
}
template <class T> PARPY_SIM T add(T a, T b, int mode) {
    const T sum = a + b, part = sum - a;
    if (__builtin_isinf(sum)) return finite(sum, all_finite(a, b), mode);
    if (sum == 0 && a != 0) return mode == 3 ? -(T)0 : (T)0;
    return rounded(sum, (a - (sum - part)) + (b - part), mode);
}
template <class T> PARPY_SIM T mul(T a, T b, int mode) {
    const T product = a * b;
    if (__builtin_isinf(product)) return finite(product, all_finite(a, b), mode);
    return rounded(product, fma(a, b, -product), mode);
}
template <class T> PARPY_SIM T div(T a, T b, int mode) {
    const T quotient = a / b;
    if (__builtin_isinf(quotient)) return finite(quotient, all_finite(a, b) && b != 0, mode);
    const T rest = fma(-quotient, b, a);
    return rounded(quotient, b < 0 ? -rest : rest, mode);
}
template <class T> PARPY_SIM T root(T a, int mode) {
    const T found = sqrt(a);
    return rounded(found, fma(-found, found, a), mode);
}
PARPY_SIM double fused(double a, double b, double c, int mode) {  // Boldo and Muller's error of an fma
    const double sum = fma(a, b, c), product = a * b, low = fma(a, b, -product);
    if (__builtin_isinf(sum)) return finite(sum, all_finite(a, b) && __builtin_isfinite(c), mode);
    const double s1 = c + low, p1 = s1 - c, e1 = (c - (s1 - p1)) + (low - p1);
    const double s2 = product + s1, p2 = s2 - product, e2 = (product - (s2 - p2)) + (s1 - p2);
    return rounded(sum, ((s2 - sum) + e2) + e1, mode);
}
PARPY_SIM float fused(float a, float b, float c, int mode) {
    const float sum = fmaf(a, b, c);
    if (__builtin_isinf(sum)) return finite(sum, all_finite(a, b) && __builtin_isfinite(c), mode);
    const double product = (double)a * b, whole = product + c, part = whole - product;
    const double low = (product - (whole - part)) + (c - part);
    return rounded(sum, (whole - sum) + low, mode);
}
PARPY_SIM float to_float(double x, int mode) {
    const float found = (float)x;
    if (__builtin_isinf(found)) return finite(found, __builtin_isfinite(x), mode);
    return rounded(found, x - (double)found, mode);
}
template <class F, class T> PARPY_SIM F of_whole(T x, int mode) {
    const F found = (F)x;
    return rounded(found, (double)((__int128)x - (__int128)found), mode);
}
}  // namespace parpy_rounding
#endif
"""


def _rounded_arithmetic() -> Iterator[tuple[str, str, str, str]]:
    """The name, the C name, the types, and the simulator's expression of each function with a rounding mode."""
    for letter, kind, fused in (("d", "f64", "fma"), ("f", "f32", "fmaf")):
        for name, count, call in (
            ("add", 2, "add(a, b, {m})"), ("sub", 2, "add(a, -b, {m})"), ("mul", 2, "mul(a, b, {m})"),
            ("div", 2, "div(a, b, {m})"), ("rcp", 1, "div((T)1, a, {m})"), ("sqrt", 1, "root(a, {m})"),
        ):  # fmt: skip
            yield f"{letter}{name}", f"__{letter}{name}", f"{kind}({','.join([kind] * count)})", call
        yield fused, f"__{fused}", f"{kind}({kind},{kind},{kind})", "fused(a, b, c, {m})"


def _functions() -> Iterator[tuple[str, str, str, str]]:
    """The name, the C name, the types and the text (empty for builtins) of each function."""
    for count, names in _REAL.items():
        for name in names.split():
            for ending, kind in (("", "f64"), ("f", "f32")):
                yield f"{name}{ending}", f"{name}{ending}", f"{kind}({','.join([kind] * count)})", ""
    for name, (c_name, types) in _OTHERS.items():
        text = _TEXTS.get(c_name, "")
        yield name, c_name, types, text and f"static __device__ {text}\n"
    for name, c_name, types, call in _rounded_arithmetic():
        for number, mode in enumerate(_ROUNDINGS):
            yield (
                f"{name}_{mode}",
                f"{c_name}_{mode}",
                types,
                (number and _simulated(f"{c_name}_{mode}", types, call.format(m=number))) or "",
            )
    for source in ("double", "float"):
        for to in _TO_WHOLE:
            for mode in _ROUNDINGS:
                yield (*_conversion(source, to, mode), "")
    for source, to in [("double", "float"), *((w, f) for f in ("float", "double") for w in _TO_WHOLE)]:
        exact = to == "double" and source in ("int", "uint")
        for number, mode in enumerate(_ROUNDINGS[:1] if exact else _ROUNDINGS):
            name, c_name, types = _conversion(source, to, mode)
            call = f"to_float(a, {number})" if source == "double" else f"of_whole<{to}>(a, {number})"
            yield name, c_name, types, (number and _simulated(c_name, types, call)) or ""


def _conversion(source: str, to: str, mode: str) -> tuple[str, str, str]:
    name = f"{source}2{to}_{mode}"
    return name, f"__{name}", f"{_C_NAMES[to]}({_C_NAMES[source]})"


def _simulated(c_name: str, types: str, call: str) -> str:
    """The text that defines a function for the simulator."""
    result, inside = types.rstrip(")").split("(")
    c_of = {ir: _C_TYPES[c] for c, ir in _C_NAMES.items()}
    params = ", ".join(f"{c_of[kind]} {name}" for kind, name in zip(inside.split(","), "abc", strict=False))
    body = call.replace("(T)", f"({c_of[result]})")
    return (
        f"#ifdef PARPY_SIM\nPARPY_SIM {c_of[result]} {c_name}({params}) {{ return parpy_rounding::{body}; }}\n#endif\n"
    )


def foreign(name: str, c_name: str, types: str, text: str = "") -> ForeignFunction:
    """A function that is a builtin of NVRTC or that the text defines."""
    result, inside = types.rstrip(")").split("(")
    head = _DIRECTED if "parpy_rounding" in text else ""
    return ForeignFunction(c_name, inside.split(","), result, "c", texts=(head, text), shown=name)


LIBDEVICE: dict[str, ForeignFunction] = {each[0]: foreign(*each) for each in _functions()}
"""The functions by their names."""
