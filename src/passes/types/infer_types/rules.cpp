// The typing rules, operator by operator; the table's `rule` column (ops.def) picks the function.
#include "passes/types/infer_types/rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "ir/ops.h"

namespace parpy {
namespace {

using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::TypeRule;

const Type kWeakBool = Type::weak_of(Scalar::kBool);
const Type kWeakInt = Type::weak_of(Scalar::kI64);
const Type kWeakFloat = Type::weak_of(Scalar::kF64);

bool is_integral(const Type& type) {
    return type.scalar == Scalar::kBool || ir::is_integer(type.scalar);
}
bool is_numpy_bool(const Type& type) {
    return type.scalar == Scalar::kBool && !type.weak;
}

Type common(std::span<const Operand> operands) {
    Type type = operands[0].type;
    for (const Operand& operand : operands.subspan(1)) {
        type = ir::promote(type, operand.type);
    }
    return type;
}

// Python's bool is an integer in arithmetic.
Type as_number(Type type) {
    return type == kWeakBool ? kWeakInt : type;
}

Type strong(Type type) {
    type.weak = false;
    return type;
}

// The float in which NumPy's elementary functions compute for an integer.
Scalar float_for(Scalar scalar) {
    const bool whole = scalar == Scalar::kBool || ir::is_integer(scalar);
    return whole ? ir::promote(Type::of(scalar), Type::of(Scalar::kF16)).scalar : scalar;
}

Typing same(Op op, Type type) {
    Typing typing;
    typing.result = typing.operand = type;
    typing.op = op;
    return typing;
}

Typing identity(Op op, Type type) {
    Typing typing = same(op, type);
    typing.identity = true;
    return typing;
}

Typing refuse(Op op, std::span<const Operand> operands, std::string help = {}) {
    Typing typing;
    typing.op = op;
    const std::string what = python_name(op);
    typing.error = operands.size() == 1
                       ? "'" + what + "' does not take " + a_python_name(operands[0].type)
                       : "'" + what + "' does not take " + python_name(operands[0].type) + " and " +
                             python_name(operands[1].type);
    typing.help = std::move(help);
    return typing;
}

// NumPy orders complex numbers by their real parts, then by their imaginary parts; Python does not.
constexpr const char* kNoOrder =
    "Python's complex numbers have no order; compare abs(…), or NumPy's numbers: np.complex128(…)";

bool is_python_complex(Type type) {
    return type.weak && ir::is_complex(type.scalar);
}

// +, min, max and similar operators on np.bool_ are logical.
std::optional<Op> logic_of_bools(Op op) {
    switch (op) {
        case Op::kAdd:
        case Op::kMax:
        case Op::kMaximum:
        case Op::kFmax:
            return Op::kBitOr;
        case Op::kMul:
        case Op::kMin:
        case Op::kMinimum:
        case Op::kFmin:
            return Op::kBitAnd;
        default:
            return std::nullopt;
    }
}

Typing type_bools(Op op, std::span<const Operand> operands) {
    const Type type = Type::of(Scalar::kBool);
    if (const auto logic = logic_of_bools(op)) {
        return same(*logic, type);
    }
    switch (op) {
        case Op::kSub:
            return refuse(op, operands, "use '^' for the difference of two bools");
        case Op::kNeg:
            return refuse(op, operands, "use '~' or 'not' to negate a bool");
        case Op::kPos:
        case Op::kSign:
            return refuse(op, operands, "convert it first: int(…)");
        case Op::kAbs:
            return identity(op, type);
        case Op::kConj:
            return identity(op, Type::of(Scalar::kI8));
        default:
            return same(op, Type::of(Scalar::kI8));  // NumPy's smallest loop
    }
}

Typing type_power(std::span<const Operand> operands, Type type) {
    if (is_integral(type)) {
        const auto exponent = integer_value(operands[1]);
        if (exponent && *exponent < 0) {
            if (type.weak) {
                return same(Op::kPow, kWeakFloat);
            }
            Typing typing =
                refuse(Op::kPow, operands,
                       "make the base a float: float(…) ** " + std::to_string(*exponent));
            typing.code = Code::kP215;
            typing.error =
                "an integer cannot be raised to the negative power " + std::to_string(*exponent);
            return typing;
        }
    }
    return same(Op::kPow, type);
}

Typing type_same(Op op, std::span<const Operand> operands) {
    if (op == Op::kMin || op == Op::kMax) {  // Python's: one of the operands
        if (have_no_common_type(operands[0], operands[1])) {
            return refuse(op, operands,
                          "no type holds both: convert the Python integer, np.uint64(…), or the "
                          "other, int(…)");
        }
        const Type type = join(operands[0], operands[1]);
        if (is_python_complex(type)) {
            return refuse(op, operands, kNoOrder);
        }
        return is_numpy_bool(type) || type == kWeakBool ? same(*logic_of_bools(op), type)
                                                        : same(op, type);
    }
    Type type = common(operands);
    if (ir::is_complex(type.scalar) && !takes_complex(op)) {
        return refuse(op, operands, "take the real part (.real) or abs(…) first");
    }
    type = as_number(type);
    if (is_numpy_bool(type)) {
        return type_bools(op, operands);
    }
    if (op == Op::kPow) {
        return type_power(operands, type);
    }
    if (op == Op::kPos || (op == Op::kConj && !ir::is_complex(type.scalar)) ||
        (op == Op::kAbs && ir::is_unsigned_integer(type.scalar))) {
        return identity(op, type);
    }
    Typing typing = same(op, type);
    if (op == Op::kAbs) {
        typing.result.scalar = ir::real_part_of(type.scalar);
    }
    return typing;
}

// The smallest float (or complex) in which NumPy's function computes all operands: i8 and u8 give
// f16 although no 8-bit integer holds both. Python scalars count only if their kind is new.
Type common_float(std::span<const Operand> operands) {
    const Type all = common(operands);
    std::vector<Operand> strong_ones;
    std::ranges::copy_if(operands, std::back_inserter(strong_ones),
                         [](const Operand& o) { return !o.type.weak; });
    if (strong_ones.empty()) {
        return all == kWeakInt ? kWeakFloat : all;
    }
    const Type strong_common = common(strong_ones);
    const bool widened = std::ranges::any_of(operands, [&](const Operand& o) {
        return o.type.weak && ir::promote(strong_common, o.type) != strong_common;
    });
    if (widened) {
        return all;
    }
    for (Operand& operand : strong_ones) {
        operand.type.scalar = float_for(operand.type.scalar);
    }
    return common(strong_ones);
}

Typing type_float(Op op, std::span<const Operand> operands) {
    Type type = common_float(operands);
    if (ir::is_complex(type.scalar) && !takes_complex(op)) {
        return refuse(op, operands, "take the real part (.real) or abs(…) first");
    }
    type.scalar = float_for(type.scalar);
    return same(op, type);
}

Typing type_divide(Op op, std::span<const Operand> operands) {
    Type type = common(operands);
    if (is_integral(type)) {
        type.scalar = Scalar::kF64;
    }
    return same(op, type);
}

Typing type_integer(Op op, std::span<const Operand> operands) {
    Type type = common(operands);
    if (!is_integral(type)) {
        const bool floats =
            std::ranges::any_of(operands, [](const Operand& o) { return !is_integral(o.type); });
        return refuse(op, operands,
                      floats ? "convert to an integer first: int(…)"
                             : "no integer type holds both operands; convert one of them first");
    }
    const bool bitwise = op == Op::kBitAnd || op == Op::kBitOr || op == Op::kBitXor;
    if (!bitwise) {
        type = as_number(type);
    }
    if (is_numpy_bool(type) && !bitwise && op != Op::kInvert) {
        if (op == Op::kGcd || op == Op::kLcm) {
            return refuse(op, operands, "convert it first: int(…)");
        }
        type.scalar = Scalar::kI8;
    }
    return same(op, type);
}

Typing type_compare(Op op, std::span<const Operand> operands) {
    const Operand& a = operands[0];
    const Operand& b = operands[1];
    Type type = common(operands);
    const bool ordered = op != Op::kEq && op != Op::kNe;
    if (ordered && is_python_complex(type)) {
        return refuse(op, operands, kNoOrder);
    }
    Typing typing;
    typing.op = op;
    typing.result = Type{Type::Kind::kScalar, Scalar::kBool, a.type.weak && b.type.weak};
    if (a.type.weak != b.type.weak && is_integral(type)) {
        // NumPy compares with the Python integer's value, in range or not.
        const Operand& weak = a.type.weak ? a : b;
        const Type other = a.type.weak ? b.type : a.type;
        const auto value = integer_value(weak);
        if (!value || !holds(other.scalar, *value)) {
            type = weak.type.scalar == Scalar::kBool ? other : Type::of(Scalar::kI64);
            typing.exact = other.is(Scalar::kU64) && weak.type.scalar != Scalar::kBool;
        }
    } else if (is_integral(a.type) && is_integral(b.type) && !is_integral(type)) {
        typing.exact = true;  // one is u64, the other signed
    }
    typing.operand = strong(type);
    return typing;
}

Typing type_rounding(Op op, std::span<const Operand> operands) {
    Type type = operands[0].type;
    if (ir::is_complex(type.scalar)) {
        return op == Op::kRint ? same(op, type)
                               : refuse(op, operands, "take the real part (.real) or abs(…) first");
    }
    if (is_integral(type) && op != Op::kRint) {
        return identity(op, type);
    }
    type.scalar = float_for(type.scalar);
    return same(op, type);
}

Typing type_special(Op op, std::span<const Operand> operands) {
    const Type& first = operands[0].type;
    switch (op) {
        case Op::kFloor:
        case Op::kCeil:
        case Op::kTrunc:
        case Op::kRint:
            return type_rounding(op, operands);
        case Op::kRound:
            if (ir::is_complex(first.scalar) || is_numpy_bool(first)) {
                return refuse(op, operands,
                              is_numpy_bool(first) ? "convert it first: int(…)"
                                                   : "round the real part (.real) and .imag");
            }
            return same(op, as_number(first));
        case Op::kPyInt:
        case Op::kPyFloat: {
            if (ir::is_complex(first.scalar)) {
                return refuse(op, operands, "take the real part (.real) or abs(…) first");
            }
            return identity(op, op == Op::kPyInt ? kWeakInt : kWeakFloat);
        }
        case Op::kPyIndex:
            if (!is_integral(first) || is_numpy_bool(first)) {
                Typing typing = refuse(op, operands, "convert it first: int(…)");
                typing.error = "an integer is needed here, not " + a_python_name(first);
                return typing;
            }
            return identity(op, first.is(Scalar::kU64) ? first : kWeakInt);
        case Op::kPyBool:
            return identity(op, kWeakBool);
        case Op::kReal:
        case Op::kImag: {
            if (!ir::is_complex(first.scalar)) {
                return identity(op, as_number(first));
            }
            Typing typing = same(op, first);
            typing.result.scalar = ir::real_part_of(first.scalar);
            return typing;
        }
        case Op::kComplex: {
            Type type = as_number(common(operands));
            if (ir::is_complex(type.scalar)) {
                return refuse(op, operands, "give the two parts as real numbers");
            }
            if (!ir::is_float(type.scalar)) {
                type.scalar = Scalar::kF64;
            } else if (ir::size_in_bytes(type.scalar) == 2) {
                type.scalar = Scalar::kF32;
            }
            Typing typing = same(op, type);
            typing.result.scalar = ir::complex_of(type.scalar);
            return typing;
        }
        case Op::kSelect:
            return same(op, join(operands[1], operands[2]));
        default:
            return same(op, first);
    }
}

}  // namespace

bool is_simple_power(const Typing& typing, const ir::Expr& exponent) {
    const Type type = typing.operand;
    return typing.op == Op::kPow && type.is_scalar() &&
           (ir::is_float(type.scalar) || ir::is_complex(type.scalar)) &&
           ir::simple_power(exponent).has_value();
}

Typing type_operation(Op op, std::span<const Operand> operands) {
    for (const Operand& operand : operands) {
        if (!operand.type.is_scalar()) {
            Typing typing;
            typing.op = op;
            return typing;
        }
    }
    switch (ir::rule(op)) {
        case TypeRule::kSame:
            return type_same(op, operands);
        case TypeRule::kFloat:
            return type_float(op, operands);
        case TypeRule::kDivide:
            return type_divide(op, operands);
        case TypeRule::kInteger:
            return type_integer(op, operands);
        case TypeRule::kCompare:
            return type_compare(op, operands);
        case TypeRule::kPredicate: {
            Typing typing = same(op, operands[0].type);
            if (ir::is_complex(operands[0].type.scalar) && op == Op::kSignbit) {
                return refuse(op, operands, "take the real part (.real) first");
            }
            typing.operand.scalar = float_for(typing.operand.weak && is_integral(typing.operand)
                                                  ? Scalar::kI64
                                                  : typing.operand.scalar);
            typing.result.scalar = Scalar::kBool;
            return typing;
        }
        case TypeRule::kLogical: {
            Typing typing = same(op, Type::of(Scalar::kBool));
            typing.result.weak =
                op == Op::kNot ||
                std::ranges::all_of(operands, [](const Operand& o) { return o.type.weak; });
            return typing;
        }
        case TypeRule::kLeaf:
        case TypeRule::kSpecial:
            break;
    }
    return type_special(op, operands);
}

Type join(const Type& a, const Operand& b) {
    if (a.is_unknown() || b.type.is_unknown()) {
        return a.is_unknown() ? b.type : a;
    }
    if (!a.is_scalar() || !b.type.is_scalar()) {
        return Type::unknown();
    }
    // A Python integer that may not fit keeps its value.
    const auto value = integer_value(b);
    const bool narrow = !a.weak && ir::is_integer(a.scalar) && a.scalar != Scalar::kI64;
    if (b.type == kWeakInt &&
        (value ? !a.weak && ir::is_integer(a.scalar) && !holds(a.scalar, *value) : narrow)) {
        return ir::promote(a, Type::of(Scalar::kI64));
    }
    // The integer type remains of an integer and a bool.
    if (a.scalar != b.type.scalar &&
        (a.scalar == Scalar::kBool || b.type.scalar == Scalar::kBool)) {
        return a.scalar == Scalar::kBool ? b.type : a;
    }
    return ir::promote(a, b.type);
}

Type join(const Operand& a, const Operand& b) {
    const Type type = join(a.type, b);
    const Type other = join(b.type, a);
    return type == other ? type : ir::promote(type, other);
}

bool have_no_common_type(const Operand& a, const Operand& b) {
    const auto computed = [](const Operand& o) { return o.type == kWeakInt && !integer_value(o); };
    const auto unsigned_64 = [](const Operand& o) {
        return !o.type.weak && o.type.is(Scalar::kU64);
    };
    return (unsigned_64(a) && computed(b)) || (unsigned_64(b) && computed(a));
}

bool holds(Scalar scalar, std::int64_t value) {
    if (scalar == Scalar::kBool) {
        return value == 0 || value == 1;
    }
    if (!ir::is_integer(scalar)) {
        return true;
    }
    const int bits = 8 * ir::size_in_bytes(scalar);
    if (ir::is_unsigned_integer(scalar)) {
        return value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
    }
    const std::int64_t limit = std::int64_t{1} << (bits - 2);  // half of 2^(bits-1)
    return value >= -2 * limit && value <= 2 * (limit - 1) + 1;
}

std::optional<std::int64_t> integer_value(const Operand& operand) {
    if (!operand.constant || !is_integral(operand.type)) {
        return std::nullopt;
    }
    if (const bool* flag = std::get_if<bool>(&operand.constant->value)) {
        return *flag ? 1 : 0;
    }
    const auto* value = std::get_if<std::int64_t>(&operand.constant->value);
    if (value != nullptr && (*value >= 0 || operand.type.scalar != Scalar::kU64)) {
        return *value;
    }
    return std::nullopt;
}

std::string range_text(Scalar scalar) {
    if (scalar == Scalar::kBool) {
        return "0 to 1";
    }
    const int bits = 8 * ir::size_in_bytes(scalar);
    if (ir::is_unsigned_integer(scalar)) {
        return "0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
    }
    return std::to_string(std::numeric_limits<std::int64_t>::min() >> (64 - bits)) + " to " +
           std::to_string(std::numeric_limits<std::int64_t>::max() >> (64 - bits));
}

std::string python_name(const Type& type) {
    static constexpr std::array<std::string_view, ir::kScalarCount> kNames = {
        "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
        "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
    const auto scalar = std::string(kNames[static_cast<std::size_t>(type.scalar)]);
    switch (type.kind) {
        case Type::Kind::kUnknown:
            return "value of unknown type";
        case Type::Kind::kVoid:
            return "function without result";
        case Type::Kind::kArray:
            return scalar + " array of " + std::to_string(type.rank) +
                   (type.rank == 1 ? " dimension" : " dimensions");
        case Type::Kind::kScalar:
            break;
    }
    if (type.weak && type.scalar != Scalar::kBool) {
        return ir::to_string(type);
    }
    return scalar;
}

std::string a_python_name(const Type& type) {
    const std::string name = python_name(type);
    return (name.starts_with("int") ? "an " : "a ") + name;
}

std::string python_name(Op op) {
    switch (op) {
        case Op::kNeg:
            return "-";
        case Op::kPos:
            return "+";
        case Op::kSelect:
            return "if-else";
        default:
            break;
    }
    return std::string(ir::text(op));
}

}  // namespace parpy
