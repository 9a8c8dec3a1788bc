// C++ identifiers for the names of a program: the user's spelling wherever C++ allows it. One
// program has the same names in every process.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dialects/dialect.h"

namespace parpy {

// `name` as an identifier: characters that C++ does not allow are replaced; keywords and names that
// compilers and preludes declare get a trailing underscore.
[[nodiscard]] std::string c_identifier(std::string_view name);

// Identifiers of variables while a function is printed. Scopes nest as blocks do; a name always
// differs from the visible ones, so nothing is shadowed.
class ScopedNames {
public:
    // `taken`: functions and other names of the whole program.
    // `written`: the words of the user's text. A name that is not one of them was made by numbering
    // (`i_1` for the second loop over `i`); its number is not printed where that is free.
    ScopedNames(const Dialect& dialect, const std::unordered_set<std::string>& taken,
                const std::unordered_set<std::string>& written);

    void push() { scopes_.emplace_back(); }
    void pop();

    // Gives `var` a name in the innermost scope and returns it.
    const std::string& declare(const ir::Var* var);
    // A fresh name that belongs to no variable.
    std::string invent(std::string_view wish);
    [[nodiscard]] const std::string& of(const ir::Var* var) const;
    [[nodiscard]] bool declared(const ir::Var* var) const { return names_.contains(var); }

private:
    struct Undo {
        const ir::Var* var;
        std::string before;  // the name it had outside this scope; empty: none
    };
    struct Scope {
        std::vector<std::string> names;
        std::vector<Undo> undo;
        std::vector<std::pair<std::string, int>> next;  // of next_, as it was
    };
    const std::unordered_set<std::string>& written_;
    std::unordered_set<std::string> used_;
    std::unordered_map<std::string, int> next_;  // all smaller suffixes of the name are in use
    std::unordered_map<const ir::Var*, std::string> names_;
    std::vector<Scope> scopes_;
};

}  // namespace parpy
