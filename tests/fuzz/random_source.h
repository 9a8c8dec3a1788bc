// A small generator of random choices whose sequence is the same everywhere (SplitMix64).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace parpy::fuzz {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // A number in [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
    }
    // True with a probability of `percent` percent.
    bool chance(int percent) { return between(0, 99) < percent; }
    template <class T>
    T pick(std::initializer_list<T> options) {
        return options.begin()[between(0, static_cast<std::int64_t>(options.size()) - 1)];
    }
    template <class T>
    T pick(const std::vector<T>& options) {
        return options[static_cast<std::size_t>(
            between(0, static_cast<std::int64_t>(options.size()) - 1))];
    }

private:
    std::uint64_t state_;
};

}  // namespace parpy::fuzz
