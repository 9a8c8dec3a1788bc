// Which loops of an entry function may run in parallel, and why or why not: the facts by which
// check_legality judges a mapping. A pair of iterations of a loop conflicts if both touch one
// byte and one of them writes it; conflicts are looked for between iterations of one execution of
// the loop (loops around it do not advance). Array conflicts are decided exactly where subscripts,
// bounds and conditions are linear; scalars by the data flow on their names.
//
// Programs whose arguments are partly run-time values (`general`) are judged for all their values:
// a conflict that exists for some of them only is no refutation, but a condition (`conditions`) on
// calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory/accesses.h"
#include "analysis/updates.h"
#include "ir/ir.h"

namespace parpy {

enum class Verdict : std::uint8_t {
    kProved,     // no two iterations conflict
    kReduction,  // all conflicting iterations update one place by one associative operator
    kRefuted,    // a pair of iterations conflicts: `witness`, or a scalar ties them together
    kUnknown,    // a pair may conflict: `reason`
};

// One of the two iterations of a witness: the loops around the access, outermost first, with the
// values of their variables, and the subscripts of the element.
struct Occurrence {
    const Access* access = nullptr;
    std::vector<std::pair<const ir::For*, std::int64_t>> iteration;
    std::vector<std::int64_t> element;
};

// Accesses of two iterations, the earlier one first, that touch the same place.
struct Dependence {
    enum class Kind : std::uint8_t { kFlow, kAnti, kOutput };
    Kind kind{};
    const Access* source = nullptr;
    const Access* sink = nullptr;
    bool exact = false;               // such iterations exist; false: they may exist
    bool commutes = false;            // both update by one associative operator
    std::vector<Occurrence> witness;  // exact: the two, the first such pair in time
    // Iterations between the two: the least and greatest number, where bounded. Only on request.
    std::optional<std::int64_t> least_distance, greatest_distance;
};

struct LoopFacts {
    Verdict verdict = Verdict::kProved;
    std::string reason;                   // kUnknown, kRefuted by a scalar: why it is not proved
    std::vector<Dependence> dependences;  // carried by the loop, at most one per pair of accesses
    std::optional<Dependence> decisive;   // the one that decides the verdict
    // The updates of scalars, and of elements that the loop touches by these updates alone,
    // according to its text or (UpdateGroup::by_analysis) to its subscripts.
    std::vector<UpdateGroup> reductions;
    // kReduction: there are further conflicts, certain or possible (`reason`), on elements that
    // vary; the updates need to be atomic (scatters.h).
    bool scatters = false;
    bool forgets_nan = false;  // kReduction: with NaNs the order changes the result (`reason`)
    // Scalars: private to each iteration; carried from one iteration to the next; live after the
    // loop, with the last iteration's value.
    std::vector<const ir::Var*> private_scalars, carried_scalars, last_values;
    // The verdict holds for calls that satisfy all of these, on parameter symbols; one without
    // alternatives cannot be satisfied.
    std::vector<Alternatives> conditions;
};

class Dependences {
public:
    explicit Dependences(const ir::Function& entry);
    ~Dependences();
    Dependences(const Dependences&) = delete;
    Dependences& operator=(const Dependences&) = delete;

    [[nodiscard]] const Accesses& accesses() const;

    // `loop` must belong to the entry. `distances`: compute them too.
    [[nodiscard]] LoopFacts of(ir::For& loop, bool distances = false);

    // True if iterations (i, j) of the nest `outer` ⊃ `inner` with equal i + j are independent: the
    // diagonals may run one after the other, each in parallel.
    [[nodiscard]] bool wavefront(ir::For& outer, ir::For& inner);

    // True if `outer`, which contains nothing but `inner`, and `inner` may be interchanged: no
    // iterations (i, j) and (i', j') with i < i' and j > j' conflict.
    [[nodiscard]] bool interchangeable(ir::For& outer, ir::For& inner);

    // True if this or another iteration of `loop` writes nothing that `stmt`, inside the loop,
    // reads in an iteration. A statement does not read the target of its update.
    [[nodiscard]] bool reads_apart(const ir::For& loop, const ir::Stmt& stmt);

    // Whether `source` in an iteration of `loop` and `sink` in a later one may conflict; `same`: or
    // in the same iteration. Both are statements in the loop, with all statements nested in them.
    [[nodiscard]] bool conflict(const ir::For& loop, const ir::Body& source, const ir::Body& sink,
                                bool same);

    // A subscript that surely leaves its array: the iteration, and the subscripts as counted from
    // the start. `conditions`, if given, receives the conditions that general calls must satisfy.
    struct Violation {
        Occurrence at;
        std::size_t axis = 0;
        std::int64_t subscript = 0;
    };
    [[nodiscard]] std::vector<Violation> out_of_bounds(std::vector<Alternatives>& conditions);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace parpy
