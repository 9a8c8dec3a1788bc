// The C interface between generated host code and the runtime. Generated text declares these
// functions itself (it has no headers), so a change here is a change of the emitter and of the
// cache version. The embedded Clang's linker resolves them by address.
//
// A generated program exports
//     extern "C" int NAME(ParpyContext* context, T0 a0, …);            // typed, readable
//     extern "C" int NAME_slots(ParpyContext* context, const unsigned long* slots);
// Slots hold 8 bytes each: a pointer, an integer sign- or zero-extended, a float's bits in the low
// bytes (f32: low 4, f64: all), the two parts of a c64, the address of a c128. Both return 0, or an
// error that parpy_error set in the context.
#pragma once

#include <cstdint>

extern "C" {

// parpy_chunks never returns more, so generated code can hold one partial result per chunk in an
// array of this size.
inline constexpr std::int64_t kParpyMaxChunks = 1024;

// Below this much work, in nanoseconds, a loop runs on the caller: waking workers costs as much.
inline constexpr double kParpySerialBelow = 15'000;

struct ParpyContext;  // one call in flight: device, stream, module, first error

// CPU. Number of chunks that `iterations` of about `cost` nanoseconds each are split into: 1 below
// the serial threshold, a function of its arguments and the number of cores alone, so results of
// chunked reductions do not depend on timing. max_workers 0: no bound. No iterations: 0.
std::int64_t parpy_chunks(ParpyContext*, std::int64_t iterations, double cost,
                          std::int64_t max_workers);
// Runs body(frame, begin, end, chunk) for the `chunks` consecutive ranges of 0 … iterations - 1, in
// parallel where chunks > 1, and returns when all have run.
void parpy_parallel_for(ParpyContext*, std::int64_t iterations, std::int64_t chunks,
                        std::int64_t max_workers,
                        void (*body)(void* frame, std::int64_t begin, std::int64_t end,
                                     std::int64_t chunk),
                        void* frame);

// Ends the program: notes what failed, if nothing has failed before, and does not return. Called by
// the thread that runs the entry function or one of its bodies; the caller of the program gets the
// error when all of them have stopped.
[[noreturn]] void parpy_fail(std::int64_t site, const std::int64_t* values, std::int64_t count);

// The lowest address at which the calling thread may begin another call of a recursive function:
// below it is room for what the system calls at any time.
std::int64_t parpy_stack_limit();

// CUDA. Enqueues kernel `index` of the program on the context's stream. Returns 0 or an error;
// after an error further launches do nothing.
int parpy_launch(ParpyContext*, int index, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 void** arguments);
// The same for a kernel that first waits for the work in front of it on the stream: it may be
// started before that has ended.
int parpy_launch_overlapped(ParpyContext*, int index, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void** arguments);
// Memory for an array in C order that the program returns, where its other arrays lie: the value of
// this argument (Program::results). The last one made for an argument is what the caller gets.
// `type`: an ir::Scalar.
void* parpy_result(ParpyContext*, std::int64_t argument, std::int64_t type, std::int64_t rank,
                   const std::int64_t* shape);
// Zero-filled scratch memory where the program's kernels run, for the duration of the call; on a
// device in stream order.
void* parpy_scratch(ParpyContext*, std::int64_t bytes);
// Memory of any values, aligned to 64 bytes, until it is done with or the call ends: the thread
// keeps some of it for the next one. CPU only.
void* parpy_work(ParpyContext*, std::int64_t bytes);
void parpy_work_done(ParpyContext*, void*);  // null: nothing
// The stream that the call's kernels run on; null on the simulator.
void* parpy_stream(ParpyContext*);
// Waits until the kernels launched so far have ended and copies from device memory. Returns 0 or an
// error; `site` is the place of the program that needs the value.
int parpy_fetch(ParpyContext*, std::int64_t site, void* to, const void* from, std::int64_t bytes);

// Where the program is one part of a call: exchanges with the others (runtime/parts/parts.h). They
// end the program by parpy_fail, naming `site`, where that fails.
void parpy_part_array(std::int64_t site, std::int64_t action, void* array);
double parpy_part_f64(std::int64_t site, std::int64_t action, double value);
std::int64_t parpy_part_i64(std::int64_t site, std::int64_t action, std::int64_t value);
}
