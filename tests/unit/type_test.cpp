// promote() against NumPy 2's table (np.result_type of every pair of scalar types, and
// of every scalar type with a Python int, float and complex).
#include "ir/type.h"

#include <gtest/gtest.h>

#include <array>

namespace parpy::ir {
namespace {

constexpr std::array<std::string_view, 14> kNames = {"bool", "i8",  "i16", "i32", "i64",
                                                     "u8",   "u16", "u32", "u64", "f16",
                                                     "f32",  "f64", "c64", "c128"};
struct PromotionRow {
    std::string_view name;
    std::array<std::string_view, 17> with;  // kNames, then int, float, complex
};
// clang-format off
constexpr PromotionRow kNumPy[] = {
    {"bool", {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "c64", "c128", "i64", "f64", "c128"}},
    {"i8", {"i8", "i8", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f16", "f32", "f64", "c64", "c128", "i8", "f64", "c128"}},
    {"i16", {"i16", "i16", "i16", "i32", "i64", "i16", "i32", "i64", "f64", "f32", "f32", "f64", "c64", "c128", "i16", "f64", "c128"}},
    {"i32", {"i32", "i32", "i32", "i32", "i64", "i32", "i32", "i64", "f64", "f64", "f64", "f64", "c128", "c128", "i32", "f64", "c128"}},
    {"i64", {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "f64", "f64", "f64", "f64", "c128", "c128", "i64", "f64", "c128"}},
    {"u8", {"u8", "i16", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "c64", "c128", "u8", "f64", "c128"}},
    {"u16", {"u16", "i32", "i32", "i32", "i64", "u16", "u16", "u32", "u64", "f32", "f32", "f64", "c64", "c128", "u16", "f64", "c128"}},
    {"u32", {"u32", "i64", "i64", "i64", "i64", "u32", "u32", "u32", "u64", "f64", "f64", "f64", "c128", "c128", "u32", "f64", "c128"}},
    {"u64", {"u64", "f64", "f64", "f64", "f64", "u64", "u64", "u64", "u64", "f64", "f64", "f64", "c128", "c128", "u64", "f64", "c128"}},
    {"f16", {"f16", "f16", "f32", "f64", "f64", "f16", "f32", "f64", "f64", "f16", "f32", "f64", "c64", "c128", "f16", "f16", "c64"}},
    {"f32", {"f32", "f32", "f32", "f64", "f64", "f32", "f32", "f64", "f64", "f32", "f32", "f64", "c64", "c128", "f32", "f32", "c64"}},
    {"f64", {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128", "f64", "f64", "c128"}},
    {"c64", {"c64", "c64", "c64", "c128", "c128", "c64", "c64", "c128", "c128", "c64", "c64", "c128", "c64", "c128", "c64", "c64", "c64"}},
    {"c128", {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128"}},
};
// clang-format on

Type scalar(std::string_view text) {
    return Type::of(scalar_from_name(text).value());
}
Type weak(std::size_t index) {
    constexpr std::array<Scalar, 3> kWeak = {Scalar::kI64, Scalar::kF64, Scalar::kC128};
    return Type::weak_of(kWeak[index]);
}

TEST(Promote, AgreesWithNumPy) {
    for (const PromotionRow& row : kNumPy) {
        for (std::size_t i = 0; i < row.with.size(); ++i) {
            const Type other = i < kNames.size() ? scalar(kNames[i]) : weak(i - kNames.size());
            const Type expected = scalar(row.with[i]);
            EXPECT_EQ(to_string(promote(scalar(row.name), other)), to_string(expected))
                << row.name << " with " << to_string(other);
            EXPECT_EQ(promote(other, scalar(row.name)), expected);
        }
    }
}

TEST(Promote, WeakTypesStayWeakAmongThemselves) {
    EXPECT_EQ(promote(weak(0), weak(1)), weak(1));
    EXPECT_EQ(promote(weak(2), weak(0)), weak(2));
    EXPECT_EQ(promote(weak(0), weak(0)), weak(0));
}

TEST(Promote, Bfloat16) {
    const Type bf16 = Type::of(Scalar::kBF16);
    EXPECT_EQ(promote(bf16, bf16), bf16);
    EXPECT_EQ(promote(bf16, Type::of(Scalar::kBool)), bf16);
    EXPECT_EQ(promote(bf16, weak(0)), bf16);
    EXPECT_EQ(promote(bf16, weak(1)), bf16);
    EXPECT_EQ(promote(bf16, Type::of(Scalar::kF16)), Type::of(Scalar::kF32));
    EXPECT_EQ(promote(Type::of(Scalar::kI8), bf16), Type::of(Scalar::kF32));
    EXPECT_EQ(promote(bf16, Type::of(Scalar::kI32)), Type::of(Scalar::kF64));
    EXPECT_EQ(promote(bf16, Type::of(Scalar::kC64)), Type::of(Scalar::kC64));
}

TEST(Promote, UnknownAndArraysGiveUnknown) {
    EXPECT_TRUE(promote(Type::unknown(), Type::of(Scalar::kF32)).is_unknown());
    EXPECT_TRUE(promote(Type::array(Scalar::kF32, 1), Type::of(Scalar::kF32)).is_unknown());
}

TEST(Scalars, NamesAndSizes) {
    for (int i = 0; i < kScalarCount; ++i) {
        const auto s = static_cast<Scalar>(i);
        EXPECT_EQ(scalar_from_name(name(s)), s);
    }
    EXPECT_FALSE(scalar_from_name("float"));
    EXPECT_EQ(size_in_bytes(Scalar::kC128), 16);
    EXPECT_EQ(to_string(Type::array(Scalar::kBF16, 2)), "bf16[2]");
    EXPECT_EQ(to_string(Type::weak_of(Scalar::kF64)), "float");
}

}  // namespace
}  // namespace parpy::ir
