#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace formats_sqlite_test {
namespace {

using namespace profiler;
using profiler::test::hasId;
using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;

std::shared_ptr<const Trace> opened(const std::filesystem::path& path, const formats::ReadOptions& options = {})
{
    const auto trace = formats::openTrace(path, options);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? *trace : nullptr;
}

/// The file with two processes, created once for all tests.
class TwoProcesses : public testing::Test {
protected:
    void SetUp() override
    {
        writeTwoProcesses(m_file.path());
        m_trace = opened(m_file.path());
        ASSERT_NE(m_trace, nullptr);
    }

    [[nodiscard]] const Track* track(std::string_view name, std::int64_t pid) const
    {
        for (const Track& candidate : m_trace->tracks())
            if (candidate.name == name && candidate.pid == pid)
                return &candidate;
        ADD_FAILURE() << "no track " << name << " of process " << pid;
        return nullptr;
    }

    [[nodiscard]] std::vector<std::string> names(std::string_view trackName, std::int64_t pid) const
    {
        std::vector<std::string> result;
        if (const Track* found = track(trackName, pid))
            for (const Slice& slice : m_trace->sorted(found->id))
                result.emplace_back(m_trace->name(slice));
        return result;
    }

    [[nodiscard]] Slice slice(std::string_view trackName, std::int64_t pid, std::string_view name) const
    {
        if (const Track* found = track(trackName, pid))
            for (const Slice& candidate : m_trace->sorted(found->id))
                if (m_trace->name(candidate) == name)
                    return candidate;
        ADD_FAILURE() << "no slice " << name;
        return {};
    }

    TemporaryFile m_file;
    std::shared_ptr<const Trace> m_trace;
};

TEST_F(TwoProcesses, AreDistinguished)
{
    EXPECT_EQ(m_trace->format(), "nsys-sqlite");
    EXPECT_EQ(track("main thread", 100)->kind, TrackKind::MainThread);
    EXPECT_EQ(track("pt_autograd_0 150", 100)->kind, TrackKind::Thread);
    EXPECT_EQ(track("stream 7", 101)->kind, TrackKind::Stream);
    EXPECT_EQ(track("stream 7", 101)->processName, "python3 101");
}

TEST_F(TwoProcesses, OneCudaNumberMeansADifferentGpuPerProcess)
{
    ASSERT_EQ(m_trace->devices().size(), 2U);
    EXPECT_EQ(m_trace->devices()[0].name, "NVIDIA H100");
    EXPECT_EQ(m_trace->devices()[1].uuid, "GPU-bb");
    const auto use = analysis::deviceUse(*m_trace, analysis::scanActivity(*m_trace));
    ASSERT_EQ(use.size(), 2U);
    EXPECT_EQ(use[1].id, DeviceId{1});
    EXPECT_EQ(use[1].streams, 2);
    EXPECT_EQ(use[1].busyKernel, Nanoseconds(6000)); // 2000–6000 and 5000–8000 overlap
    EXPECT_EQ(use[1].span, Nanoseconds(7800));
}

TEST_F(TwoProcesses, AnArrowStaysInItsProcess)
{
    for (const int pid : {100, 101}) {
        const Slice kernel = slice("stream 7", pid, "void gemm<float>(float*)");
        const auto flows = m_trace->flowsOf(kernel.id);
        ASSERT_EQ(flows.size(), 1U);
        EXPECT_EQ(flows[0].kind, FlowKind::Launch);
        EXPECT_EQ(m_trace->track(flows[0].from.track).pid, pid);
        EXPECT_EQ(m_trace->name(m_trace->slice(flows[0].from)), "cudaLaunchKernel");
    }
}

TEST_F(TwoProcesses, CallsHaveNoVersionSuffixAndKnowTheirApi)
{
    EXPECT_EQ(slice("main thread", 100, "cudaStreamSynchronize").kind, ActivityKind::CudaRuntime);
    const Slice driver = slice("pt_autograd_0 150", 100, "cuMemAlloc_v2");
    EXPECT_EQ(driver.kind, ActivityKind::CudaDriver);
    EXPECT_EQ(toNs(driver.begin), 500);
    EXPECT_EQ(driver.duration, Nanoseconds(100));
}

TEST_F(TwoProcesses, CopiesAreNamedByTheTablesOfTheFile)
{
    const auto transfers = analysis::scanActivity(*m_trace).transfers;
    ASSERT_EQ(transfers.size(), 3U);
    EXPECT_EQ(transfers[0].kind, CopyKind::HtoD);
    EXPECT_EQ(transfers[0].src, MemoryKind::Pageable);
    EXPECT_EQ(transfers[0].dst, MemoryKind::Device);
    EXPECT_EQ(transfers[0].bytes, 8000);
    EXPECT_EQ(transfers[0].time, Nanoseconds(2000));
    EXPECT_EQ(transfers[2].src, MemoryKind::Pinned);
    EXPECT_EQ(slice("stream 7", 100, "Memset (device)").args.bytes, 64);
}

TEST_F(TwoProcesses, AWaitIsNestedInItsCall)
{
    const Slice wait = slice("main thread", 100, "Stream sync");
    EXPECT_EQ(wait.kind, ActivityKind::Sync);
    EXPECT_EQ(wait.depth, slice("main thread", 100, "cudaStreamSynchronize").depth + 1);
    // A stream that waits for an event does not block a host thread.
    EXPECT_EQ(slice("main thread", 100, "Stream wait sync").kind, ActivityKind::Other);
}

TEST_F(TwoProcesses, RangesNestWithCallsAndKeepTheirDomain)
{
    EXPECT_EQ(slice("main thread", 100, "forward").kind, ActivityKind::Nvtx);
    EXPECT_LT(slice("main thread", 100, "forward").depth, slice("main thread", 100, "cudaLaunchKernel").depth);
    EXPECT_THAT(names("NCCL, thread 101", 101), ElementsAre("ncclAllReduce"));
    EXPECT_THAT(names("NVTX ranges", 100), ElementsAre("epoch"));
    EXPECT_EQ(slice("main thread", 100, "saved").duration, Nanoseconds(0));
}

TEST_F(TwoProcesses, ARangeWithoutEndIsOpenUntilTheEnd)
{
    const Slice open = slice("pt_autograd_0 150", 100, "cut off");
    EXPECT_TRUE(open.is(slice_flag::kOpen));
    EXPECT_EQ(toNs(open.end()), 9800);
    EXPECT_THAT(m_trace->captureStats().notes,
                Contains(hasId("nsys.loss.open", {{"count", 2}, {"table", "NVTX_EVENTS"}, {"row", 7}})));
}

TEST_F(TwoProcesses, RangesOfEmitNvtxGroupByOperator)
{
    EXPECT_EQ(slice("main thread", 100, "aten::mm").kind, ActivityKind::Nvtx);
}

TEST_F(TwoProcesses, OverheadIsNamed)
{
    EXPECT_EQ(slice("main thread", 100, "Buffer flush").kind, ActivityKind::Overhead);
    EXPECT_EQ(slice("main thread", 100, "Lazy function loading (CUDA)").kind, ActivityKind::Overhead);
}

TEST_F(TwoProcesses, DescribeTheirMachine)
{
    const auto& metadata = m_trace->metadata();
    EXPECT_EQ(metadata.at("versions.cuda_driver"), "13.1");
    EXPECT_EQ(metadata.at("versions.cudnn"), "9.1.0");
    EXPECT_EQ(metadata.at("host.cores"), "18");
    EXPECT_EQ(metadata.at("versions.nsys"), "2026.2.1.210");
    // Per process: 4 calls, 2 kernels, 3 copies, a memset, 2 waits, 2 overheads, 7 NVTX rows; and 2 diagnostics.
    EXPECT_EQ(metadata.at("source.events"), "44");
}

TEST_F(TwoProcesses, ReportLosses)
{
    EXPECT_EQ(m_trace->captureStats().dropped, 12U);
    EXPECT_EQ(m_trace->captureStats().unmatched, 8U); // the copies and the memset have no call
    EXPECT_THAT(
        m_trace->captureStats().notes,
        Contains(hasId("nsys.diagnostic", {{"severity", "warning"}, {"said", "Number of dropped events: 12"}})));
    EXPECT_FALSE(m_trace->captureStats().cut);
}

TEST_F(TwoProcesses, DetailsContainTheWholeRowAsText)
{
    const auto details = m_trace->details(slice("stream 7", 100, "void gemm<float>(float*)").id);
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_THAT(*details, Contains(Pair("shortName", "gemm")));
    EXPECT_THAT(*details, Contains(Pair("gridX", "4")));
    const auto copy = m_trace->details(slice("stream 7", 100, "Memcpy HtoD (pinned -> device)").id);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_THAT(*copy, Contains(Pair("srcKind", "Pinned")));
    const auto range = m_trace->details(slice("main thread", 100, "aten::mm").id);
    ASSERT_TRUE(range) << range.error().message();
    EXPECT_THAT(*range, Contains(Pair("text", "aten::mm, seq = 7, op_id = 12, sizes = [[2, 3]]")));
}

TEST_F(TwoProcesses, ACopyInOurFormatHasTheSameDetails)
{
    const auto path = m_file.path().string() + ".sspack";
    ASSERT_TRUE(formats::saveTrace(*m_trace, path));
    const auto copy = formats::openTrace(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(test_support::traceToText(**copy), test_support::traceToText(*m_trace));
    std::size_t entries = 0;
    for (const Track& track : m_trace->tracks())
        for (const Slice& slice : m_trace->sorted(track.id)) {
            EXPECT_EQ((*copy)->details(slice.id).value(), m_trace->details(slice.id).value());
            entries += m_trace->details(slice.id)->size();
        }
    EXPECT_GT(entries, m_trace->sliceCount() * 5);
}

TEST_F(TwoProcesses, ACopyInPytorchsFormatHasLaunchDimensions)
{
    const auto path = m_file.path().string() + ".json";
    ASSERT_TRUE(formats::saveTrace(*m_trace, path));
    const auto copy = formats::openTrace(path);
    ASSERT_TRUE(copy) << copy.error().message();
    SliceDetails kernel;
    for (const Slice& slice : (*copy)->ofKind(ActivityKind::Kernel))
        if ((*copy)->name(slice) == "void gemm<float>(float*)")
            kernel = (*copy)->details(slice.id).value();
    std::filesystem::remove(path);
    EXPECT_THAT(kernel, Contains(Key("grid")));
    EXPECT_THAT(kernel, Not(Contains(Key("gridX"))));
}

TEST_F(TwoProcesses, DetailsOfADeletedFileAreAnError)
{
    const Slice kernel = slice("stream 7", 100, "void gemm<float>(float*)");
    std::filesystem::resize_file(m_file.path(), 4096);
    EXPECT_FALSE(m_trace->details(kernel.id));
}

TEST(Nsys, ProgressGrowsToOneAndAStopRequestEndsTheRead)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.makeTables();
        sqlite.run("INSERT INTO StringIds VALUES (1, 'kernel');"
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, 0, 1, 1, NULL, 1, "
                   "1, 1, 1 "
                   "FROM n");
    }
    std::vector<double> shares;
    formats::ReadOptions options;
    options.progress = [&](double share) { shares.push_back(share); };
    const auto trace = opened(file.path(), options);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->sliceCount(), 200000U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.back(), 1);

    std::stop_source source;
    source.request_stop();
    options.stop = source.get_token();
    const auto stopped = formats::openTrace(file.path(), options);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Error::Code::Cancelled);
}

} // namespace
} // namespace formats_sqlite_test
