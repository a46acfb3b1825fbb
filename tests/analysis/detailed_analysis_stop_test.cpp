#include "profiler/analysis/detailed_analysis.h"

#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace profiler::analysis {
namespace {

using Clock = std::chrono::steady_clock;

/// A host that launches `count` kernels inside operators.
std::shared_ptr<const Trace> launches(std::int64_t count)
{
    TraceBuilder builder;
    const std::uint32_t op = builder.intern("aten::mm").value, call = builder.intern("cudaLaunchKernel").value,
                        kernel = builder.intern("gemm").value, wait = builder.intern("cudaStreamSynchronize").value;
    Track main, stream;
    main.kind = TrackKind::MainThread;
    stream.kind = TrackKind::Stream;
    const TrackId host = builder.addTrack(main), device = builder.addTrack(stream);
    const auto slice = [](ActivityKind kind, std::uint32_t name, std::int64_t begin, std::int64_t duration,
                          std::int64_t link) {
        RawSlice raw;
        raw.kind = kind;
        raw.name = name;
        raw.begin = begin;
        raw.duration = duration;
        raw.link = link;
        return raw;
    };
    std::vector<RawSlice> calls, work;
    for (std::int64_t i = 0; i < count; ++i) {
        calls.push_back(slice(ActivityKind::CpuOp, op, 10'000 * i, 9000, -1));
        calls.push_back(slice(ActivityKind::CudaRuntime, call, 10'000 * i + 1000, 2000, i + 1));
        calls.push_back(slice(ActivityKind::CudaRuntime, wait, 10'000 * i + 4000, 4000, 0));
        work.push_back(slice(ActivityKind::Kernel, kernel, 10'000 * i + 3500, 4000, i + 1));
    }
    builder.addMany(host, std::move(calls), Depth::Inferred);
    builder.addMany(device, std::move(work), Depth::Inferred);
    return builder.finish();
}

TEST(DetailedAnalysis, EndsSoonAfterAStopRequest)
{
    const auto trace = launches(100'000);
    const auto since = [](Clock::time_point begin) { return Clock::now() - begin; };
    const auto begin = Clock::now();
    const DetailedAnalysis whole = detailedAnalysis(*trace, {});
    const Clock::duration all = since(begin);
    ASSERT_EQ(whole.launches.devices.size(), 1U);
    ASSERT_GT(whole.path.total().count(), 0);
    for (const double share : {0.0, 0.2, 0.4, 0.6}) {
        auto best = Clock::duration::max(); // the best of several runs, because other programs may disturb one of them
        for (int attempt = 0; attempt < 3; ++attempt) {
            Clock::time_point asked, ended;
            std::jthread looking([&](const std::stop_token& stop) {
                static_cast<void>(detailedAnalysis(*trace, {}, stop));
                ended = Clock::now();
            });
            std::this_thread::sleep_for(std::chrono::duration_cast<Clock::duration>(all * share));
            asked = Clock::now();
            looking.request_stop();
            looking.join();
            best = std::min(best, ended - asked);
        }
        EXPECT_LT(best, all / 5) << share << " of " << all.count() << " ns";
    }
}

} // namespace
} // namespace profiler::analysis
