// Gives the values of integer scalars and expressions at the current place of a walk, as linear
// expressions on symbols (accesses.h). The walk reports assignments, branches and loops to it, and
// its evaluation of expressions reports their loads and calls to the walk. Exact for + - and
// multiplication by constants, // and % by constants, shifts, min, max, abs and conditional
// expressions; any other value, and one that may wrap around, is an opaque symbol. For sums and
// products that may wrap around at 64 bits we also keep the unwrapped value: bounds checks use it,
// and inside an array both agree.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/memory/accesses.h"
#include "analysis/uses.h"

namespace parpy {

// The conditions that a guard implies if it holds (or fails): all of `all`; equivalent, if `exact`.
struct Guard {
    std::vector<Alternatives> all;
    bool exact = true;
    bool general = false;  // would be exact if the arguments of the call were known

    static constexpr std::size_t kMostAlternatives = 8;
    [[nodiscard]] static Guard of(Condition condition);
    // `all` as one disjunction; nothing if it would be long.
    [[nodiscard]] std::optional<Alternatives> disjunction() const;
};

class LinearValues {
public:
    using Environment = std::unordered_map<const ir::Var*, Affine>;

    class Listener {
    public:
        virtual void read(const ir::Var* array, const std::vector<Affine>& indices, Span span) = 0;
        virtual Affine call(const ir::Expr& call) = 0;  // its value; any if it has none
        virtual void enter_guard(const Guard& guard) = 0;
        virtual void leave_guard() = 0;

    protected:
        ~Listener() = default;
    };

    // `parameters` receives the symbol of each integer parameter of the entry.
    LinearValues(std::vector<Symbol>& symbols, std::unordered_map<const ir::Var*, int>& parameters,
                 const ir::Function& entry, Listener& listener);

    // Nothing if the expression is not an integer.
    [[nodiscard]] std::optional<Affine> eval(const ir::Expr& e);
    [[nodiscard]] Affine number(const ir::Expr& e);
    // Reports no access or call to the listener: evaluate the condition itself first.
    [[nodiscard]] Guard guard(const ir::Expr& condition, bool truth);
    // The value without any wrapping around at 64 bits, where that is known.
    [[nodiscard]] Affine unwrapped(const Affine& a);
    // A new opaque symbol of the expression's type.
    [[nodiscard]] Affine unknown(const ir::Expr& e, bool general);
    [[nodiscard]] Affine anything() { return fresh(ir::Scalar::kI64, false); }

    void assign(const ir::Assign& stmt);
    void scramble(const VarSet& written);  // they may have any values from now on
    [[nodiscard]] const Environment& environment() const { return environment_; }
    void restore(Environment environment) { environment_ = std::move(environment); }
    // Joins a branch: values are `then`'s where `yes` holds, the current ones where `no` does.
    void merge(const Environment& then, const Guard& yes, const Guard& no);

    [[nodiscard]] int loop() const { return loop_; }
    // A loop begins at the greatest of `begins` and ends before the least of `ends`; with a
    // negative step the other way round.
    struct Bounds {
        std::vector<Affine> begins, ends;
        Affine step;
        [[nodiscard]] std::int64_t by() const { return step.is_constant() ? step.constant : 0; }
    };
    [[nodiscard]] Bounds bounds(const ir::For& stmt);
    // Makes the counter of loop `number`, whose statement is given, and fills in its value and
    // bounds; false if the bounds allow more iterations than the loop has.
    bool count(LoopInstance& loop, int number, const Bounds& bounds);
    void enter_loop(int number, const ir::Var* var, const Affine& value, const VarSet& written);
    void leave_loop(int outer, const ir::Var* var, const VarSet& written);

    // The scope of a called function: its parameters are names of the arguments.
    struct Frame {
        Environment environment;
        std::unordered_map<const ir::Var*, const ir::Var*> actual;
    };
    [[nodiscard]] Frame enter(const ir::Function& callee, const std::vector<ir::Expr*>& operands,
                              const std::vector<std::optional<Affine>>& scalars);
    void leave(Frame frame);
    // The caller's array for a parameter; null for an array that the called function made.
    [[nodiscard]] const ir::Var* actual(const ir::Var* array) const;
    void made_in_call(const ir::Var* array) { actual_[array] = nullptr; }

private:
    using Key = std::tuple<int, const void*, std::vector<Affine>>;

    int make(Symbol symbol);
    Affine fresh(ir::Scalar type, bool general);
    // The symbol of this key; `fill` makes it at the first call.
    template <class Fill>
    Affine shared(Key key, Fill&& fill) {
        const auto found = shared_.find(key);
        if (found != shared_.end()) return Affine::symbol(found->second);
        Symbol symbol;
        for (const Affine& operand : std::get<2>(key))
            symbol.scope = std::max(symbol.scope, scope_of(operand));
        fill(symbol, static_cast<int>(symbols_.size()));
        const int number = make(std::move(symbol));
        shared_.emplace(std::move(key), number);
        return Affine::symbol(number);
    }
    int scope_of(const Affine& a) const;
    WideInterval range(const Affine& a) const { return range_of(a, symbols_); }
    bool fits(const Affine& a, ir::Scalar type) const;
    // Whether `predicate` holds for a symbol of `a`, or for one in the definitions of these. Each
    // symbol is asked once, because the definitions of a long sum mention its parts repeatedly.
    template <class Predicate>
    bool mentions(const Affine& a, Predicate&& predicate) const {
        std::unordered_set<int> asked;
        return mentions(a, predicate, asked);
    }
    template <class Predicate>
    bool mentions(const Affine& a, Predicate& predicate, std::unordered_set<int>& asked) const {
        return std::ranges::any_of(a.terms, [&](const auto& term) {
            if (!asked.insert(term.first).second) return false;
            const Symbol& symbol = symbols_[static_cast<std::size_t>(term.first)];
            if (predicate(symbol)) return true;
            return std::ranges::any_of(symbol.definition, [&](const Alternatives& alternatives) {
                return std::ranges::any_of(alternatives, [&](const auto& conditions) {
                    return std::ranges::any_of(conditions, [&](const Condition& c) {
                        return mentions(c.value, predicate, asked);
                    });
                });
            });
        });
    }
    bool mentions_general(const Affine& a) const;
    bool mentions_opaque(const Affine& a) const;
    bool follows_from_arguments(const ir::Expr& e) const;

    Affine constant(std::int64_t value, ir::Scalar type);
    Affine variable(const ir::Var* var);
    // The operands of nested `op`, or the expression itself.
    std::vector<Affine> parts(const ir::Expr& e, ir::Op op);
    void make_parameter(const ir::Var* var);
    void follow(LoopInstance& loop, const Bounds& bounds, const Affine& value);
    Affine extent(const ir::Expr& e);
    Affine load(const ir::Expr& e, std::vector<Affine> indices);
    Affine operation(const ir::Expr& e, const std::vector<Affine>& operands);
    std::optional<Affine> linear(const ir::Expr& e, const std::vector<Affine>& operands);
    // Records the unwrapped counterpart of `value`, which may have wrapped around in `type`.
    // NumPy's unsigned numbers, which wrap on purpose, are not recorded.
    void remember(const Affine& value, const std::optional<Affine>& unwrapped, ir::Scalar type);
    Affine modulo_2_64(const Affine& a);
    std::optional<Affine> unwrapped(const ir::Expr& e, const std::vector<Affine>& operands);
    // The product of unwrapped values, as a sum of symbols with factors; nothing if it is long.
    std::optional<Affine> product(const Affine& a, const Affine& b);
    bool has_product(const Affine& a) const;
    // Like sum() and scaled(), with new symbols for parts whose numbers exceed 64 bits.
    Affine any_sum(const Affine& a, const Affine& b, std::int64_t factor = 1);
    Affine any_scaled(const Affine& a, Wide factor);
    std::optional<Wide> factor(const Affine& a) const;  // its value, if constant
    Affine defined(const Affine& a);                    // a symbol of this value
    std::optional<Affine> quotient(const Affine& a, std::int64_t divisor);
    std::optional<Affine> remainder(const Affine& a, std::int64_t divisor);
    std::optional<Affine> chosen(ir::Op op, const Affine& a, const Affine& b);
    std::optional<Affine> either(const Guard& yes, const Affine& a, const Guard& no,
                                 const Affine& b, bool beyond_64_bits = false);

    std::vector<Symbol>& symbols_;
    Listener& listener_;
    VarSet stored_;  // arrays
    std::unordered_map<const ir::Var*, int>& parameters_;
    bool has_parameters_ = false;
    Environment environment_;
    std::unordered_map<const ir::Var*, const ir::Var*> actual_;
    std::map<Key, int> shared_;
    std::unordered_map<int, Affine> unwrapped_;     // of symbols that may have wrapped around
    std::unordered_map<int, std::uint64_t> large_;  // symbols that are constants from 2^63 on
    int loop_ = -1;
    bool quiet_ = false;
};

}  // namespace parpy
