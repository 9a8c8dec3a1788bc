// A nest that adds products to sums, read from its text: the loops around the steps, the ranges of
// steps, and the statements between them. How the loops relate to the factors is decided elsewhere.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/contractions/contractions.h"
#include "analysis/contractions/products.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/ir.h"

namespace parpy {

using Loops = std::vector<ir::For*>;

[[nodiscard]] bool varies(const ir::Expr& e, const ir::For& loop);
[[nodiscard]] bool varies(const ir::Expr& e, const Loops& loops);

class NestOfSums {
public:
    NestOfSums(ir::Module& module, ir::For& top, const Judge& judge, bool deterministic);

    // False if `top` is not such a nest.
    bool read();
    std::string reason;  // why read() returned false
    int progress = 0;    // how many tests it passed before; 0: the nest adds no products

    // The expression rewritten for evaluation anywhere in the nest, given the loops' variables:
    // scalars that the nest computes from these are replaced. Null if that is impossible.
    [[nodiscard]] ir::Expr* plain(const ir::Expr& e);
    [[nodiscard]] bool same_bounds(const ir::For& a, const ir::For& b,
                                   const ir::Substitution& to_b);

    // A level above the steps: the code before and after the loop inside.
    struct Level {
        ir::For* loop = nullptr;
        ir::Body before, behind;
    };
    // Loops directly in each other down to statements that add products to one sum.
    struct Chain {
        Loops loops;                     // the outermost first
        Loops of_sums;                   // the loops that the element's subscripts vary with
        std::vector<ir::Expr*> indices;  // of the element
        std::vector<Product> products;
        std::vector<const ir::Expr*> stored;  // factors that read memory that the nest stores
        Algebra algebra;
        ir::Expr* condition = nullptr;  // of all additions; null: none
        bool fused = false;
    };
    // All loops except the steps, the outermost first.
    [[nodiscard]] Loops of_sums() const;

    ir::Var* target = nullptr;
    bool is_element = false;
    std::vector<Level> stem;
    std::vector<Chain> chains;                              // all use the first one's variables
    std::vector<std::pair<ir::For*, ir::For*>> same_loops;  // later chain's, first chain's
    ir::Substitution values;                                // replaced scalars
    const Uses uses;                                        // of the nest

private:
    bool fail(std::string why);
    [[nodiscard]] bool is_free(const ir::Expr& e) const { return is_free(e, uses.stored); }
    [[nodiscard]] bool is_free(const ir::Expr& e, const VarSet& stored) const;
    bool replaces(const ir::Stmt& stmt);
    bool find_sum(ir::Body& body, Loops& around);
    bool walk_stem();
    [[nodiscard]] bool begins_sum(const ir::Body& body, std::size_t level) const;
    [[nodiscard]] bool sum_varies_with(const ir::For& loop);
    bool read_chains();
    [[nodiscard]] bool adds_to_sum(ir::For& loop) const;
    bool read_chain(ir::For& loop);
    bool add(ir::Stmt& stmt, Chain& chain);
    bool add_under(ir::If& branch, Chain& chain);
    bool joins_alike();

    ir::Module& module_;
    ir::For& top_;
    const Judge& judge_;
    const bool deterministic_;
    std::unordered_map<const ir::Var*, int> assigned_;  // number of assignments of each scalar
    Loops path_;                                        // the loops around the first sum
    bool has_branch_ = false;                           // a branch adds products
};

}  // namespace parpy
