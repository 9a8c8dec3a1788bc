// See captured_graphs.h.
#include "runtime/cuda/captured_graphs.h"

#include <algorithm>

namespace parpy::cuda {
namespace {

constexpr int kRelaxed = 2;  // unrelated calls of this and other threads are no errors

}  // namespace

bool CapturedGraphs::available() {
    const Driver& driver = Driver::instance();
    return driver.cuStreamBeginCapture != nullptr && driver.cuStreamEndCapture != nullptr &&
           driver.cuGraphInstantiateWithFlags != nullptr && driver.cuGraphLaunch != nullptr &&
           driver.cuGraphDestroy != nullptr && driver.cuGraphExecDestroy != nullptr;
}

CapturedGraphs::~CapturedGraphs() {
    for (const Graph& graph : graphs_)
        destroy(graph);
}

void CapturedGraphs::destroy(const Graph& graph) {
    RuntimeError ignored;
    const CurrentContext current(*graph.call.device, ignored);
    if (!ignored.failed()) Driver::instance().cuGraphExecDestroy(graph.executable);
}

bool CapturedGraphs::Call::is(const Device& other, std::span<const std::uint64_t> values) const {
    return device == &other && std::ranges::equal(slots, values);
}

bool CapturedGraphs::repeats(const Device& device, std::span<const std::uint64_t> slots,
                             Stream stream) {
    const std::scoped_lock lock(mutex_);
    int captured = 0;
    const Driver& driver = Driver::instance();
    if (gave_up_ || driver.cuStreamIsCapturing(stream, &captured) != kSuccess || captured != 0)
        return false;
    const auto known =
        std::ranges::find_if(calls_, [&](const Call& call) { return call.is(device, slots); });
    if (known != calls_.end()) {
        std::rotate(calls_.begin(), known, known + 1);
        return true;
    }
    if (calls_.size() == kMostKept) calls_.pop_back();
    calls_.insert(calls_.begin(), Call{&device, {slots.begin(), slots.end()}});
    return false;
}

void CapturedGraphs::give_up() {
    const std::scoped_lock lock(mutex_);
    gave_up_ = true;
}

RuntimeError CapturedGraphs::run(const Device& device, std::span<const std::uint64_t> slots,
                                 Stream stream,
                                 const std::function<RuntimeError(Stream)>& enqueue) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find_if(
        graphs_, [&](const Graph& graph) { return graph.call.is(device, slots); });
    if (known != graphs_.end()) {
        std::rotate(graphs_.begin(), known, known + 1);
    } else {
        Graph made{{&device, {slots.begin(), slots.end()}}, nullptr};
        if (RuntimeError error = capture(enqueue, made.executable); error.failed()) return error;
        if (graphs_.size() == kMostKept) {
            destroy(graphs_.back());
            graphs_.pop_back();
        }
        graphs_.insert(graphs_.begin(), std::move(made));
    }
    const Driver& driver = Driver::instance();
    const Result result = driver.cuGraphLaunch(graphs_.front().executable, stream);
    return result == kSuccess ? RuntimeError{} : driver.failure(result, "launching a CUDA graph");
}

RuntimeError CapturedGraphs::capture(const std::function<RuntimeError(Stream)>& enqueue,
                                     GraphExec& result) const {
    const Driver& driver = Driver::instance();
    RuntimeError error;
    const auto attempt = [&](Result outcome, const char* what) {
        if (outcome != kSuccess && !error.failed()) error = driver.failure(outcome, what);
        return outcome == kSuccess;
    };
    Stream recorded = nullptr;
    if (!attempt(driver.cuStreamCreate(&recorded, kNonBlocking), "making a stream")) return error;
    CapturedWork work = nullptr;
    if (attempt(driver.cuStreamBeginCapture(recorded, kRelaxed), "capturing a CUDA graph")) {
        error = enqueue(recorded);
        attempt(driver.cuStreamEndCapture(recorded, &work), "capturing a CUDA graph");
    }
    if (!error.failed()) {
        attempt(driver.cuGraphInstantiateWithFlags(&result, work, 0), "making a CUDA graph");
    }
    if (work != nullptr) driver.cuGraphDestroy(work);
    driver.cuStreamDestroy(recorded);
    return error;
}

}  // namespace parpy::cuda
