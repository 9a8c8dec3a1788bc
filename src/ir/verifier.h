// The checks of verify (verify.h): modules and statements in verify.cpp, expressions in
// verify_expressions.cpp.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/verify.h"

namespace parpy::ir {

class Verifier {
public:
    Verifier(const Module& module, Profile profile, Diagnostics& diagnostics)
        : module_(module), profile_(profile), diagnostics_(diagnostics) {}
    // Whether the module satisfies the rules.
    bool run();

private:
    [[nodiscard]] bool from(Profile profile) const { return profile_ >= profile; }
    void fail(Span span, const std::string& message);
    void module_rules();
    void function(const Function& f);
    void variable(const Var* var, Span span);
    static bool known(const Type& t) { return !t.is_unknown() && !t.weak; }
    void type(const Type& t, Span span, const std::string& what);
    void body(const Body& statements);
    void stmt(const Stmt& s);
    void failure(const Fail& s);
    void fetch(const Fetch& s);
    void assign(const Assign& s);
    void bind(const Bind& s);
    void store(const Store& s);
    void update(const std::optional<Op>& op, Span span, bool atomic = false);
    void loop(const For& s);
    void mapping(const For& s);
    void condition(const Expr* e, Span span);
    void result(const Return& s);
    void launch(const Launch& s);

    // verify_expressions.cpp
    bool required(const Expr* e, Span span);
    void expr(const Expr& e);
    // The rules that hold for all types.
    bool structure(const Expr& e);
    void loop_variable_read(const Expr& e);
    // `rest`: the dimensions of a row, which have no subscript.
    void element(const Var* array, const std::vector<Expr*>& indices, std::size_t count, Span span,
                 std::size_t rest = 0);
    void arguments(const Function& callee, const std::vector<Expr*>& values, Span span);
    void typing(const Expr& e);
    void constant(const Expr& e);

    const Module& module_;
    const Profile profile_;
    Diagnostics& diagnostics_;
    bool ok_ = true;
    const Function* function_ = nullptr;
    std::vector<const For*> loops_;  // enclosing ones, innermost last; null: a while loop
    std::unordered_set<const Var*> loop_variables_, assigned_;  // of the function
    std::unordered_set<const Function*> known_functions_;
    std::unordered_set<const Stmt*> seen_stmts_;
    std::unordered_set<const Expr*> seen_exprs_;
    std::unordered_map<const Var*, const Function*> owners_;
};

}  // namespace parpy::ir
