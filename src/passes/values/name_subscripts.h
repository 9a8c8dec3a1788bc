// Computes the subscripts of an array from those of a name of it (name_forms.h), for lower_names.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "analysis/integers/intervals.h"
#include "ir/builder.h"
#include "passes/pass.h"
#include "passes/slices/slice_shapes.h"
#include "passes/values/name_forms.h"

namespace parpy {

class NameSubscripts {
public:
    // `names` may grow later.
    NameSubscripts(PassContext& context, const Intervals& intervals, const Names& names)
        : context_(context), intervals_(intervals), names_(names), b_(context.module) {}

    // The name of an array; one that names no part of another array is all of itself.
    [[nodiscard]] Name found(ir::Var& array) const;
    // The subscripts of the array for those of the name, which are written at `span`. `shapes`:
    // those of the statement.
    [[nodiscard]] std::vector<ir::Expr*> composed(ir::Var& array,
                                                  const std::vector<ir::Expr*>& indices,
                                                  Shapes& shapes, Span span);
    // The value of all elements of a name that moves dimensions; null for other loads.
    [[nodiscard]] ir::Expr* whole(const ir::Expr& load);
    // A subscript of the array, counted from the start.
    [[nodiscard]] ir::Expr* inside(ir::Expr* index, const ir::Var& array, std::size_t axis);
    // The distance in bytes between neighbours along a dimension of the name; `asked`: the place in
    // the source.
    [[nodiscard]] ir::Expr* stride(ir::Var& array, std::size_t axis, const ir::Expr& asked);
    // The address of a name for a foreign function: a row of its array, contiguous in memory.
    // Reports other names.
    [[nodiscard]] ir::Expr* pointed(ir::Expr& array, const ir::Function& callee);

private:
    std::vector<ir::Expr*> through(const std::vector<Part>& parts, const ir::Var& array,
                                   const std::vector<ir::Expr*>& indices, Shapes& shapes);
    std::vector<ir::Expr*> through_moves(const Name& name, const ir::Var& array,
                                         const std::vector<ir::Expr*>& indices, Shapes& shapes);
    std::vector<ir::Expr*> of_elements(const std::vector<Part>& parts,
                                       const std::vector<ir::Expr*>& indices);
    std::vector<ir::Expr*> reshaped(const std::vector<ir::Dim>& from,
                                    const std::vector<ir::Dim>& to,
                                    const std::vector<ir::Expr*>& indices, ir::Scalar type);
    ir::Expr* axis_of_one(const ir::Expr& index);
    void refuse(Span span, std::string message, std::string help);
    ir::Expr* place_of(const Part& part, ir::Expr* index, const ir::Var& array, std::size_t axis);
    ir::Expr* all_of(const Part& part, const ir::Dim& dim, Span span);
    ir::Expr* part_of(ir::Expr* begin, ir::Expr* length, ir::Expr* step, Span span);
    ir::Expr* slice_of(const Part& part, const Subscript& s, const ir::Dim& dim,
                       const ir::Expr& index);
    int site(const ir::Var& array, std::size_t axis);
    ir::Expr* copy(const ir::Expr* expr);

    PassContext& context_;
    const Intervals& intervals_;
    const Names& names_;
    ir::Builder b_;
    std::map<std::pair<const ir::Var*, std::size_t>, int> sites_;
};

}  // namespace parpy
