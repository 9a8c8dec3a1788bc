// The corners of evaluate_op that a back end is likely to get wrong. (Every operator on every type
// against NumPy: tests/python/numbers/test_operators.py.)
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/eval/ops.h"

namespace parpy::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();

std::int64_t integer(Op op, Scalar type, std::int64_t a, std::int64_t b) {
    const Constant operands[] = {{a}, {b}};
    return std::get<std::int64_t>(evaluate_op(op, type, type, operands).value().value);
}

double real(Op op, Scalar type, double a, double b) {
    const Constant operands[] = {{a}, {b}};
    return std::get<double>(evaluate_op(op, type, type, operands).value().value);
}

double real(Op op, Scalar type, double a) {
    const Constant operands[] = {{a}};
    return std::get<double>(evaluate_op(op, type, type, operands).value().value);
}

TEST(EvaluateInteger, DivisionFloorsAndNeverTraps) {
    for (const Scalar type : {Scalar::kI8, Scalar::kI16, Scalar::kI32, Scalar::kI64}) {
        const std::int64_t lowest =
            std::get<std::int64_t>(convert_constant({-kInf}, Scalar::kF64, type).value);
        EXPECT_EQ(integer(Op::kFloorDiv, type, -7, 2), -4);
        EXPECT_EQ(integer(Op::kFloorDiv, type, 7, -2), -4);
        EXPECT_EQ(integer(Op::kMod, type, -7, 3), 2);
        EXPECT_EQ(integer(Op::kMod, type, 7, -3), -2);
        EXPECT_EQ(integer(Op::kFmod, type, -7, 3), -1);
        EXPECT_EQ(integer(Op::kFloorDiv, type, 5, 0), 0);
        EXPECT_EQ(integer(Op::kMod, type, 5, 0), 0);
        EXPECT_EQ(integer(Op::kFloorDiv, type, lowest, -1), lowest);
        EXPECT_EQ(integer(Op::kMod, type, lowest, -1), 0);
    }
}

TEST(EvaluateInteger, Wraps) {
    EXPECT_EQ(integer(Op::kAdd, Scalar::kI8, 127, 1), -128);
    EXPECT_EQ(integer(Op::kSub, Scalar::kU16, 0, 1), 65535);
    EXPECT_EQ(integer(Op::kMul, Scalar::kI64, kMin64, -1), kMin64);
    EXPECT_EQ(integer(Op::kPow, Scalar::kI32, 3, 40), 689956897);  // modulo 2**32
    EXPECT_EQ(integer(Op::kPow, Scalar::kI64, -1, -3), -1);
    EXPECT_EQ(integer(Op::kPow, Scalar::kI64, 2, -1), 0);
}

TEST(EvaluateInteger, UnsignedSixtyFourBits) {
    EXPECT_EQ(integer(Op::kFloorDiv, Scalar::kU64, -1, 10), 1844674407370955161);
    EXPECT_EQ(integer(Op::kMax, Scalar::kU64, -1, 1), -1);
    EXPECT_EQ(integer(Op::kShr, Scalar::kU64, -1, 63), 1);
}

TEST(EvaluateInteger, ShiftsBeyondTheWidth) {
    EXPECT_EQ(integer(Op::kShl, Scalar::kI32, 1, 31), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(integer(Op::kShl, Scalar::kI32, 1, 32), 0);
    EXPECT_EQ(integer(Op::kShl, Scalar::kI32, 1, -1), 0);
    EXPECT_EQ(integer(Op::kShr, Scalar::kI32, -5, 32), -1);
    EXPECT_EQ(integer(Op::kShr, Scalar::kI32, 5, -1), 0);
    EXPECT_EQ(integer(Op::kShr, Scalar::kI8, -128, 7), -1);
}

TEST(EvaluateFloat, FloorDivisionAsNumPy) {
    for (const Scalar type : {Scalar::kF16, Scalar::kF32, Scalar::kF64}) {
        EXPECT_EQ(real(Op::kFloorDiv, type, -1, kInf), -1);
        EXPECT_EQ(real(Op::kMod, type, -1, kInf), kInf);
        EXPECT_EQ(real(Op::kMod, type, 5.5, -2), -0.5);
        EXPECT_EQ(real(Op::kFloorDiv, type, 1, 0), kInf);
        EXPECT_TRUE(std::isnan(real(Op::kMod, type, 1, 0)));
        EXPECT_TRUE(std::signbit(real(Op::kMod, type, 4, -2)));
        EXPECT_TRUE(std::isnan(real(Op::kFloorDiv, type, kInf, 2)));
    }
}

TEST(EvaluateFloat, MinimumAndNan) {
    EXPECT_EQ(real(Op::kMin, Scalar::kF64, 1, kNan), 1);
    EXPECT_TRUE(std::isnan(real(Op::kMin, Scalar::kF64, kNan, 1)));
    EXPECT_TRUE(std::isnan(real(Op::kMinimum, Scalar::kF64, 1, kNan)));
    EXPECT_EQ(real(Op::kFmax, Scalar::kF64, kNan, 1), 1);
}

TEST(EvaluateFloat, NarrowTypesRound) {
    EXPECT_EQ(real(Op::kAdd, Scalar::kF16, 2048, 1), 2048);  // a tie rounds to even
    EXPECT_EQ(real(Op::kAdd, Scalar::kF16, 2050, 1), 2052);
    EXPECT_EQ(real(Op::kMul, Scalar::kF16, 256, 256), kInf);
    EXPECT_EQ(real(Op::kAdd, Scalar::kBF16, 256, 1), 256);
    EXPECT_EQ(real(Op::kAdd, Scalar::kF32, 16777216, 1), 16777216);
    EXPECT_EQ(real(Op::kNextafter, Scalar::kF16, 1, 2), 1 + 1.0 / 1024);
    EXPECT_EQ(real(Op::kNextafter, Scalar::kF16, 0, -1), -std::ldexp(1.0, -24));
    EXPECT_EQ(real(Op::kSign, Scalar::kF64, -0.0), 0);
}

TEST(EvaluateBool, ArithmeticIsLogic) {
    const auto boolean = [](Op op, bool a, bool b) {
        const Constant operands[] = {{a}, {b}};
        return std::get<bool>(evaluate_op(op, Scalar::kBool, Scalar::kBool, operands)->value);
    };
    EXPECT_TRUE(boolean(Op::kAdd, true, true));
    EXPECT_FALSE(boolean(Op::kBitXor, true, true));
    EXPECT_TRUE(boolean(Op::kMax, false, true));
    const Constant yes[] = {{true}};
    EXPECT_EQ(evaluate_op(Op::kInvert, Scalar::kBool, Scalar::kBool, yes), Constant{false});
}

TEST(Convert, FloatToIntegerIsThatOfNumPy) {
    const auto to = [](Scalar type, double value) {
        return std::get<std::int64_t>(convert_constant({value}, Scalar::kF64, type).value);
    };
    EXPECT_EQ(to(Scalar::kI8, 300), 44);
    EXPECT_EQ(to(Scalar::kU8, -1), 255);
    EXPECT_EQ(to(Scalar::kI64, 1e300), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(to(Scalar::kI64, -kInf), kMin64);
    EXPECT_EQ(to(Scalar::kU64, 1e300), 0);
    EXPECT_EQ(to(Scalar::kI32, kNan), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(to(Scalar::kI32, -2.9), -2);
    const Constant big = convert_constant({std::int64_t{-1}}, Scalar::kU64, Scalar::kF64);
    EXPECT_EQ(big, Constant{18446744073709551616.0});
    EXPECT_EQ(convert_constant({std::int64_t{-1}}, Scalar::kI64, Scalar::kU8),
              Constant{std::int64_t{255}});
    EXPECT_EQ(convert_constant({kNan}, Scalar::kF64, Scalar::kBool), Constant{true});
}

// Every value of the 16-bit formats survives; every midpoint between neighbours rounds to the even
// neighbour.
TEST(NarrowFloats, RoundTripAndTies) {
    for (unsigned bits = 0; bits < 0x7C00U; ++bits) {
        const double value = f16_value(static_cast<std::uint16_t>(bits));
        ASSERT_EQ(f16_bits(value), bits);
        ASSERT_EQ(f16_bits(-value), bits | 0x8000U);
        if (bits + 1 < 0x7C00U) {
            const double next = f16_value(static_cast<std::uint16_t>(bits + 1));
            ASSERT_EQ(f16_bits((value + next) / 2), (bits + 1) & ~1U);
        }
    }
    for (unsigned bits = 0; bits < 0x7F80U; ++bits) {
        ASSERT_EQ(bf16_bits(bf16_value(static_cast<std::uint16_t>(bits))), bits);
    }
    EXPECT_EQ(f16_bits(65520), 0x7C00U);
    EXPECT_EQ(f16_bits(65519), 0x7BFFU);
    EXPECT_TRUE(std::isnan(f16_value(f16_bits(kNan))));
}

TEST(Undefined, GivesNothing) {
    const Constant z[] = {{std::complex<double>(1, 2)}, {std::complex<double>(1, 2)}};
    EXPECT_FALSE(evaluate_op(Op::kFloorDiv, Scalar::kC128, Scalar::kC128, z));
    const Constant one[] = {{1.0}, {2.0}};
    EXPECT_FALSE(evaluate_op(Op::kAdd, Scalar::kF64, Scalar::kF64, std::span(one).first(1)));
    EXPECT_FALSE(evaluate_op(Op::kBitAnd, Scalar::kF64, Scalar::kF64, one));
}

}  // namespace
}  // namespace parpy::ir
