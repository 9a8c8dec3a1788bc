// The lower half of the IR's parser: tokens and expressions (parse_expr.cpp), types and literals
// (parse_types.cpp). parse.cpp derives from it for statements and functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "ir/text/lexer.h"

namespace parpy::ir {

class ExprParser {
protected:
    using Kind = Token::Kind;

    ExprParser(std::vector<Token> tokens, Module& module, Diagnostics& diagnostics)
        : tokens_(std::move(tokens)), module_(module), diagnostics_(diagnostics) {}

    // ------------------------------------------------------------ tokens
    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
    [[nodiscard]] bool is(std::string_view text, std::size_t ahead = 0) const;  // the next token
    const Token& next();
    bool accept(std::string_view text);  // consumes it if it is next
    void expect(std::string_view text);
    Token expect(Kind kind, const std::string& what);
    void unexpected(const std::string& wanted);
    // Reports the first error; after it every loop of the parser sees the end of the text.
    void fail(const Span& span, const std::string& message);
    // The span from `start` to the last token that was read.
    [[nodiscard]] Span span_since(const Span& start) const;

    std::string name(const std::string& what);
    std::int64_t integer();
    std::string string();
    // Reads one of a fixed set of words; returns its index.
    template <class E, std::size_t N>
    E word(const std::array<std::string_view, N>& words, const std::string& what) {
        for (std::size_t i = 0; i < N; ++i) {
            if (accept(words[i])) {
                return static_cast<E>(i);
            }
        }
        unexpected(what);
        return E{};
    }

    // ------------------------------------------------------------ variables, types, literals
    // The function's variable of that name, made at its first use.
    Var* variable(const Token& token);
    Var* variable() { return variable(expect(Kind::kName, "the name of a variable")); }
    Type scalar_type();
    void type_of(Var& var);  // with its extents and strides, which may be variables
    // A literal as a value of `type`.
    Constant literal(const Type& type);

    // ------------------------------------------------------------ expressions
    Expr* expression();
    std::vector<Expr*> list(std::string_view close);
    // Whether subscripts end in `, ...`, or are `...` alone, and so name a row.
    enum class Row : std::uint8_t { kNone, kWhole, kOpen };
    // Reads up to and including the `]`; without `row`, no row is allowed.
    std::vector<Expr*> subscripts(Row* row = nullptr);
    Expr* make(Op op, const Span& span, std::vector<Expr*> operands = {});

    static constexpr int kMaxDepth = 400;

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    Module& module_;
    Diagnostics& diagnostics_;
    bool failed_ = false;
    bool surface_ = false;
    int depth_ = 0;
    std::unordered_map<std::string, Var*> variables_;  // of the function
    std::vector<std::pair<Var*, Span>> first_use_;
    std::vector<std::pair<Expr*, Token>> calls_;  // callees are resolved at the end of the text

private:
    void size(std::optional<std::int64_t>& constant, Var*& var);
    void contiguous_strides(Var& var);

    // Binary operators by level, weakest first; `not` and comparisons have their own rules.
    static constexpr std::size_t kNotLevel = 2;
    static constexpr std::size_t kComparisonLevel = 3;
    static constexpr std::size_t kUnaryLevel = 10;
    [[nodiscard]] std::optional<Op> infix_at(std::size_t level) const;
    Expr* binary(std::size_t level);
    Expr* unary();
    Expr* power();
    Expr* primary();
    // name(…): a conversion, an operator of ops.def or a call.
    Expr* operation(const Token& token, const Span& start);
    Expr* call(const Token& callee, const Span& start);
    Type numbers();
    Expr* of_variable(Op op, Var* var, const Span& start);
    Expr* hardware_register(const Token& token);
    Expr* subscript();
    Expr* reduction(const Span& start);

    [[nodiscard]] bool starts_literal() const;
    [[nodiscard]] bool starts_special_float(std::size_t ahead) const;  // f64.inf, float.nan, …
    [[nodiscard]] Type default_type(Scalar scalar) const;
    Expr* constant();
    Constant literal_and_type(Type& type);
    Constant number(bool negative, Type& type);
    double number_as_double();
};

}  // namespace parpy::ir
