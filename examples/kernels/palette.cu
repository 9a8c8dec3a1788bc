// Device functions in CUDA C++, linked to the kernel in linked.py.

// A point's steps as a colour, 0xRRGGBB; the last parameter is the result, as in NumbaPro's slides.
extern "C" __device__ void palette(int steps, int limit, int* out) {
    const int s = steps * 255 / limit;
    *out = steps == limit ? 0 : (s * s / 255) << 16 | s << 8 | (255 - s / 2);
}

// Repeats z := z * z + c until |z| > 2, and returns the number of steps. `c` points to two numbers.
extern "C" __device__ int julia(double x, double y, const double* c, int limit) {
    for (int i = 0; i < limit; ++i) {
        if (x * x + y * y > 4.0) return i;
        const double next = x * x - y * y + c[0];
        y = 2 * x * y + c[1];
        x = next;
    }
    return limit;
}
