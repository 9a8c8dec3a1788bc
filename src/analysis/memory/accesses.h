// The array accesses of an entry function, called helpers included: which elements are read,
// written or updated, in which iterations of which loops. Subscripts and iteration domains are
// linear in symbols. An expression that is not linear is a symbol of its own that may have any
// value (kOpaque). No access is left out, so a conclusion from the absence of a conflict is safe; a
// conclusion from its presence holds where no such symbol takes part and the access is certain.
//
// Works on every profile from kTyped to kMapped. Scalars are followed through assignments, so that
// `k = i + 1; y[k] = …` is linear; conflicts on scalars themselves are not recorded.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "analysis/integers/affine.h"
#include "analysis/integers/intervals.h"
#include "ir/ir.h"

namespace parpy {

struct Symbol {
    enum class Kind : std::uint8_t {
        kCounter,    // of a loop: grows from iteration to iteration, by one
        kParameter,  // a number that the call passes at run time
        kDefined,    // fixed by `definition` from other symbols: a quotient, a minimum, …
        kOpaque,     // anything within low … high
    };
    Kind kind{};
    int scope = -1;  // the loop in whose iterations its value may change; -1: one value per call
    std::int64_t low = 0, high = 0;
    const ir::Var* var = nullptr;          // kParameter
    std::vector<Alternatives> definition;  // kDefined
    bool general = false;      // kOpaque: would be known if the arguments of the call were known
    std::vector<int> factors;  // kOpaque: the product of these symbols, without limits
    int product = -1;          // kOpaque: a symbol with factors that equals it modulo 2^64
};

__extension__ using Wide = __int128;
struct WideInterval {
    Wide low, high;
};
// All values of an expression, relations between its symbols disregarded; values beyond 2^124 are
// clamped to it.
[[nodiscard]] WideInterval range_of(const Affine& a, const std::vector<Symbol>& symbols);
// The part within 64 bits; ends beyond are clamped.
[[nodiscard]] Interval narrowed(const WideInterval& wide);

// A loop of the program; a loop of a helper has an instance per call.
struct LoopInstance {
    const ir::For* stmt = nullptr;
    int parent = -1;
    int depth = 0;
    int counter = -1;
    Affine value;                   // of its variable
    std::vector<Condition> bounds;  // of its counter
};

// The conditions under which a statement runs: `guard`, and the premises around it.
struct Premise {
    const Premise* outer = nullptr;
    Alternatives guard;
    friend auto operator<=>(const Premise&, const Premise&) = default;
};

struct Access {
    enum class Kind : std::uint8_t { kRead, kWrite, kUpdate };
    Kind kind{};
    ir::Op update{};      // kUpdate
    bool atomic = false;  // kUpdate
    const ir::Var* array = nullptr;
    bool anywhere = false;        // may touch any element
    std::vector<Affine> indices;  // else, one per dimension
    // The same without wrapping around at 64 bits, with products of symbols (Symbol::factors).
    // Where it mentions opaque symbols and is negative, it is counted from the end of the axis.
    std::vector<Affine> unwrapped;
    const Premise* premise = nullptr;    // innermost; owned by Accesses, equal ones are shared
    std::vector<const ir::Stmt*> stmts;  // that make the access, in the order of the text
    // Statements of the entry whose calls make it; `stmts` then belong to called functions.
    std::vector<const ir::Stmt*> callers = {};
    int loop = -1;  // the innermost around the access
    Span span;
    // Not certain: iterations that satisfy the bounds and guards may omit it. In a `while` inside
    // of `while_depth` loops it may also be made several times.
    bool certain = true;
    bool general = false;  // not certain, but would be if the arguments of the call were known
    int while_depth = -1;

    [[nodiscard]] bool writes() const { return kind != Kind::kRead; }
    [[nodiscard]] bool made_by(const ir::Stmt* stmt) const {
        return std::ranges::find(stmts, stmt) != stmts.end();
    }
};

class Accesses {
public:
    // No extent, stride or general integer argument that is not `wide` is larger.
    static constexpr std::int64_t kLargestParameter = std::int64_t{1} << 47;

    explicit Accesses(const ir::Function& entry);

    [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }
    [[nodiscard]] const std::vector<LoopInstance>& loops() const { return loops_; }
    // The accesses in the order of the text; equal ones appear once.
    [[nodiscard]] const std::vector<Access>& all() const { return all_; }

    // The entry's own loop; -1 if it is never reached.
    [[nodiscard]] int loop_of(const ir::For* loop) const;
    [[nodiscard]] bool inside(int loop, int outer) const;  // or the same
    // The loops around and including `loop`, outermost first.
    [[nodiscard]] std::vector<int> chain(int loop) const;
    // All values of an expression, relations between its symbols disregarded.
    [[nodiscard]] Interval range(const Affine& a) const;
    // The symbol of an entry parameter, if it is an integer.
    [[nodiscard]] std::optional<Affine> parameter(const ir::Var* var) const;
    // Whether the array exists once per iteration of `loop`, inside which it is made.
    [[nodiscard]] bool local_to(const ir::Var* array, int loop) const;

private:
    friend class AccessWalk;
    std::vector<Symbol> symbols_;
    std::vector<LoopInstance> loops_;
    std::vector<Access> all_;
    std::set<Premise> premises_;
    std::unordered_map<const ir::For*, int> loop_of_;
    std::unordered_map<const ir::Var*, int> parameters_;  // their symbols
    std::unordered_map<const ir::Var*, int> made_in_;     // by an Alloc: the loop around it
};

}  // namespace parpy
