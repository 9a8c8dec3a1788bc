// The flags of the floating-point unit around compiled code, as NumPy's inner loops leave them.
//
// Vector code computes both sides of a branch, and its comparisons raise "invalid" for NaN: such
// flags do not concern the results. Raised flags are therefore checked against the results, which
// costs a pass over them: "invalid" stays if a result is NaN and no operand of it is, "divide" and
// "overflow" if a result is infinite and its operands are finite.
#pragma once

#include <cfenv>
#include <span>

#include "ir/type.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parpy {

// The flags of one thread: those that code raises between begin() and end().
class FloatFlags {
public:
    void begin() {
        before_ = read();
        if (before_ != 0) clear();
    }
    // Returns the raised flags, and restores those of the thread.
    [[nodiscard]] int end() const {
        const int raised = read();
        if (raised != before_) {
            clear();
            raise(before_);
        }
        return raised;
    }
    static void raise(int flags) {
        if (flags != 0) std::feraiseexcept(flags);
    }
    // The flags that the thread has, in either unit, and their removal.
    [[nodiscard]] static int raised() { return std::fetestexcept(kAll); }
    static void forget() {
        if (raised() != 0) std::feclearexcept(kAll);
    }

private:
    static constexpr int kAll = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW;
#if defined(__x86_64__)
    // The bits of MXCSR are those of <cfenv>; generated code does not use the older unit.
    static int read() { return static_cast<int>(_mm_getcsr()) & kAll; }
    static void clear() { _mm_setcsr(_mm_getcsr() & ~unsigned{FE_ALL_EXCEPT}); }
#else
    static int read() { return std::fetestexcept(kAll); }
    static void clear() { std::feclearexcept(FE_ALL_EXCEPT); }
#endif
    int before_ = 0;
};

// One operand of a loop: its first element, the distance of its elements in bytes, and whether the
// loop has stored results over it.
struct FlaggedOperand {
    ir::Scalar scalar{};
    const char* data = nullptr;
    std::int64_t step = 0;
    bool overwritten = false;
};

// The subset of `flags` that the results confirm.
[[nodiscard]] int confirmed_flags(int flags, std::span<const FlaggedOperand> inputs,
                                  std::span<const FlaggedOperand> outputs, std::int64_t count);

}  // namespace parpy
