#include "tests/app_timeline/training_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

namespace test {

using namespace profiler;

namespace {

/// Adds the trace to a builder, step by step.
class Maker {
public:
    explicit Maker(const TrainingShape& shape) : m_shape(shape)
    {
        m_builder.setFormat("stepscope");
        for (int i = 0; i < shape.loaderWorkers; ++i)
            m_workers.push_back(thread(TrackKind::LoaderWorker, "loader worker " + std::to_string(i), 4720 + i));
        m_main = thread(TrackKind::MainThread, "main thread", 4711);
        if (shape.gpu) {
            m_builder.addDevice({{0}, "NVIDIA H100", "GPU-0"});
            m_compute = stream(7);
            m_copies = stream(14);
        }
        m_loss = counter("loss", "");
        m_memory = counter("memory", "bytes");
        m_workerFree.assign(m_workers.size(), shape.begin);
    }

    std::shared_ptr<const Trace> make()
    {
        std::int64_t now = m_shape.begin;
        for (int step = 0; step < m_shape.steps; ++step)
            now = addStep(step, now);
        m_builder.captureStats().live = m_shape.live;
        for (auto& [track, slices] : m_whole)
            m_builder.addMany(track, std::move(slices), Depth::Given);
        return m_shape.live ? m_builder.snapshot() : m_builder.finish();
    }

private:
    TrackId thread(TrackKind kind, std::string name, std::int64_t tid)
    {
        Track track;
        track.kind = kind;
        track.name = std::move(name);
        track.pid = 4711;
        track.tid = tid;
        return m_builder.addTrack(std::move(track));
    }

    TrackId stream(std::uint32_t id)
    {
        Track track;
        track.kind = TrackKind::Stream;
        track.name = "stream " + std::to_string(id);
        track.stream = {id};
        return m_builder.addTrack(std::move(track));
    }

    TrackId counter(std::string name, std::string unit)
    {
        Track track;
        track.kind = TrackKind::Counter;
        track.name = std::move(name);
        track.unit = std::move(unit);
        return m_builder.addTrack(std::move(track));
    }

    double jitter(double spread) { return 1 + spread * (std::uniform_real_distribution<double>(-1, 1)(m_random)); }

    void slice(TrackId track, ActivityKind kind, std::string_view name, std::int64_t begin, std::int64_t end, int depth,
               SliceArgs args = {}, std::uint64_t correlation = 0)
    {
        if (m_shape.live) {
            Slice made;
            made.begin = traceTime(begin);
            made.duration = Nanoseconds{end - begin};
            made.name = m_builder.intern(name);
            made.kind = kind;
            made.depth = static_cast<std::uint8_t>(depth);
            made.correlation = {correlation};
            made.args = args;
            m_builder.add(track, made);
            return;
        }
        RawSlice made;
        made.begin = begin;
        made.duration = end - begin;
        made.link = kind == ActivityKind::CpuOp ? -1 : static_cast<std::int64_t>(correlation);
        made.name = m_builder.intern(name).value;
        made.args = m_builder.internArgs(args);
        made.kind = kind;
        made.depth = static_cast<std::uint8_t>(depth);
        m_whole[track].push_back(made);
    }

    std::int64_t addStep(int step, std::int64_t begin)
    {
        const double size = static_cast<double>(m_shape.stepNs) * (step == 0 ? 3 : 1);
        struct Part {
            std::string_view name;
            double share;
        };
        const Part parts[] = {{phase::kDataWait, step % 16 == 5 ? 0.55 : 0.26},
                              {phase::kCopy, 0.03},
                              {phase::kZeroGrad, 0.02},
                              {phase::kForward, 0.22},
                              {phase::kBackward, 0.38},
                              {phase::kOptimizer, 0.06},
                              {phase::kMetrics, 0.015}};
        std::int64_t at = begin + 20'000;
        for (const Part& part : parts) {
            const auto end = at + static_cast<std::int64_t>(size * part.share * jitter(0.08));
            slice(m_main, ActivityKind::Phase, part.name, at, end, 1, {.value = step});
            if (part.name == phase::kForward || part.name == phase::kBackward)
                addOps(part.name == phase::kForward, at, end);
            if (m_shape.gpu && part.name == phase::kCopy)
                slice(m_copies, ActivityKind::GpuMemcpy, "Memcpy HtoD (Pageable -> Device)", at + 100'000,
                      end + 400'000, 0,
                      {.bytes = 38'535'168,
                       .copy = CopyKind::HtoD,
                       .src = MemoryKind::Pageable,
                       .dst = MemoryKind::Device});
            at = end + 15'000;
        }
        const std::int64_t end = at + 300'000;
        slice(m_main, ActivityKind::Step, "step", begin, end, 0, {.value = step});
        addLoader(step, begin, end);
        m_builder.addSample(m_loss, {traceTime(end), 2.3 * std::exp(-step / 40.0) + 0.1 * jitter(1)});
        for (int i = 0; i < 4; ++i)
            m_builder.addSample(m_memory,
                                {traceTime(begin + (end - begin) * i / 4), (i == 2 ? 3.1e9 : 1.8e9) * jitter(0.03)});
        return end;
    }

    void addOps(bool forward, std::int64_t begin, std::int64_t end)
    {
        static constexpr std::string_view kForward[] = {"aten::conv2d",     "aten::batch_norm", "aten::relu_",
                                                        "aten::max_pool2d", "aten::add_",       "aten::linear"};
        static constexpr std::string_view kInner[] = {"aten::convolution", "aten::native_batch_norm",
                                                      "aten::clamp_min_",  "aten::max_pool2d_with_indices",
                                                      "aten::add",         "aten::addmm"};
        static constexpr std::string_view kBackward[] = {"ConvolutionBackward0", "NativeBatchNormBackward0",
                                                         "ReluBackward0",        "MaxPool2DWithIndicesBackward0",
                                                         "AddBackward0",         "AddmmBackward0"};
        static constexpr std::string_view kKernels[] = {"sm90_xmma_fprop_implicit_gemm", "bn_fw_tr_1C11_kernel_NCHW",
                                                        "vectorized_elementwise_kernel", "max_pool_forward_nchw",
                                                        "elementwise_kernel_add",        "cutlass_80_tensorop_gemm"};
        const int count = std::max(1, m_shape.opsPerStep / 4);
        const double room = static_cast<double>(end - begin) / count;
        for (int i = 0; i < count; ++i) {
            const auto which = static_cast<std::size_t>(i % 6);
            const auto left = begin + static_cast<std::int64_t>(room * i);
            const auto right = left + static_cast<std::int64_t>(room * (which == 0 ? 0.97 : 0.8) * jitter(0.02));
            slice(m_main, ActivityKind::CpuOp, forward ? kForward[which] : kBackward[which], left, right, 2);
            slice(m_main, ActivityKind::CpuOp, kInner[which], left + (right - left) / 12, right - (right - left) / 8,
                  3);
            if (!m_shape.gpu)
                continue;
            ++m_correlation;
            slice(m_main, ActivityKind::CudaRuntime, "cudaLaunchKernel", left + (right - left) / 4,
                  left + (right - left) / 3, 4, {}, m_correlation);
            slice(m_compute, ActivityKind::Kernel, kKernels[which], left + (right - left) / 2,
                  right + (right - left) / 4, 0, {}, m_correlation);
        }
    }

    void addLoader(int step, std::int64_t begin, std::int64_t end)
    {
        for (std::size_t worker = 0; worker < m_workers.size(); ++worker) {
            std::int64_t at = std::max(begin, m_workerFree[worker]);
            const bool here = static_cast<std::size_t>(step) % m_workers.size() == worker;
            const int samples = 8;
            const std::int64_t unit = (end - begin) / (samples + 3);
            for (int i = 0; i < samples && here; ++i) {
                const SliceArgs args{.bytes = 110'000, .value = step * samples + i};
                slice(m_workers[worker], ActivityKind::LoaderStage, stage::kRead, at, at + unit / 8, 0, args);
                slice(m_workers[worker], ActivityKind::LoaderStage, stage::kDecode, at + unit / 8, at + unit * 3 / 4, 0,
                      args);
                slice(m_workers[worker], ActivityKind::LoaderStage, stage::kAugment, at + unit * 3 / 4, at + unit, 0,
                      args);
                at += unit + unit / 50;
            }
            if (here) {
                slice(m_workers[worker], ActivityKind::LoaderStage, stage::kCollate, at, at + unit, 0, {.value = step});
                at += unit;
            }
            if (at < end)
                slice(m_workers[worker], ActivityKind::LoaderWait, "wait for room", at, end, 0);
            m_workerFree[worker] = std::max(at, end);
        }
    }

    TrainingShape m_shape;
    TraceBuilder m_builder;
    std::mt19937 m_random{7};
    std::vector<TrackId> m_workers;
    std::vector<std::int64_t> m_workerFree;
    TrackId m_main, m_compute, m_copies, m_loss, m_memory;
    std::map<TrackId, std::vector<RawSlice>> m_whole; ///< of a complete trace
    std::uint64_t m_correlation = 0;
};

} // namespace

std::shared_ptr<const Trace> trainingTrace(const TrainingShape& shape)
{
    return Maker(shape).make();
}

std::shared_ptr<const Trace> trainingTraceOf(std::size_t slices)
{
    TrainingShape shape;
    shape.opsPerStep = 200;
    shape.steps = 8;
    const double perStep = static_cast<double>(trainingTrace(shape)->sliceCount()) / shape.steps;
    shape.steps = std::max(1, static_cast<int>(std::lround(static_cast<double>(slices) / perStep)));
    return trainingTrace(shape);
}

} // namespace test
