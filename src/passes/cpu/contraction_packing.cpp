// Lays out factors in the order in which tiles read them. See contraction_code.h.
#include <algorithm>

#include "ir/visit.h"
#include "passes/cpu/contraction_code.h"

namespace parpy {

using namespace ir;

namespace {

constexpr std::int64_t kTransposed = 64;  // steps whose factors are gathered for a strip at a time

// Whether elements that a loop over `var` reads are contiguous.
bool walks(const Expr& factor, const Var* var) {
    bool any = false, side_by_side = true;
    for_each_expr(factor, [&](const Expr& e) {
        if (e.op != Op::kLoad) return;
        for (std::size_t i = 0; i < e.operands.size(); ++i) {
            const bool varies = any_expr(
                *e.operands[i], [&](const Expr& x) { return x.op == Op::kVar && x.var == var; });
            if (!varies) continue;
            any = true;
            side_by_side = side_by_side && e.var->dims[i].stride == 1;
        }
    });
    return any && side_by_side;
}

}  // namespace

// The number of the first product of an iteration among those of the part, whose inner loops have
// these variables.
Expr* ContractionCode::product_number(const Part& part, const std::vector<Var*>& variables) {
    const Segment& s = *part.segment;
    const std::vector<For*>& loops = s.steps->ranges.front().loops;
    Expr* result = number(0);
    for (std::size_t l = 0; l < variables.size(); ++l) {
        const std::size_t which = part.around.size() + l;
        Expr* at = sub(b_.var(variables[l]), l == 0 ? part.begin : bounds(*loops[which]).begin);
        result = l == 0 ? at : add(mul(result, s.trips[which]), at);
    }
    return mul(result, s.products);
}

// Stores the parts of a value at this distance.
void ContractionCode::store_parts(Var* array, Expr* at, std::int64_t apart, Expr* value,
                                  Body& out) {
    if (plan_.parts == 1) return out.push_back(b_.store(array, {copy(at)}, value));
    out.push_back(b_.store(array, {copy(at)}, b_.unary(Op::kReal, value)));
    out.push_back(b_.store(array, {add(at, apart)}, b_.unary(Op::kImag, copy(value))));
}

// ---------------------------------------------------------------- right factors

// Lays out the factors of a strip, in the place of the strip with that number.
Stmt* ContractionCode::pack_right(const std::vector<Part>& parts, Expr* strip, Expr* number_of) {
    const std::int64_t columns = plan_.tile.columns();
    const auto make = [&](bool full) {
        Body body;
        for (const Part& each : parts) {
            const Body part = pack_right(each, strip, number_of, full);
            body.insert(body.end(), part.begin(), part.end());
        }
        return body;
    };
    const auto all = constant_integer(sub(panel_end_, panel_first_));
    if (all && *all % columns == 0) {
        Body body = make(true);
        return body.size() == 1 ? body.front() : b_.if_(b_.boolean(true), std::move(body));
    }
    Expr* end = add(panel_first_, mul(add(strip, 1), columns));
    return b_.if_(b_.binary(Op::kLe, end, copy(panel_end_)), make(true), make(false));
}

// `full`: the strip has all its columns.
Body ContractionCode::pack_right(const Part& part, Expr* strip, Expr* number_of, bool full) {
    const Segment& s = *part.segment;
    const std::vector<For*>& loops = s.steps->ranges.front().loops;
    const std::int64_t columns = plan_.tile.columns();
    std::vector<Var*> variables;
    Exprs begins, ends;
    Substitution substitution;
    for (std::size_t l = 0; l < loops.size(); ++l) {
        if (l < part.around.size()) {
            substitution.vars[loops[l]->var] = part.around[l];
            continue;
        }
        variables.push_back(substitution.vars[loops[l]->var] = like(loops[l]->var));
        const bool first = begins.empty();
        begins.push_back(first ? part.begin : bounds(*loops[l]).begin);
        ends.push_back(first ? part.end : bounds(*loops[l]).end);
    }
    Var* column = substitution.vars[c_.columns->var] = like(c_.columns->var);
    Expr* first = add(panel_first_, mul(strip, columns));
    Expr* end = full ? add(first, columns) : least(add(first, columns), panel_end_);
    Expr* place = add(right_strip(number_of), part.right_first);
    Body stores;
    for (std::size_t p = 0; p < s.steps->rights.size(); ++p) {
        Expr* at = add(add(place, product_number(part, variables)),
                       static_cast<std::int64_t>(p) * plan_.parts);
        at = add(mul(at, columns), sub(b_.var(column), first));
        Expr* value = clone(b_.module(), s.steps->rights[p], substitution);
        store_parts(right_, at, columns, value, stores);
    }
    const bool along_steps =
        loops.size() == 1 && std::ranges::all_of(s.steps->rights, [&](const Expr* e) {
            return walks(*e, loops.front()->var) && !walks(*e, c_.columns->var);
        });
    if (along_steps) {
        Var* block = b_.scalar("step", Scalar::kI64);
        Expr* block_end = least(add(b_.var(block), kTransposed), ends[0]);
        For* steps = loop(variables[0], b_.var(block), block_end, std::move(stores));
        For* gathered = loop(column, first, end, {steps});
        For* blocks = loop(block, begins[0], ends[0], {gathered});
        blocks->step = number(kTransposed);
        return {blocks};
    }
    Stmt* body = loop(column, first, end, std::move(stores), Level::kVector);
    for (std::size_t l = variables.size(); l-- > 0;)
        body = loop(variables[l], begins[l], ends[l], {body});
    return {body};
}

// ---------------------------------------------------------------- left factors

// Lays out the factors of a tile's rows.
void ContractionCode::pack_left(const Part& part, Expr* tile, Expr* first_row, Expr* end_row,
                                Body& out) {
    const Segment& s = *part.segment;
    const std::int64_t rows = plan_.tile_rows(), of_step = plan_.tile.rows;
    for (const ContractionSteps::Range& range : s.steps->ranges) {
        Var* row = like(c_.rows->var);
        Substitution substitution = with({{c_.rows->var, row}});
        std::vector<Var*> variables = part.around;
        Exprs begins, ends;
        for (std::size_t l = 0; l < range.loops.size(); ++l) {
            const For& each = *range.loops[l];
            if (l >= part.around.size()) variables.push_back(like(each.var));
            substitution.vars[each.var] = variables[l];
        }
        const std::vector<Var*> inner(
            variables.begin() + static_cast<std::ptrdiff_t>(part.around.size()), variables.end());
        Expr* in_part = add(part.left_first, product_number(part, inner));

        Expr* lane = mul(sub(b_.var(row), first_row), plan_.parts);
        Expr* last = least(add(first_row, rows), end_row);
        Body stores;
        bool along_rows = !s.steps->varies() && s.steps->ranges.size() == 1 && !c_.is_triangle();
        for (std::size_t p = 0; p < range.lefts.size(); ++p) {
            Expr* at = add(mul(tile, left_products_),
                           add(in_part, static_cast<std::int64_t>(p) * plan_.parts));
            at = add(mul(at, of_step), lane);
            Expr* value = clone(b_.module(), range.lefts[p], substitution);
            store_parts(left_, at, 1, value, stores);
            if (plan_.parts > 1) {  // for the second step: i times the value
                Expr* turned = b_.unary(Op::kNeg, b_.unary(Op::kImag, copy(value)));
                stores.push_back(b_.store(left_, {add(at, of_step)}, turned));
                Expr* other = b_.unary(Op::kReal, copy(value));
                stores.push_back(b_.store(left_, {add(at, of_step + 1)}, other));
            }
            along_rows = along_rows && walks(*range.lefts[p], c_.rows->var);
        }
        // Steps of one loop are gathered a few at a time, which keeps the stores close together.
        const bool one_loop = inner.size() == 1;
        Var* at = b_.scalar("step", Scalar::kI64);
        Expr* from = one_loop ? b_.var(at) : part.begin;
        Expr* until = one_loop ? least(add(from, kTransposed), part.end) : part.end;
        const bool all_steps = !s.steps->varies() && s.steps->ranges.size() == 1;
        const auto steps = [&](Body body, bool few) {
            for (std::size_t l = range.loops.size(); l-- > part.around.size();) {
                const Contraction::Bounds& own = bounds(*range.loops[l]);
                Expr* begin = copy(own.begin);
                Expr* end = copy(own.end);
                if (l == part.around.size()) {  // the loop that is cut
                    Expr* low = few ? from : part.begin;
                    Expr* high = few ? until : part.end;
                    begin = all_steps ? low : greatest(at_row(own.begin, b_.var(row)), low);
                    end = all_steps ? high : least(at_row(own.end, b_.var(row)), high);
                }
                body = {loop(variables[l], begin, end, std::move(body))};
            }
            return body;
        };
        if (along_rows) {
            Stmt* lanes = loop(row, first_row, last, std::move(stores), Level::kVector);
            const Body all = steps({lanes}, false);
            out.insert(out.end(), all.begin(), all.end());
            continue;
        }
        Body body = steps(std::move(stores), one_loop);
        if (c_.is_triangle()) {  // a row without columns reads no factor
            const Contraction::Bounds& columns = bounds(*c_.columns);
            Expr* some = b_.binary(Op::kLt, at_row(columns.begin, b_.var(row)),
                                   at_row(columns.end, b_.var(row)));
            body = {b_.if_(some, std::move(body))};
        }
        Stmt* of_rows = loop(row, first_row, last, std::move(body));
        if (one_loop) {
            For* blocks = loop(at, part.begin, part.end, {of_rows});
            blocks->step = number(kTransposed);
            of_rows = blocks;
        }
        out.push_back(of_rows);
    }
}

}  // namespace parpy
