// The device half of the ABI: passes launches and scratch requests to the call's session. The CPU
// half is in thread_pool.cpp.
#include "support/abi.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "runtime/context.h"
#include "runtime/cpu/work_memory.h"

namespace {

int launch(ParpyContext* context, const parpy::KernelLaunch& what) {
    if (context->error) return 1;
    if (context->session == nullptr) {
        return context->fail({parpy::Code::kP900, "a launch outside of a device program", {}});
    }
    if (context->launches != nullptr) context->launches->launched(what.index);
    parpy::RuntimeError error;
    if (context->session->launch(what, error) == 0) return 0;
    return context->fail(std::move(error));
}

// Keeps memory of a CPU program until its call ends; null, with the error noted, if there is none.
void* keep(ParpyContext& context, void* memory, void (*give_back)(void*), std::int64_t bytes) {
    if (memory == nullptr) {
        context.fail({parpy::Code::kP561,
                      "no memory for an array of " + std::to_string(bytes) + " bytes",
                      {}});
        return nullptr;
    }
    context.scratch.emplace_back(memory, give_back);
    return memory;
}

}  // namespace

std::string parpy::shape_text(const unsigned size[3]) {
    return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
           std::to_string(size[2]);
}

extern "C" int parpy_launch(ParpyContext* context, int index, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void** arguments) {
    return launch(context, {index,
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            arguments,
                            false});
}

extern "C" int parpy_launch_overlapped(ParpyContext* context, int index, unsigned grid_x,
                                       unsigned grid_y, unsigned grid_z, unsigned block_x,
                                       unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                       void** arguments) {
    return launch(context, {index,
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            arguments,
                            true});
}

extern "C" void* parpy_stream(ParpyContext* context) {
    return context->session == nullptr ? nullptr : context->session->stream();
}

extern "C" int parpy_fetch(ParpyContext* context, std::int64_t site, void* to, const void* from,
                           std::int64_t bytes) {
    if (context->error) return 1;
    if (context->session == nullptr) {
        return context->fail({parpy::Code::kP900, "a fetch outside of a device program", {}});
    }
    parpy::RuntimeError error;
    if (context->session->fetch(site, to, from, bytes, error) == 0) return 0;
    return context->fail(std::move(error));
}

extern "C" void* parpy_result(ParpyContext* context, std::int64_t argument, std::int64_t type,
                              std::int64_t rank, const std::int64_t* shape) {
    if (context->error) return nullptr;
    if (context->results == nullptr) {
        context->fail({parpy::Code::kP900, "an array is returned to nobody", {}});
        return nullptr;
    }
    parpy::RuntimeError error;
    void* memory = context->results->make(static_cast<std::size_t>(argument),
                                          static_cast<parpy::ir::Scalar>(type),
                                          {shape, static_cast<std::size_t>(rank)}, error);
    if (memory == nullptr) context->fail(std::move(error));
    return memory;
}

extern "C" void* parpy_scratch(ParpyContext* context, std::int64_t bytes) {
    if (context->error) return nullptr;
    if (context->session == nullptr) return parpy_work(context, bytes);
    parpy::RuntimeError error;
    void* memory = context->session->scratch(bytes, error);
    if (memory == nullptr) context->fail(std::move(error));
    return memory;
}

extern "C" void* parpy_zeroed(ParpyContext* context, std::int64_t bytes) {
    if (context->error) return nullptr;
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    return keep(*context, std::calloc(size, 1), &std::free, bytes);
}

extern "C" void* parpy_work(ParpyContext* context, std::int64_t bytes) {
    if (context->error) return nullptr;
    return keep(*context, parpy::borrow_work(bytes), &parpy::return_work, bytes);
}

extern "C" void parpy_work_done(ParpyContext* context, void* memory) {
    auto& all = context->scratch;
    const auto found = std::ranges::find(all, memory, [](const auto& each) { return each.get(); });
    if (found != all.end()) all.erase(found);
}
