// The loop of an elementwise ufunc. A program is compiled for each layout that occurs: operands of
// unit stride, of one element (stride 0) or of any stride, and outputs that are inputs at the same
// time (in-place calls, reductions). Operands that overlap in other ways run one element after the
// other. With worker threads the loop is cut into ranges; the measured time of an element
// determines their number.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "arrays/buffer.h"
#include "owned.h"
#include "raise.h"
#include "runtime/cpu/fork_gate.h"
#include "support/abi.h"
#include "support/deep_stack.h"
#include "ufuncs/float_flags.h"
#include "ufuncs/loop.h"

namespace parpy {

namespace {

constexpr std::size_t kInlineOperands = 12;
constexpr std::size_t kInlineSlots = 40;
constexpr std::int64_t kTypicalCount = 4096;  // elements that a loop is planned for
constexpr std::int64_t kSample = 2048;        // elements whose time is measured
constexpr int kNotAliased = 15;

using Clock = std::chrono::steady_clock;

enum class Stride : std::uint8_t { kNone, kUnit, kAny };

struct ByteSpan {
    const char *first, *last;  // left uninitialised by the other constructor
    ByteSpan() {}
    ByteSpan(const char* data, std::int64_t count, std::int64_t step, std::int64_t size)
        : first(data), last(data + size) {
        const std::int64_t reach = (count - 1) * step;
        (reach < 0 ? first : last) += reach;
    }
    [[nodiscard]] bool meets(const ByteSpan& other) const {
        return first < other.last && other.first < last;
    }
};

}  // namespace

// The layout of the operands of one call.
struct ElementLoop::Layout {
    std::uint64_t key = 0;
    Stride strides[kInlineOperands];
    std::uint8_t alias[kInlineOperands];  // of outputs: the same operand among the inputs
    bool overlapping = false;             // in other ways, or there are too many operands
    bool reduces = false;                 // an output has one element for all iterations
    std::int64_t odd = 0;                 // nonzero: a stride is no multiple of the element size

    [[nodiscard]] bool separate() const { return !overlapping && !reduces; }
};

struct ElementLoop::Variant {
    // A slot that a call fills; the other slots have fixed values.
    struct Item {
        Slot::Kind kind{};
        std::uint8_t shift = 0;  // log2 of the element size
        std::uint16_t slot = 0, operand = 0;
    };
    std::uint64_t key = 0;
    std::shared_ptr<Executable> executable;
    std::vector<std::uint64_t> slots;
    std::vector<Item> items;
    mutable std::atomic<const Variant*> next{nullptr};
};

// One call of a program.
struct ElementLoop::Range {
    const Variant& variant;
    const Layout& layout;
    char* const* data;
    const std::int64_t* steps;
};

ElementLoop::ElementLoop(PyObject* parsed, PyObject* parameters, PyObject* reducing,
                         PyObject* indexed, LoopParts parts)
    : Loop(parsed, parameters, std::move(parts)) {
    for (const ir::Scalar type : parts_.types)
        sizes_.push_back(ir::size_in_bytes(type));
    if (indexed != Py_None) {
        LoopParts own = parts_;
        own.types = {parts_.types[0], parts_.types[1], ir::Scalar::kI64, ir::Scalar::kI64};
        own.inputs = own.types.size();
        own.parallel = false;
        const Owned names(Py_BuildValue("(ssss)", "x0", "x1", "places", "size"));
        indexed_ =
            std::make_unique<ElementLoop>(indexed, names.get(), Py_None, Py_None, std::move(own));
    }
    if (reducing == Py_None) return;
    const Owned two(PyTuple_GetSlice(parameters, 0, 2));
    reducing_ = std::make_unique<LoopBody>(reducing, two.get());
}

int ElementLoop::traverse(visitproc visit, void* arg) const {
    if (const int found = Loop::traverse(visit, arg); found != 0) return found;
    if (indexed_) {
        if (const int found = indexed_->traverse(visit, arg); found != 0) return found;
    }
    return reducing_ ? reducing_->surface.traverse(visit, arg) : 0;
}

ElementLoop::~ElementLoop() {
    for (const Variant* each = variants_.load(); each != nullptr;)
        delete std::exchange(each, each->next.load());
}

ElementLoop::Layout ElementLoop::layout(char* const* data, std::int64_t count,
                                        const std::int64_t* steps) const {
    Layout result;
    const std::size_t all = operand_count(), inputs = parts_.inputs;
    if (all > kInlineOperands) {
        for (std::size_t i = 0; i < all; ++i)
            result.odd |= steps[i] & (ir::size_in_bytes(parts_.types[i]) - 1);
        result.overlapping = true;
        return result;
    }
    const std::int64_t* const sizes = sizes_.data();
    ByteSpan spans[kInlineOperands];
    for (std::size_t i = 0; i < all; ++i) {
        result.odd |= steps[i] & (sizes[i] - 1);
        const bool unit = steps[i] == sizes[i] || count == 1;
        result.strides[i] = unit ? Stride::kUnit : steps[i] == 0 ? Stride::kNone : Stride::kAny;
        result.key = result.key * 4 + static_cast<std::uint64_t>(result.strides[i]) + 1;
        spans[i] = {data[i], count, steps[i], sizes[i]};
    }
    for (std::size_t o = inputs; o < all; ++o) {
        result.alias[o] = kNotAliased;
        for (std::size_t i = 0; i < all; ++i) {
            if (i == o || !spans[o].meets(spans[i])) continue;
            const bool same = i < inputs && data[i] == data[o] && sizes[i] == sizes[o] &&
                              (steps[i] == steps[o] || count == 1);
            if (same && result.alias[o] == kNotAliased) {
                result.alias[o] = static_cast<std::uint8_t>(i);
            } else {
                result.overlapping = true;
            }
        }
        if (result.strides[o] == Stride::kNone) {
            result.reduces = true;
            result.overlapping = result.overlapping || result.alias[o] == kNotAliased;
        }
        result.key = result.key * 16 + result.alias[o];
    }
    if (result.overlapping) result.key = 0;
    return result;
}

namespace {

Argument operand_of(ir::Scalar type, std::optional<std::int64_t> stride) {
    Argument argument;
    argument.type = ir::Type::array(type, 1);
    Argument::Dim& dim = argument.dims.emplace_back();
    dim.typical = kTypicalCount;
    dim.stride = stride;
    return argument;
}

std::optional<std::int64_t> fixed(Stride stride) {
    if (stride == Stride::kAny) return {};
    return stride == Stride::kUnit ? 1 : 0;
}

}  // namespace

std::unique_ptr<ElementLoop::Variant> ElementLoop::compiled(const Layout& layout) const {
    if (layout.reduces && !layout.overlapping && reducing_ && layout.alias[parts_.inputs] == 0 &&
        layout.strides[0] == Stride::kNone)
        return compiled_reduction(layout);
    Signature signature;
    std::vector<std::size_t> operands(operand_count());
    for (std::size_t i = 0; i < operand_count(); ++i) {
        operands[i] = i;
        signature.push_back(operand_of(
            parts_.types[i], layout.overlapping ? std::nullopt : fixed(layout.strides[i])));
        signature.back().aliased = layout.overlapping;
    }
    for (std::size_t o = parts_.inputs; o < operand_count() && !layout.overlapping; ++o) {
        const std::size_t input = layout.alias[o];
        if (input == kNotAliased) continue;
        for (const std::size_t i : {input, o}) {
            signature[i].aliased = true;
            signature[i].placement = ir::Placement{std::min(input, o), 0};
        }
    }
    return compiled(body_, layout, std::move(signature), operands);
}

// The accumulator is one element, which is the first input and the output.
std::unique_ptr<ElementLoop::Variant> ElementLoop::compiled_reduction(const Layout& layout) const {
    Signature signature{operand_of(parts_.types[0], 1),
                        operand_of(parts_.types[1], fixed(layout.strides[1]))};
    signature[0].dims[0].extent = 1;
    constexpr std::array<std::size_t, 2> kOperands{0, 1};
    return compiled(*reducing_, layout, std::move(signature), kOperands);
}

// `operands`: the loop's operands that are the parameters of the body.
std::unique_ptr<ElementLoop::Variant> ElementLoop::compiled(
    const LoopBody& body, const Layout& layout, Signature signature,
    std::span<const std::size_t> operands) const {
    for (Argument& argument : make_signature(body.captured, {}, 0))
        signature.push_back(std::move(argument));
    const bool reduction = &body == reducing_.get();
    const Options& mapped = reduction ? parts_.reduced : parts_.mapped;

    Diagnostics diagnostics;
    RuntimeError error;
    std::shared_ptr<Executable> executable;
    PyThreadState* const thread = PyEval_SaveThread();
    {
        const BehindForkGate gate;
        const auto attempt = [&](const Options& options) {
            diagnostics = {};
            const Program program = body.surface.compiled(signature, options, diagnostics);
            if (diagnostics.has_errors()) return;
            where_it_fits(body.surface.deep, [&] { executable = load(program, options, error); });
        };
        const bool in_order = layout.overlapping || (layout.reduces && !reduction);
        if (!in_order) attempt(mapped);
        // If the compiler sees no reduction, the loop runs sequentially.
        if (in_order || (reduction && diagnostics.has_errors())) attempt(parts_.sequential);
    }
    PyEval_RestoreThread(thread);
    if (executable == nullptr) {
        if (diagnostics.has_errors()) {
            set_python_error(diagnostics, body.surface.module->sources);
        } else {
            set_python_error(error);
        }
        return nullptr;
    }
    auto made = std::make_unique<Variant>();
    made->key = layout.key;
    const std::vector<Slot>& slots = executable->program.slots;
    made->slots.resize(slots.size());
    static constexpr std::int64_t kExtent = kTypicalCount;
    std::vector<ArgumentView> views(operands.size());
    Generality generality;
    generality.any = true;
    generality.positions.resize(operands.size() + body.captured.size());
    for (std::size_t k = 0; k < operands.size(); ++k) {
        views[k].header = ArgumentView::array_header(parts_.types[operands[k]], 1);
        views[k].data = nullptr;
        views[k].extents = views[k].strides = &kExtent;
        generality.positions[k].extents = generality.positions[k].strides = 1;
    }
    views.insert(views.end(), body.captured.begin(), body.captured.end());
    Specialization(executable, views, 0, std::move(generality), Scope::kOwn)
        .fill(views, made->slots.data());
    for (std::size_t k = 0; k < slots.size(); ++k) {
        if (slots[k].argument >= operands.size()) continue;
        const std::size_t operand = operands[slots[k].argument];
        const auto size = static_cast<unsigned>(ir::size_in_bytes(parts_.types[operand]));
        made->items.push_back({slots[k].kind, static_cast<std::uint8_t>(std::countr_zero(size)),
                               static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(operand)});
    }
    made->executable = std::move(executable);
    return made;
}

const ElementLoop::Variant* ElementLoop::variant(const Layout& layout) {
    const auto find = [&] {
        const Variant* each = variants_.load(std::memory_order_acquire);
        while (each != nullptr && each->key != layout.key)
            each = each->next.load(std::memory_order_relaxed);
        return each;
    };
    if (const Variant* found = find()) return found;
    const WithGil gil;
    std::unique_ptr<Variant> made = compiled(layout);
    if (made == nullptr) return nullptr;
    // Another thread may have added one meanwhile; none does now, as the interpreter lock is held.
    if (const Variant* found = find()) return found;
    made->next.store(variants_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    const Variant* result = made.release();
    variants_.store(result, std::memory_order_release);
    return result;
}

bool ElementLoop::prepare() {
    // Addresses far apart from each other, which are never dereferenced.
    Buffer<char*, kInlineOperands> data(operand_count());
    Buffer<std::int64_t, kInlineOperands> steps(operand_count());
    for (std::size_t i = 0; i < operand_count(); ++i) {
        data[i] = reinterpret_cast<char*>((std::uintptr_t{1} << 20) * (i + 1));
        steps[i] = ir::size_in_bytes(parts_.types[i]);
    }
    return variant(layout(data.data(), 2, steps.data())) != nullptr;
}

RuntimeError ElementLoop::run_program(const Range& range, std::int64_t begin, std::int64_t count,
                                      int& flags) const {
    const Variant& variant = range.variant;
    Buffer<std::uint64_t, kInlineSlots> slots(variant.slots.size());
    std::copy(variant.slots.begin(), variant.slots.end(), slots.data());
    for (const Variant::Item& item : variant.items) {
        const std::int64_t step = range.steps[item.operand];
        std::uint64_t& slot = slots[item.slot];
        if (item.kind == Slot::Kind::kPointer) {
            slot = reinterpret_cast<std::uint64_t>(range.data[item.operand] + begin * step);
        } else {
            slot = static_cast<std::uint64_t>(
                item.kind == Slot::Kind::kExtent ? count : step >> item.shift);
        }
    }
    FloatFlags raised;
    raised.begin();
    RuntimeError error = variant.executable->run(slots.data(), nullptr, nullptr);
    flags = raised.end();
    return error;
}

RuntimeError ElementLoop::run_range(const Range& range, std::int64_t begin, std::int64_t end,
                                    int& flags) const {
    const std::int64_t count = end - begin;
    RuntimeError error = run_program(range, begin, count, flags);
    if (flags == 0) return error;
    std::vector<FlaggedOperand> operands(operand_count());
    for (std::size_t i = 0; i < operand_count(); ++i)
        operands[i] = {parts_.types[i], range.data[i] + begin * range.steps[i], range.steps[i],
                       range.layout.overlapping};
    for (std::size_t o = parts_.inputs; o < operand_count() && !range.layout.overlapping; ++o) {
        if (range.layout.alias[o] != kNotAliased)
            operands[range.layout.alias[o]].overwritten = true;
    }
    const std::span<const FlaggedOperand> all(operands);
    flags = confirmed_flags(flags, all.first(parts_.inputs), all.subspan(parts_.inputs), count);
    return error;
}

bool ElementLoop::run_parallel(const Range& range, std::int64_t count) {
    struct Frame {
        const ElementLoop& loop;
        const Range& range;
        std::int64_t begin;
        std::atomic<int> flags{0};
        std::mutex mutex{};
        RuntimeError error{};

        static void run(void* self, std::int64_t begin, std::int64_t end, std::int64_t) {
            auto& frame = *static_cast<Frame*>(self);
            int flags = 0;
            RuntimeError error =
                frame.loop.run_range(frame.range, frame.begin + begin, frame.begin + end, flags);
            frame.flags.fetch_or(flags, std::memory_order_relaxed);
            if (!error.failed()) return;
            const std::lock_guard lock(frame.mutex);
            if (!frame.error.failed()) frame.error = std::move(error);
        }
    };
    Frame frame{*this, range, 0};
    double cost = cost_.load(std::memory_order_relaxed);
    if (cost == 0) {
        // The first elements give the cost of the others.
        const auto begin = Clock::now();
        Frame::run(&frame, 0, kSample, 0);
        const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
        cost = std::max(time.count() / kSample, 1e-3);
        cost_.store(cost, std::memory_order_relaxed);
        frame.begin = kSample;
        count -= kSample;
    }
    parpy_parallel_for(nullptr, count, parpy_chunks(nullptr, count, cost, 0), 0, &Frame::run,
                       &frame);
    FloatFlags::raise(frame.flags.load(std::memory_order_relaxed));
    return !frame.error.failed() || fail(frame.error);
}

// Complex numbers in records may be aligned to half their size only: such elements are copied to
// aligned memory.
bool ElementLoop::run_copied(char* const* data, std::int64_t count, const std::int64_t* steps) {
    constexpr std::int64_t kBlock = 256;
    const std::size_t all = operand_count();
    std::vector<std::vector<char>> blocks(all);
    std::vector<char*> copies(all);
    std::vector<std::int64_t> sizes(all);
    const bool in_order = layout(data, count, steps).overlapping;
    const std::int64_t block = in_order ? 1 : std::min(count, kBlock);
    for (std::size_t i = 0; i < all; ++i) {
        sizes[i] = ir::size_in_bytes(parts_.types[i]);
        blocks[i].resize(static_cast<std::size_t>(sizes[i] * block + 64));
        void* at = blocks[i].data();
        std::size_t room = blocks[i].size();
        copies[i] = static_cast<char*>(
            std::align(32, static_cast<std::size_t>(sizes[i] * block), at, room));
    }
    for (std::int64_t begin = 0; begin < count; begin += block) {
        const std::int64_t part = std::min(block, count - begin);
        const auto copy = [&](std::size_t i, bool back) {
            for (std::int64_t k = 0; k < part; ++k) {
                char* element = data[i] + (begin + k) * steps[i];
                char* other = copies[i] + k * sizes[i];
                std::memcpy(back ? element : other, back ? other : element,
                            static_cast<std::size_t>(sizes[i]));
            }
        };
        for (std::size_t i = 0; i < parts_.inputs; ++i)
            copy(i, false);
        if (!run(copies.data(), &part, sizes.data())) return false;
        for (std::size_t o = parts_.inputs; o < all; ++o)
            copy(o, true);
    }
    return true;
}

bool ElementLoop::run_indexed(char* const* data, std::int64_t count, const std::int64_t* steps) {
    Layout how;
    how.overlapping = true;  // one index after the other
    const Variant* found = indexed_->variant(how);
    if (found == nullptr) return false;
    std::int64_t size = steps[3];
    char* const operands[] = {data[0], data[2], data[1], reinterpret_cast<char*>(&size)};
    const std::int64_t own_steps[] = {steps[0], steps[2], steps[1], 0};
    int flags = 0, confirmed = 0;
    const RuntimeError error =
        indexed_->run_program({*found, how, operands, own_steps}, 0, count, flags);
    for (std::int64_t i = 0; i < count && (flags & ~confirmed) != 0; ++i) {
        std::int64_t at = 0;
        std::memcpy(&at, data[1] + i * steps[1], sizeof at);
        const FlaggedOperand result{parts_.types[0], data[0] + (at < 0 ? at + size : at) * steps[0],
                                    0, false};
        const FlaggedOperand number{parts_.types[1], data[2] + i * steps[2], 0, false};
        confirmed |= confirmed_flags(flags, {&number, 1}, {&result, 1}, 1);
    }
    FloatFlags::raise(confirmed);
    return !error.failed() || fail(error);
}

bool ElementLoop::run(char* const* data, const std::int64_t* dimensions,
                      const std::int64_t* steps) {
    const std::int64_t count = dimensions[0];
    if (count <= 0) return true;
    const Layout how = layout(data, count, steps);
    if (how.odd != 0 && count > 1) return run_copied(data, count, steps);
    const Variant* found = variants_.load(std::memory_order_acquire);
    if (found == nullptr || found->key != how.key) found = variant(how);
    if (found == nullptr) return false;
    const Range range{*found, how, data, steps};
    if (parts_.parallel && how.separate() && count >= 2 * kSample)
        return run_parallel(range, count);
    int flags = 0;
    const RuntimeError error = run_range(range, 0, count, flags);
    FloatFlags::raise(flags);
    return !error.failed() || fail(error);
}

}  // namespace parpy
