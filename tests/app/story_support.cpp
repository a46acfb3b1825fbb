#include "tests/app/story_support.h"

#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace app_test {

namespace {

using namespace profiler;

constexpr int kLayers = 120; ///< of forward and of backward
constexpr std::int64_t kLayerNs = 180'000, kWaitNs = 4'000'000;
constexpr double kSlow = 6; ///< factor of the wait for data in the slow step

constexpr std::array<std::string_view, 4> kOps = {"aten::convolution", "aten::batch_norm", "aten::relu_", "aten::add"};
constexpr std::array<std::string_view, 4> kKernels = {
    "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<__nv_bfloat16, float, 512, true, 1>(cudnn::bnFwTrainParams)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar"
    "(at::TensorIteratorBase&)::{lambda()#1}, std::array<char*, 2ul> >(int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
    ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"};
constexpr std::string_view kLongest =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
    "float>, unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, "
    "unsigned int, float, 4>)";

class Maker {
public:
    Maker(std::int64_t steps, double slower) : m_steps(steps), m_slower(slower)
    {
        m_builder.setFormat("pytorch");
        m_builder.addDevice({{0}, "NVIDIA A100", "GPU-0"});
        Track main;
        main.kind = TrackKind::MainThread;
        main.name = "main thread";
        main.pid = main.tid = 4711;
        m_main = m_builder.addTrack(main);
        m_compute = stream(7);
        m_copies = stream(14);
        m_answers.steps = steps;
        m_answers.kernel = kLongest;
    }

    std::shared_ptr<const Trace> make(StoryAnswers* answers)
    {
        std::int64_t at = 1'000'000;
        for (std::int64_t step = 0; step < m_steps; ++step)
            at = addStep(step, at);
        for (auto& [track, slices] : m_slices)
            m_builder.addMany(track, std::move(slices), Depth::Inferred);
        if (answers)
            *answers = m_answers;
        return m_builder.finish(2);
    }

private:
    TrackId stream(std::uint32_t id)
    {
        Track track;
        track.kind = TrackKind::Stream;
        track.name = "stream " + std::to_string(id);
        track.stream = {id};
        return m_builder.addTrack(std::move(track));
    }

    void add(TrackId track, ActivityKind kind, std::string_view name, std::int64_t begin, std::int64_t duration,
             std::uint64_t correlation = 0, const SliceArgs& args = {})
    {
        RawSlice slice;
        slice.begin = begin;
        slice.duration = duration;
        slice.link = kind == ActivityKind::CpuOp ? -1 : static_cast<std::int64_t>(correlation);
        slice.name = m_builder.intern(name).value;
        slice.args = m_builder.internArgs(args);
        slice.kind = kind;
        m_slices[track].push_back(slice);
    }

    std::int64_t jittered(std::int64_t ns)
    {
        return static_cast<std::int64_t>(static_cast<double>(ns) *
                                         std::uniform_real_distribution<double>(0.9, 1.1)(m_random));
    }

    /// A kernel starts after its launch and after the kernel before it.
    void launch(std::string_view name, std::int64_t call, std::int64_t duration)
    {
        ++m_correlation;
        add(m_main, ActivityKind::CudaRuntime, "cudaLaunchKernel", call, 8'000, m_correlation);
        const std::int64_t begin = std::max(m_deviceFree, call + 12'000);
        add(m_compute, ActivityKind::Kernel, name, begin, duration, m_correlation);
        m_lastKernel = {begin, duration};
        m_deviceFree = begin + duration;
    }

    void copy(std::int64_t at, std::int64_t bytes, MemoryKind from)
    {
        ++m_correlation;
        const std::int64_t op = jittered(60'000);
        add(m_main, ActivityKind::CpuOp, "aten::copy_", at, op);
        m_answers.copyNs += op;
        add(m_main, ActivityKind::CudaRuntime, "cudaMemcpyAsync", at + 5'000, 20'000, m_correlation);
        add(m_copies, ActivityKind::GpuMemcpy,
            from == MemoryKind::Pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
            at + 30'000, bytes / 20, m_correlation,
            {.bytes = bytes, .copy = CopyKind::HtoD, .src = from, .dst = MemoryKind::Device});
        if (from == MemoryKind::Pageable && bytes > 1'000'000)
            ++m_answers.pageable;
    }

    std::int64_t addLayers(std::int64_t step, bool forward, std::int64_t at)
    {
        const std::int64_t begin = at;
        for (int layer = 0; layer < kLayers; ++layer) {
            const auto which = static_cast<std::size_t>(layer) % kOps.size();
            const std::int64_t length = jittered(kLayerNs);
            const bool isSpecial = forward && step == m_answers.stepWithKernel && layer == kLayers / 2;
            if (isSpecial) {
                at += 3 * kLayerNs; // the host is late, so the device waits
                add(m_main, ActivityKind::Other, "model.py(88): loss", at, length);
                add(m_main, ActivityKind::CpuOp, "aten::mean", at + 10'000, length - 20'000);
                const std::int64_t free = m_deviceFree;
                launch(kLongest, at + 40'000, static_cast<std::int64_t>(9'000'000 * m_slower));
                m_answers.kernelNs = m_lastKernel.second;
                m_answers.gapNs = m_lastKernel.first - free;
                m_answers.correlation = m_correlation;
            } else {
                add(m_main, ActivityKind::CpuOp, kOps[which], at, length);
                launch(kKernels[which], at + 30'000,
                       static_cast<std::int64_t>(static_cast<double>(jittered(kLayerNs * 7 / 10)) * m_slower));
            }
            at += length + 2'000;
        }
        add(m_main, ActivityKind::Other, forward ? "model.py(70): forward" : "train.py(44): backward", begin,
            at - begin);
        return at;
    }

    std::int64_t addStep(std::int64_t step, std::int64_t begin)
    {
        std::int64_t at = begin + 10'000;
        const auto phase = [&](std::string_view name, std::int64_t from) {
            add(m_main, ActivityKind::Phase, name, from, at - from, 0, {.value = step});
            at += 5'000;
        };
        std::int64_t from = at;
        at += static_cast<std::int64_t>(static_cast<double>(jittered(kWaitNs)) *
                                        (step == m_answers.slowStep ? kSlow : 1));
        phase(phase::kDataWait, from);
        from = at;
        copy(at + 1'000, 38'535'168, MemoryKind::Pageable);
        copy(at + 90'000, 65'536, MemoryKind::Pinned);
        at += 180'000;
        phase(phase::kCopy, from);
        from = at;
        at = addLayers(step, true, at + 1'000);
        phase(phase::kForward, from);
        from = at;
        at = addLayers(step, false, at + 1'000);
        phase(phase::kBackward, from);
        add(m_main, ActivityKind::Step, "step", begin, at - begin, 0, {.value = step});
        m_deviceFree = std::max(m_deviceFree, at); // a step waits for its kernels
        return std::max(at, m_deviceFree) + 20'000;
    }

    std::int64_t m_steps;
    double m_slower;
    TraceBuilder m_builder;
    std::mt19937 m_random{11};
    TrackId m_main, m_compute, m_copies;
    std::map<TrackId, std::vector<RawSlice>> m_slices;
    std::uint64_t m_correlation = 0;
    std::int64_t m_deviceFree = 0;
    std::pair<std::int64_t, std::int64_t> m_lastKernel; ///< start and duration
    StoryAnswers m_answers;
};

constexpr std::size_t kSlicesPerStep = 2 * kLayers * 3 + 2 + 4 + 1 + 6;

} // namespace

std::shared_ptr<const Trace> storyTrace(std::size_t slices, double slower, StoryAnswers* answers)
{
    const auto steps = std::max<std::int64_t>(20, static_cast<std::int64_t>(slices / kSlicesPerStep));
    return Maker(steps, slower).make(answers);
}

} // namespace app_test
