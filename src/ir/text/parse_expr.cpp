// Tokens and expressions of the IR's text form (parse_expr.h).
#include "ir/text/parse_expr.h"

#include <charconv>

#include "ir/ops.h"
#include "support/escape.h"

namespace parpy::ir {

const Token& ExprParser::peek(std::size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool ExprParser::is(std::string_view text, std::size_t ahead) const {
    const Token& token = peek(ahead);
    return (token.kind == Kind::kName || token.kind == Kind::kSymbol) && token.text == text;
}

const Token& ExprParser::next() {
    const Token& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
}

bool ExprParser::accept(std::string_view text) {
    if (!is(text)) {
        return false;
    }
    next();
    return true;
}

void ExprParser::fail(const Span& span, const std::string& message) {
    if (!failed_) {
        diagnostics_.error(Code::kP801, span, message);
    }
    failed_ = true;
    at_ = tokens_.size() - 1;  // kEnd: every loop below ends there
}

void ExprParser::expect(std::string_view text) {
    if (!accept(text)) {
        unexpected("'" + std::string(text) + "'");
    }
}

Token ExprParser::expect(Kind kind, const std::string& what) {
    if (peek().kind != kind) {
        unexpected(what);
    }
    return next();
}

void ExprParser::unexpected(const std::string& wanted) {
    const Token& token = peek();
    const std::string found = token.kind == Kind::kNewline  ? "the end of the line"
                              : token.kind == Kind::kIndent ? "a deeper indentation"
                              : token.kind == Kind::kDedent || token.kind == Kind::kEnd
                                  ? "the end of the block"
                                  : "'" + std::string(token.text) + "'";
    fail(token.span, "expected " + wanted + " but found " + found);
}

std::string ExprParser::name(const std::string& what) {
    return std::string(expect(Kind::kName, what).text);
}

std::int64_t ExprParser::integer() {
    const bool negative = accept("-");
    const Token token = expect(Kind::kNumber, "an integer");
    std::uint64_t magnitude = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, magnitude);
    if (!failed_ && (error != std::errc() || stop != end)) {
        fail(token.span, "expected an integer but found '" + std::string(token.text) + "'");
    }
    return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

Var* ExprParser::variable(const Token& token) {
    auto [entry, is_new] = variables_.try_emplace(std::string(token.text));
    if (is_new) {
        entry->second = module_.make_var(std::string(token.text), Type::unknown(), token.span);
        first_use_.emplace_back(entry->second, token.span);
    }
    return entry->second;
}

Expr* ExprParser::make(Op op, const Span& span, std::vector<Expr*> operands) {
    return module_.make_expr(op, Type::unknown(), span, std::move(operands));
}

Span ExprParser::span_since(const Span& start) const {
    Span span = start;
    const Span& last = tokens_[at_ == 0 ? 0 : at_ - 1].span;
    span.end_line = last.end_line;
    span.end_column = last.end_column;
    return span;
}

Expr* ExprParser::expression() {
    const Span start = peek().span;
    if (++depth_ > kMaxDepth) {
        fail(start, "the expression is nested too deeply");
    }
    Expr* value = binary(0);
    if (accept("if")) {
        Expr* condition = binary(0);
        expect("else");
        Expr* other = expression();
        value = make(Op::kSelect, span_since(start), {condition, value, other});
    }
    --depth_;
    return value;
}

std::optional<Op> ExprParser::infix_at(std::size_t level) const {
    static const std::array<std::vector<std::string_view>, kUnaryLevel> levels = {{
        {"or"},
        {"and"},
        {},
        {"==", "!=", "<", "<=", ">", ">="},
        {"|"},
        {"^"},
        {"&"},
        {"<<", ">>"},
        {"+", "-"},
        {"*", "/", "//", "%"},
    }};
    for (const std::string_view symbol : levels[level]) {
        if (is(symbol)) {
            return op_from_text(symbol);
        }
    }
    return std::nullopt;
}

Expr* ExprParser::binary(std::size_t level) {
    const Span start = peek().span;
    if (level == kUnaryLevel) {
        return unary();
    }
    if (level == kNotLevel) {
        if (accept("not")) {
            Expr* operand = binary(level);
            return make(Op::kNot, span_since(start), {operand});
        }
        return binary(level + 1);
    }
    Expr* left = binary(level + 1);
    while (const auto op = infix_at(level)) {
        next();
        Expr* right = binary(level + 1);
        left = make(*op, span_since(start), {left, right});
        if (level == kComparisonLevel && infix_at(level)) {
            fail(peek().span, "comparisons do not chain here: use parentheses or 'and'");
        }
    }
    return left;
}

Expr* ExprParser::unary() {
    const Span start = peek().span;
    if (is("-") && (peek(1).kind == Kind::kNumber || starts_special_float(1))) {
        return power();  // a negative literal
    }
    constexpr std::array<std::pair<std::string_view, Op>, 3> kOperators = {
        {{"-", Op::kNeg}, {"+", Op::kPos}, {"~", Op::kInvert}}};
    for (const auto& [symbol, op] : kOperators) {
        if (accept(symbol)) {
            if (++depth_ > kMaxDepth) {
                fail(start, "the expression is nested too deeply");
            }
            Expr* operand = unary();
            --depth_;
            return make(op, span_since(start), {operand});
        }
    }
    return power();
}

Expr* ExprParser::power() {
    const Span start = peek().span;
    Expr* base = primary();
    if (accept("**")) {
        Expr* exponent = unary();
        return make(Op::kPow, span_since(start), {base, exponent});
    }
    return base;
}

std::string ExprParser::string() {
    const Token token = expect(Kind::kString, "a string");
    std::optional<ReadLiteral> literal = read_string_literal(token.text);
    return literal ? std::move(literal->value) : std::string();
}

std::vector<Expr*> ExprParser::list(std::string_view close) {
    std::vector<Expr*> out;
    while (!failed_ && !is(close)) {
        out.push_back(expression());
        if (!accept(",")) {
            break;
        }
    }
    expect(close);
    return out;
}

std::vector<Expr*> ExprParser::subscripts(Row* row) {
    std::vector<Expr*> out;
    while (!failed_ && !is("]")) {
        if (row != nullptr && accept("...")) {
            *row = Row::kWhole;
            break;
        }
        out.push_back(subscript());
        if (row != nullptr && accept("...")) {
            *row = Row::kOpen;
            break;
        }
        if (!accept(",")) {
            break;
        }
    }
    expect("]");
    return out;
}

// An index, `begin:end:step` with any part absent, or None.
Expr* ExprParser::subscript() {
    const Span start = peek().span;
    if (accept("None")) {
        return make(Op::kNewAxis, start);
    }
    Expr* slice = make(Op::kSlice, start);
    const auto bound = [&](SliceBound which) {
        if (!is(":") && !is(",") && !is("]")) {
            slice->operands.push_back(expression());
            slice->index |= which;
        }
    };
    bound(kSliceBegin);
    if (!is(":") && !slice->operands.empty()) {
        return slice->operands[0];
    }
    expect(":");
    const bool counts = accept("+");
    bound(counts ? kSliceLength : kSliceEnd);
    if (accept(":")) {
        bound(kSliceStep);
    }
    slice->span = span_since(start);
    return slice;
}

// reduce(sum, operand, axis, …, keepdims)
Expr* ExprParser::reduction(const Span& start) {
    expect("(");
    const Token which = expect(Kind::kName, "a reduction");
    const auto known = slice_reduction_from_text(which.text);
    if (!known) {
        fail(which.span, "there is no reduction '" + std::string(which.text) + "'");
    }
    Expr* e = make(Op::kReduce, start);
    e->index = static_cast<int>(known.value_or(SliceReduction::kSum));
    e->constant.value = false;
    expect(",");
    e->operands.push_back(expression());
    while (!failed_ && accept(",")) {
        if (accept("keepdims")) {
            e->constant.value = true;
            break;
        }
        e->operands.push_back(expression());
    }
    expect(")");
    e->span = span_since(start);
    return e;
}

Expr* ExprParser::primary() {
    const Span start = peek().span;
    if (starts_literal()) {
        return constant();
    }
    if (accept("(")) {
        Expr* inner = expression();
        expect(")");
        return inner;
    }
    const Token token = expect(Kind::kName, "an expression");
    if (failed_) {
        return make(Op::kConst, start);
    }
    if (token.text.starts_with('$')) {
        return hardware_register(token);
    }
    if (token.text == "fn" && peek().kind == Kind::kName) {
        Expr* e = call(next(), start);
        e->op = Op::kFunction;
        if (accept("defaults")) e->index = static_cast<int>(integer());
        if (accept("lent")) e->constant.value = true;
        return e;
    }
    if ((token.text == "call" || token.text == "inline") && peek().kind == Kind::kName) {
        Expr* e = call(next(), start);
        e->index = token.text == "inline" ? kInlineCall : 0;
        return e;
    }
    if (is("(")) {
        return operation(token, start);
    }
    Var* var = variable(token);
    if (accept("[")) {
        if (accept("...")) {
            expect("]");
            return of_variable(Op::kArray, var, start);
        }
        Row row = Row::kNone;
        std::vector<Expr*> indices = subscripts(&row);
        Expr* e = of_variable(Op::kLoad, var, start);
        const std::size_t taken = indices.size() - (row == Row::kOpen ? 1 : 0);
        if (row != Row::kNone && var != nullptr && taken < var->type.rank) {
            e->type = Type::array(var->type.scalar, var->type.rank - static_cast<int>(taken));
        } else if (row != Row::kNone) {
            fail(start, "a row has fewer subscripts than its array has dimensions");
        }
        e->operands = std::move(indices);
        return e;
    }
    if (is(".") && (is("shape", 1) || is("strides", 1))) {
        const bool strides = is("strides", 1);
        next();
        next();
        expect("[");
        const auto dimension = static_cast<int>(integer());
        Constant demanded{};  // `x.shape[0 of 2]`: x must have two dimensions
        if (accept("of")) {
            demanded.value = integer();
        }
        expect("]");
        Expr* e = of_variable(Op::kExtent, var, start);
        e->index = dimension;
        e->constant = strides ? Constant{true} : demanded;
        return e;
    }
    for (const Op fact : {Op::kRank, Op::kSize}) {
        if (is(".") && is(ir::text(fact), 1)) {
            next();
            next();
            return of_variable(fact, var, start);
        }
    }
    return of_variable(Op::kVar, var, start);
}

Expr* ExprParser::of_variable(Op op, Var* var, const Span& start) {
    Expr* e = make(op, span_since(start));
    e->var = var;
    return e;
}

Expr* ExprParser::hardware_register(const Token& token) {
    std::string text(token.text.substr(1));
    if (accept(".")) {
        text += "." + name("a coordinate");
    }
    const auto reg = register_from_text(text);
    if (!reg) {
        fail(token.span, "there is no register '" + text + "'");
    }
    Expr* e = make(Op::kRegister, span_since(token.span));
    e->reg = reg.value_or(Register::kThreadX);
    return e;
}

Expr* ExprParser::call(const Token& callee, const Span& start) {
    expect("(");
    std::vector<Expr*> arguments = list(")");
    Expr* e = make(Op::kCall, span_since(start), std::move(arguments));
    calls_.emplace_back(e, callee);
    return e;
}

Type ExprParser::numbers() {
    const Token named = expect(Kind::kName, "a type of numbers");
    for (const Scalar weak : {Scalar::kI64, Scalar::kF64, Scalar::kC128}) {
        if (to_string(Type::weak_of(weak)) == named.text) return Type::weak_of(weak);
    }
    const auto scalar = scalar_from_name(named.text);
    if (!scalar) fail(named.span, "there is no type '" + std::string(named.text) + "'");
    return Type::of(scalar.value_or(Scalar::kF64));
}

Expr* ExprParser::operation(const Token& token, const Span& start) {
    if (const auto scalar = scalar_from_name(token.text)) {
        expect("(");
        Expr* e = make(Op::kConvert, start, list(")"));
        e->span = span_since(start);
        e->type = Type::of(*scalar);
        return e;
    }
    if (token.text.starts_with("atomic_")) {
        if (const auto atomic = atomic_from_text(token.text.substr(7))) {
            expect("(");
            Expr* e = of_variable(Op::kAtomic, variable(), start);
            e->index = static_cast<int>(*atomic);
            expect("[");
            e->operands = list("]");
            for (std::size_t i = 0; i < value_count(*atomic); ++i) {
                expect(",");
                e->operands.push_back(expression());
            }
            expect(")");
            e->span = span_since(start);
            return e;
        }
    }
    const auto op = op_from_text(token.text);
    if (op == Op::kReduce) {
        return reduction(start);
    }
    if (!op) {
        return call(token, start);
    }
    expect("(");
    if (*op == Op::kText || *op == Op::kNamed || *op == Op::kField) {
        Expr* e = make(*op, start);
        e->text = std::make_shared<const std::string>(string());
        if (*op != Op::kText) {
            expect(",");
            e->operands.push_back(expression());
            if (accept(",")) {
                expect("subscript");
                e->index = 1;
            }
        } else if (accept(",")) {
            e->type = numbers();
        }
        expect(")");
        e->span = span_since(start);
        return e;
    }
    if (*op == Op::kDtype) {
        const Type type = numbers();
        expect(")");
        Expr* e = make(*op, span_since(start));
        e->type = type;
        return e;
    }
    std::vector<Expr*> operands = list(")");
    Expr* e = make(*op, span_since(start), std::move(operands));
    const int wanted = arity(*op);
    if (wanted >= 0 && e->operands.size() != static_cast<std::size_t>(wanted)) {
        fail(e->span, "'" + std::string(token.text) + "' takes " + std::to_string(wanted) +
                          " operands, not " + std::to_string(e->operands.size()));
    }
    if (*op == Op::kRecord && accept("tuple")) e->index = 1;
    if (*op == Op::kMatMul && accept("dot")) e->index = kDotProduct;
    if (*op == Op::kShape && accept("strides")) e->constant = Constant{true};
    if (*op == Op::kIndex && accept("site")) e->index = static_cast<int>(integer()) + 1;
    return e;
}

}  // namespace parpy::ir
