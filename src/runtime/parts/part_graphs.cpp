// See part_graphs.h.
#include "runtime/parts/part_graphs.h"

#include <algorithm>
#include <numeric>

#include "runtime/cuda/captured_graphs.h"

namespace parpy::cuda {

namespace {

constexpr int kRelaxed = 2;  // unrelated calls of this and other threads are no errors

}  // namespace

struct PartGraphs::Call {
    enum class State : std::uint8_t { kNew, kCounted, kRecorded, kSingle };
    const Device* device = nullptr;
    std::vector<std::uint64_t> slots;
    State state = State::kNew;
    bool runs = false;
    std::vector<std::size_t> counts;  // of launches before each exchange, and after the last one
    std::vector<GraphExec> graphs;    // null: its launches are enqueued one by one
};

PartGraphs::PartGraphs() = default;

PartGraphs::~PartGraphs() {
    for (const auto& call : calls_)
        destroy(*call);
}

void PartGraphs::destroy(Call& call) {
    RuntimeError ignored;
    const CurrentContext current(*call.device, ignored);
    if (ignored.failed()) return;
    for (GraphExec graph : call.graphs) {
        if (graph != nullptr) Driver::instance().cuGraphExecDestroy(graph);
    }
    call.graphs.clear();
}

std::unique_ptr<PartGraphs::Run> PartGraphs::begin(const Device& device,
                                                   std::span<const std::uint64_t> slots,
                                                   Stream stream) {
    int captured = 0;
    if (!CapturedGraphs::available() ||
        Driver::instance().cuStreamIsCapturing(stream, &captured) != kSuccess || captured != 0) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    auto known = std::ranges::find_if(calls_, [&](const auto& call) {
        return call->device == &device && std::ranges::equal(call->slots, slots);
    });
    if (known == calls_.end()) {
        if (calls_.size() == kMostKept) {
            const auto idle = std::ranges::find_if(calls_.rbegin(), calls_.rend(),
                                                   [](const auto& call) { return !call->runs; });
            if (idle == calls_.rend()) return nullptr;
            destroy(**idle);
            calls_.erase(std::next(idle).base());
        }
        auto made = std::make_unique<Call>();
        made->device = &device;
        made->slots.assign(slots.begin(), slots.end());
        known = calls_.insert(calls_.begin(), std::move(made));
    } else {
        std::rotate(calls_.begin(), known, known + 1);
        known = calls_.begin();
    }
    Call& call = **known;
    if (call.runs || call.state == Call::State::kSingle) return nullptr;
    call.runs = true;
    return std::make_unique<Run>(*this, call, stream);
}

PartGraphs::Run::Run(PartGraphs& graphs, Call& call, Stream stream)
    : graphs_(graphs), call_(call), stream_(stream) {
    if (call_.state == Call::State::kCounted) call_.graphs.assign(call_.counts.size(), nullptr);
}

PartGraphs::Run::~Run() {
    if (recorded_ != nullptr) {  // the program failed
        GraphExec graph = nullptr;
        if (end_capture(graph) == kSuccess) Driver::instance().cuGraphExecDestroy(graph);
    }
    const std::scoped_lock lock(graphs_.mutex_);
    call_.runs = false;
}

GraphExec PartGraphs::Run::known() const {
    const bool recorded = call_.state == Call::State::kRecorded;
    return recorded && segment_ < call_.graphs.size() ? call_.graphs[segment_] : nullptr;
}

bool PartGraphs::Run::enters(Stream& stream, bool& recorded) {
    ++launches_;
    if (known() != nullptr) return false;
    if (launches_ == 1 && call_.state == Call::State::kCounted && segment_ < call_.counts.size() &&
        call_.counts[segment_] >= kFewest) {
        capture();
    }
    recorded = recorded_ != nullptr;
    stream = recorded ? recorded_ : stream_;
    return true;
}

void PartGraphs::Run::capture() {
    const Driver& driver = Driver::instance();
    Result result = driver.cuStreamCreate(&recorded_, kNonBlocking);
    if (result == kSuccess) {
        result = driver.cuStreamBeginCapture(recorded_, kRelaxed);
        if (result == kSuccess) return;
        driver.cuStreamDestroy(recorded_);
    }
    recorded_ = nullptr;
    varies();
}

Result PartGraphs::Run::end_capture(GraphExec& graph) {
    const Driver& driver = Driver::instance();
    CapturedWork work = nullptr;
    Result result = driver.cuStreamEndCapture(recorded_, &work);
    if (result == kSuccess) result = driver.cuGraphInstantiateWithFlags(&graph, work, 0);
    if (work != nullptr) driver.cuGraphDestroy(work);
    driver.cuStreamDestroy(recorded_);
    recorded_ = nullptr;
    return result;
}

bool PartGraphs::Run::flush() {
    const Driver& driver = Driver::instance();
    Result result = kSuccess;
    GraphExec graph = known();
    if (graph != nullptr && launches_ != call_.counts[segment_]) {
        error_ = {Code::kP900, "a call with the same arguments launches other kernels", {}};
        varies();
    } else if (recorded_ != nullptr) {
        result = end_capture(graph);
        if (result == kSuccess) {
            call_.counts[segment_] = launches_;
            call_.graphs[segment_] = graph;
        }
    }
    if (result == kSuccess && graph != nullptr && !error_.failed())
        result = driver.cuGraphLaunch(graph, stream_);
    if (result != kSuccess) {
        error_ = driver.failure(result, "launching a CUDA graph");
        varies();
    }
    counts_.push_back(launches_);
    launches_ = 0;
    ++segment_;
    return !error_.failed();
}

void PartGraphs::Run::varies() {
    call_.state = Call::State::kSingle;
}

RuntimeError PartGraphs::Run::finish() {
    if (!flush()) return error_;
    if (call_.state == Call::State::kNew) {
        const std::size_t all = std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
        const bool few = std::ranges::all_of(counts_, [](std::size_t n) { return n < kFewest; });
        call_.counts = std::move(counts_);
        call_.state = few || all > kMost ? Call::State::kSingle : Call::State::kCounted;
    } else if (call_.state == Call::State::kCounted) {
        call_.state = Call::State::kRecorded;
    }
    return {};
}

}  // namespace parpy::cuda
