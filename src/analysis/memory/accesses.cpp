// See accesses.h. One walk in the order of execution keeps the value of each integer scalar as a
// linear expression (linear_values.h), and the conditions around the current place.
#include "analysis/memory/accesses.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/integers/linear_values.h"
#include "analysis/updates.h"
#include "analysis/uses.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

namespace {

bool always_jumps(const Body& body) {
    if (body.empty()) return false;
    const StmtKind kind = body.back()->kind;
    return kind == StmtKind::kBreak || kind == StmtKind::kContinue || kind == StmtKind::kReturn;
}

// Whether `stmt` may end the current iteration of a loop around it, or the function.
bool may_jump(const Stmt& stmt, bool own_loop = true) {
    if (stmt.kind == StmtKind::kReturn) return true;
    if (stmt.kind == StmtKind::kBreak || stmt.kind == StmtKind::kContinue) return own_loop;
    const bool loop = stmt.kind == StmtKind::kFor || stmt.kind == StmtKind::kWhile;
    bool found = false;
    for_each_body(stmt, [&](const Body& body) {
        for (const Stmt* inner : body)
            found = found || may_jump(*inner, own_loop && !loop);
    });
    return found;
}

// Whether `body` may end the loop that it belongs to.
bool may_leave(const Body& body, bool own_loop = true) {
    return std::ranges::any_of(body, [&](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kReturn) return true;
        if (stmt->kind == StmtKind::kBreak) return own_loop;
        const bool loop = stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile;
        bool found = false;
        for_each_body(*stmt,
                      [&](const Body& inner) { found |= may_leave(inner, own_loop && !loop); });
        return found;
    });
}

}  // namespace

class AccessWalk final : private LinearValues::Listener {
public:
    AccessWalk(Accesses& result, const Function& entry)
        : out_(result), values_(result.symbols_, result.parameters_, entry, *this) {}

    void run(const Function& entry) { body(entry.body); }

private:
    struct State {
        bool certain = true;
        bool general = false;
        int while_depth = -1;
        const Premise* premise = nullptr;
    };

    // ------------------------------------------------------------ reports of the values

    void read(const Var* array, const std::vector<Affine>& indices, Span span) override {
        Access access;
        access.kind = Access::Kind::kRead;
        access.array = array;
        access.indices = indices;
        access.span = span;
        add(std::move(access));
    }

    Affine call(const Expr& e) override {
        const Function& callee = *e.callee;
        std::vector<std::optional<Affine>> scalars;
        for (const Expr* operand : e.operands) {
            const bool number = array_passed(*operand) == nullptr;
            scalars.push_back(number ? values_.eval(*operand) : std::nullopt);
        }
        const bool foreign = callee.kind == FunctionKind::kForeign;
        if (foreign || calling_.size() >= kMostCalls) {
            for (const Expr* operand : e.operands) {
                if (array_passed(*operand) != nullptr) anywhere(*operand, e.span);
            }
            return values_.unknown(e, false);
        }
        if (std::ranges::find(calling_, &callee) != calling_.end()) {
            called_again(e);
            return values_.unknown(e, false);
        }
        const Stmt* const at = at_;
        if (calling_.empty()) caller_ = at_;
        LinearValues::Frame caller = values_.enter(callee, e.operands, scalars);
        calling_.push_back(&callee);
        std::optional<Affine> result;
        if (const auto* only = callee.body.size() == 1 ? callee.body[0]->as<Return>() : nullptr;
            only != nullptr && only->value != nullptr) {
            result = values_.eval(*only->value);
        } else {
            const State before = state_;
            body(callee.body);
            state_ = before;
        }
        calling_.pop_back();
        values_.leave(std::move(caller));
        at_ = at;
        return result ? *result : values_.unknown(e, false);
    }

    // Recursion: all accesses of a function that is already being called, and of all its callees,
    // with any values of the parameters, any number of times.
    void called_again(const Expr& e) {
        std::pair<const Function*, std::vector<const Var*>> now{e.callee, {}};
        for (const Expr* operand : e.operands) {
            const Var* array = array_passed(*operand);
            now.second.push_back(array == nullptr ? nullptr : values_.actual(array));
        }
        if (std::ranges::find(again_, now) != again_.end()) return;
        const bool outermost = again_.empty();
        again_.push_back(std::move(now));
        const State before = state_;
        const int around = values_.loop();
        state_.while_depth = around < 0 ? 0 : out_.loops_[index(around)].depth + 1;
        state_.certain = false;
        LinearValues::Frame caller =
            values_.enter(*e.callee, e.operands,
                          std::vector<std::optional<Affine>>(e.operands.size(), std::nullopt));
        const Stmt* const at = at_;
        body(e.callee->body);
        at_ = at;
        values_.leave(std::move(caller));
        state_ = before;
        if (outermost) again_.clear();
    }

    void enter_guard(const Guard& guard) override { saved_.push_back(push(guard)); }
    void leave_guard() override {
        state_ = saved_.back();
        saved_.pop_back();
    }

    // ------------------------------------------------------------ recording

    void add(Access access) {
        access.array = values_.actual(access.array);
        if (access.array == nullptr) return;  // the array exists only during the call that made it
        if (access.stmts.empty()) access.stmts = {at_};
        if (!calling_.empty()) access.callers = {caller_};
        access.loop = values_.loop();
        access.premise = state_.premise;
        access.certain = state_.certain;
        access.general = state_.general;
        access.while_depth = state_.while_depth;
        for (const Affine& subscript : access.indices)
            access.unwrapped.push_back(values_.unwrapped(subscript));
        auto key = std::tuple(access.array, access.kind, access.update, access.atomic, access.loop,
                              access.certain, access.while_depth, access.anywhere, access.indices,
                              access.premise);
        const auto [known, added] = seen_.emplace(std::move(key), out_.all_.size());
        if (added) {
            out_.all_.push_back(std::move(access));
        } else {
            join(out_.all_[known->second].stmts, access.stmts);
            join(out_.all_[known->second].callers, access.callers);
        }
    }

    static void join(std::vector<const Stmt*>& all, const std::vector<const Stmt*>& more) {
        for (const Stmt* each : more) {
            if (std::ranges::find(all, each) == all.end()) all.push_back(each);
        }
    }

    // Adds an access to any element of the array, or of the row, that a call receives.
    void anywhere(const Expr& passed, Span span) {
        std::vector<Affine> indices;
        for (const Expr* index : passed.operands)
            indices.push_back(values_.number(*index));
        if (is_open_row(passed)) indices.back() = values_.anything();
        for (std::size_t taken = passed.operands.size();
             is_row(passed) && taken < passed.var->type.rank; ++taken)
            indices.push_back(values_.anything());
        for (const Access::Kind kind : {Access::Kind::kRead, Access::Kind::kWrite}) {
            Access access;
            access.kind = kind;
            access.array = passed.var;
            access.anywhere = indices.empty();
            access.indices = indices;
            access.span = span;
            const State before = state_;
            // The subscripts are certainly evaluated; an access to elements is not certain.
            if (access.anywhere || access.writes()) state_.certain = false;
            add(std::move(access));
            state_ = before;
        }
    }

    State push(const Guard& guard) {
        const State before = state_;
        for (const Alternatives& one : guard.all)
            state_.premise = &*out_.premises_.insert(Premise{state_.premise, one}).first;
        if (!guard.exact) {
            state_.certain = false;
            state_.general = state_.general || guard.general;
        }
        return before;
    }

    // ------------------------------------------------------------ statements

    void body(const Body& stmts) {
        const State before = state_;
        for (const Stmt* s : stmts) {
            stmt(*s);
            if (s->kind == StmtKind::kFor || s->kind == StmtKind::kWhile || !may_jump(*s)) {
                // A loop that may return made itself uncertain; so are the statements after it.
                if (may_jump(*s)) state_.certain = false;
                continue;
            }
            const auto* branch = s->as<If>();
            if (branch == nullptr) break;  // nothing comes after a jump
            const auto jumps = [](const Body& b) {
                return std::ranges::any_of(b, [](const Stmt* x) { return may_jump(*x); });
            };
            const bool then = always_jumps(branch->then_body) && !jumps(branch->else_body);
            const bool otherwise = always_jumps(branch->else_body) && !jumps(branch->then_body);
            if (then || otherwise) {
                (void)push(remaining_);
            } else {
                state_.certain = false;
            }
        }
        state_ = before;
    }

    void stmt(const Stmt& s) {
        at_ = &s;
        // match_update returns mutable slots; none is modified here.
        auto update = match_update(const_cast<Stmt&>(s));
        if (!update) update = match_chain(const_cast<Stmt&>(s));
        if (update && update->indices != nullptr) {
            // `if e > a[i]: a[i] = e` may not store.
            const bool certain = state_.certain;
            state_.certain = certain && s.kind != StmtKind::kIf;
            for (const Update::Term& term : update->more)
                (void)values_.eval(*term.value);
            store(s, *update->var, *update->indices, update->update, *update->value);
            state_.certain = certain;
            return;
        }
        switch (s.kind) {
            case StmtKind::kAssign:
                values_.assign(static_cast<const Assign&>(s));
                break;
            case StmtKind::kStore: {
                const auto& it = static_cast<const Store&>(s);
                store(s, *it.array, it.indices, it.update, *it.value);
                break;
            }
            case StmtKind::kFor:
                loop(static_cast<const For&>(s));
                break;
            case StmtKind::kWhile:
                while_loop(static_cast<const While&>(s));
                break;
            case StmtKind::kIf:
                branch(static_cast<const If&>(s));
                break;
            case StmtKind::kGpu:
                body(static_cast<const Gpu&>(s).body);
                break;
            case StmtKind::kAlloc:
                made(static_cast<const Alloc&>(s));
                break;
            default:
                for_each_slot(s, [&](const Expr* e) { (void)values_.eval(*e); });
        }
    }

    void made(const Alloc& alloc) {
        if (calling_.empty()) {
            out_.made_in_[alloc.array] = values_.loop();
        } else {
            values_.made_in_call(alloc.array);
        }
    }

    void store(const Stmt& stmt, const Var& array, const std::vector<Expr*>& indices,
               std::optional<Op> update, const Expr& value) {
        const auto op = update ? reduction_of(*update, value.type) : std::nullopt;
        Access access;
        access.kind = op ? Access::Kind::kUpdate : Access::Kind::kWrite;
        access.update = op.value_or(Op::kConst);
        if (const auto* atomic = stmt.as<Store>()) access.atomic = atomic->atomic;
        access.array = &array;
        access.stmts = {&stmt};
        access.span = stmt.span;
        for (const Expr* index : indices)
            access.indices.push_back(values_.number(*index));
        (void)values_.eval(value);
        if (update && !op) {
            Access old = access;
            old.kind = Access::Kind::kRead;
            add(std::move(old));
        }
        add(std::move(access));
    }

    void loop(const For& stmt) {
        // Loops of functions called in the bounds have smaller numbers.
        const LinearValues::Bounds bounds = values_.bounds(stmt);
        const int number = static_cast<int>(out_.loops_.size());
        LoopInstance instance;
        instance.stmt = &stmt;
        instance.parent = values_.loop();
        instance.depth = instance.parent < 0 ? 0 : out_.loops_[index(instance.parent)].depth + 1;
        if (calling_.empty()) out_.loop_of_.emplace(&stmt, number);
        const bool exact = values_.count(instance, number, bounds);
        out_.loops_.push_back(instance);

        const int outer = values_.loop();
        const State before = state_;
        const VarSet written = uses_of(stmt.body).written;
        values_.enter_loop(number, stmt.var, instance.value, written);
        if (!exact) {
            state_.certain = false;
            state_.general = state_.general || stmt.step->op != Op::kConst;
        }
        if (may_leave(stmt.body)) state_.certain = false;
        body(stmt.body);
        state_ = before;
        values_.leave_loop(outer, stmt.var, written);
    }

    void while_loop(const While& stmt) {
        const State before = state_;
        const int around = values_.loop();
        state_.while_depth = around < 0 ? 0 : out_.loops_[index(around)].depth + 1;
        const VarSet written = uses_of(stmt.body).written;
        values_.scramble(written);
        (void)values_.eval(*stmt.condition);
        const Guard guard = values_.guard(*stmt.condition, true);
        if (guard.exact && std::ranges::all_of(guard.all, is_on_one_symbol)) (void)push(guard);
        body(stmt.body);
        state_ = before;
        values_.scramble(written);
    }

    // Conflicts remain certain under a condition around the loop if it is on one symbol alone.
    static bool is_on_one_symbol(const Alternatives& guard) {
        return guard.size() == 1 && std::ranges::all_of(guard.front(), [](const Condition& c) {
                   return c.value.terms.size() == 1;
               });
    }

    void branch(const If& stmt) {
        (void)values_.eval(*stmt.condition);
        const Guard yes = values_.guard(*stmt.condition, true);
        const Guard no = values_.guard(*stmt.condition, false);
        const LinearValues::Environment start = values_.environment();
        const State before = push(yes);
        body(stmt.then_body);
        state_ = before;
        const LinearValues::Environment after_then = values_.environment();
        values_.restore(start);
        (void)push(no);
        body(stmt.else_body);
        state_ = before;
        if (always_jumps(stmt.then_body)) {
            remaining_ = no;
        } else if (always_jumps(stmt.else_body)) {
            remaining_ = yes;
            values_.restore(after_then);
        } else {
            values_.merge(after_then, yes, no);
        }
    }

    static std::size_t index(int number) { return static_cast<std::size_t>(number); }

    static constexpr std::size_t kMostCalls = 8;

    using SeenKey = std::tuple<const Var*, Access::Kind, Op, bool, int, bool, int, bool,
                               std::vector<Affine>, const Premise*>;

    Accesses& out_;
    LinearValues values_;
    State state_;
    const Stmt* at_ = nullptr;
    const Stmt* caller_ = nullptr;  // of the entry, while calling_ is not empty
    std::vector<State> saved_;
    Guard remaining_;  // holds after the last If of which one side jumped
    std::vector<const Function*> calling_;
    // Recursive functions, with the arrays passed, whose further calls have been added.
    std::vector<std::pair<const Function*, std::vector<const Var*>>> again_;
    std::map<SeenKey, std::size_t> seen_;  // places in out_.all_
};

Accesses::Accesses(const Function& entry) {
    AccessWalk(*this, entry).run(entry);
}

int Accesses::loop_of(const For* loop) const {
    const auto found = loop_of_.find(loop);
    return found == loop_of_.end() ? -1 : found->second;
}

bool Accesses::inside(int loop, int outer) const {
    while (loop > outer)  // parents have smaller numbers
        loop = loops_[static_cast<std::size_t>(loop)].parent;
    return loop == outer;
}

WideInterval range_of(const Affine& a, const std::vector<Symbol>& symbols) {
    constexpr Wide kHuge = Wide{1} << 124;  // two products of 64-bit numbers still fit
    Wide low = a.constant, high = a.constant;
    for (const auto& [number, coefficient] : a.terms) {
        const Symbol& symbol = symbols[static_cast<std::size_t>(number)];
        const Wide x = Wide{coefficient} * symbol.low, y = Wide{coefficient} * symbol.high;
        if (low != -kHuge) low = std::clamp(low + std::min(x, y), -kHuge, kHuge);
        if (high != kHuge) high = std::clamp(high + std::max(x, y), -kHuge, kHuge);
    }
    return {low, high};
}

Interval narrowed(const WideInterval& wide) {
    const Interval all = Interval::all();
    const auto narrow = [&](Wide x) {
        return static_cast<std::int64_t>(std::clamp<Wide>(x, all.low, all.high));
    };
    return {narrow(wide.low), narrow(wide.high)};
}

Interval Accesses::range(const Affine& a) const {
    return narrowed(range_of(a, symbols_));
}

std::optional<Affine> Accesses::parameter(const Var* var) const {
    const auto found = parameters_.find(var);
    return found == parameters_.end() ? std::nullopt : std::optional(Affine::symbol(found->second));
}

std::vector<int> Accesses::chain(int loop) const {
    std::vector<int> result;
    for (; loop >= 0; loop = loops_[static_cast<std::size_t>(loop)].parent)
        result.push_back(loop);
    std::ranges::reverse(result);
    return result;
}

bool Accesses::local_to(const Var* array, int loop) const {
    const auto found = made_in_.find(array);
    return found != made_in_.end() && found->second >= 0 && inside(found->second, loop);
}

}  // namespace parpy
