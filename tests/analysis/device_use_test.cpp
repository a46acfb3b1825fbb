#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/device_use.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

constexpr std::string_view kGpu = R"(
    device 0 "NVIDIA H100"
    main
      phase "data wait" 0 100
      call cudaMalloc 100 50
      call cudaMemcpy 150 50
      call cudaLaunchKernel 300 20
      call cudaStreamSynchronize 400 100
    stream 0 7
      copy HtoD 0 10 bytes=1000000 src=pageable dst=device
      copy HtoD 200 20 bytes=2000000 src=pageable dst=device
      kernel gemm 220 80
      kernel relu 330 20
    stream 0 8
      kernel gemm 250 20
      copy DtoH 500 20 bytes=4 src=device dst=pinned
)";

TEST(DeviceUse, BusyIsTheUnionOverStreams)
{
    const auto trace = traceFromText(kGpu);
    const auto devices = deviceUse(*trace, scanActivity(*trace));
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].name, "NVIDIA H100");
    EXPECT_EQ(devices[0].streams, 2);
    EXPECT_EQ(toUs(devices[0].busyKernel), 100);
    EXPECT_EQ(toUs(devices[0].busyAny), 150);
    EXPECT_EQ(toUs(devices[0].span), 520);
}

TEST(DeviceUse, IdleTimeHasOneCauseFromTheMainThread)
{
    std::map<std::string, double> causes;
    double sum = 0;
    for (const IdleCause& cause : idleCauses(scanActivity(*traceFromText(kGpu)))) {
        causes[std::string(cause.cause)] = toUs(cause.time);
        sum += toUs(cause.time);
    }
    EXPECT_EQ(causes["data_loader"], 90);
    EXPECT_EQ(causes["allocation"], 50);
    EXPECT_EQ(causes["copy"], 50);
    EXPECT_EQ(causes["launch"], 20);
    EXPECT_EQ(causes["sync"], 100);
    EXPECT_EQ(causes["other"], 60); // 320–330 and 350–400
    EXPECT_EQ(sum, 520 - 150);
}

std::map<std::string, double> causesOf(const std::string& text, std::vector<TimeRange> within = {})
{
    std::map<std::string, double> causes;
    for (const IdleCause& cause : idleCauses(scanActivity(*traceFromText(text)), within))
        causes[std::string(cause.cause)] = toUs(cause.time);
    return causes;
}

using Causes = std::map<std::string, double>;

TEST(DeviceUse, LoadingKernelCodeIsNotASlowLaunch)
{
    EXPECT_EQ(
        causesOf("main\nop aten::mm 0 100\ndriver cuLibraryLoadData 20 60\nstream 0 7\nkernel a 0 10\nkernel b 100 10"),
        (Causes{{"lazy_loading", 60}, {"launch", 30}}));
    EXPECT_EQ(causesOf("main\nop aten::mm 0 100\nthread driver\noverhead \"Lazy Function Loading\" 20 60\n"
                       "stream 0 7\nkernel a 0 10\nkernel b 100 10"),
              (Causes{{"lazy_loading", 60}, {"launch", 30}}));
    // Other overhead belongs to the profiler and not to the program.
    EXPECT_EQ(causesOf("main\nop aten::mm 0 100\nthread driver\noverhead \"Buffer Flush\" 20 60\n"
                       "stream 0 7\nkernel a 0 10\nkernel b 100 10"),
              (Causes{{"launch", 90}}));
}

TEST(DeviceUse, PageLockingAndMappingCountAsAllocation)
{
    for (const char* call :
         {"cudaHostAlloc", "cudaHostRegister", "cudaHostUnregister", "cuMemHostAlloc", "cuMemCreate", "cuMemMap",
          "cuMemUnmap", "cuMemRelease", "cuMemSetAccess", "cuMemAddressReserve", "hipHostMalloc", "cudaFreeHost"})
        EXPECT_EQ(causesOf(std::string("main\nop aten::to 0 100\ncall ") + call +
                           " 20 60\nstream 0 7\nkernel a 0 10\nkernel b 100 10"),
                  (Causes{{"allocation", 60}, {"launch", 30}}))
            << call;
    for (const char* call : {"cudaMemGetInfo", "cudaMemPoolCreate", "cudaMemPrefetchAsync", "cudaMemsetAsync"})
        EXPECT_FALSE(isAllocation(call)) << call;
}

TEST(DeviceUse, NvtxRangesOfOperatorsCountAsOperators)
{
    for (const char* range :
         {"aten::mm", "\"aten::mm, seq = 12, op_id = 7\"", "\"AllToAll4D, seq = 3\"", "MmBackward0", "Log2Backward0"})
        EXPECT_EQ(causesOf(std::string("main\nnvtx ") + range + " 20 60\nstream 0 7\nkernel a 0 10\nkernel b 100 10"),
                  (Causes{{"launch", 60}, {"other", 30}}))
            << range;
    for (const char* range : {"Backward", "Backward0", "\"Backward 12\"", "\"Run Backward\"", "_Backward"})
        EXPECT_EQ(causesOf(std::string("main\nnvtx ") + range + " 20 60\nstream 0 7\nkernel a 0 10\nkernel b 100 10"),
                  (Causes{{"other", 90}}))
            << range << " belongs to the program";
    EXPECT_EQ(causesOf("main\nnvtx forward 20 60\ndomain d\nnvtx aten::mm 20 60\nstream 0 7\n"
                       "kernel a 0 10\nkernel b 100 10"),
              (Causes{{"other", 90}}))
        << "a range of the program may contain anything";
}

TEST(DeviceUse, WaitingForOtherRanksIsCommunicationEvenInASyncCall)
{
    EXPECT_EQ(
        causesOf("main\nop c10d::barrier 10 60\ncall cudaStreamSynchronize 20 50\ncall cudaStreamSynchronize 70 20\n"
                 "stream 0 7\nkernel a 0 10\nkernel b 100 10"),
        (Causes{{"communication", 60}, {"sync", 20}, {"other", 10}}));
    EXPECT_EQ(causesOf("main\nannotation nccl:all_reduce 10 60\nannotation \"nccl training\" 0 100\n"
                       "stream 0 7\nkernel a 0 10\nkernel ncclDevKernel_AllReduce 100 10"),
              (Causes{{"communication", 60}, {"other", 30}}));
    EXPECT_EQ(causesOf("main\nop c10d::allreduce_ 10 60\nannotation gloo:all_reduce 10 60\n"
                       "stream 0 7\nkernel a 0 10\nkernel b 100 10"),
              (Causes{{"communication", 60}, {"other", 30}}))
        << "on the host";
}

TEST(DeviceUse, AGroupOfOneRankDoesNotWait)
{
    EXPECT_EQ(causesOf("main\nop c10d::allreduce_ 10 60\nop record_param_comms 20 40\n"
                       "annotation nccl:all_reduce 20 40\nstream 0 7\nkernel a 0 10\nkernel b 100 10"),
              (Causes{{"launch", 60}, {"other", 30}}))
        << "NCCL runs no kernel if there is nothing to exchange";
}

TEST(DeviceUse, AFinishedDeviceDoesNotWait)
{
    const std::string text =
        "main\nop aten::mm 0 100\nstream 0 7\nkernel a 0 10\nkernel b 20 10\nstream 1 7\nkernel a 0 100";
    EXPECT_EQ(causesOf(text, {traceFromText(text)->range()}), (Causes{{"launch", 10}, {"end_of_run", 70}}));
    EXPECT_EQ(causesOf(text), (Causes{{"launch", 10}})); // from the first to the last work of each device
}

TEST(DeviceUse, IdleStretchesOfAllDevicesSumToTheCauses)
{
    const auto trace = traceFromText(std::string(kGpu) + "\nstream 1 7\nkernel k 5 5\nkernel k 210 5\n");
    const ActivityScan scan = scanActivity(*trace);
    std::map<std::string_view, Nanoseconds> sums;
    const auto queued = queuedGaps(*trace, scan);
    const auto devices = idleStretches(scan, queued);
    EXPECT_EQ(devices.size(), 2U);
    for (const auto& [device, stretches] : devices)
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            sums[stretches[i].cause] += stretches[i].range.duration();
            EXPECT_TRUE(i == 0 || stretches[i - 1].range.end <= stretches[i].range.begin);
        }
    for (const IdleCause& cause : idleCauses(scan, {}, &queued))
        EXPECT_EQ(std::exchange(sums[cause.cause], Nanoseconds{0}), cause.time) << cause.cause;
    for (const auto& [cause, time] : sums)
        EXPECT_EQ(time.count(), 0) << cause << " is not a cause";
}

TEST(DeviceUse, ACpuOnlyTraceHasNoDeviceUse)
{
    const auto trace = traceFromText("main\nphase forward 0 10");
    const ActivityScan scan = scanActivity(*trace);
    EXPECT_TRUE(deviceUse(*trace, scan).empty());
    EXPECT_TRUE(idleCauses(scan).empty());
    EXPECT_TRUE(deviceBusy(scan).empty());
}

TEST(DeviceUse, SynchronizingAndBlockingCallsAreCounted)
{
    const SyncUse use = syncUse(scanActivity(*traceFromText(kGpu)));
    EXPECT_EQ(use.calls, 1);
    EXPECT_EQ(toUs(use.time), 100);
    EXPECT_EQ(use.blockingCopies, 1);
    EXPECT_EQ(toUs(use.blockingCopyTime), 50);
}

TEST(DeviceUse, NestedWaitsCountOnce)
{
    const SyncUse use = syncUse(scanActivity(*traceFromText("main\ncall cudaStreamSynchronize 10 30\n"
                                                            "driver cuStreamSynchronize 12 25\n"
                                                            "driver cuStreamSynchronize 50 5\n")));
    EXPECT_EQ(use.calls, 2);
    EXPECT_EQ(toUs(use.time), 35);
}

TEST(DeviceUse, UsesWaitsIfCallsAreNotRecorded)
{
    const SyncUse use = syncUse(scanActivity(*traceFromText("main\nsync stream 10 30\nsync stream 50 5")));
    EXPECT_EQ(use.calls, 2);
    EXPECT_EQ(toUs(use.time), 35);
}

TEST(Transfers, AreGroupedByKindAndMemory)
{
    const auto rows = scanActivity(*traceFromText(kGpu)).transfers;
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].kind, CopyKind::HtoD);
    EXPECT_EQ(rows[0].src, MemoryKind::Pageable);
    EXPECT_EQ(rows[0].count, 2);
    EXPECT_EQ(rows[0].bytes, 3000000);
    EXPECT_DOUBLE_EQ(rows[0].gbPerSecond(), 100); // 3 MB in 30 µs
    EXPECT_EQ(rows[1].kind, CopyKind::DtoH);
}

TEST(Transfers, KernelsAreSummedByName)
{
    const auto kernels = scanActivity(*traceFromText(kGpu)).kernels;
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].name, "gemm");
    EXPECT_EQ(kernels[0].count, 2);
    EXPECT_EQ(toUs(kernels[0].time), 100);
}

// As in a damaged file: seventy years each, and petabytes.
TEST(Transfers, SumsSaturateInsteadOfOverflowing)
{
    std::string text = "stream 0 7\n";
    for (int i = 0; i < 9; ++i)
        text += " kernel k 0 2300000000s\n copy HtoD 0 2300000000s bytes=9000000000000000000\n";
    const auto trace = traceFromText(text);
    for (const unsigned threads : {1U, 2U}) {
        const ActivityScan scan = scanActivity(*trace, threads);
        ASSERT_EQ(scan.kernels.size(), 1U);
        EXPECT_EQ(scan.kernels[0].time, Nanoseconds::max());
        EXPECT_EQ(scan.transfers.at(0).time, Nanoseconds::max());
        EXPECT_EQ(scan.transfers.at(0).bytes, 9 * (std::int64_t{1} << 53));
    }
}

TEST(Transfers, CommunicationIsExposedIfNoOtherKernelRuns)
{
    const Communication c = communication(scanActivity(*traceFromText(R"(
        device 0 gpu
        stream 0 7
          kernel gemm 0 50
        stream 0 8
          kernel ncclDevKernel_AllReduce 30 50
    )")));
    EXPECT_EQ(c.kernels, 1);
    EXPECT_EQ(toUs(c.time), 50);
    EXPECT_EQ(toUs(c.exposed), 30);
}

} // namespace
} // namespace profiler::analysis
