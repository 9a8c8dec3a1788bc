// The parser of the IR's text form (parse.h): recursive descent, one function per construct of
// docs/ir.md. Types are filled in when all functions are known. The first error ends the parse.
#include "ir/parse.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ir/eval_ops.h"
#include "ir/lexer.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy::ir {
namespace {

using Kind = Token::Kind;

class Parser {
public:
    Parser(std::vector<Token> tokens, Module& module, Diagnostics& diagnostics)
        : tokens_(std::move(tokens)), module_(module), diagnostics_(diagnostics) {}

    void run() {
        if (accept("surface")) {
            surface_ = true;
            expect(Kind::kNewline, "the end of the line");
        }
        while (!failed_ && peek().kind != Kind::kEnd) {
            function();
        }
        resolve_calls();
        if (!failed_) {
            finish();
        }
    }

private:
    // ------------------------------------------------------------ tokens

    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }

    [[nodiscard]] bool is(std::string_view text, std::size_t ahead = 0) const {
        const Token& token = peek(ahead);
        return (token.kind == Kind::kName || token.kind == Kind::kSymbol) && token.text == text;
    }

    const Token& next() {
        const Token& token = peek();
        at_ = std::min(at_ + 1, tokens_.size() - 1);
        return token;
    }

    bool accept(std::string_view text) {
        if (!is(text)) {
            return false;
        }
        next();
        return true;
    }

    void fail(const Span& span, const std::string& message) {
        if (!failed_) {
            diagnostics_.error(Code::kP801, span, message);
        }
        failed_ = true;
        at_ = tokens_.size() - 1;  // kEnd: every loop below stops there
    }

    void expect(std::string_view text) {
        if (!accept(text)) {
            unexpected("'" + std::string(text) + "'");
        }
    }

    Token expect(Kind kind, const std::string& what) {
        if (peek().kind != kind) {
            unexpected(what);
        }
        return next();
    }

    void unexpected(const std::string& wanted) {
        const Token& token = peek();
        const std::string found = token.kind == Kind::kNewline  ? "the end of the line"
                                  : token.kind == Kind::kIndent ? "a deeper indentation"
                                  : token.kind == Kind::kDedent || token.kind == Kind::kEnd
                                      ? "the end of the block"
                                      : "'" + std::string(token.text) + "'";
        fail(token.span, "expected " + wanted + " but found " + found);
    }

    std::string name(const std::string& what) {
        return std::string(expect(Kind::kName, what).text);
    }

    std::int64_t integer() {
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

    // One of a fixed set of words, as its index.
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

    // ------------------------------------------------------------ functions and variables

    void function() {
        const Span start = peek().span;
        constexpr std::array<std::string_view, 3> kKinds = {"entry", "helper", "kernel"};
        const auto kind = word<FunctionKind>(kKinds, "'entry', 'helper' or 'kernel'");
        const std::string function_name = name("the name of the function");
        if (functions_.contains(function_name)) {
            fail(start, "function '" + function_name + "' is defined twice");
        }
        function_ = module_.make_function(function_name, kind, start);
        functions_.emplace(function_name, function_);
        if (kind == FunctionKind::kEntry) {
            module_.entry = module_.functions.size() - 1;
        }
        variables_.clear();
        defined_.clear();
        first_use_.clear();
        expect("(");
        while (!failed_ && !is(")")) {
            parameter();
            if (!accept(",")) {
                break;
            }
        }
        expect(")");
        if (accept("->")) {
            function_->result = accept("void") ? Type::none() : scalar_type();
        }
        expect(":");
        function_->span = line_span(start);
        function_->body = block();
        for (const auto& [var, span] : first_use_) {
            if (!defined_.contains(var)) {
                fail(span, "the name '" + var->name + "' is not defined");
            }
        }
    }

    Var* variable(const Token& token) {
        auto [entry, is_new] = variables_.try_emplace(std::string(token.text));
        if (is_new) {
            entry->second = module_.make_var(std::string(token.text), Type::unknown(), token.span);
            first_use_.emplace_back(entry->second, token.span);
        }
        return entry->second;
    }

    Var* variable() { return variable(expect(Kind::kName, "the name of a variable")); }

    // name [: type], which defines the variable.
    Var* declaration() {
        Var* var = variable();
        defined_.insert(var);
        if (accept(":")) {
            type_of(*var);
        }
        return var;
    }

    void parameter() {
        Var* var = declaration();
        function_->params.push_back(var);
        if (accept("@")) {
            var->origin.kind = Origin::Kind::kArgument;
            var->origin.argument = static_cast<std::size_t>(integer());
            if (accept(".")) {
                const Token what = expect(Kind::kName, "'extent' or 'stride'");
                const bool extent = what.text.starts_with("extent");
                if (!extent && !what.text.starts_with("stride")) {
                    fail(what.span, "expected 'extent' or 'stride' with a dimension");
                }
                var->origin.kind = extent ? Origin::Kind::kExtent : Origin::Kind::kStride;
                const std::string_view digits =
                    what.text.substr(std::min<std::size_t>(what.text.size(), 6));
                std::from_chars(digits.data(), digits.data() + digits.size(),
                                var->origin.dimension);
            }
        }
        var->written = accept("written");
        var->aliased = accept("aliased");
        if (accept("=")) {
            var->constant = std::make_shared<Constant>(literal(var->type));
        }
    }

    Type scalar_type() {
        const Token token = expect(Kind::kName, "a type");
        if (token.text == "int") {
            return Type::weak_of(Scalar::kI64);
        }
        if (token.text == "float") {
            return Type::weak_of(Scalar::kF64);
        }
        if (token.text == "complex") {
            return Type::weak_of(Scalar::kC128);
        }
        const auto scalar = scalar_from_name(token.text);
        if (!scalar) {
            fail(token.span, "'" + std::string(token.text) + "' is no type");
        }
        return Type::of(scalar.value_or(Scalar::kI64));
    }

    void type_of(Var& var) {
        var.type = scalar_type();
        if (!accept("[")) {
            return;
        }
        int rank = 0;
        while (!failed_ && !is("]") && !is(";")) {
            if (!accept(":")) {
                Dim& dim = var.dims.emplace_back();
                size(dim.extent, dim.extent_var);
            }
            ++rank;
            if (!accept(",")) {
                break;
            }
        }
        if (accept(";")) {
            for (Dim& dim : var.dims) {
                size(dim.stride, dim.stride_var);
                accept(",");
            }
        } else {
            contiguous_strides(var);
        }
        expect("]");
        var.type = Type::array(var.type.scalar, rank);
    }

    void size(std::optional<std::int64_t>& constant, Var*& var) {
        if (peek().kind == Kind::kName) {
            var = variable();
        } else {
            constant = integer();
        }
    }

    void contiguous_strides(Var& var) {
        std::int64_t stride = 1;
        for (std::size_t i = var.dims.size(); i-- > 0;) {
            var.dims[i].stride = stride;
            if (i > 0 && !var.dims[i].extent) {
                fail(peek().span, "strides of array '" + var.name +
                                      "' are needed: an inner extent is not constant");
            }
            stride *= var.dims[i].extent.value_or(1);
        }
    }

    // ------------------------------------------------------------ statements

    // The span of a line: from `start` to its last token, or what `@line:column` says.
    Span line_span(const Span& start) {
        Span span = start;
        const Span& last = tokens_[at_ == 0 ? 0 : at_ - 1].span;
        span.end_line = last.end_line;
        span.end_column = last.end_column;
        if (accept("@")) {
            span = {1, static_cast<std::uint32_t>(integer()), 0, 0, 0};
            expect(":");
            span.column = static_cast<std::uint32_t>(integer());
            span.end_line = span.line;
            span.end_column = span.column + 1;
        }
        return span;
    }

    void end_of_line(Stmt& stmt, const Span& start) {
        stmt.span = line_span(start);
        if (stmt.span.source == 1) {
            for_each_slot(stmt, [&](Expr* slot) {
                for_each_expr(*slot, [&](Expr& e) { e.span = stmt.span; });
            });
        }
        expect(Kind::kNewline, "the end of the line");
    }

    Body block() {
        expect(Kind::kNewline, "the end of the line");
        expect(Kind::kIndent, "an indented block");
        Body body;
        while (!failed_ && peek().kind != Kind::kDedent) {
            statement(body);
        }
        next();
        return body;
    }

    // The body of a statement whose head ends here.
    Body suite(Stmt& stmt, const Span& start) {
        expect(":");
        stmt.span = line_span(start);
        if (++depth_ > kMaxDepth) {
            fail(start, "statements are nested too deeply");
        }
        Body body = block();
        --depth_;
        return body;
    }

    void statement(Body& out) {
        std::vector<std::string> labels;
        while (is("label") && peek(1).kind == Kind::kString) {
            next();
            labels.push_back(string());
            expect(Kind::kNewline, "the end of the line");
        }
        if (is("pass") && peek(1).kind == Kind::kNewline) {
            next();
            next();
            return;
        }
        const bool names_variable = peek(1).kind == Kind::kName && peek(2).kind != Kind::kSymbol;
        if ((is("var") || is("const")) && (names_variable || is(":", 2) || is("=", 2))) {
            var_line();
            return;
        }
        Stmt* stmt = statement_proper();
        if (stmt != nullptr) {
            stmt->labels = std::move(labels);
            out.push_back(stmt);
        }
    }

    void var_line() {
        const bool constant = next().text == "const";
        Var* var = declaration();
        if (constant) {
            expect("=");
            var->constant = std::make_shared<Constant>(literal(var->type));
        }
        expect(Kind::kNewline, "the end of the line");
    }

    Stmt* statement_proper() {
        const Span start = peek().span;
        if (accept("for")) {
            return loop(start);
        }
        if (accept("while")) {
            auto* s = module_.make<While>();
            s->condition = expression();
            s->body = suite(*s, start);
            return s;
        }
        if (accept("if")) {
            return conditional(start);
        }
        if (is("gpu") && is(":", 1)) {
            next();
            auto* s = module_.make<Gpu>();
            s->body = suite(*s, start);
            return s;
        }
        Stmt* s = simple_statement();
        if (s != nullptr) {
            end_of_line(*s, start);
        }
        return s;
    }

    Stmt* simple_statement() {
        if (accept("break")) {
            return module_.make<Break>();
        }
        if (accept("continue")) {
            return module_.make<Continue>();
        }
        if (accept("return")) {
            auto* s = module_.make<Return>();
            if (peek().kind != Kind::kNewline && !is("@")) {
                s->value = expression();
            }
            return s;
        }
        if (accept("assert")) {
            auto* s = module_.make<Assert>();
            s->condition = expression();
            if (accept(",")) {
                s->message = string();
            }
            return s;
        }
        const bool word_follows = peek(1).kind == Kind::kName;
        if (word_follows && accept("alloc")) {
            auto* s = module_.make<Alloc>();
            s->array = declaration();
            constexpr std::array<std::string_view, 4> kSpaces = {"global", "local", "shared",
                                                                 "scratch"};
            s->array->space = word<Space>(kSpaces, "a memory space");
            return s;
        }
        if (word_follows && accept("barrier")) {
            auto* s = module_.make<Barrier>();
            constexpr std::array<std::string_view, 4> kScopes = {"warp", "block", "grid", "device"};
            s->scope = word<BarrierScope>(kScopes, "'warp', 'block', 'grid' or 'device'");
            return s;
        }
        if (word_follows && accept("launch")) {
            return launch();
        }
        if (word_follows && accept("atomic")) {
            Stmt* s = assignment();
            if (s != nullptr && s->as<Store>() != nullptr) {
                s->as<Store>()->atomic = true;
            }
            return s;
        }
        return assignment();
    }

    // The operator of `+=`, `min=`, …; nothing for `=`. Consumes the symbol.
    std::optional<Op> update_operator() {
        const Token token = expect(Kind::kSymbol, "an assignment");
        if (token.text == "=") {
            return std::nullopt;
        }
        const auto op = token.text.ends_with('=')
                            ? op_from_text(token.text.substr(0, token.text.size() - 1))
                            : std::nullopt;
        if (!op || !is_update(*op)) {
            fail(token.span, "expected an assignment but found '" + std::string(token.text) + "'");
        }
        return op;
    }

    Stmt* assignment() {
        if (peek().kind == Kind::kName && is(":", 1)) {
            auto* s = module_.make<Assign>();
            s->var = declaration();
            expect("=");
            s->value = expression();
            return s;
        }
        const Span start = peek().span;
        Expr* target = expression();
        if (failed_) {
            return nullptr;
        }
        if (peek().kind == Kind::kNewline || is("@")) {
            auto* s = module_.make<Evaluate>();
            s->value = target;
            return s;
        }
        const std::optional<Op> update = update_operator();
        if (target->op == Op::kVar) {
            auto* s = module_.make<Assign>();
            s->var = target->var;
            s->update = update;
            s->value = expression();
            defined_.insert(s->var);
            return s;
        }
        if (target->op != Op::kLoad) {
            fail(start, "only a variable or an element of an array can be assigned");
            return nullptr;
        }
        auto* s = module_.make<Store>();
        s->array = target->var;
        s->indices = std::move(target->operands);
        s->update = update;
        s->value = expression();
        return s;
    }

    Stmt* conditional(const Span& start) {
        auto* s = module_.make<If>();
        s->condition = expression();
        s->then_body = suite(*s, start);
        const Span other = peek().span;
        if (accept("elif")) {
            s->else_body = {conditional(other)};
        } else if (accept("else")) {
            expect(":");
            s->else_body = block();
        }
        return s;
    }

    Stmt* loop(const Span& start) {
        auto* s = module_.make<For>();
        s->var = declaration();
        expect("in");
        expect("range");
        expect("(");
        s->end = expression();
        if (accept(",")) {
            s->begin = s->end;
            s->end = expression();
        }
        if (accept(",")) {
            s->step = expression();
        }
        expect(")");
        if (s->begin == nullptr) {
            s->begin = implicit_bound(*s, 0);
        }
        if (s->step == nullptr) {
            s->step = implicit_bound(*s, 1);
        }
        if (accept("par")) {
            mapping(s->mapping);
        }
        if (accept("reducing")) {
            reductions(s->mapping);
        }
        s->body = suite(*s, start);
        return s;
    }

    // A bound that the text leaves out has the type of the loop's end (see finish).
    Expr* implicit_bound(const For& loop, std::int64_t value) {
        Expr* e = make(Op::kConst, peek().span);
        e->constant = {value};
        implicit_bounds_.emplace_back(e, loop.end);
        return e;
    }

    void mapping(LoopMapping& m) {
        expect("(");
        while (!failed_ && !is(")")) {
            const Token item = expect(Kind::kName, "a property of the loop");
            if (item.text == "reduce") {
                m.reduce = true;
            } else {
                expect("=");
                if (item.text == "threads") {
                    m.threads = integer();
                } else if (item.text == "tpb") {
                    m.threads_per_block = integer();
                } else if (item.text == "blocks") {
                    m.blocks = integer();
                } else if (item.text == "level") {
                    constexpr std::array<std::string_view, 5> kLevels = {
                        "sequential", "blocks", "threads", "workers", "vector"};
                    m.level = word<Level>(kLevels, "a level");
                } else {
                    fail(item.span, "a loop has no property '" + std::string(item.text) + "'");
                }
            }
            if (!accept(",")) {
                break;
            }
        }
        expect(")");
    }

    void reductions(LoopMapping& m) {
        expect("(");
        while (!failed_ && !is(")")) {
            const Token token = next();
            const auto op = op_from_text(token.text);
            if (!op || !is_update(*op)) {
                fail(token.span,
                     "expected an operator but found '" + std::string(token.text) + "'");
                return;
            }
            Reduction& reduction = m.reductions.emplace_back();
            reduction.op = *op;
            reduction.var = variable();
            if (accept("[")) {
                reduction.indices = list("]");
            }
            if (!accept(",")) {
                break;
            }
        }
        expect(")");
    }

    Stmt* launch() {
        auto* s = module_.make<Launch>();
        const Token kernel = expect(Kind::kName, "the name of a kernel");
        launches_.emplace_back(s, kernel);
        expect("(");
        s->arguments = list(")");
        if (accept("over")) {
            expect("(");
            s->iterations = expression();
            while (!failed_ && accept(",")) {
                const Token item = expect(Kind::kName, "'chunks', 'cost' or 'max_workers'");
                expect("=");
                if (item.text == "chunks") {
                    s->chunks = declaration();
                    s->chunks->type = Type::of(Scalar::kI64);
                } else if (item.text == "cost") {
                    s->cost = std::get<double>(literal(Type::of(Scalar::kF64)).value);
                } else if (item.text == "max_workers") {
                    s->max_workers = integer();
                } else {
                    fail(item.span, "a launch has no property '" + std::string(item.text) + "'");
                }
            }
            expect(")");
        }
        if (accept("grid")) {
            expect("(");
            const std::vector<Expr*> extents = list(")");
            for (std::size_t i = 0; i < std::min<std::size_t>(3, extents.size()); ++i) {
                s->grid[i] = extents[i];
            }
        }
        if (accept("block")) {
            expect("(");
            for (std::int64_t& extent : s->block) {
                extent = integer();
                accept(",");
            }
            expect(")");
        }
        if (accept("shared")) {
            expect("(");
            s->shared_bytes = integer();
            expect(")");
        }
        return s;
    }

    // ------------------------------------------------------------ expressions

    Expr* make(Op op, const Span& span, std::vector<Expr*> operands = {}) {
        return module_.make_expr(op, Type::unknown(), span, std::move(operands));
    }

    // From `start` to the token before the next one.
    [[nodiscard]] Span span_since(const Span& start) const {
        Span span = start;
        const Span& last = tokens_[at_ == 0 ? 0 : at_ - 1].span;
        span.end_line = last.end_line;
        span.end_column = last.end_column;
        return span;
    }

    Expr* expression() {
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

    // Binary operators by level, weakest first; `not` and comparisons have their own rules.
    static constexpr std::size_t kNotLevel = 2;
    static constexpr std::size_t kComparisonLevel = 3;
    static constexpr std::size_t kUnaryLevel = 10;

    [[nodiscard]] std::optional<Op> infix_at(std::size_t level) const {
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

    Expr* binary(std::size_t level) {
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

    Expr* unary() {
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

    Expr* power() {
        const Span start = peek().span;
        Expr* base = primary();
        if (accept("**")) {
            Expr* exponent = unary();
            return make(Op::kPow, span_since(start), {base, exponent});
        }
        return base;
    }

    // f64.inf, float.nan, …
    [[nodiscard]] bool starts_special_float(std::size_t ahead) const {
        return peek(ahead).kind == Kind::kName && is(".", ahead + 1) &&
               (is("inf", ahead + 2) || is("nan", ahead + 2));
    }

    [[nodiscard]] bool starts_literal() const {
        const std::size_t sign = is("-") ? 1 : 0;
        return peek(sign).kind == Kind::kNumber || starts_special_float(sign) || is("True") ||
               is("False") || (peek().kind == Kind::kName && is("{", 1));
    }

    Expr* constant() {
        const Span start = peek().span;
        Type type;
        Constant value = literal_and_type(type);
        Expr* e = make(Op::kConst, span_since(start));
        e->type = type;
        e->constant = std::move(value);
        return e;
    }

    // A literal as a value of `type`.
    Constant literal(const Type& type) {
        Type own;
        const Constant value = literal_and_type(own);
        return type.is_scalar() ? convert_constant(value, own.scalar, type.scalar) : value;
    }

    Type default_type(Scalar scalar) const {
        return surface_ ? Type::weak_of(scalar) : Type::of(scalar);
    }

    Constant literal_and_type(Type& type) {
        if (is("True") || is("False")) {
            type = Type::of(Scalar::kBool);
            return {next().text == "True"};
        }
        if (is("{", 1)) {
            type = scalar_type();
            expect("{");
            const double real = number_as_double();
            expect(",");
            const double imaginary = number_as_double();
            expect("}");
            return {std::complex<double>(real, imaginary)};
        }
        const bool negative = accept("-");
        if (starts_special_float(0)) {
            type = scalar_type();
            next();
            const bool nan = next().text == "nan";
            const double value = nan ? std::numeric_limits<double>::quiet_NaN()
                                     : std::numeric_limits<double>::infinity();
            return {negative ? -value : value};
        }
        return number(negative, type);
    }

    double number_as_double() {
        Type type;
        const Constant value = literal_and_type(type);
        return std::get<double>(
            convert_constant(value, type.is_scalar() ? type.scalar : Scalar::kI64, Scalar::kF64)
                .value);
    }

    Constant number(bool negative, Type& type) {
        const Token token = expect(Kind::kNumber, "a number");
        std::size_t length = token.text.find_first_not_of("0123456789.");
        length = std::min(length, token.text.size());
        if (length < token.text.size() && token.text[length] == 'e') {
            const std::size_t exponent = token.text.find_first_not_of("0123456789", length + 2);
            length = std::min(exponent, token.text.size());
        }
        const std::string digits(token.text.substr(0, length));
        const std::string_view suffix = token.text.substr(length);
        const bool is_real = digits.find_first_of(".e") != std::string::npos;
        type = default_type(is_real ? Scalar::kF64 : Scalar::kI64);
        if (!suffix.empty()) {
            const auto scalar = scalar_from_name(suffix);
            if (scalar) {
                type = Type::of(*scalar);
            } else if (suffix == "int" || suffix == "float") {
                type = Type::weak_of(suffix == "int" ? Scalar::kI64 : Scalar::kF64);
            } else {
                fail(token.span, "'" + std::string(suffix) + "' is no type");
            }
        }
        if (is_real || !is_integer(type.scalar)) {
            const double value = std::strtod(digits.c_str(), nullptr);
            return convert_constant(Constant{negative ? -value : value}, Scalar::kF64, type.scalar);
        }
        std::uint64_t magnitude = 0;
        const auto error =
            std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec;
        if (error != std::errc()) {
            fail(token.span, "the integer does not fit 64 bits");
        }
        return {static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude)};
    }

    std::string string() {
        const Token token = expect(Kind::kString, "a string");
        std::string out;
        for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
            char c = token.text[i];
            if (c == '\\' && i + 2 < token.text.size()) {
                c = token.text[++i];
                c = c == 'n' ? '\n' : c;
            }
            out += c;
        }
        return out;
    }

    std::vector<Expr*> list(std::string_view close) {
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

    Expr* primary() {
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
        if (token.text == "call" && peek().kind == Kind::kName) {
            return call(next(), start);
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
            std::vector<Expr*> indices = list("]");
            Expr* e = of_variable(Op::kLoad, var, start);
            e->operands = std::move(indices);
            return e;
        }
        if (is(".") && is("shape", 1)) {
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
            e->constant = demanded;
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

    Expr* of_variable(Op op, Var* var, const Span& start) {
        Expr* e = make(op, span_since(start));
        e->var = var;
        return e;
    }

    Expr* hardware_register(const Token& token) {
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

    Expr* call(const Token& callee, const Span& start) {
        expect("(");
        std::vector<Expr*> arguments = list(")");
        Expr* e = make(Op::kCall, span_since(start), std::move(arguments));
        calls_.emplace_back(e, callee);
        return e;
    }

    // name(…): a conversion, an operator of ops.def or a call.
    Expr* operation(const Token& token, const Span& start) {
        if (const auto scalar = scalar_from_name(token.text)) {
            expect("(");
            Expr* e = make(Op::kConvert, start, list(")"));
            e->span = span_since(start);
            e->type = Type::of(*scalar);
            return e;
        }
        if (token.text == "atomic_add") {
            expect("(");
            Expr* e = of_variable(Op::kAtomicAdd, variable(), start);
            expect("[");
            e->operands = list("]");
            expect(",");
            e->operands.push_back(expression());
            expect(")");
            e->span = span_since(start);
            return e;
        }
        const auto op = op_from_text(token.text);
        if (!op) {
            return call(token, start);
        }
        expect("(");
        std::vector<Expr*> operands = list(")");
        Expr* e = make(*op, span_since(start), std::move(operands));
        const int wanted = arity(*op);
        if (wanted >= 0 && e->operands.size() != static_cast<std::size_t>(wanted)) {
            fail(e->span, "'" + std::string(token.text) + "' takes " + std::to_string(wanted) +
                              " operands, not " + std::to_string(e->operands.size()));
        }
        return e;
    }

    // ------------------------------------------------------------ when everything is read

    Function* find(const Token& token) {
        const auto found = functions_.find(std::string(token.text));
        if (found == functions_.end()) {
            fail(token.span, "the function '" + std::string(token.text) + "' is not defined");
            return nullptr;
        }
        return found->second;
    }

    void resolve_calls() {
        if (failed_) {
            return;
        }
        for (const auto& [e, callee] : calls_) {
            e->callee = find(callee);
        }
        for (const auto& [s, kernel] : launches_) {
            s->kernel = find(kernel);
        }
    }

    void finish() {
        for (Function* f : module_.functions) {
            rewrite(f->body, [](Expr* e) {
                if (e->op != Op::kConst && e->op != Op::kConvert) {
                    e->type = typed_result(*e);
                }
                return e;
            });
        }
        for (const auto& [bound, end] : implicit_bounds_) {
            const Type& type = end->type;
            const bool strong = type.is_scalar() && is_integer(type.scalar) && !type.weak;
            bound->type = strong ? type : Type::weak_of(Scalar::kI64);
        }
    }

    static constexpr int kMaxDepth = 400;

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    Module& module_;
    Diagnostics& diagnostics_;
    bool failed_ = false;
    bool surface_ = false;
    int depth_ = 0;
    Function* function_ = nullptr;
    std::unordered_map<std::string, Function*> functions_;
    std::unordered_map<std::string, Var*> variables_;  // of the function
    std::unordered_set<const Var*> defined_;
    std::vector<std::pair<Var*, Span>> first_use_;
    std::vector<std::pair<Expr*, Token>> calls_;
    std::vector<std::pair<Launch*, Token>> launches_;
    std::vector<std::pair<Expr*, Expr*>> implicit_bounds_;  // the bound, its loop's end
};

}  // namespace

bool parse(std::string_view text, std::string_view file_name, Module& module,
           Diagnostics& diagnostics) {
    module.sources = {{std::string(file_name), std::string(text), 1}, {"<python>", "", 1}};
    const std::size_t before = diagnostics.all().size();
    std::vector<Token> tokens = lex(text, diagnostics);
    if (diagnostics.all().size() == before) {
        Parser(std::move(tokens), module, diagnostics).run();
    }
    return diagnostics.all().size() == before;
}

}  // namespace parpy::ir
