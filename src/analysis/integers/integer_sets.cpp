// See integer_sets.h. Sets are built from constraint matrices, which costs a fraction of parsing
// them. ISL reports errors by null results; the operations it may spend are limited per question,
// so that one hard question cannot use up much more than the budget of all.
#include "analysis/integers/integer_sets.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <ctime>
#include <limits>

namespace parpy {

namespace {

double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// About 20 ms.
constexpr unsigned long kOperationsPerQuestion = 100'000;

}  // namespace

struct IntegerSets::State {
    isl_ctx* context = nullptr;
    double start = thread_seconds();
};

namespace {

isl_mat* matrix(isl_ctx* context, std::size_t dimensions, const Conjunction& constraints,
                bool equalities) {
    unsigned rows = 0;
    for (const LinearConstraint& c : constraints)
        rows += c.equality == equalities;
    isl_mat* m = isl_mat_alloc(context, rows, static_cast<unsigned>(dimensions) + 1);
    int row = 0;
    for (const LinearConstraint& c : constraints) {
        if (c.equality != equalities) continue;
        for (std::size_t i = 0; i < dimensions; ++i) {
            const std::int64_t value = i < c.coefficients.size() ? c.coefficients[i] : 0;
            m = isl_mat_set_element_val(m, row, static_cast<int>(i),
                                        isl_val_int_from_si(context, value));
        }
        m = isl_mat_set_element_val(m, row, static_cast<int>(dimensions),
                                    isl_val_int_from_si(context, c.constant));
        ++row;
    }
    return m;
}

isl_basic_set* basic_set(isl_ctx* context, std::size_t dimensions, const Conjunction& constraints) {
    isl_space* space = isl_space_set_alloc(context, 0, static_cast<unsigned>(dimensions));
    return isl_basic_set_from_constraint_matrices(
        space, matrix(context, dimensions, constraints, true),
        matrix(context, dimensions, constraints, false), isl_dim_set, isl_dim_div, isl_dim_param,
        isl_dim_cst);
}

// Converts and frees an ISL integer. Nothing if it does not fit, or then the closest that does.
std::optional<std::int64_t> integer(isl_val* value, bool closest = false) {
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> result;
    if (value != nullptr && isl_val_is_int(value) == isl_bool_true) {
        if (isl_val_cmp_si(value, kHighest) > 0) {
            if (closest) result = kHighest;
        } else if (isl_val_cmp_si(value, kLowest) < 0) {
            if (closest) result = kLowest;
        } else {
            result = isl_val_get_num_si(value);
        }
    }
    isl_val_free(value);
    return result;
}

bool read_rows(isl_mat* rows, std::size_t dimensions, bool equality, Conjunction& out) {
    if (rows == nullptr) return false;
    bool ok = true;
    const int count = static_cast<int>(isl_mat_rows(rows));
    for (int row = 0; ok && row < count; ++row) {
        LinearConstraint& constraint = out.emplace_back();
        constraint.equality = equality;
        for (int column = 0; ok && column <= static_cast<int>(dimensions); ++column) {
            const auto value = integer(isl_mat_get_element_val(rows, row, column));
            ok = value.has_value();
            if (!ok) break;
            if (column < static_cast<int>(dimensions)) {
                constraint.coefficients.push_back(*value);
            } else {
                constraint.constant = *value;
            }
        }
    }
    isl_mat_free(rows);
    return ok;
}

struct Collected {
    std::size_t dimensions;
    std::vector<Conjunction> pieces;
};

isl_stat collect(isl_basic_set* piece, void* user) {
    auto& out = *static_cast<Collected*>(user);
    Conjunction constraints;
    const bool ok = isl_basic_set_dim(piece, isl_dim_div) == 0 &&
                    read_rows(isl_basic_set_equalities_matrix(piece, isl_dim_set, isl_dim_div,
                                                              isl_dim_param, isl_dim_cst),
                              out.dimensions, true, constraints) &&
                    read_rows(isl_basic_set_inequalities_matrix(piece, isl_dim_set, isl_dim_div,
                                                                isl_dim_param, isl_dim_cst),
                              out.dimensions, false, constraints);
    isl_basic_set_free(piece);
    out.pieces.push_back(std::move(constraints));
    return ok ? isl_stat_ok : isl_stat_error;
}

}  // namespace

IntegerSets::IntegerSets() : state_(std::make_unique<State>()) {
    state_->context = isl_ctx_alloc();
    isl_options_set_on_error(state_->context, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(state_->context, kOperationsPerQuestion);
}

IntegerSets::~IntegerSets() {
    isl_ctx_free(state_->context);
}

bool IntegerSets::exhausted() const {
    return thread_seconds() - state_->start > kBudgetSeconds;
}

bool IntegerSets::begin() {
    if (exhausted()) return false;
    isl_ctx_reset_error(state_->context);
    isl_ctx_reset_operations(state_->context);
    return true;
}

IntegerSets::Answer IntegerSets::solve(std::size_t dimensions, const Conjunction& constraints,
                                       std::vector<std::int64_t>* least) {
    if (!begin()) return Answer::kGaveUp;
    isl_basic_set* set = basic_set(state_->context, dimensions, constraints);
    const isl_bool empty = isl_basic_set_is_empty(set);
    if (empty != isl_bool_false || least == nullptr) {
        isl_basic_set_free(set);
        return empty == isl_bool_error  ? Answer::kGaveUp
               : empty == isl_bool_true ? Answer::kEmpty
                                        : Answer::kNotEmpty;
    }
    isl_point* point = isl_set_sample_point(isl_basic_set_lexmin(set));
    least->clear();
    for (std::size_t i = 0; i < dimensions; ++i) {
        const auto value =
            point == nullptr || isl_point_is_void(point) != isl_bool_false
                ? std::nullopt
                : integer(isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(i)),
                          true);
        if (!value) break;
        least->push_back(*value);
    }
    isl_point_free(point);
    return least->size() == dimensions ? Answer::kNotEmpty : Answer::kGaveUp;
}

std::optional<std::vector<Conjunction>> IntegerSets::project(std::size_t dimensions,
                                                             std::size_t first,
                                                             const Conjunction& constraints) {
    if (!begin()) return std::nullopt;
    isl_set* set = isl_set_from_basic_set(basic_set(state_->context, dimensions, constraints));
    set = isl_set_project_out(set, isl_dim_set, 0, static_cast<unsigned>(first));
    set = isl_set_coalesce(isl_set_remove_redundancies(set));
    Collected collected{dimensions - first, {}};
    const bool ok =
        set != nullptr && isl_set_foreach_basic_set(set, collect, &collected) == isl_stat_ok;
    isl_set_free(set);
    if (!ok) return std::nullopt;
    return std::move(collected.pieces);
}

IntegerSets::Range IntegerSets::range(std::size_t dimensions, const Conjunction& constraints,
                                      const LinearConstraint& expression) {
    Range result;
    if (!begin()) return result;
    isl_set* set = isl_set_from_basic_set(basic_set(state_->context, dimensions, constraints));
    isl_aff* aff = isl_aff_zero_on_domain(isl_local_space_from_space(
        isl_space_set_alloc(state_->context, 0, static_cast<unsigned>(dimensions))));
    for (std::size_t i = 0; i < expression.coefficients.size(); ++i) {
        aff = isl_aff_set_coefficient_val(
            aff, isl_dim_in, static_cast<int>(i),
            isl_val_int_from_si(state_->context, expression.coefficients[i]));
    }
    aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(state_->context, expression.constant));
    result.low = integer(isl_set_min_val(set, aff));
    result.high = integer(isl_set_max_val(set, aff));
    isl_aff_free(aff);
    isl_set_free(set);
    return result;
}

}  // namespace parpy
