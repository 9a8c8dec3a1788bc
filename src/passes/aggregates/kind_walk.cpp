// See kind_walk.h.
#include "passes/aggregates/kind_walk.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/visit.h"

namespace parpy {

using namespace ir;

Kind kind_of(const Var& var, const KindsHere& here) {
    if (const auto found = here.of.find(&var); found != here.of.end()) return found->second;
    return Kind::number(var.type.is_array() ? var.type.rank : 0);
}

bool runs_for_ever(const Stmt& loop) {
    const auto* repeat = loop.as<While>();
    return repeat != nullptr && repeat->condition->op == Op::kConst &&
           repeat->condition->constant == Constant{true};
}

namespace {

// The kind of the tuple, where it is one or None: its parts are taken where it is there.
Kind there(const Kind& kind) {
    return kind.is_optional() && kind.parts[0].is_tuple() ? Kind(kind.parts[0]) : kind;
}

// The numbers among the defaults of a method of named tuples.
void add_constants(const Expr& function, Kind& kind) {
    for (const Expr* operand : function.operands)
        if (operand->op == Op::kConst)
            kind.constants.emplace_back(operand->type, operand->constant);
}

bool leaves_loop(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        if (stmt->kind == StmtKind::kBreak) return true;
        if (stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kWhile) return false;
        bool found = false;
        for_each_body(*stmt, [&](const Body& inner) { found = found || leaves_loop(inner); });
        return found;
    });
}

}  // namespace

bool never_ends(const Body& body) {
    return std::ranges::any_of(body, [](const Stmt* stmt) {
        switch (stmt->kind) {
            case StmtKind::kReturn:
            case StmtKind::kBreak:
            case StmtKind::kContinue:
            case StmtKind::kFail:
                return true;
            case StmtKind::kIf: {
                const auto& branch = *stmt->as<If>();
                return never_ends(branch.then_body) && never_ends(branch.else_body);
            }
            case StmtKind::kWhile:
                return runs_for_ever(*stmt) && !leaves_loop(stmt->as<While>()->body);
            case StmtKind::kGpu:
                return never_ends(stmt->as<Gpu>()->body);
            default:
                return false;
        }
    });
}

// ------------------------------------------------------------ expressions

namespace {

// The rank of the result of an operator on two numbers or arrays.
int greater_rank(const Kind& a, const Kind& b) {
    const bool known = a.is_number() && b.is_number() && a.rank >= 0 && b.rank >= 0;
    return known ? std::max(a.rank, b.rank) : Kind::kUnknownRank;
}

}  // namespace

Kind KindWalk::of(const Expr& expr, const KindsHere& here) const {
    const auto operand = [&](std::size_t i) { return of(*expr.operands[i], here); };
    const auto under = [&](bool holds, std::size_t i) {
        KindsHere known = here;
        assume(*expr.operands[0], holds, known);
        return of(*expr.operands[i], known);
    };
    if (const auto name = attribute_of(expr)) {
        const Kind owner = expr.var != nullptr ? kind_of(*expr.var, here) : operand(0);
        if (owner.is_record() || (owner.is_tuple() && has_attribute(owner, *name)))
            return of_field(owner, *name, here);
    }
    if (auto by_method = of_operator(expr, here)) return *std::move(by_method);
    switch (expr.op) {
        case Op::kTuple: {
            std::vector<Kind> parts;
            for (std::size_t i = 0; i < expr.operands.size(); ++i)
                parts.push_back(operand(i));
            return Kind::tuple(std::move(parts));
        }
        case Op::kRecord: {
            Kind kind = Kind::of(expr.index == 1 ? Kind::Form::kTuple : Kind::Form::kRecord);
            kind.text = *expr.operands[0]->text;
            for (std::size_t i = 1; i + 1 < expr.operands.size(); i += 2) {
                const std::string& name = *expr.operands[i]->text;
                if (is_member(expr, name)) {
                    kind.members.emplace_back(name, operand(i + 1));
                    add_constants(*expr.operands[i + 1], kind.members.back().second);
                    continue;
                }
                kind.names.push_back(name);
                kind.parts.push_back(operand(i + 1));
            }
            return kind;
        }
        case Op::kField: {
            const FieldName field = field_name(expr);
            const Kind owner = operand(0);
            if (field.use != FieldName::Use::kRead && owner.place_of_name("*" + field.name)) {
                Kind cell = Kind::number(1);
                cell.cell = true;
                return cell;
            }
            return of_field(owner, field.name, here);
        }
        case Op::kNone:
            return Kind::none();
        case Op::kVar:
            return kind_of(*expr.var, here);
        case Op::kText: {
            Kind kind = Kind::of(Kind::Form::kText);
            kind.text = *expr.text;
            if (expr.type.is_scalar()) kind.scalar = expr.type.scalar;
            return kind;
        }
        case Op::kDtype: {
            Kind kind = Kind::of(Kind::Form::kDtype);
            kind.scalar = expr.type.scalar;
            kind.python = expr.type.weak;
            return kind;
        }
        case Op::kFunction: {
            Kind kind = Kind::of(Kind::Form::kFunction);
            kind.function = expr.callee;
            kind.defaults = static_cast<std::size_t>(expr.index);
            kind.lent = expr.constant == Constant{true};
            for (std::size_t i = 0; i < expr.operands.size(); ++i) {
                if (i < kind.defaults)
                    kind.parts.push_back(operand(i));
                else
                    kind.cells.push_back(expr.operands[i]->var);
            }
            return kind;
        }
        case Op::kApply:
            return of_applied(expr, here);
        case Op::kNamed:
            return operand(0);
        case Op::kShape: {
            const Kind array = operand(0);
            if (!array.is_number() || array.rank < 0) return Kind::mixed();
            const auto rank = static_cast<std::size_t>(array.rank);
            return Kind::tuple(std::vector<Kind>(rank, Kind::number()));
        }
        case Op::kArrayOf: {
            const std::optional<Nest> nest = nest_of(operand(0));
            if (!nest) return Kind::mixed();
            const auto dimensions = static_cast<int>(nest->extents.size());
            return Kind::number(nest->rank < 0 ? Kind::kUnknownRank : dimensions + nest->rank);
        }
        case Op::kItem: {
            const Kind whole = there(operand(0));
            if (whole.is_number())
                return Kind::number(std::max(whole.rank - 1, whole.rank < 0 ? -1 : 0));
            const auto at = place(*expr.operands[1], whole.parts.size(), here);
            return !whole.is_tuple() ? Kind::mixed() : at ? whole.parts[*at] : any_part(whole);
        }
        case Op::kLoad:
            return of_part(expr, here);
        case Op::kNumpy:  // NumPy's choice has the dimensions of all three operands
            if (expr.operands[0]->op == Op::kSelect && expr.operands[0]->operands.size() == 3) {
                const auto& of_choice = expr.operands[0]->operands;
                Kind most = of(*of_choice[0], here);
                for (const Expr* value : {of_choice[1], of_choice[2]})
                    most = Kind::number(greater_rank(most, of(*value, here)));
                return most;
            }
            break;
        case Op::kOutput:
        case Op::kSnapshot:
            return operand(0);
        case Op::kSelect: {
            if (const auto known = truth(*expr.operands[0], here)) return operand(*known ? 1 : 2);
            return joined(under(true, 1), under(false, 2));
        }
        case Op::kAnd:
        case Op::kOr: {
            if (const auto known = truth(*expr.operands[0], here))
                return operand(*known == (expr.op == Op::kAnd) ? 1 : 0);
            const Kind first = operand(0);  // which is there if `or` gives it
            return joined(expr.op == Op::kOr ? there(first) : first, under(expr.op == Op::kAnd, 1));
        }
        case Op::kAdd: {
            const Kind a = operand(0), b = operand(1);
            if (!a.is_tuple() || !b.is_tuple()) return Kind::number(greater_rank(a, b));
            std::vector<Kind> parts = a.parts;
            parts.insert(parts.end(), b.parts.begin(), b.parts.end());
            return Kind::tuple(std::move(parts));
        }
        case Op::kMin:
        case Op::kMax: {
            const Kind a = operand(0), b = operand(1);
            if (a.is_tuple() && b.is_tuple()) return joined(a, b);
            break;
        }
        case Op::kMul: {
            const auto times = integer(*expr.operands[1], here);
            if (!times) break;
            const Kind a = operand(0);
            if (!a.is_tuple()) return Kind::number(greater_rank(a, Kind::number()));
            std::vector<Kind> parts;
            for (std::int64_t i = 0; i < *times; ++i)
                parts.insert(parts.end(), a.parts.begin(), a.parts.end());
            return Kind::tuple(std::move(parts));
        }
        case Op::kCall: {
            if (expr.callee->kind == FunctionKind::kForeign) return Kind::number();
            std::vector<Kind> kinds;
            for (std::size_t i = 0; i < expr.operands.size(); ++i)
                kinds.push_back(carried(operand(i), here));
            return result_of_(*expr.callee, kinds);
        }
        default:
            break;
    }
    return Kind::number(rank_of(expr, here));
}

// The kind of `x[i, j]`, or of `t[0][i]`, which has all its subscripts in one list.
Kind KindWalk::of_part(const Expr& load, const KindsHere& here) const {
    Kind part = there(kind_of(*load.var, here));
    for (std::size_t i = 0; i < load.operands.size() && !part.is_number(); ++i) {
        if (!part.is_tuple()) return Kind::mixed();
        const Expr& index = *load.operands[i];
        if (index.op == Op::kSlice) {
            const auto places = sliced_places(index, part.parts.size(), here);
            if (!places) return Kind::mixed();
            std::vector<Kind> parts;
            for (const std::size_t place : *places)
                parts.push_back(part.parts[place]);
            part = Kind::tuple(std::move(parts));
        } else if (const auto at = place(index, part.parts.size(), here)) {
            part = Kind(part.parts[*at]);
        } else {
            part = any_part(part);
        }
        if (part.is_number() && i + 1 < load.operands.size())
            return Kind::number(Kind::kUnknownRank);
    }
    return part.is_number() && kind_of(*load.var, here).is_number()
               ? Kind::number(rank_of_part(load, here))
               : part;
}

// The rank of an expression that is a number or an array.
int KindWalk::rank_of(const Expr& expr, const KindsHere& here) const {
    constexpr int kUnknown = Kind::kUnknownRank;
    const auto rank = [&](const Expr& e) {
        const Kind kind = of(e, here);
        return kind.is_number() ? kind.rank : kUnknown;
    };
    const auto count = static_cast<int>(expr.operands.size());
    switch (expr.op) {
        case Op::kConst:
        case Op::kExtent:
        case Op::kRank:
        case Op::kSize:
        case Op::kLength:
        case Op::kSame:
        case Op::kIn:
        case Op::kHas:
        case Op::kTypesEqual:
        case Op::kRegister:
        case Op::kAtomic:
        case Op::kPyInt:
        case Op::kPyIndex:
            return 0;
        case Op::kConvertLike:
            return rank(*expr.operands[0]);
        case Op::kReduce: {
            if (count == 1) return 0;
            const int all = rank(*expr.operands[0]);
            const bool keeps = expr.constant == Constant{true};
            return all < 0 || keeps ? all : all - (count - 1);
        }
        case Op::kMatMul: {
            const int a = rank(*expr.operands[0]), b = rank(*expr.operands[1]);
            return a < 0 || b < 0 ? kUnknown : a == 0 || b == 0 ? 0 : product_rank(a, b);
        }
        case Op::kFull:
        case Op::kReshape: {
            int extents = 0;  // which a tuple may hold
            for (int i = 1; i < count; ++i) {
                const Kind kind = of(*expr.operands[static_cast<std::size_t>(i)], here);
                if (!kind.is_tuple() && !kind.is_number()) return kUnknown;
                extents += kind.is_tuple() ? static_cast<int>(kind.parts.size()) : 1;
            }
            return extents;
        }
        case Op::kLike:
            return rank(*expr.operands[1]);
        case Op::kEmpty:
        case Op::kTranspose:
            return rank(*expr.operands[0]);
        default:
            break;
    }
    int most = 0;
    for (const Expr* operand : expr.operands) {
        const int own = rank(*operand);
        if (own < 0) return kUnknown;
        most = std::max(most, own);
    }
    return most;
}

int KindWalk::rank_of_part(const Expr& load, const KindsHere& here) const {
    constexpr int kUnknown = Kind::kUnknownRank;
    const int whole = kind_of(*load.var, here).rank;
    if (whole < 0) return kUnknown;
    int taken = 0, made = 0, by_arrays = 0;
    for (const Expr* index : load.operands) {
        if (index->op == Op::kEllipsis) continue;
        if (index->op == Op::kSlice || index->op == Op::kNewAxis) {
            taken += index->op == Op::kSlice ? 1 : 0;
            ++made;
            continue;
        }
        const Kind kind = of(*index, here);
        if (kind.is_tuple()) {
            taken += static_cast<int>(kind.parts.size());
            continue;
        }
        if (kind.rank < 0) return kUnknown;
        if (kind.rank > 0 && load.operands.size() > 1) return kUnknown;
        // A mask has several dimensions; which arrays are masks is not known here.
        if (kind.rank > 1) return kUnknown;
        by_arrays = std::max(by_arrays, kind.rank);
        ++taken;
    }
    return std::max(whole - taken + made + by_arrays, 0);
}

// ------------------------------------------------------------ statements

void KindWalk::walk(const Body& body, KindsHere& here) {
    for (const Stmt* stmt : body) {
        if (!here.reachable) return;
        walk(*stmt, here);
    }
}

void KindWalk::walk(const Stmt& stmt, KindsHere& here) {
    switch (stmt.kind) {
        case StmtKind::kAssign: {
            const auto& assign = *stmt.as<Assign>();
            Kind kind = of(*assign.value, here);
            if (assign.update && operators_) {
                Expr name, both;
                name.op = Op::kVar;
                name.var = assign.var;
                both.op = *assign.update;
                both.operands = {&name, assign.value};
                if (operator_method(both, of(name, here), kind)) {
                    here.of[assign.var] = of(both, here);
                    break;
                }
            }
            if (kind.is_optional() && assign.update) kind = Kind(kind.parts[0]);
            if (assign.update && *assign.update == Op::kAdd && kind.is_tuple()) {
                const Kind before = kind_of(*assign.var, here);
                kind.parts.insert(kind.parts.begin(), before.parts.begin(), before.parts.end());
            } else if (assign.update && kind.is_number()) {
                const Kind held = kind_of(*assign.var, here);
                const int before = held.is_optional() ? held.parts[0].rank : held.rank;
                kind.rank =
                    before < 0 || kind.rank < 0 ? Kind::kUnknownRank : std::max(before, kind.rank);
            }
            here.of[assign.var] = std::move(kind);
            break;
        }
        case StmtKind::kIf: {
            const auto& branch = *stmt.as<If>();
            if (const auto known = truth(*branch.condition, here)) {
                walk(*known ? branch.then_body : branch.else_body, here);
                break;
            }
            KindsHere other = here;
            assume(*branch.condition, true, here);
            assume(*branch.condition, false, other);
            walk(branch.then_body, here);
            walk(branch.else_body, other);
            here.merge(other);
            break;
        }
        case StmtKind::kFor:
            if (const auto apart = unrolled(*stmt.as<For>(), here)) {
                walk_unrolled(*stmt.as<For>(), *apart, here);
                break;
            }
            [[fallthrough]];
        case StmtKind::kWhile:
            here = around(stmt, here).behind;
            break;
        case StmtKind::kBreak:
        case StmtKind::kContinue:
            if (!loops_.empty()) {
                Loop& loop = *loops_.back();
                (stmt.kind == StmtKind::kBreak ? loop.left : loop.repeated).push_back(here);
            }
            here.reachable = false;
            break;
        case StmtKind::kReturn:
            if (const Expr* value = stmt.as<Return>()->value)
                result_ = joined(result_, carried(of(*value, here), here));
            here.reachable = false;
            break;
        case StmtKind::kFail:
            here.reachable = false;
            break;
        case StmtKind::kGpu:
            walk(stmt.as<Gpu>()->body, here);
            break;
        default:
            break;
    }
}

// Inner loops are visited in each iteration of outer ones, mostly with the same kinds.
const KindWalk::Known& KindWalk::around(const Stmt& loop, const KindsHere& here) {
    const auto [place, is_new] = known_.try_emplace(&loop);
    Known& known = place->second;
    if (!is_new && known.before == here) return known;
    KindsHere head = here, behind;
    for (bool changed = true; changed;) {
        KindsHere again = head;
        behind = {};
        iterate(loop, again, behind);
        changed = head.merge(again);
        // A value that may be None behind the loop may be None in it: the loop may end at its head.
        for (const auto& [var, kind] : behind.of) {
            const auto found = head.of.find(var);
            if (found == head.of.end() || !has_optional(kind)) continue;
            Kind both = joined(found->second, kind);
            if (both == found->second) continue;
            found->second = std::move(both);
            changed = true;
        }
    }
    return known_[&loop] = {here, std::move(head), std::move(behind)};
}

// Walks one iteration from `here`, the head of the loop, back to it; `behind`: its exits.
void KindWalk::iterate(const Stmt& loop, KindsHere& here, KindsHere& behind) {
    const auto* repeat = loop.as<While>();
    const auto* counted = loop.as<For>();
    Loop own;
    if (runs_for_ever(loop)) {
        behind.reachable = false;
    } else {
        behind = here;
    }
    if (counted != nullptr) here.of[counted->var] = Kind::number();
    loops_.push_back(&own);
    walk(repeat != nullptr ? repeat->body : counted->body, here);
    loops_.pop_back();
    for (const KindsHere& each : own.repeated)
        here.merge(each);
    if (counted != nullptr) behind.merge(here);
    for (const KindsHere& each : own.left)
        behind.merge(each);
}

}  // namespace parpy
