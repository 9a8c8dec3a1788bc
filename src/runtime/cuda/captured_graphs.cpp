// See captured_graphs.h.
#include "runtime/cuda/captured_graphs.h"

#include <algorithm>

namespace parpy::cuda {
namespace {

constexpr int kRelaxed = 2;  // whatever else this and other threads do is no error

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
    const CurrentContext current(*graph.device, ignored);
    if (!ignored.failed()) Driver::instance().cuGraphExecDestroy(graph.executable);
}

RuntimeError CapturedGraphs::run(const Device& device, std::span<const std::uint64_t> slots,
                                 Stream stream,
                                 const std::function<RuntimeError(Stream)>& enqueue) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::ranges::find_if(graphs_, [&](const Graph& graph) {
        return graph.device == &device && std::ranges::equal(graph.slots, slots);
    });
    if (known != graphs_.end()) {
        std::rotate(graphs_.begin(), known, known + 1);
    } else {
        Graph made{&device, {slots.begin(), slots.end()}, nullptr};
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
