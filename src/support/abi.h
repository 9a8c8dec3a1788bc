// The C interface between generated host code and the runtime. Generated text declares these
// functions itself (it has no headers), so a change here needs a change of the emitter and of the
// cache version. The embedded Clang's linker resolves them by address.
//
// A generated program exports
//     extern "C" int NAME(ParpyContext* context, T0 a0, …);            // typed, readable
//     extern "C" int NAME_slots(ParpyContext* context, const unsigned long* slots);
// Slots have 8 bytes each: a pointer, an integer sign- or zero-extended, a float's bits in the low
// bytes (f32: low 4, f64: all), the two parts of a c64, the address of a c128. Both return 0, or an
// error that parpy_error set in the context.
#pragma once

#include <cstdint>

extern "C" {

// parpy_chunks never returns more, so generated code may keep one partial result per chunk in an
// array of this size.
inline constexpr std::int64_t kParpyMaxChunks = 1024;

// A loop with less work, in nanoseconds, runs on the caller: waking workers costs as much.
inline constexpr double kParpySerialBelow = 15'000;

struct ParpyContext;  // one call in flight: device, stream, module, first error

// CPU. The number of chunks for `iterations` of about `cost` nanoseconds each: 1 below the serial
// threshold. It depends on the arguments and the number of cores alone, so results of chunked
// reductions do not depend on timing. max_workers 0: no bound. No iterations: 0.
std::int64_t parpy_chunks(ParpyContext*, std::int64_t iterations, double cost,
                          std::int64_t max_workers);
// Runs body(frame, begin, end, chunk) for the `chunks` consecutive ranges of 0 … iterations - 1, in
// parallel if chunks > 1, and returns when all have run.
void parpy_parallel_for(ParpyContext*, std::int64_t iterations, std::int64_t chunks,
                        std::int64_t max_workers,
                        void (*body)(void* frame, std::int64_t begin, std::int64_t end,
                                     std::int64_t chunk),
                        void* frame);

// Ends the program: records the failure, if it is the first, and does not return. To be called on
// the thread that runs the entry function or one of its bodies; the caller of the program gets the
// error when all of them have stopped.
[[noreturn]] void parpy_fail(std::int64_t site, const std::int64_t* values, std::int64_t count);

// The lowest address at which the calling thread may begin another call of a recursive function;
// the reserve below it is for functions of the system.
std::int64_t parpy_stack_limit();

// CUDA. Enqueues kernel `index` of the program on the context's stream. Returns 0 or an error;
// after an error further launches do nothing.
int parpy_launch(ParpyContext*, int index, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 void** arguments);
// The same for a kernel that itself waits for the earlier work on the stream: it may be started
// before that work has ended.
int parpy_launch_overlapped(ParpyContext*, int index, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void** arguments);
// Memory for an array in C order that the program returns, on the device of its other arrays: the
// value of this argument (Program::results). The caller gets the last array made for an argument.
// `type`: an ir::Scalar.
void* parpy_result(ParpyContext*, std::int64_t argument, std::int64_t type, std::int64_t rank,
                   const std::int64_t* shape);
// Scratch memory where the program's kernels run, for the duration of the call: on a device in
// stream order and filled with zeros, on the CPU like parpy_work.
void* parpy_scratch(ParpyContext*, std::int64_t bytes);
// Memory filled with zeros, for the duration of the call. CPU only.
void* parpy_zeroed(ParpyContext*, std::int64_t bytes);
// Memory of any contents, aligned to 64 bytes, until parpy_work_done or the end of the call: the
// thread keeps some of it for later calls. CPU only.
void* parpy_work(ParpyContext*, std::int64_t bytes);
void parpy_work_done(ParpyContext*, void*);  // null: does nothing
// The stream that the call's kernels run on; null on the simulator.
void* parpy_stream(ParpyContext*);
// Waits until the kernels launched so far have ended and copies from device memory. Returns 0 or an
// error; `site` is the place of the program that needs the value.
int parpy_fetch(ParpyContext*, std::int64_t site, void* to, const void* from, std::int64_t bytes);

// If the program is one part of a call: exchanges with the other parts (runtime/parts/parts.h). On
// failure they end the program by parpy_fail, with `site`.
void parpy_part_array(std::int64_t site, std::int64_t action, void* array);
double parpy_part_f64(std::int64_t site, std::int64_t action, double value);
std::int64_t parpy_part_i64(std::int64_t site, std::int64_t action, std::int64_t value);
}
