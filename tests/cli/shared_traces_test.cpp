#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/summarize.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/formats/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <unistd.h>

// Figures of real traces, computed by other programs or published. The traces are not part of the project: their folder
// is $STEPSCOPE_SHARED_TRACES, otherwise shared/data/traces next to the checkout.
namespace cli_test {
namespace {

using namespace app::terminal;
using namespace profiler;
using namespace profiler::analysis;

std::filesystem::path folder()
{
    const char* chosen = std::getenv("STEPSCOPE_SHARED_TRACES");
    return chosen ? chosen : STEPSCOPE_SHARED_TRACES;
}

struct Figures {
    const char* file;
    std::int64_t events, steps, kernels, copies, memsets; ///< events 0: not specified
    double kernelUs;
    std::vector<double> busy; ///< by device
};

void PrintTo(const Figures& figures, std::ostream* out)
{
    *out << figures.file;
}

Summary closeSummaryOf(const Trace& trace)
{
    Summary summary = summaryOf(trace, [&] { return findSteps(trace); });
    summary.detailed = detailedAnalysis(trace, summary.steps);
    return summary;
}

class SharedTrace : public testing::Test {
protected:
    void open(const char* file)
    {
        if (!std::filesystem::exists(folder() / file))
            GTEST_SKIP() << "no " << (folder() / file) << ": set STEPSCOPE_SHARED_TRACES";
        auto trace = openTrace(folder() / file);
        ASSERT_TRUE(trace) << trace.error().message();
        m_trace = *trace;
        m_summary = closeSummaryOf(*m_trace);
    }
    /// Shares of the steps' time in percent, each within its tolerance.
    void expectBreakdown(const std::vector<std::pair<TimeClass, double>>& percent, double within) const
    {
        for (const auto& [timeClass, share] : percent)
            EXPECT_NEAR(m_summary.breakdown.share(timeClass) * 100, share, within) << timeClassName(timeClass);
    }
    std::shared_ptr<const Trace> m_trace;
    Summary m_summary;
};

class EverySharedTrace : public SharedTrace, public testing::WithParamInterface<Figures> {};

TEST_P(EverySharedTrace, HasItsPublishedFigures)
{
    const Figures& figures = GetParam();
    open(figures.file);
    if (!m_trace)
        return;
    if (figures.events > 0) {
        EXPECT_EQ(m_summary.counts.events, figures.events);
    }
    EXPECT_EQ(m_summary.statistics.count, figures.steps);
    EXPECT_EQ(m_summary.counts.kernel, figures.kernels);
    EXPECT_EQ(m_summary.counts.memcpy, figures.copies);
    EXPECT_EQ(m_summary.counts.memset, figures.memsets);
    EXPECT_NEAR(m_summary.kernelUs, figures.kernelUs, figures.kernelUs * 0.001);
    ASSERT_EQ(m_summary.devices.size(), figures.busy.size());
    for (std::size_t i = 0; i < figures.busy.size(); ++i)
        EXPECT_NEAR(toUs(m_summary.devices[i].busyKernel) / toUs(m_summary.devices[i].span), figures.busy[i], 0.0025);
    EXPECT_EQ(m_trace->captureStats().dropped, 0U);
    EXPECT_FALSE(m_trace->captureStats().cut);
}

TEST_P(EverySharedTrace, HasTheSameFiguresInOurFormat)
{
    open(GetParam().file);
    if (!m_trace)
        return;
    const auto path = std::filesystem::temp_directory_path() /
                      (std::string(GetParam().file) + "." + std::to_string(getpid()) + ".sspack");
    ASSERT_TRUE(formats::saveTrace(*m_trace, path));
    const auto copy = openTrace(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(toJson(**copy, closeSummaryOf(**copy)), toJson(*m_trace, m_summary));
    for (const Track& track : m_trace->tracks())
        for (std::uint32_t i = 0; i < m_trace->sliceCount(track.id); i += 997)
            EXPECT_EQ((*copy)->details({track.id, i}).value(), m_trace->details({track.id, i}).value());
}

INSTANTIATE_TEST_SUITE_P(
    Files, EverySharedTrace,
    testing::Values(Figures{"v100_resnet50_nw0_a.json.gz", 75718, 6, 8772, 12, 312, 591532, {0.594}},
                    Figures{"v100_resnet50_nw4_a.json.gz", 71424, 6, 8868, 12, 378, 594868, {0.742}},
                    Figures{"v100_resnet_gpu_bound_ns.json.gz", 68692, 5, 4350, 1600, 145, 468153.6, {0.975}},
                    Figures{"h100_bertsmall_launch_bound.json.gz", 2551, 1, 60, 1, 0, 307.2, {0.079}},
                    Figures{"h100_qwen_gpu_bound_control.json.gz", 18221, 1, 1465, 1, 241, 45432.7, {0.915}},
                    Figures{"nsys_2gpu_before.sqlite", 0, 0, 4010, 1020, 269, 535200.7, {0.903, 0.885}},
                    Figures{"nsys_2gpu_after.sqlite", 0, 0, 3587, 904, 242, 488835.4, {0.794, 0.840}}));

/// Computed by another program from the files themselves.
struct QueueFigures {
    const char* file;
    std::size_t device;
    std::int64_t launches;
    double meanDepth;
    std::int64_t maxDepth;
    double empty, delayUs;
};

TEST_F(SharedTrace, QueuesAreAsLongAsAnotherProgramCountsThem)
{
    const QueueFigures all[] = {{"v100_resnet50_nw0_a.json.gz", 0, 9096, 94.141, 569, 0.37044, 9497.5},
                                {"v100_resnet50_nw4_a.json.gz", 0, 7715, 65.607, 522, 0.18517, 2759},
                                {"v100_resnet_gpu_bound_ns.json.gz", 0, 3657, 1012.0, 1022, 0, 79903},
                                {"h100_bertsmall_launch_bound.json.gz", 0, 61, 0.11013, 1, 0.81095, 6.538},
                                {"h100_qwen_gpu_bound_control.json.gz", 0, 1198, 32.746, 111, 0.04306, 1206.98},
                                {"nsys_2gpu_before.sqlite", 0, 2620, 8.4714, 55, 0.05638, 315.41},
                                {"nsys_2gpu_before.sqlite", 1, 2648, 7.2688, 52, 0.08136, 235.41}};
    for (const QueueFigures& figures : all) {
        open(figures.file);
        if (!m_trace)
            return;
        ASSERT_GT(m_summary.detailed->launches.devices.size(), figures.device) << figures.file;
        const DeviceLaunches& device = m_summary.detailed->launches.devices[figures.device];
        EXPECT_EQ(device.launches, figures.launches) << figures.file;
        EXPECT_NEAR(device.meanDepth, figures.meanDepth, 0.001 * figures.meanDepth) << figures.file;
        EXPECT_EQ(device.maxDepth, figures.maxDepth) << figures.file;
        EXPECT_NEAR(device.emptyShare, figures.empty, 0.0001) << figures.file;
        EXPECT_NEAR(device.delayUs, figures.delayUs, 0.001 * figures.delayUs) << figures.file;
    }
}

TEST_F(SharedTrace, MemsetsComeFromTheConvolutionsAndWaitsFromTheirCallers)
{
    open("v100_resnet50_nw0_a.json.gz");
    if (!m_trace)
        return;
    const CallSites& memsets = m_summary.detailed->memsets;
    EXPECT_EQ(memsets.count, 312);
    EXPECT_THAT(memsets.sites.at(0).ops, testing::EndsWith("aten::cudnn_convolution_backward_weight"));
    EXPECT_EQ(memsets.sites.at(0).count, 306);
    EXPECT_EQ(memsets.sites.at(0).bytes, 365707920);
    EXPECT_EQ(m_summary.detailed->syncs.sites.at(0).ops, "aten::to > aten::copy_");
    open("v100_resnet_gpu_bound_ns.json.gz"); // its only wait is at the end of the trace
    EXPECT_EQ(m_summary.detailed->syncs.count, 0);
    open("nsys_2gpu_before.sqlite");
    EXPECT_EQ(m_summary.detailed->stragglers.collectives, 0);
    EXPECT_THAT(m_summary.detailed->stragglers.cannotTell, testing::HasSubstr("send and receive"));
}

/// For a copy whose marks were turned into ordinary ranges.
double medianOfRepeatedUs(const Trace& trace)
{
    const auto path = std::filesystem::temp_directory_path() / ("stripped." + std::to_string(getpid()) + ".json");
    EXPECT_TRUE(formats::saveTrace(trace, path));
    std::string text;
    {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    for (std::size_t at = 0; (at = text.find("ProfilerStep#", at)) != std::string::npos;)
        text.replace(at, 13, "something else");
    std::ofstream(path) << text;
    const auto stripped = openTrace(path);
    std::filesystem::remove(path);
    EXPECT_TRUE(stripped && findSteps(**stripped).empty());
    return stripped ? stepStatistics(repeatedSteps(**stripped).steps).medianUs : 0;
}

TEST_F(SharedTrace, StepsFoundByRepetitionLastAsLongAsTheMarkedOnes)
{
    for (const char* file :
         {"v100_resnet50_nw0_a.json.gz", "v100_resnet50_nw4_a.json.gz", "v100_resnet_gpu_bound_ns.json.gz"}) {
        open(file);
        if (!m_trace)
            return;
        const double marked = m_summary.statistics.medianUs;
        EXPECT_NEAR(medianOfRepeatedUs(*m_trace), marked, 0.03 * marked) << file;
    }
}

TEST_F(SharedTrace, WithoutWorkersWaitsForItsLoader)
{
    open("v100_resnet50_nw0_a.json.gz");
    if (!m_trace)
        return;
    EXPECT_NEAR(m_summary.statistics.meanUs, 174829, 1);
    // Based on the marks, counted in the file by another program.
    expectBreakdown({{TimeClass::Kernel, 54.875},
                     {TimeClass::Memcpy, 1.096},
                     {TimeClass::Memset, 0.050},
                     {TimeClass::Runtime, 1.600},
                     {TimeClass::DataLoader, 33.897},
                     {TimeClass::CpuOp, 7.821},
                     {TimeClass::Other, 0.661}},
                    0.01);
    // As published by PyTorch's plug-in, which ends a step at its last kernel.
    expectBreakdown({{TimeClass::Kernel, 55.51},
                     {TimeClass::Memcpy, 1.08},
                     {TimeClass::Memset, 0.05},
                     {TimeClass::Runtime, 1.64},
                     {TimeClass::DataLoader, 33.37},
                     {TimeClass::CpuOp, 7.70},
                     {TimeClass::Other, 0.65}},
                    1.5);
    EXPECT_EQ(m_summary.counts.cpuOp, 23646);
    EXPECT_EQ(m_summary.counts.runtime, 11923);
    EXPECT_EQ(m_summary.statistics.steadyCount, 6); // the profile begins in the sixth step of the run
    EXPECT_EQ(m_summary.workers, 0);
    ASSERT_EQ(m_summary.transfers.size(), 1U);
    const Transfer& copies = m_summary.transfers.front();
    EXPECT_EQ(copies.kind, CopyKind::HtoD);
    EXPECT_EQ(copies.src, MemoryKind::Pageable);
    EXPECT_EQ(copies.count, 12);
    EXPECT_NEAR(static_cast<double>(copies.bytes), 115.6e6, 0.1e6);
    EXPECT_NEAR(copies.gbPerSecond(), 10.06, 0.01);
}

TEST_F(SharedTrace, WithWorkersNoLongerDoes)
{
    open("v100_resnet50_nw4_a.json.gz");
    if (!m_trace)
        return;
    EXPECT_NEAR(m_summary.statistics.meanUs, 139692, 1);
    EXPECT_NEAR(m_summary.statistics.minUs, 116146, 1);
    EXPECT_NEAR(m_summary.statistics.maxUs, 181565, 1);
    expectBreakdown({{TimeClass::Kernel, 70.28},
                     {TimeClass::Memcpy, 2.24},
                     {TimeClass::Runtime, 7.49},
                     {TimeClass::DataLoader, 0.84},
                     {TimeClass::CpuOp, 16.07},
                     {TimeClass::Other, 3.01}},
                    1.5);
    EXPECT_FALSE(m_summary.workers); // the trace does not contain the number
}

TEST_F(SharedTrace, TheFirstStepsOfAProfileAreExcluded)
{
    open("v100_resnet_gpu_bound_ns.json.gz");
    if (!m_trace)
        return;
    EXPECT_NEAR(m_summary.statistics.meanUs, 78828, 1);
    EXPECT_NEAR(m_summary.statistics.steadyMeanUs, 95649, 1);
    expectBreakdown({{TimeClass::Kernel, 96.5}}, 0.1);
    EXPECT_EQ(m_summary.counts.cpuOp, 23910);
    EXPECT_EQ(m_summary.counts.runtime, 15329);
}

TEST_F(SharedTrace, LaunchBoundInferenceIdlesItsGpu)
{
    open("h100_bertsmall_launch_bound.json.gz");
    if (!m_trace)
        return;
    EXPECT_EQ(m_summary.shortKernels, 58);
    EXPECT_EQ(m_summary.counts.runtime, 132);
    expectBreakdown({{TimeClass::Kernel, 6.941}, {TimeClass::Runtime, 8.598}, {TimeClass::CpuOp, 35.881}}, 0.05);
}

TEST_F(SharedTrace, TwoGpusOfTwoProcesses)
{
    open("nsys_2gpu_before.sqlite");
    if (!m_trace)
        return;
    EXPECT_EQ(m_summary.counts.nvtx, 19118);
    EXPECT_EQ(m_summary.counts.runtime, 7466);
    ASSERT_EQ(m_summary.transfers.size(), 2U);
    EXPECT_EQ(m_summary.transfers[0].kind, CopyKind::DtoD);
    EXPECT_EQ(m_summary.transfers[1].kind, CopyKind::HtoD);
    EXPECT_EQ(m_summary.transfers[1].src, MemoryKind::Pageable);
    EXPECT_EQ(m_summary.transfers[1].count, 34);
    EXPECT_EQ(m_summary.transfers[1].bytes, 272);
    EXPECT_EQ(m_summary.devices[0].streams, 1);
}

// Forward passes are inferred, so little time is not covered by a phase.
TEST_F(SharedTrace, PhasesCoverTheStepsOfATraining)
{
    for (const char* file :
         {"v100_resnet50_nw0_a.json.gz", "v100_resnet50_nw4_a.json.gz", "v100_resnet_gpu_bound_ns.json.gz"}) {
        open(file);
        if (!m_trace)
            return;
        const StepStatistics& s = m_summary.statistics;
        EXPECT_LT(toUs(s.steadyMeanParts.other) / s.steadyMeanUs, 0.1) << file;
        EXPECT_GT(toUs(s.steadyMeanParts.forward) / s.steadyMeanUs, 0.15) << file;
    }
}

TEST_F(SharedTrace, TwoProcessesOfAnExportAreTwoRanks)
{
    open("nsys_2gpu_before.sqlite");
    if (!m_trace)
        return;
    ASSERT_EQ(m_summary.ranks.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const Summary::RankSummary& rank = m_summary.ranks[i];
        ASSERT_EQ(rank.devices.size(), 1U);
        EXPECT_EQ(rank.devices[0].id.value, i);
        EXPECT_EQ(rank.devices[0].busyKernel, m_summary.devices[i].busyKernel);
        EXPECT_FALSE(rank.rank.sharesDevices);
    }
}

/// The text of a PyTorch file with its processes shifted by `pids` and its times by `us`.
nlohmann::ordered_json events(const std::filesystem::path& file, std::int64_t pids, double us)
{
    std::ostringstream out, err;
    const std::filesystem::path copy =
        std::filesystem::temp_directory_path() / ("ranks-" + std::to_string(getpid()) + "-" + file.stem().string());
    EXPECT_EQ(convert({.in = file, .out = copy}, {out, err}), 0) << err.str();
    std::ifstream text(copy);
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
    std::filesystem::remove(copy);
    for (auto& event : json["traceEvents"]) {
        if (event.contains("pid") && event["pid"].is_number())
            event["pid"] = event["pid"].get<std::int64_t>() + pids;
        if (event.contains("ts"))
            event["ts"] = event["ts"].get<double>() + us;
    }
    return json["traceEvents"];
}

// Two processes with the same launch numbers and device number in one file. Each is reported as in its own file.
TEST_F(SharedTrace, FusedFilesOfTwoProcessesAreTwoRanks)
{
    const char* files[] = {"v100_resnet_gpu_bound_ns.json.gz", "h100_qwen_gpu_bound_control.json.gz"};
    std::vector<Summary> alone;
    std::vector<TimeRange> ranges;
    for (const char* file : files) {
        open(file);
        if (!m_trace)
            return;
        alone.push_back(std::move(m_summary));
        ranges.push_back(m_trace->range());
    }
    const double shift = toUs(ranges[0].begin - ranges[1].begin);
    nlohmann::ordered_json fused = {{"schemaVersion", 1}, {"traceEvents", events(folder() / files[0], 0, 0)}};
    for (auto& event : events(folder() / files[1], 1'000'000, shift))
        fused["traceEvents"].push_back(std::move(event));
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("fused-" + std::to_string(getpid()) + ".json");
    std::ofstream(path) << fused.dump();
    const auto trace = openTrace(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(trace) << trace.error().message();
    const Summary both = closeSummaryOf(**trace);
    ASSERT_EQ(both.ranks.size(), 2U);
    for (const Summary& one : alone) {
        const auto rank = std::ranges::find_if(
            both.ranks, [&](const Summary::RankSummary& row) { return row.statistics.count == one.statistics.count; });
        ASSERT_NE(rank, both.ranks.end());
        EXPECT_FALSE(rank->rank.sharesDevices);
        EXPECT_NEAR(rank->statistics.meanUs, one.statistics.meanUs, 1);
        ASSERT_EQ(rank->devices.size(), one.devices.size());
        EXPECT_NEAR(toUs(rank->devices[0].busyKernel), toUs(one.devices[0].busyKernel), 10);
        for (std::size_t i = 0; i < kTimeClasses; ++i)
            EXPECT_NEAR(rank->breakdown.share(static_cast<TimeClass>(i)),
                        one.breakdown.share(static_cast<TimeClass>(i)), 0.001);
    }
    EXPECT_EQ(both.devices.size(), 2U) << "equal device numbers of two processes are two devices";
    EXPECT_NEAR(both.kernelUs, alone[0].kernelUs + alone[1].kernelUs, 10);
}

} // namespace
} // namespace cli_test
