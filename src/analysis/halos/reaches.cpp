// See reaches.h.
#include "analysis/halos/reaches.h"

#include <algorithm>

#include "analysis/integers/constraint_system.h"
#include "support/diagnostic.h"

namespace parpy {

namespace {

using Kind = Halos::Reach::Kind;

constexpr std::int64_t kFar = std::int64_t{1} << 48;  // beyond every array

const Symbol& symbol_of(const Accesses& accesses, int number) {
    return accesses.symbols()[static_cast<std::size_t>(number)];
}

std::string fragment(const std::vector<Source>& sources, const Span& span) {
    const std::string line(source_line(sources, span));
    if (!span.valid() || span.end_line != span.line || span.source >= sources.size()) return line;
    const Source& source = sources[span.source];
    std::size_t begin = 0;
    for (std::uint32_t number = source.first_line; number < span.line; ++number) {
        begin = source.text.find('\n', begin);
        if (begin == std::string::npos) return line;
        ++begin;
    }
    const std::string rest = source.text.substr(begin, source.text.find('\n', begin) - begin);
    if (span.column < 1 || span.end_column <= span.column || span.end_column > rest.size() + 1)
        return line;
    return rest.substr(span.column - 1, span.end_column - span.column);
}

// The text before the `=` or `+=` of an assignment.
std::string target_of(const std::string& text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        if (c != '=' || depth != 0) continue;
        const std::size_t end = text.find_last_not_of("+-*/%@&|^<> ", i - 1);
        return end == std::string::npos ? text : text.substr(0, end + 1);
    }
    return text;
}

}  // namespace

Reaches::Reaches(const Accesses& accesses, int loop, const std::vector<Source>& sources)
    : accesses_(accesses),
      loop_(loop),
      counter_(accesses.loops()[static_cast<std::size_t>(loop)].counter),
      sources_(sources) {
    choose_row();
}

// Uses subscripts of writes, if there are any; else the middle of the reads with one scale.
void Reaches::choose_row() {
    const auto is_row = [&](const Affine& a) {
        return a.terms.size() == 1 && a.terms.front().first == counter_;
    };
    std::optional<Affine> low, high;
    for (const bool writes : {true, false}) {
        for (const Access& access : accesses_.all()) {
            const bool counts = access.writes() == writes && !access.anywhere &&
                                accesses_.inside(access.loop, loop_) &&
                                !accesses_.local_to(access.array, loop_);
            if (!counts) continue;
            for (const Affine& subscript : access.indices) {
                if (!is_row(subscript)) continue;
                if (writes) {
                    row_ = subscript;
                    return;
                }
                if (!low) low = high = subscript;
                if (subscript.terms != low->terms) continue;
                if (subscript.constant < low->constant) low = subscript;
                if (subscript.constant > high->constant) high = subscript;
            }
        }
    }
    if (low) {
        row_ = *low;
        row_.constant += (high->constant - low->constant) / 2;
        return;
    }
    const Affine& value = accesses_.loops()[static_cast<std::size_t>(loop_)].value;
    row_ = is_row(value) ? value : Affine::symbol(counter_);
}

// Follows the definitions of symbols, and the bounds of inner loops' variables, which are terms.
bool Reaches::depends(const Affine& a, bool (*on)(const Reaches&, int)) const {
    std::vector<int> open, seen;
    const auto add = [&](const Affine& each) {
        for (const auto& [number, coefficient] : each.terms) {
            if (std::ranges::find(seen, number) != seen.end()) continue;
            seen.push_back(number);
            open.push_back(number);
        }
    };
    add(a);
    while (!open.empty()) {
        const int number = open.back();
        open.pop_back();
        if (on(*this, number)) return true;
        for (const Alternatives& one : symbol_of(accesses_, number).definition) {
            for (const auto& conditions : one) {
                for (const Condition& condition : conditions)
                    add(condition.value);
            }
        }
    }
    return false;
}

// Nothing if no such iteration exists.
std::optional<IntegerSets::Range> Reaches::range(const Access& access, const Affine& difference,
                                                 std::optional<std::int64_t> least,
                                                 std::optional<std::int64_t> greatest) {
    ConstraintSystem system(accesses_, -1);
    system.happens(access, 0);
    if (least) system.require({{&difference, 0}}, -*least, false);
    if (greatest) system.require({{&difference, 0, -1}}, *greatest, false);
    if (sets_.exhausted()) return IntegerSets::Range{};
    if (system.solve(sets_) == ConstraintSystem::Outcome::kNever) return std::nullopt;
    return system.range(sets_, {{&difference, 0}});
}

Halos::Reach Reaches::of(const Access& access, std::size_t axis) {
    Halos::Reach reach;
    reach.text = access_text(sources_, access);
    reach.line = access.span.line;
    reach.low_text = reach.high_text = reach.text;
    reach.low_line = reach.high_line = reach.line;
    reach.kind = Kind::kIrregular;
    // An aliased array has no reach: an access may touch rows of the other array as well.
    if (access.anywhere || access.array->aliased || axis >= access.indices.size()) return reach;
    const Affine& subscript = access.indices[axis];
    const auto difference = sum(subscript, row_, -1);
    const auto is_opaque = [](const Reaches& self, int number) {
        const Symbol& symbol = symbol_of(self.accesses_, number);
        return symbol.kind == Symbol::Kind::kOpaque && symbol.scope >= 0 &&
               self.accesses_.inside(symbol.scope, self.loop_);
    };
    const auto is_counter = [](const Reaches& self, int number) { return number == self.counter_; };
    const bool data = depends(subscript, is_opaque);
    reach.kind = data ? Kind::kIrregular : Kind::kAll;
    if (!difference) return reach;
    const auto settle = [&](const IntegerSets::Range& found, Kind kind) {
        const bool bounded = found.low && found.high && *found.low > -kFar && *found.high < kFar;
        if (!bounded) return false;
        reach.kind = kind;
        reach.low = *found.low;
        reach.high = *found.high;
        return true;
    };
    if (difference->is_constant()) {
        (void)settle({difference->constant, difference->constant}, Kind::kBlock);
        return reach;
    }
    if (!depends(*difference, is_counter)) {
        const auto found = range(access, *difference, std::nullopt, std::nullopt);
        if (found) (void)settle(*found, Kind::kBlock);
        return reach;
    }
    // The difference varies: bands, and subscripts that wrap around, stay within a quarter of the
    // extent, counted modulo the extent.
    const auto extent =
        access.array->dims.size() > axis ? access.array->dims[axis].extent : std::nullopt;
    if (!extent || *extent < 1) return reach;
    const std::int64_t near = std::max<std::int64_t>(*extent / 4, 1), far = *extent - near;
    if (far <= near + 1) return reach;
    if (range(access, *difference, near + 1, far - 1)) return reach;
    if (range(access, *difference, 1 - far, -near - 1)) return reach;
    std::optional<IntegerSets::Range> all;
    Kind kind = Kind::kBlock;
    const auto add = [&](std::optional<IntegerSets::Range> found, std::int64_t shift) {
        if (!found) return;
        if (!found->low || !found->high) {
            all = IntegerSets::Range{};
            return;
        }
        if (shift != 0) kind = Kind::kPeriodic;
        *found->low += shift;
        *found->high += shift;
        if (all && (!all->low || !all->high)) return;
        if (!all) all = found;
        all->low = std::min(*all->low, *found->low);
        all->high = std::max(*all->high, *found->high);
    };
    add(range(access, *difference, -near, near), 0);
    add(range(access, *difference, far, std::nullopt), -*extent);
    add(range(access, *difference, std::nullopt, -far), *extent);
    if (all) (void)settle(*all, kind);
    return reach;
}

void join(std::optional<Halos::Reach>& into, const Halos::Reach& reach) {
    if (!into) {
        into = reach;
        return;
    }
    const auto bounded = [](const Halos::Reach& r) {
        return r.kind == Kind::kBlock || r.kind == Kind::kPeriodic;
    };
    if (!bounded(*into) || !bounded(reach)) {
        if (reach.kind > into->kind) into = reach;
        return;
    }
    if (reach.kind > into->kind) {
        into->kind = reach.kind;
        into->text = reach.text;
        into->line = reach.line;
    }
    if (reach.low < into->low) {
        into->low = reach.low;
        into->low_text = reach.low_text;
        into->low_line = reach.low_line;
    }
    if (reach.high > into->high) {
        into->high = reach.high;
        into->high_text = reach.high_text;
        into->high_line = reach.high_line;
    }
}

std::string access_text(const std::vector<Source>& sources, const Access& access) {
    const std::string text = fragment(sources, access.span);
    return access.writes() ? target_of(text) : text;
}

}  // namespace parpy
