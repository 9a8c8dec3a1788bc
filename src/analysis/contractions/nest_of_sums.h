// A nest that adds products to sums, as its text has it: the loops around the steps, the ranges of
// steps, the statements between them. What the loops are to the factors is left to others.
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

    // False where `top` is no such nest.
    bool read();
    std::string reason;  // why
    int progress = 0;    // how many questions were answered well before that; 0: nothing like it

    // The expression as it may be evaluated anywhere in the nest, given the loops' variables:
    // scalars that the nest computes from these are replaced. Null where that cannot be.
    [[nodiscard]] ir::Expr* plain(const ir::Expr& e);
    [[nodiscard]] bool same_bounds(const ir::For& a, const ir::For& b,
                                   const ir::Substitution& to_b);

    // A level above the steps: what stands in front of and behind the loop inside.
    struct Level {
        ir::For* loop = nullptr;
        ir::Body before, behind;
    };
    // Loops directly in each other down to statements that add products to one sum.
    struct Chain {
        Loops loops;                     // the outermost first
        Loops of_sums;                   // those that the element's subscripts vary with
        std::vector<ir::Expr*> indices;  // of the element
        std::vector<Product> products;
        std::vector<const ir::Expr*> stored;  // factors that read what the nest stores
        bool fused = false;
    };
    // All loops but those of steps, the outermost first.
    [[nodiscard]] Loops of_sums() const;

    ir::Var* target = nullptr;
    bool is_element = false;
    std::vector<Level> stem;
    std::vector<Chain> chains;                              // all by the variables of the first one
    std::vector<std::pair<ir::For*, ir::For*>> same_loops;  // of a chain, and of the first one
    ir::Substitution values;                                // of scalars that are replaced
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
    bool joins_alike();

    ir::Module& module_;
    ir::For& top_;
    const Judge& judge_;
    const bool deterministic_;
    std::unordered_map<const ir::Var*, int> assigned_;  // scalars, by statements
    Loops path_;                                        // to the first sum
    bool has_branch_ = false;                           // that adds products
};

}  // namespace parpy
