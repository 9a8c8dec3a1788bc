// The embedded Clang: good text runs, errors in bad text are reported, nothing ends the process,
// and the rules for floats and integers that generated code relies on hold.
#include "runtime/cpu/cpp_compiler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace parpy {
namespace {

std::unique_ptr<LoadedObject> build(std::string_view source, RuntimeError& error,
                                    const CppOptions& options = {}) {
    const std::string object = compile_cpp(source, "kernel.cpp", options, error);
    if (object.empty()) return nullptr;
    return load_object(object, {}, error);
}

template <typename Function>
Function* function(const LoadedObject& object, std::string_view name) {
    return reinterpret_cast<Function*>(object.symbol(name));
}

// Builds `source`, which must compile, and keeps it until the test ends.
class Built {
public:
    explicit Built(std::string_view source, const CppOptions& options = {}) {
        RuntimeError error;
        object_ = build(source, error, options);
        EXPECT_TRUE(object_) << error.message;
    }
    template <typename Function>
    Function* get(std::string_view name) const {
        return object_ ? function<Function>(*object_, name) : nullptr;
    }

private:
    std::unique_ptr<LoadedObject> object_;
};

void expect_usable() {
    const Built built("extern \"C\" int answer() { return 42; }");
    auto* answer = built.get<int()>("answer");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer(), 42);
}

TEST(CppCompiler, RunsAKernel) {
    const Built built(
        "extern \"C\" void axpy(float a, const float* __restrict x, float* __restrict y, long n) {"
        "  for (long i = 0; i < n; ++i) y[i] = a * x[i] + y[i]; }");
    auto* axpy = built.get<void(float, const float*, float*, long)>("axpy");
    ASSERT_TRUE(axpy);
    std::vector<float> x(1001), y(1001, 1.0f);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i);
    axpy(2.0f, x.data(), y.data(), 1001);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1000], 2001.0f);
}

// The remainder of a vectorised loop has vectors of its own.
TEST(CppCompiler, RowsOfAllLengths) {
    const Built built(
        "extern \"C\" void sums(const double* __restrict x, double* __restrict y, long n) {"
        "  for (long i = 0; i < n; ++i) y[i] = 0.5 * (x[i] + x[i + 1]); }"
        "extern \"C\" int total(const int* x, long n) {"
        "  int sum = 0; for (long i = 0; i < n; ++i) sum += x[i]; return sum; }"
        "extern \"C\" short highest(const short* x, long n) {"
        "  short most = -30000; for (long i = 0; i < n; ++i) if (x[i] > most) most = x[i];"
        "  return most; }");
    auto* sums = built.get<void(const double*, double*, long)>("sums");
    auto* total = built.get<int(const int*, long)>("total");
    auto* highest = built.get<short(const short*, long)>("highest");
    ASSERT_TRUE(sums && total && highest);
    for (long n = 0; n <= 150; ++n) {
        const auto size = static_cast<std::size_t>(n);
        std::vector<double> x(size + 1), y(size + 1, -1);
        std::vector<int> integers(size);
        std::vector<short> shorts(size);
        int expected = 0;
        for (std::size_t i = 0; i <= size; ++i)
            x[i] = static_cast<double>(i * i);
        for (std::size_t i = 0; i < size; ++i) {
            integers[i] = static_cast<int>(i * 77 % 101);
            shorts[i] = static_cast<short>(i);  // the last one is the highest
            expected += integers[i];
        }
        sums(x.data(), y.data(), n);
        for (std::size_t i = 0; i < size; ++i)
            EXPECT_EQ(y[i], 0.5 * (x[i] + x[i + 1])) << n;
        EXPECT_EQ(y[size], -1) << n;
        EXPECT_EQ(total(integers.data(), n), expected) << n;
        EXPECT_EQ(highest(shorts.data(), n), n == 0 ? -30000 : n - 1) << n;
    }
}

TEST(CppCompiler, AbsentSymbolIsNull) {
    const Built built("extern \"C\" int there() { return 1; }");
    EXPECT_EQ(built.get<int()>("absent"), nullptr);
}

TEST(CppCompiler, SyntaxErrorIsReportedWithItsPlace) {
    RuntimeError error;
    EXPECT_EQ(build("int f() {\n  return x +;\n}\n", error), nullptr);
    EXPECT_EQ(error.code, Code::kP510);
    EXPECT_NE(error.message.find("kernel.cpp:2:"), std::string::npos) << error.message;
    expect_usable();
}

TEST(CppCompiler, UnknownFlagIsReported) {
    RuntimeError error;
    EXPECT_EQ(build("int f();", error, {.extra_flags = {"-no-such-flag"}}), nullptr);
    EXPECT_NE(error.message.find("-no-such-flag"), std::string::npos) << error.message;
    expect_usable();
}

TEST(CppCompiler, MissingFunctionIsReported) {
    RuntimeError error;
    EXPECT_EQ(
        build("extern \"C\" int absent_function(); int f() { return absent_function(); }", error),
        nullptr);
    EXPECT_EQ(error.code, Code::kP512);
    EXPECT_NE(error.message.find("absent_function"), std::string::npos) << error.message;
    expect_usable();
}

TEST(CppCompiler, BadAssemblyIsReported) {
    RuntimeError error;
    EXPECT_EQ(build("void f() { __asm__ volatile(\"no_such_instruction\"); }", error), nullptr);
    EXPECT_NE(error.message.find("no_such_instruction"), std::string::npos) << error.message;
    expect_usable();
}

// An intrinsic of another target: LLVM's instruction selection calls report_fatal_error.
TEST(CppCompiler, FatalErrorOfTheBackEndIsReported) {
    for (int i = 0; i < 3; ++i) {
        RuntimeError error;
        EXPECT_EQ(build("float ex2(float) __asm__(\"llvm.nvvm.ex2.approx.f\");"
                        "float f(float x) { return ex2(x); }",
                        error),
                  nullptr);
        EXPECT_EQ(error.code, Code::kP511);
        EXPECT_NE(error.message.find("ex2"), std::string::npos) << error.message;
        expect_usable();
    }
}

TEST(CppCompiler, MathFunctionsAndTheRuntimeResolve) {
    const Built built(
        "struct ParpyContext;"
        "extern \"C\" { double tgamma(double); double erf(double); float lgammaf(float);"
        "long parpy_chunks(ParpyContext*, long, double, long); void* memcpy(void*, const void*,"
        "unsigned long);"
        "double gamma_of(double x) { return tgamma(x) + erf(0.0); }"
        "long chunks() { return parpy_chunks(nullptr, 1, 1.0, 0); } }");
    auto* gamma_of = built.get<double(double)>("gamma_of");
    auto* chunks = built.get<long()>("chunks");
    ASSERT_TRUE(gamma_of && chunks);
    EXPECT_EQ(gamma_of(5.0), 24.0);
    EXPECT_EQ(chunks(), 1);
}

TEST(CppCompiler, LibrariesAreSearched) {
    RuntimeError error;
    const std::string object = compile_cpp(
        "extern \"C\" { const char* zlibVersion(); char v() { return *zlibVersion(); } }", "k.cpp",
        {}, error);
    ASSERT_FALSE(object.empty()) << error.message;
    const std::string missing[] = {"libno-such-library.so"};
    EXPECT_EQ(load_object(object, missing, error), nullptr);
    EXPECT_NE(error.message.find("no-such-library"), std::string::npos) << error.message;
    const std::string zlib[] = {"libz.so.1"};
    const auto loaded = load_object(object, zlib, error);
    ASSERT_TRUE(loaded) << error.message;
    EXPECT_EQ(function<char()>(*loaded, "v")(), '1');
}

TEST(CppCompiler, HeadersAreFoundWhenAsked) {
    const Built built(
        "#include <cmath>\n#include <cstdint>\n"
        "extern \"C\" double f(double x) { return std::hypot(x, std::int64_t{4}); }",
        {.includes = {"."}});
    auto* f = built.get<double(double)>("f");
    ASSERT_TRUE(f);
    EXPECT_EQ(f(3.0), 5.0);
}

TEST(CppCompiler, FloatToIntegerSaturates) {
    const Built built(
        "extern \"C\" { int i32(double x) { return (int)x; }"
        "long i64(float x) { return (long)x; }"
        "unsigned char u8(float x) { return (unsigned char)x; }"
        "void many(const float* x, int* y, long n) {"
        "  for (long i = 0; i < n; ++i) y[i] = (int)x[i]; } }");
    auto* i32 = built.get<int(double)>("i32");
    auto* i64 = built.get<long(float)>("i64");
    auto* u8 = built.get<unsigned char(float)>("u8");
    auto* many = built.get<void(const float*, int*, long)>("many");
    ASSERT_TRUE(i32 && i64 && u8 && many);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(i32(infinity), std::numeric_limits<int>::max());
    EXPECT_EQ(i32(-infinity), std::numeric_limits<int>::min());
    EXPECT_EQ(i32(std::nan("")), 0);
    EXPECT_EQ(i32(-2.9), -2);
    EXPECT_EQ(i64(1e30f), std::numeric_limits<long>::max());
    EXPECT_EQ(u8(300.0f), 255);
    EXPECT_EQ(u8(-1.0f), 0);
    std::vector<float> x(100, 1e20f);
    x[37] = NAN;
    std::vector<int> y(100);
    many(x.data(), y.data(), 100);
    EXPECT_EQ(y[0], std::numeric_limits<int>::max());
    EXPECT_EQ(y[37], 0);
}

TEST(CppCompiler, TruncationsAreOneInstruction) {
    const Built built(
        "template <class F> int whole_i32(F a) {"
        "  return a >= (F)-0x1p31 && a < (F)0x1p31 ? (int)a : -2147483647 - 1; }"
        "template <class F> long whole_i64(F a) {"
        "  return a >= (F)-0x1p63 && a < (F)0x1p63 ? (long)a : -9223372036854775807L - 1; }"
        "extern \"C\" long wide(double a) { return whole_i64(a); }"
        "extern \"C\" long narrow(double a) { return whole_i32(a); }"
        "extern \"C\" long wide_f32(float a) { return whole_i64(a); }"
        "extern \"C\" int narrow_f32(float a) { return whole_i32(a); }"
        "extern \"C\" long other(double a) {"
        "  return a >= -0x1p63 && a < 0x1p62 ? (long)a : -9223372036854775807L - 1; }");
    auto* wide = built.get<long(double)>("wide");
    auto* narrow = built.get<long(double)>("narrow");
    auto* wide_f32 = built.get<long(float)>("wide_f32");
    auto* narrow_f32 = built.get<int(float)>("narrow_f32");
    auto* other = built.get<long(double)>("other");
    ASSERT_TRUE(wide && narrow && wide_f32 && narrow_f32 && other);
    constexpr long kLowest = std::numeric_limits<long>::min();
    constexpr long kLowestInt = std::numeric_limits<int>::min();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double a : {0.0,
                           -0.0,
                           0.9,
                           -0.9,
                           63.99,
                           -1.5,
                           2147483647.5,
                           -2147483648.9,
                           0x1p31,
                           -0x1p32,
                           1e15,
                           0x1p62,
                           0x1.fffffffffffffp62,
                           0x1p63,
                           -0x1p63,
                           -0x1.0000000000001p63,
                           1e300,
                           infinity,
                           -infinity,
                           std::nan("")}) {
        const bool fits = a >= -0x1p63 && a < 0x1p63, fits_int = a >= -0x1p31 && a < 0x1p31;
        EXPECT_EQ(wide(a), fits ? static_cast<long>(a) : kLowest) << a;
        EXPECT_EQ(narrow(a), fits_int ? static_cast<int>(a) : kLowestInt) << a;
        EXPECT_EQ(other(a), fits && a < 0x1p62 ? static_cast<long>(a) : kLowest) << a;
        const auto b = static_cast<float>(a);
        const bool b_fits = b >= -0x1p63f && b < 0x1p63f, b_int = b >= -0x1p31f && b < 0x1p31f;
        EXPECT_EQ(wide_f32(b), b_fits ? static_cast<long>(b) : kLowest) << b;
        EXPECT_EQ(narrow_f32(b), b_int ? static_cast<int>(b) : kLowestInt) << b;
    }
}

TEST(CppCompiler, ChainsOfComparisonsChooseAndCount) {
    const Built built(
        "extern \"C\" void replace(const unsigned char* __restrict x, unsigned char* __restrict y,"
        "                          long n) {"
        "  for (long i = 0; i < n; ++i) { const unsigned char v = x[i];"
        "    if (v == 65) y[i] = 84; else if (v == 67) y[i] = 71; else if (v == 71) y[i] = 67;"
        "    else if (v == 200) y[i] = 65; else y[i] = v; } }"
        "extern \"C\" void count(const unsigned char* __restrict x, long* __restrict y, long n) {"
        "  long a = 0, c = 0, g = 0;"
        "  for (long i = 0; i < n; ++i) { const unsigned char v = x[i];"
        "    if (v == 65) a += 1; else if (v == 67) c += 2; else if (v == 200) g -= 3; }"
        "  y[0] = a; y[1] = c; y[2] = g; }"
        "extern \"C\" double chain(const int* x, const double* y, long n) {"
        "  double s = 0; for (long i = 0; i < n; ++i) {"
        "    if (x[i] == 1) s += y[i]; else if (x[i] == 2) s -= 1; else if (x[i] == 7) s *= 0.5; }"
        "  return s; }");
    using Bytes = std::vector<unsigned char>;
    auto* replace = built.get<void(const unsigned char*, unsigned char*, long)>("replace");
    auto* count = built.get<void(const unsigned char*, long*, long)>("count");
    auto* chain = built.get<double(const int*, const double*, long)>("chain");
    ASSERT_TRUE(replace && count && chain);
    for (long n = 0; n <= 300; n += n < 140 ? 1 : 20) {
        const auto size = static_cast<std::size_t>(n);
        Bytes x(size), y(size + 1, 9), expected(size);
        std::vector<int> kinds(size);
        std::vector<double> values(size);
        long counts[3], found[3] = {0, 0, 0};
        double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
            x[i] = Bytes{65, 67, 71, 200, 84, 0, 255}[i * i * 5 % 7];
            const unsigned char v = x[i];
            expected[i] = v == 65 ? 84 : v == 67 ? 71 : v == 71 ? 67 : v == 200 ? 65 : v;
            found[0] += v == 65 ? 1 : 0;
            found[1] += v == 67 ? 2 : 0;
            found[2] -= v == 200 ? 3 : 0;
            kinds[i] = static_cast<int>(i * 3 % 8);
            values[i] = 0.1 * static_cast<double>(i);
            if (kinds[i] == 1) sum += values[i];
            if (kinds[i] == 2) sum -= 1;
            if (kinds[i] == 7) sum *= 0.5;
        }
        replace(x.data(), y.data(), n);
        count(x.data(), counts, n);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), y.begin())) << n;
        EXPECT_EQ(y[size], 9) << n;
        EXPECT_TRUE(std::equal(found, found + 3, counts)) << n;
        EXPECT_EQ(chain(kinds.data(), values.data(), n), sum) << n;  // floats: in order
    }
}

TEST(CppCompiler, SignedOverflowWraps) {
    const Built built(
        "extern \"C\" { int next(int x) { return x + 1; }"
        "bool grows(int x) { return x + 1 > x; } }");
    auto* next = built.get<int(int)>("next");
    auto* grows = built.get<bool(int)>("grows");
    ASSERT_TRUE(next && grows);
    EXPECT_EQ(next(std::numeric_limits<int>::max()), std::numeric_limits<int>::min());
    EXPECT_FALSE(grows(std::numeric_limits<int>::max()));
}

TEST(CppCompiler, ContractionIsFastMathAlone) {
    constexpr std::string_view kSource =
        "extern \"C\" double f(double a, double b, double c) { return a * b + c; }";
    const double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30, c = -1.0;
    const Built strict(kSource), fast(kSource, {.fast_math = true});
    auto* f = strict.get<double(double, double, double)>("f");
    auto* g = fast.get<double(double, double, double)>("f");
    ASSERT_TRUE(f && g);
    volatile double product = a * b;
    EXPECT_EQ(f(a, b, c), product + c);
    EXPECT_EQ(g(a, b, c), std::fma(a, b, c));
}

TEST(CppCompiler, HalfPrecisionResolves) {
    const Built built(
        "extern \"C\" { double round_trip(double x) { return (double)(_Float16)x; }"
        "__int128 divide(__int128 a, __int128 b) { return a / b; } }");
    auto* round_trip = built.get<double(double)>("round_trip");
    ASSERT_TRUE(round_trip);
    EXPECT_EQ(round_trip(1.0 + 0x1p-11 + 0x1p-30), 1.0 + 0x1p-10);  // rounded once, not twice
}

TEST(CppCompiler, MaximumPropagatesNaN) {
    const Built built(
        "float parpy_max(float, float) __asm__(\"llvm.maximum.f32\") __attribute__((const));"
        "extern \"C\" float row_max(const float* x, long n) { float m = x[0];"
        "  for (long i = 1; i < n; ++i) m = parpy_max(m, x[i]); return m; }");
    auto* row_max = built.get<float(const float*, long)>("row_max");
    ASSERT_TRUE(row_max);
    std::vector<float> x(1003);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = -static_cast<float>((i * 7919) % 1003);
    EXPECT_EQ(row_max(x.data(), 1003), 0.0f);
    x[500] = NAN;
    EXPECT_TRUE(std::isnan(row_max(x.data(), 1003)));
}

TEST(CppCompiler, PointersOfDifferentTypesMayAlias) {
    const Built built("extern \"C\" int f(int* i, float* x) { *i = 1; *x = 2.0f; return *i; }");
    auto* f = built.get<int(int*, float*)>("f");
    ASSERT_TRUE(f);
    float cell = 0;
    const float two = 2.0f;
    int bits = 0;
    std::memcpy(&bits, &two, sizeof bits);
    EXPECT_EQ(f(reinterpret_cast<int*>(&cell), &cell), bits);
}

TEST(CppCompiler, ThreadsCompileAtOnce) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([t, &right] {
            for (int i = 0; i < 8; ++i) {
                RuntimeError error;
                const int value = 100 * t + i;
                const auto built =
                    build("extern \"C\" int f() { return " + std::to_string(value) + "; }", error);
                if (built && function<int()>(*built, "f")() == value) ++right;
                RuntimeError expected;
                if (!build("syntax error", expected) && expected.failed()) ++right;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(right.load(), 32);
}

TEST(CppCompiler, SameTextSameObject) {
    RuntimeError error;
    constexpr std::string_view kSource = "extern \"C\" double f(double x) { return x * x; }";
    const std::string first = compile_cpp(kSource, "kernel.cpp", {}, error);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, compile_cpp(kSource, "kernel.cpp", {}, error));
}

// The prelude of several texts is parsed at first and precompiled then, with the same results.
TEST(CppCompiler, APreludeChangesNothing) {
    const std::string prelude =
        "#line 1 \"prelude\"\n"
        "#define TWICE(x) ((x) + (x))\n"
        "template <class T> struct Pair { T a, b; };\n"
        "template <class T> static inline T sum(Pair<T> p) { return p.a + p.b; }\n"
        "static inline double unused() { return 1.0; }\n";
    for (int k = 0; k < 6; ++k) {
        const std::string number = std::to_string(k);
        const std::string text = prelude +
                                 "#line 1 \"program\"\n"
                                 "extern \"C\" double f(double x) {\n"
                                 "    return sum(Pair<double>{TWICE(x), " +
                                 number + "}) + __LINE__; }\n";
        CppOptions options;
        RuntimeError error;
        const std::string parsed = compile_cpp(text, "program", options, error);
        options.prelude = prelude.size();
        EXPECT_EQ(parsed, compile_cpp(text, "program", options, error)) << k;
        const Built built(text, options);
        auto* f = built.get<double(double)>("f");
        ASSERT_TRUE(f);
        EXPECT_EQ(f(3.0), 8.0 + k);
        EXPECT_FALSE(build(text + "int g() { return nothing; }\n", error, options));
        EXPECT_NE(error.message.find("program:3:18: error: use of undeclared"), std::string::npos)
            << error.message;
        options.prelude = 0;
        EXPECT_FALSE(build(prelude + "wrong\n", error, options));
    }
}

TEST(CppCompiler, APreludeWithAnError) {
    const std::string prelude = "static inline int one() { return two; }\n";
    for (int k = 0; k < 6; ++k) {
        CppOptions options;
        options.prelude = prelude.size();
        RuntimeError error;
        EXPECT_FALSE(build(prelude + "int f() { return 1; }\n", error, options));
        EXPECT_NE(error.message.find("'two'"), std::string::npos) << error.message;
    }
}

}  // namespace
}  // namespace parpy
