// Text of users stays inside of its comment or string, and escapes can be undone.
#include "support/escape.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace parpy {
namespace {

using namespace std::string_literals;

TEST(Escape, OrdinaryTextStaysAsItIs) {
    for (const std::string text :
         {"", "x[i] = 'a\\n' % \"b\"", "größe = π  # 🙂", "a\tb", "a??b"}) {
        EXPECT_EQ(one_line(text), text);
    }
    EXPECT_EQ(string_literal("größe 🙂"), "\"größe 🙂\"");
    EXPECT_EQ(string_literal("a\"b\\c\n"), R"("a\"b\\c\n")");
}

TEST(Escape, WhatEndsALineIsWritten) {
    EXPECT_EQ(one_line("a\nb\rc"), "a\\nb\\rc");
    EXPECT_EQ(one_line("a\0b\x1b\x7f"s), "a\\x00b\\x1b\\x7f");
    EXPECT_EQ(one_line("a\u0085b\u2028c\u202e"), "a\\x85b\\u2028c\\u202e");
    EXPECT_EQ(one_line("a\xff\xc3 \xe2\x80"), "a\\xff\\xc3 \\xe2\\x80");  // not valid UTF-8
    EXPECT_EQ(one_line("a\xc0\x8a\xed\xa0\x80"), "a\\xc0\\x8a\\xed\\xa0\\x80");
    EXPECT_EQ(one_line("a\\"), "a\\x5c");
    EXPECT_EQ(one_line("a\\ \t"), "a\\x5c \t");
    EXPECT_EQ(one_line("a?"
                       "?/"),
              "a?"
              "?\\x2f");
    EXPECT_EQ(one_line("a?"
                       "?/ b\\c"),
              "a?"
              "?/ b\\c");
}

TEST(Escape, LiteralsComeBack) {
    std::string every;
    for (int c = 0; c < 256; ++c)
        every += static_cast<char>(c);
    for (const std::string& text :
         {every, ""s,
          "?"
          "?/\n"s,
          "a\\"s, "\\\"\"\\"s, "\0001"s, "\u20281\u2029"s, "?\?=?\?/\"(*"s}) {
        const std::string literal = string_literal(text);
        EXPECT_EQ(one_line(literal), literal);
        EXPECT_EQ(literal.find("?"
                               "?"),
                  std::string::npos);
        const auto read = read_string_literal(literal + "\" tail");
        ASSERT_TRUE(read.has_value()) << literal;
        EXPECT_EQ(read->value, text);
        EXPECT_EQ(read->length, literal.size());
    }
    for (const std::string_view broken : {"", "a", "\"", "\"a", "\"a\n\"", "\"a\\", "\"a\\\n\""})
        EXPECT_FALSE(read_string_literal(broken).has_value()) << broken;
}

TEST(Escape, LabelsComeBackFromTheTextOfPrograms) {
    for (const std::string& label : {"a\0b"s, "a\nb"s, "a\r\"b\\"s, "\u2028"s, "\xff"s}) {
        ir::Module module;
        ir::Builder b(module);
        ir::Function* f = module.make_function("f", ir::FunctionKind::kEntry);
        f->result = ir::Type::none();
        ir::Stmt* loop = b.loop(b.scalar("i", ir::Scalar::kI64), b.integer(0), b.integer(3), {});
        loop->labels = {label};
        f->body = {loop};
        const std::string text = ir::print(module);
        Diagnostics diagnostics;
        ir::Module again;
        ASSERT_TRUE(ir::parse(text, "f.ir", again, diagnostics)) << render(diagnostics, {});
        EXPECT_EQ(again.functions[0]->body[0]->labels, loop->labels);
        EXPECT_EQ(ir::print(again), text);
    }
}

}  // namespace
}  // namespace parpy
