// Building, walking, rewriting, cloning, printing and running small programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/eval/eval.h"
#include "ir/ops.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify.h"
#include "ir/visit.h"

namespace parpy::ir {
namespace {

// y[i] += x[i, j] over both loops, on 3 × 4 elements.
Module row_sums() {
    Module module;
    Builder b(module);
    Function* f = module.make_function("row_sums", FunctionKind::kEntry);
    Var* x = b.local_array("x", Scalar::kF32, {3, 4}, Space::kGlobal);
    Var* y = b.local_array("y", Scalar::kF32, {3}, Space::kGlobal);
    Var* i = b.scalar("i", Scalar::kI64);
    Var* j = b.scalar("j", Scalar::kI64);
    f->params = {x, y};
    f->result = Type::none();
    Stmt* add = b.update(y, {b.var(i)}, Op::kAdd, b.load(x, {b.var(i), b.var(j)}));
    For* inner = b.loop(j, b.integer(0), b.integer(4), {add});
    f->body = {b.loop(i, b.integer(0), b.integer(3), {inner})};
    return module;
}

constexpr std::string_view kRowSums =
    "entry row_sums(x: f32[3, 4], y: f32[3]) -> void:\n"
    "    for i: i64 in range(3):\n"
    "        for j: i64 in range(4):\n"
    "            y[i] += x[i, j]\n";

std::string run_row_sums(const Module& module) {
    float x[12];
    float y[3] = {100, 0, 0};
    for (int k = 0; k < 12; ++k) {
        x[k] = static_cast<float>(k);
    }
    const EvalArgument arguments[] = {ArrayView{x, Scalar::kF32, {3, 4}, {4, 1}},
                                      ArrayView{y, Scalar::kF32, {3}, {1}}};
    const EvalResult result = evaluate(module, arguments);
    return result.error + std::to_string(y[0]) + " " + std::to_string(y[1]) + " " +
           std::to_string(y[2]);
}

TEST(Builder, MakesAVerifiedProgram) {
    const Module module = row_sums();
    Diagnostics diagnostics;
    EXPECT_TRUE(verify(module, Profile::kMapped, diagnostics)) << render(diagnostics, {});
    EXPECT_EQ(print(module), kRowSums);
}

TEST(Eval, RunsOnTheCallersMemory) {
    EXPECT_EQ(run_row_sums(row_sums()), "106.000000 22.000000 38.000000");
}

TEST(Clone, IsIndependent) {
    const Module original = row_sums();
    Module copy = clone(original);
    EXPECT_EQ(print(copy), kRowSums);
    for_each_stmt(copy.entry_function()->body, [](Stmt& s) {
        if (auto* loop = s.as<For>()) {
            loop->var->name = "k";
        }
    });
    EXPECT_EQ(print(original), kRowSums);
    Diagnostics diagnostics;
    EXPECT_TRUE(verify(copy, Profile::kMapped, diagnostics)) << render(diagnostics, {});
}

TEST(Clone, SubstitutesValues) {
    Module module;
    Builder b(module);
    Var* i = b.scalar("i", Scalar::kI64);
    Var* n = b.scalar("n", Scalar::kI64);
    const Expr* replacement = b.binary(Op::kSub, b.var(n), b.integer(1));
    const Expr* e = b.binary(Op::kMul, b.var(i), b.var(i));
    Substitution substitution;
    substitution.values[i] = replacement;
    const Expr* copy = clone(module, e, substitution);
    EXPECT_EQ(print(*copy), "(n - 1) * (n - 1)");
    EXPECT_NE(copy->operands[0], copy->operands[1]);
}

TEST(Visit, RewritesBottomUp) {
    Module module = row_sums();
    Body& body = module.entry_function()->body;
    Builder b(module);
    rewrite(body, [&](Expr* e) {
        return constant_integer(e) == 4 ? b.binary(Op::kAdd, b.integer(2), b.integer(2)) : e;
    });
    rewrite_stmts(body, [&](Stmt* s, Body& out) {
        out.push_back(s);
        if (s->as<Store>() != nullptr) {
            out.push_back(b.break_());
        }
    });
    EXPECT_EQ(print(*body[0]),
              "for i: i64 in range(3):\n    for j: i64 in range(2 + 2):\n"
              "        y[i] += x[i, j]\n        break\n");
    EXPECT_EQ(run_row_sums(module), "100.000000 4.000000 8.000000");
}

TEST(Verify, FindsSharedNodesAndWrongTypes) {
    Module module = row_sums();
    Builder b(module);
    Expr* shared = b.integer(1);
    Var* t = b.scalar("t", Scalar::kF64);
    Body& body = module.entry_function()->body;
    body.push_back(b.assign(t, b.convert(b.binary(Op::kAdd, shared, shared), Scalar::kF64)));
    Diagnostics two_parents;
    EXPECT_FALSE(verify(module, Profile::kTyped, two_parents));
    body.back() = b.assign(t, b.integer(1));
    Diagnostics wrong_type;
    EXPECT_FALSE(verify(module, Profile::kTyped, wrong_type));
    ASSERT_EQ(wrong_type.all().size(), 1U);
    EXPECT_EQ(wrong_type.all()[0].message, "in 'row_sums': 't' of type f64 is assigned a i64");
}

TEST(Eval, ReportsWhatWouldBeUndefined) {
    const auto error_of = [](std::string_view body) {
        Module module;
        Diagnostics diagnostics;
        const std::string text = "entry f(x: f64[2]) -> void:\n" + std::string(body);
        EXPECT_TRUE(parse(text, "t.ir", module, diagnostics))
            << render(diagnostics, module.sources);
        double x[2] = {};
        const EvalArgument arguments[] = {ArrayView{x, Scalar::kF64, {2}, {1}}};
        return evaluate(module, arguments, {.max_steps = 1000}).error;
    };
    EXPECT_EQ(error_of("    x[2] = 0.0\n"),
              "subscript 2 of 'x' is out of bounds for an extent of 2");
    EXPECT_EQ(error_of("    x[-2] = 0.0\n"), "");
    EXPECT_EQ(error_of("    while True:\n        pass\n"), "the program ran for too long");
    EXPECT_EQ(error_of("    if x[0] > 0.0:\n        t: f64 = 1.0\n    x[0] = t\n"),
              "variable 't' is read before it has a value");
    EXPECT_EQ(error_of("    for i: i64 in range(0, 3, 0):\n        pass\n"),
              "the step of a loop is zero");
}

// The loop runs over a range whose end is the last integer of its type.
TEST(Eval, LoopsDoNotOverflow) {
    Module module;
    Diagnostics diagnostics;
    ASSERT_TRUE(
        parse("entry f() -> i64:\n    s: i64 = 0\n"
              "    for i: i8 in range(-128i8, 127i8, 100i8):\n        s += i64(i)\n"
              "    for k: u64 in range(18446744073709551613u64, 18446744073709551615u64):\n"
              "        s += 1000\n    return s\n",
              "t.ir", module, diagnostics))
        << render(diagnostics, module.sources);
    EXPECT_EQ(evaluate(module, {}).value, Constant{std::int64_t{-128 - 28 + 72 + 2000}});
}

// Every program of the golden files prints, parses and prints the same again.
TEST(Text, RoundTrips) {
    std::size_t programs = 0;
    const std::filesystem::path root = std::filesystem::path(PARPY_SOURCE_DIR) / "tests/golden";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.path().extension() != ".ir" || entry.path().parent_path().filename() == "parse") {
            continue;
        }
        std::ifstream stream(entry.path());
        std::string text(std::istreambuf_iterator<char>(stream), {});
        text.resize(std::min(text.size(), text.find("# ---- expected")));
        Diagnostics diagnostics;
        Module first, second;
        ASSERT_TRUE(parse(text, entry.path().string(), first, diagnostics))
            << render(diagnostics, first.sources);
        const std::string printed = print(first);
        ASSERT_TRUE(parse(printed, entry.path().string(), second, diagnostics))
            << render(diagnostics, second.sources) << printed;
        EXPECT_EQ(print(second), printed);
        EXPECT_EQ(print(clone(first)), printed);
        ++programs;
    }
    EXPECT_GT(programs, 2U);
}

TEST(Render, CountsColumnsInCharacters) {
    const std::vector<Source> sources = {{"k.py", "def f():\n    größe = x[1]\n", 10}};
    Diagnostics diagnostics;
    // ö and ß take two bytes each.
    diagnostics.error(Code::kP801, {0, 11, 15, 11, 19}, "no 'x' here").help = "define it";
    EXPECT_EQ(render(diagnostics, sources),
              "k.py:11:13: error[P801]: no 'x' here\n"
              "  11 |     größe = x[1]\n"
              "     |             ^~~~\n"
              "help: define it\n");
}

}  // namespace
}  // namespace parpy::ir
