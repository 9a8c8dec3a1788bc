// ---- device code ----
// halves(h: f16[100], b: bf16[100], d: f32[100])
#include <metal_stdlib>
using namespace metal;
typedef long i64;
typedef half f16;
typedef bfloat bf16;
#define INLINE static inline
template <class F> INLINE int whole_i32(F a) {
    return a >= (F)-2147483648.0 && a < (F)2147483648.0 ? (int)a : -2147483647 - 1;
}
template <class F> INLINE i64 whole_i64(F a) {
    return a >= (F)-9223372036854775808.0 && a < (F)9223372036854775808.0 ? (i64)a : -9223372036854775807LL - 1;
}
// Converts a float to an integer, towards zero. Out of range the results are NumPy's on x86-64: small
// types and negative values for unsigned ones wrap around; larger values and NaN give the lowest value.
template <class I, class F> INLINE I truncate(F a) {
    if constexpr (sizeof(I) < 4 || (sizeof(I) == 4 && (I)-1 < 0)) {
        return (I)whole_i32(a);
    } else if constexpr ((I)-1 < 0) {
        return (I)whole_i64(a);
    } else if constexpr (sizeof(I) == 4) {
        const bool high = a >= (F)2147483648.0;
        return (I)whole_i32(high ? a - (F)2147483648.0 : a) ^ (I)high << 31;
    } else {
        const bool high = a >= (F)9223372036854775808.0;
        return (I)whole_i64(high ? a - (F)9223372036854775808.0 : a) ^ (I)high << 63;
    }
}

[[max_total_threads_per_threadgroup(128)]] kernel void halves_i(
        device f16* h [[buffer(0)]], device bf16* b [[buffer(1)]],
        device const float* d [[buffer(2)]], uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for i in range(n):
    int i = (int)thread_id.x;
    if (i < 100) {
        // input.ir:7: h[i] = h[i] * h[i] + 0.1 * exp(h[i])
        h[i] = (f16)(h[i] * h[i]) + (f16)(0.099975586f * (f16)exp(float(h[i])));
        // input.ir:8: b[i] = b[i] / 3.0 if b[i] > 1.0 else -b[i]
        b[i] = b[i] > 1.0f ? (bf16)(b[i] / 3.0f) : (bf16)-b[i];
        // input.ir:9: h[i] = f16(d[i]) + f16(int(h[i]))
        h[i] = (f16)d[i] + (f16)(float)truncate<i64>((float)h[i]);
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef _Float16 f16;
typedef unsigned short u16;
#define INLINE_MEMBER inline __attribute__((always_inline))
#define INLINE static inline __attribute__((always_inline))
INLINE u32 f32_bits(float x) { return __builtin_bit_cast(u32, x); }
INLINE float f32_from_bits(u32 bits) { return __builtin_bit_cast(float, bits); }
// The upper half of a float, computed in float, rounded to nearest after every operation.
struct bf16 {
    u16 bits;
    bf16() = default;
    INLINE_MEMBER bf16(float x) {
        const u32 wide = f32_bits(x);
        bits = (u16)(x == x ? (wide + 0x7fff + (wide >> 16 & 1)) >> 16 : wide >> 16 | 0x40);
    }
    INLINE_MEMBER operator float() const { return f32_from_bits((u32)bits << 16); }
};
typedef unsigned long long u64;

extern "C" int halves(ParpyContext* context, f16* __restrict h, bf16* __restrict b,
                      const float* __restrict d) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&h, (void*)&b, (void*)&d};
        const int error = parpy_launch(context, 0, 1, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int halves_slots(ParpyContext* context, const u64* slots) {
    return halves(context, (f16*)slots[0], (bf16*)slots[1], (const float*)slots[2]);
}
