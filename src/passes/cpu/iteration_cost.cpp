// See iteration_cost.h.
#include "passes/cpu/iteration_cost.h"

#include <algorithm>
#include <cmath>

#include "analysis/geometry.h"
#include "analysis/integers/index_math.h"
#include "analysis/uses.h"
#include "ir/clone.h"
#include "ir/visit.h"
#include "mapping/plan.h"

namespace parpy {

using namespace ir;

namespace {

// A summand of the cost: nanoseconds times the product of `trips`.
struct Term {
    double nanoseconds = 0;
    std::vector<const Expr*> trips;
};

class IterationCost {
public:
    IterationCost(Builder& builder, const For& loop, const Expr& iterations, const Traffic& traffic)
        : b_(builder), traffic_(traffic), time_(traffic), inside_(uses_of(loop.body)) {
        const Scalar type = loop.var->type.scalar;
        Expr* half = b_.binary(Op::kFloorDiv, own(iterations), b_.integer(2));
        middle(loop, b_.convert(half, type));
    }

    Expr* of(const Body& body) {
        std::vector<Term> terms = {{kPerIteration, {}}};
        add(body, {1, {}}, 0, terms);
        Expr* sum = b_.real(rounded(terms[0].nanoseconds));
        for (std::size_t i = 1; i < terms.size(); ++i) {
            Expr* product = b_.real(rounded(terms[i].nanoseconds));
            for (const Expr* trips : terms[i].trips)
                product = b_.binary(Op::kMul, product, b_.convert(own(*trips), Scalar::kF64));
            product = folded(b_, product);
            if (const auto* known = std::get_if<double>(&product->constant.value);
                product->op == Op::kConst && known != nullptr) {
                product = b_.real(rounded(*known));
            }
            sum = folded(b_, b_.binary(Op::kAdd, sum, product));
        }
        return sum;
    }

private:
    static constexpr double kPerIteration = 0.2, kGuessed = 64;

    static double rounded(double nanoseconds) {
        return std::max(0.1, std::round(10 * nanoseconds) / 10);
    }

    Expr* own(const Expr& e) { return clone(b_.module(), &e, values_); }

    // From now on the variable of `loop` has its value after `half` of the iterations.
    void middle(const For& loop, Expr* half) {
        if (constant_integer(loop.step) != 1) half = b_.binary(Op::kMul, half, own(*loop.step));
        if (constant_integer(loop.begin) != 0) half = b_.binary(Op::kAdd, own(*loop.begin), half);
        values_.values[loop.var] = half;
    }

    // Adds the cost of `body`, run `times` often, to terms[place], which has the trips of `times`.
    void add(const Body& body, const Term& times, std::size_t place, std::vector<Term>& terms) {
        for (const Stmt* stmt : body) {
            const auto* loop = stmt->as<For>();
            if (const auto* assign = stmt->as<Assign>()) follow(*assign);
            if (loop == nullptr) {
                terms[place].nanoseconds += times.nanoseconds * time_.of(*stmt);
                continue;
            }
            Term inner = times;
            std::size_t inner_place = place;
            const Expr* trips = constant_trip_count(*loop) ? nullptr : trips_of(*loop);
            if (trips != nullptr) {
                inner.trips.push_back(trips);
                inner_place = terms.size();
                terms.push_back({0, inner.trips});
            } else {
                inner.nanoseconds *= traffic_.known_trips(*loop) ? traffic_.trips(*loop) : kGuessed;
            }
            if (loop->cost != nullptr && known(*loop->cost)) {  // stated with the loop
                inner.trips.push_back(own(*loop->cost));
                terms.push_back(std::move(inner));
                continue;
            }
            terms[inner_place].nanoseconds += inner.nanoseconds * kPerIteration;
            add(loop->body, inner, inner_place, terms);
        }
    }

    // Whether code that precedes the outer loop can compute the number.
    [[nodiscard]] bool known(const Expr& e) const {
        const Uses uses = uses_of(e);
        return uses.loaded.empty() && !uses.calls &&
               std::ranges::all_of(uses.read, [&](const Var* var) {
                   return values_.values.contains(var) || !inside_.written.contains(var);
               });
    }

    // From now on the variable has the value that is assigned here, if it is known.
    void follow(const Assign& assign) {
        const bool counts = is_integer(assign.var->type.scalar) && !assign.update;
        if (counts && known(*assign.value)) values_.values[assign.var] = own(*assign.value);
    }

    // The trip count, for code that precedes the outer loop; null if it is unknown there.
    const Expr* trips_of(const For& loop) {
        for (const Expr* bound : {loop.begin, loop.end, loop.step}) {
            if (!known(*bound)) return nullptr;
        }
        Expr* trips = own(*loop.end);
        if (constant_integer(loop.begin) != 0) trips = b_.binary(Op::kSub, trips, own(*loop.begin));
        const auto step = constant_integer(loop.step);
        if (step && *step > 1)
            trips = b_.binary(Op::kAdd, trips, b_.integer(*step - 1, trips->type.scalar));
        if (step != 1) trips = b_.binary(Op::kFloorDiv, trips, own(*loop.step));
        const Expr* half = b_.binary(Op::kFloorDiv, own(*trips), b_.integer(2, trips->type.scalar));
        middle(loop, own(*half));
        return trips;
    }

    Builder& b_;
    const Traffic& traffic_;
    SequentialTime time_;
    const Uses inside_;
    Substitution values_;
};

}  // namespace

Expr* iteration_cost(Builder& builder, const For& loop, const Expr& iterations,
                     const Traffic& traffic) {
    return IterationCost(builder, loop, iterations, traffic).of(loop.body);
}

}  // namespace parpy
