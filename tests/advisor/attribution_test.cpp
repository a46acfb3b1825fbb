// The analysis window is divided once, and no two findings claim the same part of it.
#include "advisor/prediction/attribution.h"
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>

namespace advisor_test {
namespace {

using namespace advisor;
using namespace profiler;
using namespace profiler::analysis;
using test_support::HasId;
using test_support::HasText;

/// Random training runs: steps of random length on one or two host threads, with waits for data, operators, launches,
/// copies, synchronization, allocations and code loading, and work on up to three devices with up to three streams
/// each; some work is launched long before it starts and some has no recorded launch.
class RandomTrace {
public:
    explicit RandomTrace(unsigned seed) : m_random(seed) {}

    std::string text()
    {
        m_devices = pick(1, 3);
        m_streams = pick(1, 3);
        const int steps = pick(0, 8);
        double at = 0;
        m_host = "main\n";
        for (int i = 0; i < std::max(steps, 1); ++i) {
            const double begin = at;
            at = stepFrom(at);
            if (steps > 0)
                m_host += fmt::format("step {} {} {}\n", i, begin, at - begin);
        }
        std::string text;
        for (int device = 0; device < m_devices; ++device)
            text += fmt::format("device {} \"NVIDIA H100\" \"\" sm=90\n", device);
        text += m_host;
        for (const auto& [stream, work] : m_work)
            text += fmt::format("stream {} {}\n{}", stream.first, stream.second, work);
        return text;
    }

private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(m_random); }

    double stepFrom(double at)
    {
        const int actions = pick(2, 25);
        const bool phases = pick(0, 1) == 1;
        for (int i = 0; i < actions; ++i) {
            const double us = pick(1, 60);
            switch (pick(0, 9)) {
            case 0:
                m_host += fmt::format("phase \"data wait\" {} {}\n", at, us);
                break;
            case 1:
                m_host += fmt::format("call cudaDeviceSynchronize {} {}\n", at, us);
                break;
            case 2:
                m_host += fmt::format("call cudaMalloc {} {}\n", at, us);
                break;
            case 3:
                m_host += fmt::format("driver cuModuleLoadData {} {}\n", at, us);
                break;
            case 4:
                copy(at, us);
                break;
            case 5: // time without a recorded event
                break;
            default:
                if (phases)
                    m_host += fmt::format("phase {} {} {}\n", pick(0, 1) ? "forward" : "optimizer", at, us);
                m_host += fmt::format("op aten::mm {} {}\n", at, us);
                launch(at, us);
            }
            at += us + pick(0, 8);
        }
        return at + pick(0, 20);
    }

    /// Work on a stream never overlaps.
    std::string& place(int device, int stream, double earliest, double us, double& begin)
    {
        double& free = m_free[{device, stream}];
        begin = std::max(earliest, free);
        free = begin + us;
        return m_work[{device, stream}];
    }

    void launch(double at, double us)
    {
        const int device = pick(0, m_devices - 1), stream = 7 + pick(0, m_streams - 1);
        const double length = pick(0, 4) == 0 ? pick(20, 300) : pick(1, 9);
        constexpr std::array<std::string_view, 5> kNames = {"ampere_sgemm_128x64", "vectorized_elementwise_kernel",
                                                            "softmax_warp_forward", "ncclDevKernel_AllReduce_Sum_f32",
                                                            "cudnn_convolve_sgemm"};
        const std::string_view name = kNames[static_cast<std::size_t>(pick(0, 4))];
        double begin = 0;
        std::string& work = place(device, stream, at + us / 2 + pick(0, 20), length, begin);
        const bool linked = pick(0, 19) > 0;
        if (linked)
            m_host += fmt::format("call cudaLaunchKernel {} {} corr={}\n", at, us / 2, ++m_correlation);
        work += fmt::format("kernel {} {} {}{}\n", name, begin, length,
                            linked ? fmt::format(" corr={}", m_correlation) : std::string());
    }

    void copy(double at, double us)
    {
        const int device = pick(0, m_devices - 1);
        const bool home = pick(0, 1) == 1, pinned = pick(0, 1) == 1;
        double begin = 0;
        std::string& work = place(device, 7 + pick(0, m_streams - 1), at + 1, us, begin);
        const double calls = pick(0, 1) == 1 ? std::max(us, begin + us - at) : 2;
        m_host += fmt::format("call {} {} {} corr={}\n", pick(0, 1) == 1 ? "cudaMemcpy" : "cudaMemcpyAsync", at,
                              std::min(calls, us), ++m_correlation);
        work += fmt::format("copy {} {} {} bytes={} src={} dst={} corr={}\n", home ? "DtoH" : "HtoD", begin, us,
                            home ? 4 : 1'000'000,
                            home     ? "device"
                            : pinned ? "pinned"
                                     : "pageable",
                            home ? "pageable" : "device", m_correlation);
    }

    std::mt19937 m_random;
    int m_devices = 1, m_streams = 1, m_correlation = 0;
    std::string m_host;
    std::map<std::pair<int, int>, std::string> m_work;
    std::map<std::pair<int, int>, double> m_free;
};

/// Times in which each device is busy, computed without the analyses.
std::map<DeviceId, Intervals> busyTimes(const Trace& trace)
{
    std::map<DeviceId, std::vector<TimeRange>> ranges;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            for (const Slice& slice : trace.sorted(track.id))
                ranges[track.device].push_back(slice.range());
    std::map<DeviceId, Intervals> busy;
    for (auto& [device, all] : ranges)
        busy[device] = unite(std::move(all));
    return busy;
}

class RandomTraces : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTraces, EveryGapIsDividedAmongItsCausesExactlyOnce)
{
    for (unsigned seed = GetParam() * 100; seed < GetParam() * 100 + 100; ++seed) {
        const std::string text = RandomTrace(seed).text();
        const auto trace = test_support::traceFromText(text);
        const Facts facts = analyse(*trace);
        if (!facts.device.hasWork())
            continue;
        const std::vector<TimeRange> hull{{facts.device.any.front().begin, facts.device.any.back().end}};
        const Intervals judged = intersect(facts.device.window, hull);
        std::map<DeviceId, Nanoseconds> sums;
        std::map<DeviceId, Intervals> unions;
        for (const IdleCause& cause : facts.device.idle) {
            Nanoseconds sum{};
            for (const auto& [device, where] : cause.everywhere) {
                sums[device] += total(where);
                unions[device] = unite(std::move(unions[device]), where);
                sum += total(where);
            }
            EXPECT_EQ(sum, cause.time) << cause.cause << ", seed " << seed;
        }
        for (const auto& [device, busy] : busyTimes(*trace)) {
            if (!unions.contains(device))
                continue; // a device that hardly worked or never idled
            const Intervals idle = subtract(judged, busy);
            EXPECT_EQ(unions[device], idle) << "seed " << seed;
            EXPECT_EQ(sums[device], total(idle)) << "claimed twice, seed " << seed;
        }
    }
}

TEST_P(RandomTraces, FindingsClaimNoMoreThanTheTimeThereIs)
{
    int findings = 0;
    for (unsigned seed = GetParam() * 40; seed < GetParam() * 40 + 40; ++seed) {
        const auto trace = test_support::traceFromText(RandomTrace(seed).text());
        const Facts facts = analyse(*trace);
        const RuleContext c{*trace, facts};
        const TimeParts parts = timeParts(c);
        TimeParts claimed;
        double worth = std::numeric_limits<double>::infinity();
        for (const RuleAdvice& row : advise(*trace, facts, nullptr)) {
            double sum = 0;
            for (const TimeClaim& claim : row.claims) {
                for (std::size_t i = 0; i < kTimeParts; ++i)
                    claimed.us[i] += timePart(i) == claim.part ? claim.us : 0;
                sum += claim.us;
            }
            const Advice& advice = row.advice;
            if (advice.state != State::Fires) {
                EXPECT_TRUE(row.claims.empty()) << row.id;
                continue;
            }
            ++findings;
            EXPECT_LE(row.impact, worth) << row.id << " is ranked by what the others leave, seed " << seed;
            worth = row.impact;
            if (advice.saving && advice.saving->unit == SavingUnit::UsPerStep) {
                EXPECT_NEAR(sum, std::max(0.0, advice.saving->claimed() - advice.betweenStepsUs), 1e-3)
                    << row.id << ", seed " << seed;
            }
            if (advice.saving && advice.saving->kind == SavingKind::Estimate &&
                advice.saving->unit == SavingUnit::UsPerStep) {
                EXPECT_DOUBLE_EQ(row.impact, advice.saving->claimed()) << row.id << ", seed " << seed;
            }
            if (!advice.saving) {
                EXPECT_LE(sum, advice.timeShare * parts.total() + 1e-3) << row.id << ", seed " << seed;
            }
        }
        for (std::size_t i = 0; i < kTimeParts; ++i)
            EXPECT_LE(claimed.us[i], parts.us[i] + 1e-3) << timePartName(timePart(i)) << ", seed " << seed;
        EXPECT_LE(claimed.idle(), parts.idle() + 1e-3) << "seed " << seed;
    }
    EXPECT_GT(findings, 40) << "the traces have too few delays to test anything";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, testing::Range(0U, 5U));

TEST(TimeParts, SumToTheAnalysedTime)
{
    const auto trace = test_support::traceFromText("main\nrepeat 10 every 1000\nstep 0 0 1000\n"
                                                   "phase \"data wait\" 0 200\ncall cudaMalloc 200 50\nend\n"
                                                   "stream 0 7\nrepeat 10 every 1000\nkernel sgemm 300 400\n"
                                                   "copy HtoD 700 100 bytes=8 src=pinned dst=device\n"
                                                   "kernel ncclDevKernel_AllReduce_Sum_f32 800 200\nend\n");
    const Facts facts = analyse(*trace);
    const TimeParts parts = timeParts({*trace, facts});
    EXPECT_NEAR(parts.total(), 1000, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Data), 200, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Allocation), 50, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Launch), 0, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Unknown), 50, 1e-6) << "time without events may be anything";
    EXPECT_NEAR(parts.of(TimePart::Kernels), 400, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Copy), 100, 1e-6);
    EXPECT_NEAR(parts.of(TimePart::Communication), 200, 1e-6);
    EXPECT_NEAR(parts.idle(), 600, 1e-6);
}

TEST(TimeParts, UnrecordedTimeBetweenLaunchesBelongsToTheHost)
{
    // Idle from 0 to 12, 22 to 62 and 72 to 100 µs of each step; the launches last from 10 to 61 µs.
    const auto partsOf = [](const std::string& thread) {
        const auto trace = test_support::traceFromText(
            "main\nrepeat 10 every 100\nstep 0 0 100\ncall cudaLaunchKernel 10 1 corr=1\n" + thread +
            "call cudaLaunchKernel 60 1 corr=2\nend\nstream 0 7\nrepeat 10 every 100\nkernel a 12 10 corr=1\n"
            "kernel a 62 10 corr=2\nend\n");
        const Facts facts = analyse(*trace);
        return timeParts({*trace, facts});
    };
    const TimeParts parts = partsOf("");
    EXPECT_NEAR(parts.of(TimePart::Launch), 41, 1) << "the launches, and from the first of them to the second";
    EXPECT_NEAR(parts.of(TimePart::Unknown), 36, 2) << "before the first and after the last";
    // Launches of different threads are independent of each other.
    const TimeParts apart = partsOf("end\nthread other\nrepeat 10 every 100\n");
    EXPECT_NEAR(apart.of(TimePart::Launch), 2, 1);
}

TEST(TimeParts, OfACpuRunAreTheDataWaitAndTheRest)
{
    const auto trace = test_support::traceFromText(cpuRun(1000, 300));
    const Facts facts = analyse(*trace);
    const TimeParts parts = timeParts({*trace, facts});
    EXPECT_NEAR(parts.of(TimePart::Data), 300, 1);
    EXPECT_NEAR(parts.of(TimePart::Kernels), 700, 1);
}

/// Two rules that claim the same time.
struct Shared {
    explicit Shared(const std::string& text, bool configured = false) : m_trace(test_support::traceFromText(text))
    {
        const config::TrainingConfig config;
        for (RuleAdvice& row : advise(*m_trace, configured ? &config : nullptr))
            m_rows.emplace(row.id, std::move(row));
    }
    [[nodiscard]] const RuleAdvice& of(const std::string& id) const { return m_rows.at(id); }

private:
    std::shared_ptr<const Trace> m_trace;
    std::map<std::string, RuleAdvice> m_rows;
};

/// Ten steps in which the device waits for each of twenty small launches.
std::string launchBound()
{
    std::string host, device;
    for (int i = 0; i < 20; ++i) {
        host += fmt::format("op aten::add {} 48\ncall cudaLaunchKernel {} 6 corr={}\n", i * 50, i * 50 + 40, i + 1);
        device += fmt::format("kernel vectorized_elementwise_kernel {} 4 corr={}\n", i * 50 + 48, i + 1);
    }
    return fmt::format(
        "device 0 \"NVIDIA H100\" \"\" sm=90\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}end\nstream 0 "
        "7\nrepeat 10 every 1000\n{}end\n",
        host, device);
}

TEST(Compile, ProfileOfPytorchGivesOnlyABound)
{
    const auto hasCaveat = [](const Advice& advice) {
        return std::ranges::any_of(advice.caveats, [](const Message& row) { return row.id == "host.profiler_cost"; });
    };
    const Advice own = judge("compile", launchBound());
    const Advice pytorch = judge("compile", launchBound() + "format pytorch-json\n");
    ASSERT_TRUE(own.saving && pytorch.saving);
    EXPECT_EQ(own.saving->kind, SavingKind::Estimate);
    EXPECT_EQ(pytorch.saving->kind, SavingKind::UpperBound) << "the profiler slows down the launches";
    EXPECT_EQ(pytorch.saving->low, 0);
    EXPECT_GE(pytorch.saving->high, own.saving->high);
    EXPECT_FALSE(hasCaveat(own));
    EXPECT_TRUE(hasCaveat(pytorch));
    EXPECT_TRUE(hasCaveat(judge("host_bound", launchBound() + "format pytorch-json\n")));
}

TEST(SharedTime, OfLaunchesIsGivenToWhatCanBeChanged)
{
    const Shared shared(launchBound());
    const RuleAdvice& compile = shared.of("compile");
    const RuleAdvice& host = shared.of("host.bound");
    ASSERT_EQ(compile.advice.state, State::Fires) << compile.advice.reason.text;
    ASSERT_EQ(host.advice.state, State::Fires) << host.advice.reason.text;
    ASSERT_TRUE(compile.advice.saving);
    EXPECT_GT(compile.advice.saving->mid, 800);
    EXPECT_FALSE(host.advice.saving) << "the gaps are claimed already";
    EXPECT_EQ(host.sharesWith, "compile");
    EXPECT_THAT(host.advice.whyNoPrediction, HasId("prediction.counted_elsewhere"));
    EXPECT_THAT(host.advice.whyNoPrediction, HasText("finding", compile.advice.title));
    EXPECT_TRUE(compile.sharesWith.empty());
    EXPECT_GT(compile.impact, 800);
    EXPECT_LT(host.impact, 100) << "of the time that compile does not claim";
    // The control is the same finding without the other one: host.bound alone may claim its time.
    const Advice alone = judge("host_bound", launchBound());
    ASSERT_TRUE(alone.saving);
    EXPECT_EQ(alone.saving->kind, SavingKind::UpperBound);
    EXPECT_GT(alone.saving->high, 800);
}

} // namespace
} // namespace advisor_test
