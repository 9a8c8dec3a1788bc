// Uses, exposed reads, free variables and liveness on small programs in text form.
#include "analysis/uses.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"

namespace parpy {
namespace {

using namespace ir;

class UsesTest : public ::testing::Test {
protected:
    void parse(const std::string& body) {
        Diagnostics diagnostics;
        const std::string header =
            "entry f(x: f32[8] @0, y: f32[8] @1 written, n: i64 @2) -> void:\n";
        ASSERT_TRUE(ir::parse(header + body, "test.ir", module_, diagnostics))
            << render(diagnostics, module_.sources);
    }

    const Body& body() const { return module_.entry_function()->body; }

    static std::vector<std::string> names(const VarSet& vars) {
        std::vector<std::string> result;
        for (const Var* var : vars)
            result.push_back(var->name);
        return result;
    }

    Module module_;
};

using Names = std::vector<std::string>;

TEST_F(UsesTest, CollectsScalarsAndArrays) {
    parse(R"(    t: f32 = x[n]
    y[n] += t
    for i: i64 in range(n):
        y[i] = 0.0f32
)");
    const Uses uses = uses_of(body());
    EXPECT_EQ(names(uses.read), (Names{"n", "t", "i"}));
    EXPECT_EQ(names(uses.written), (Names{"t", "i"}));
    EXPECT_EQ(names(uses.loaded), (Names{"x", "y"}));  // an update also loads
    EXPECT_EQ(names(uses.stored), (Names{"y"}));
    EXPECT_EQ(names(free_variables(body())), (Names{"x", "y", "n"}));
}

TEST_F(UsesTest, ConditionalAssignmentsLeaveAReadExposed) {
    parse(R"(    if n > 2:
        t: f32 = 1.0f32
    y[0] = t
    u: f32 = 2.0f32
    y[1] = u
)");
    EXPECT_EQ(names(exposed_reads(body())), (Names{"t", "n"}));
}

TEST_F(UsesTest, WhatIsWantedLaterIsExposedWhereItMayStayUnassigned) {
    parse(R"(    if n > 2:
        t: f32 = 1.0f32
    y[0] = t
)");
    const auto* branch = body()[0]->as<If>();
    const auto* assign = branch->then_body[0]->as<Assign>();
    VarSet wanted;
    wanted.insert(assign->var);
    EXPECT_EQ(names(exposed_reads({body()[0]})), (Names{"n"}));
    EXPECT_EQ(names(exposed_reads({body()[0]}, wanted)), (Names{"t", "n"}));
}

TEST_F(UsesTest, LivenessGoesAroundLoopsAndBreaks) {
    parse(R"(    s: f32 = 0.0f32
    p: f32 = 0.0f32
    for i: i64 in range(n):
        y[0] = p
        p = x[i]
        if x[i] > 1.0f32:
            s = x[i]
            break
        q: f32 = x[i]
        y[1] = q
    y[2] = s
)");
    const Liveness liveness(*module_.entry_function());
    const auto* loop = body()[2]->as<For>();
    const auto& inside = loop->body;
    // The next iteration reads p, statements after the loop read s, nothing else reads q.
    EXPECT_TRUE(liveness.after(inside[1]).contains(inside[1]->as<Assign>()->var));
    const auto* branch = inside[2]->as<If>();
    EXPECT_EQ(names(liveness.after(branch->then_body[0])), (Names{"s"}));
    EXPECT_FALSE(liveness.after(inside[4]).contains(inside[3]->as<Assign>()->var));
    EXPECT_EQ(names(liveness.after(loop)), (Names{"s"}));
}

TEST_F(UsesTest, LoopsThatCertainlyRunAssignTheirVariable) {
    parse(R"(    for i: i64 in range(4):
        if x[i] > 1.0f32:
            break
        t: f32 = x[i]
    y[i] = 1.0f32
    for j: i64 in range(n):
        y[j] = 1.0f32
    y[j] = t
)");
    EXPECT_EQ(names(exposed_reads(body())), (Names{"j", "t", "n"}));
}

TEST_F(UsesTest, FirstIterationsAssignWhatOthersRead) {
    parse(R"(    for i: i64 in range(n - 1, -1, -1):
        if i == n - 1:
            s: f32 = x[i]
        elif i > 0:
            s = s + x[i]
        y[i] = s
    for j: i64 in range(4):
        if j != 0:
            y[j] = t
        if j >= 1:
            u: f32 = x[j]
        t: f32 = u
)");
    EXPECT_EQ(names(exposed_reads(body())), (Names{"u", "n"}));
}

TEST_F(UsesTest, InvariantAndSame) {
    parse(R"(    a: i64 = n + 1
    b: i64 = n + 1
    c: f32 = x[n]
    y[0] = c
)");
    const Expr& first = *body()[0]->as<Assign>()->value;
    const Expr& second = *body()[1]->as<Assign>()->value;
    const Expr& load = *body()[2]->as<Assign>()->value;
    EXPECT_TRUE(same(first, second));
    EXPECT_FALSE(same(first, load));
    const Uses uses = uses_of(body());
    EXPECT_TRUE(invariant(first, uses));
    EXPECT_TRUE(invariant(load, uses));
    EXPECT_FALSE(invariant(*body()[3]->as<Store>()->value, uses));  // c is assigned here
}

TEST_F(UsesTest, ArraysOfCallsCountAsTheCalleeUsesThem) {
    parse(R"(    g(x[...], y[...])

helper g(a: f32[8], b: f32[8]) -> void:
    b[0] = a[1]
)");
    const Uses uses = uses_of(body());
    EXPECT_TRUE(uses.calls);
    EXPECT_EQ(names(uses.loaded), (Names{"x"}));
    EXPECT_EQ(names(uses.stored), (Names{"y"}));
}

}  // namespace
}  // namespace parpy
