// The mappings that parpy.tune found survive a round trip through text, and apply to certain calls.
#include "runtime/calls/tunings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "passes/wanted.h"

namespace parpy {
namespace {

Tuning example() {
    Tuning tuning;
    tuning.seconds = 1.25e-3;
    tuning.automatic_seconds = 0.1;
    tuning.tuned.restructure = true;
    tuning.tuned.max_unroll_count = 4;
    tuning.tuned.mapping["i@12"] = {64, true, 128};
    tuning.tuned.mapping["j@13#2"] = {1, false, 1024};
    tuning.tuned.mapping["two words\n\"quoted\""] = {7, false, 32};
    tuning.tuned.mapping["from a helper@3"] = {2, false, 1024};
    return tuning;
}

TEST(Tunings, TextAndBack) {
    const std::string text = written(example(), 10);
    EXPECT_EQ(read_tuning(text, 10), example());
}

TEST(Tunings, LinesMoveWithTheFunction) {
    const auto moved = read_tuning(written(example(), 10), 110);
    ASSERT_TRUE(moved);
    EXPECT_TRUE(moved->tuned.mapping.contains("i@112"));
    EXPECT_TRUE(moved->tuned.mapping.contains("j@113#2"));
    EXPECT_TRUE(moved->tuned.mapping.contains("from a helper@103"));
    EXPECT_TRUE(moved->tuned.mapping.contains("two words\n\"quoted\""));
}

TEST(Tunings, OtherTextIsNone) {
    EXPECT_FALSE(read_tuning("", 1));
    EXPECT_FALSE(read_tuning("machine code", 1));
    const std::string text = written(example(), 10);
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        EXPECT_FALSE(read_tuning(text.substr(0, size), 10)) << size;
}

TEST(Tunings, KeysTellCallsApart) {
    Argument array;
    array.type = ir::Type::array(ir::Scalar::kF64, 1);
    array.dims = {{100, 1}};
    Argument number;
    number.type = ir::Type::weak_of(ir::Scalar::kI64);
    number.integer = 100;
    Argument factor;
    factor.type = ir::Type::weak_of(ir::Scalar::kF64);
    factor.real = 0.5;
    const Options options;
    const std::string key = tuning_key("f", {array, number, factor}, options);
    EXPECT_FALSE(key.empty());
    EXPECT_NE(key, tuning_key("g", {array, number, factor}, options));
    Argument other = array;
    other.dims[0].extent = 101;
    EXPECT_NE(key, tuning_key("f", {other, number, factor}, options));
    other = array;
    other.dims[0].stride = 2;
    EXPECT_NE(key, tuning_key("f", {other, number, factor}, options));
    other = number;
    other.integer = 99;
    EXPECT_NE(key, tuning_key("f", {array, other, factor}, options));
    other = factor;
    other.real = 0.25;  // has no effect
    EXPECT_EQ(key, tuning_key("f", {array, number, other}, options));
    Options fast = options;
    fast.fast_math = true;
    EXPECT_NE(key, tuning_key("f", {array, number, factor}, fast));
    Options elsewhere = options;
    elsewhere.backend = Backend::kSim;
    EXPECT_NE(key, tuning_key("f", {array, number, factor}, elsewhere));
    elsewhere.backend = Backend::kMetal;  // cannot run here
    EXPECT_TRUE(tuning_key("f", {array, number, factor}, elsewhere).empty());
    Options mapped = options;
    mapped.mapping["i@1"].threads = 5;
    mapped.automatic = true;
    EXPECT_EQ(key, tuning_key("f", {array, number, factor}, mapped));
    for (const char* variable : kRestructuringVariables) {
        ::setenv(variable, "0", 1);
        EXPECT_NE(key, tuning_key("f", {array, number, factor}, options)) << variable;
        ::unsetenv(variable);
    }
    EXPECT_EQ(key, tuning_key("f", {array, number, factor}, options));
}

}  // namespace
}  // namespace parpy
