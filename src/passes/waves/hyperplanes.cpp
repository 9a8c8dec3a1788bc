// See hyperplanes.h. All small vectors are tried, in the order of their numbers of waves. The
// ranges of the distances decide most of them; a limited number of exact questions decides the
// others.
#include "passes/waves/hyperplanes.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace parpy {

namespace {

constexpr int kMostQuestions = 200;

std::vector<std::int64_t> values_of_coefficients(std::size_t loops) {
    if (loops > 3) return {0, 1, -1, 2, -2, 4, -4, 8, -8};
    return {0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8};
}

class Search {
public:
    Search(Distances& distances, LoopRange loops, const std::vector<double>& trips)
        : distances_(distances), loops_(loops), trips_(trips) {
        for (const Distance& each : distances.all()) {
            if (each.carrier >= loops.first && each.carrier <= loops.last)
                carried_.push_back(&each);
        }
    }

    Hyperplane run() {
        for (Hyperplane& each : candidates()) {
            if (suits(each)) return std::move(each);
        }
        return {};
    }

private:
    std::vector<Hyperplane> candidates() const {
        const std::vector<std::int64_t> values = values_of_coefficients(loops_.size());
        std::vector<Hyperplane> found;
        std::vector<std::size_t> digits(loops_.size());
        for (std::size_t place = 0; place < digits.size();) {
            Hyperplane each{loops_, {}, 1};
            bool unit = false;
            for (std::size_t i = 0; i < digits.size(); ++i) {
                const std::int64_t h = values[digits[i]];
                each.coefficients.push_back(h);
                each.waves +=
                    static_cast<double>(std::abs(h)) * std::max(trips_[loops_.first + i] - 1, 0.0);
                unit = unit || std::abs(h) == 1;
            }
            if (unit && may_suit(each)) found.push_back(std::move(each));
            for (place = 0; place < digits.size() && ++digits[place] == values.size(); ++place)
                digits[place] = 0;
        }
        const auto key = [](const Hyperplane& each) {
            std::int64_t size = 0, negative = 0;
            for (const std::int64_t h : each.coefficients) {
                size += std::abs(h);
                negative += h < 0;
            }
            return std::tuple(each.waves, size, negative, each.coefficients);
        };
        std::ranges::sort(found, {}, key);
        return found;
    }

    struct Reach {
        std::optional<std::int64_t> least, most;  // of h · d
    };
    [[nodiscard]] Reach reach(const Distance& distance, const Hyperplane& plane) const {
        Reach sum{0, 0};
        for (std::size_t i = 0; i < plane.coefficients.size(); ++i) {
            const std::int64_t h = plane.coefficients[i];
            const IntegerSets::Range& range = distance.by_loop[loops_.first + i];
            const auto add = [&](std::optional<std::int64_t>& to,
                                 const std::optional<std::int64_t>& end) {
                std::int64_t part = 0;
                const bool fits = to && end && !__builtin_mul_overflow(h, *end, &part) &&
                                  !__builtin_add_overflow(*to, part, &part);
                to = fits ? std::optional(part) : std::nullopt;
            };
            if (h == 0) continue;
            add(sum.least, h > 0 ? range.low : range.high);
            add(sum.most, h > 0 ? range.high : range.low);
        }
        return sum;
    }

    [[nodiscard]] bool may_suit(const Hyperplane& plane) const {
        return std::ranges::all_of(carried_, [&](const Distance* each) {
            const auto most = reach(*each, plane).most;
            return !most || *most >= 1;
        });
    }

    bool suits(const Hyperplane& plane) {
        std::vector<std::int64_t> coefficients(trips_.size());
        std::ranges::copy(plane.coefficients,
                          coefficients.begin() + static_cast<std::ptrdiff_t>(loops_.first));
        // The distance that refused one vector is likely to refuse the next one.
        for (std::size_t i = 0; i < carried_.size(); ++i) {
            const auto least = reach(*carried_[i], plane).least;
            if (least && *least >= 1) continue;
            const bool proved =
                questions_++ < kMostQuestions && distances_.advances(*carried_[i], coefficients);
            if (proved) continue;
            std::swap(carried_[0], carried_[i]);
            return false;
        }
        return true;
    }

    Distances& distances_;
    const LoopRange loops_;
    const std::vector<double>& trips_;
    std::vector<const Distance*> carried_;
    int questions_ = 0;
};

}  // namespace

Hyperplane best_hyperplane(Distances& distances, LoopRange loops,
                           const std::vector<double>& trips) {
    return Search(distances, loops, trips).run();
}

}  // namespace parpy
