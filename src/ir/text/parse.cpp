// The parser of the IR's text form (parse.h): recursive descent, one function per construct of
// docs/reference/ir.md. Types are filled in when all functions are known. The first error ends the
// parse.
#include "ir/text/parse.h"

#include <array>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "ir/ops.h"
#include "ir/text/lexer.h"
#include "ir/text/parse_mapping.h"
#include "ir/text/spelling.h"
#include "ir/visit.h"

namespace parpy::ir {
namespace {

class Parser : MappingParser {
public:
    Parser(std::vector<Token> tokens, Module& module, Diagnostics& diagnostics)
        : MappingParser(std::move(tokens), module, diagnostics) {}

    void run() {
        if (accept("surface")) {
            surface_ = true;
            expect(Kind::kNewline, "the end of the line");
        }
        while (!failed_ && is("site")) {
            site();
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
    void site() {
        const Span start = next().span;
        if (static_cast<std::size_t>(integer()) != module_.sites.size()) {
            fail(start, "sites are numbered from 0");
        }
        expect(":");
        Site& site = module_.sites.emplace_back();
        const Token code = expect(Kind::kName, "the code of a diagnostic");
        if (const auto known = code_from_name(code.text)) {
            site.code = *known;
        } else {
            fail(code.span, "there is no diagnostic '" + std::string(code.text) + "'");
        }
        site.message = string();
        site.note = accept("note") ? string() : "";
        site.other = accept("other");
        site.help = accept("help") ? string() : "";
        site.exception = accept("raises") ? string() : "";
        site.span = line_span(start);
        expect(Kind::kNewline, "the end of the line");
    }

    // ------------------------------------------------------------ functions and variables

    void function() {
        const Span start = peek().span;
        constexpr std::array<std::string_view, 4> kKinds = {"entry", "helper", "kernel", "foreign"};
        const bool part = accept("part");
        const auto kind =
            part ? FunctionKind::kEntry
                 : word<FunctionKind>(kKinds, "'entry', 'part', 'helper', 'kernel' or 'foreign'");
        const std::string function_name = name("the name of the function");
        if (functions_.contains(function_name)) {
            fail(start, "function '" + function_name + "' is defined twice");
        }
        function_ = module_.make_function(function_name, kind, start);
        function_->part = part;
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
        if (accept("returns")) function_->result_form = string();
        while (!failed_ && accept("result")) {
            const auto number = static_cast<std::size_t>(integer());
            expect("is");
            function_->given.emplace_back(number, static_cast<std::size_t>(integer()));
        }
        if (kind != FunctionKind::kForeign) expect(":");
        function_->span = line_span(start);
        if (kind == FunctionKind::kForeign) return foreign(*function_);
        function_->body = block();
        for (const auto& [var, span] : first_use_) {
            if (!defined_.contains(var)) {
                fail(span, "the name '" + var->name + "' is not defined");
            }
        }
    }

    // Reads name [: type], which defines the variable.
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
                const auto digits = what.text.substr(std::min<std::size_t>(what.text.size(), 6));
                std::from_chars(digits.data(), digits.data() + digits.size(),
                                var->origin.dimension);
            }
        }
        var->written = accept("written");
        var->aliased = accept("aliased");
        var->wide = accept("wide");
        if (accept("limit")) var->limit = integer();
        if (accept("typical")) var->typical = integer();
        if (accept("=")) {
            var->constant = std::make_shared<Constant>(literal(var->type));
        }
    }

    // ------------------------------------------------------------ statements

    // The span of a line: from `start` to its last token, or the one that `@line:column` gives.
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

    // Reads the body of a statement whose head ends here.
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
        if (is("gpu") && (is(":", 1) || is("grid", 1))) {
            next();
            auto* s = module_.make<Gpu>();
            geometry(s->grid, s->block, s->shared_bytes);
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
        if (is("fail") && peek(1).kind == Kind::kNumber) {
            next();
            auto* s = module_.make<Fail>();
            s->site = static_cast<std::size_t>(integer());
            expect("(");
            s->values = list(")");
            return s;
        }
        if (is("print") && is("(", 1)) {
            next();
            return print();
        }
        if (is("fetch") && peek(1).kind == Kind::kNumber) {
            next();
            auto* s = module_.make<Fetch>();
            s->site = static_cast<std::size_t>(integer());
            s->var = declaration();
            expect("=");
            s->array = variable();
            return s;
        }
        const bool word_follows = peek(1).kind == Kind::kName;
        if (word_follows && accept("alloc")) {
            auto* s = module_.make<Alloc>();
            s->array = declaration();
            s->array->space = word<Space>(kSpaces, "a memory space");
            if (s->array->space == Space::kResult)
                s->array->origin = {Origin::Kind::kArgument, static_cast<std::size_t>(integer()),
                                    0};
            return s;
        }
        if (word_follows && (is("bind") || is("make") || is("hold"))) {
            auto* s = module_.make<Bind>();
            s->spare = is("hold");
            s->fresh = s->spare || is("make");
            next();
            s->array = declaration();
            expect("=");
            s->value = expression();
            return s;
        }
        if (word_follows && accept("barrier")) {
            auto* s = module_.make<Barrier>();
            constexpr std::array<std::string_view, 9> kScopes = {
                "warp",          "block",  "grid",  "device", "block_memory",
                "system_memory", "stream", "group", "copies"};
            s->scope = word<BarrierScope>(kScopes, "the scope of a barrier");
            if (s->scope == BarrierScope::kCopies) s->pending = integer();
            return s;
        }
        if (word_follows && accept("launch")) {
            return launch();
        }
        if (is("copy") && peek(1).kind == Kind::kNumber) {
            next();
            const std::int64_t elements = integer();
            Stmt* s = assignment();
            if (s != nullptr && s->as<Store>() != nullptr) s->as<Store>()->copied = elements;
            return s;
        }
        for (const auto& [word, flag] :
             {std::pair("atomic", &Store::atomic), std::pair("exact", &Store::exact)}) {
            if (!word_follows || !accept(word)) continue;
            Stmt* s = assignment();
            if (s != nullptr && s->as<Store>() != nullptr) s->as<Store>()->*flag = true;
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
        if (accept("disjoint")) {
            expect("(");
            do {
                s->disjoint.push_back(variable());
            } while (accept(","));
            expect(")");
        }
        if (accept("cost")) {
            expect("(");
            s->cost = expression();
            expect(")");
        }
        s->noted = noted();
        s->body = suite(*s, start);
        return s;
    }

    // The type of a bound that the text omits is the type of the loop's end (see finish).
    Expr* implicit_bound(const For& loop, std::int64_t value) {
        Expr* e = make(Op::kConst, peek().span);
        e->constant = {value};
        implicit_bounds_.emplace_back(e, loop.end);
        return e;
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
                    s->cost = expression();
                } else if (item.text == "max_workers") {
                    s->max_workers = integer();
                } else {
                    fail(item.span, "a launch has no property '" + std::string(item.text) + "'");
                }
            }
            expect(")");
        }
        geometry(s->grid, s->block, s->shared_bytes);
        cluster(*s);
        s->overlapped = accept("overlapped");
        s->noted = noted();
        return s;
    }

    Stmt* print() {
        auto* s = module_.make<Print>();
        expect("(");
        s->texts.push_back(string());
        while (!failed_ && accept(",")) {
            s->values.push_back(expression());
            expect(",");
            s->texts.push_back(string());
        }
        expect(")");
        return s;
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
                if (e->op != Op::kConst && e->op != Op::kConvert && e->op != Op::kDtype &&
                    e->op != Op::kText) {
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

    Function* function_ = nullptr;
    std::unordered_map<std::string, Function*> functions_;
    std::unordered_set<const Var*> defined_;
    std::vector<std::pair<Launch*, Token>> launches_;
    std::vector<std::pair<Expr*, Expr*>> implicit_bounds_;  // a bound, the end of its loop
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
