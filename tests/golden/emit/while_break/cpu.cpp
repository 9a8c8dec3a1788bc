// ---- host code ----
// collatz(start: i64[1000], steps: i32[1000])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef unsigned long long u64;

struct collatz_i_frame {
    const i64* start;
    int* steps;
};

static NOINLINE void collatz_i(const i64* __restrict start, int* __restrict steps, i64 begin,
                               i64 end, i64 chunk) {
    // input.ir:6: for i in range(n):
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: x = start[i]
        i64 x = start[i];
        // input.ir:8: count = 0
        i64 count = 0;
        // input.ir:9: while x > 1:
        while (x > 1) {
            // input.ir:10: if x % 2 == 0:
            if ((x & 1) == 0) {
                // input.ir:11: x = x // 2
                x = x >> 1;
            } else if (x > 1000000000) {
                // input.ir:13: count = -1
                count = -1;
                // input.ir:14: break
                break;
            } else {
                // input.ir:16: x = 3 * x + 1
                x = 3 * x + 1;
            }
            // input.ir:17: count += 1
            count = count + 1;
        }
        // input.ir:18: steps[i] = i32(count)
        steps[i] = (int)count;
        // input.ir:19: for k in range(8, 0, -2):
        for (i64 k = 8; k > 0; k -= 2) {
            // input.ir:20: if start[i] == k:
            if (start[i] == k) {
                // input.ir:21: continue
                continue;
            }
            // input.ir:22: steps[i] += 1
            steps[i] = steps[i] + 1;
        }
    }
}

static void collatz_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const collatz_i_frame& f = *(const collatz_i_frame*)frame;
    collatz_i(f.start, f.steps, begin, end, chunk);
}

extern "C" int collatz(ParpyContext* context, const i64* __restrict start, int* __restrict steps) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 1000, 56.5, 1000);
    collatz_i_frame collatz_i_args = {start, steps};
    parpy_parallel_for(context, 1000, chunks, 1000, collatz_i_run, &collatz_i_args);
    return 0;
}

extern "C" int collatz_slots(ParpyContext* context, const u64* slots) {
    return collatz(context, (const i64*)slots[0], (int*)slots[1]);
}
