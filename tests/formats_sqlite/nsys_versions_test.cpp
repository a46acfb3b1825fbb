#include "profiler/analysis/device/activity_scan.h"
#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Exporters of different years write different tables and columns.
namespace formats_sqlite_test {
namespace {

using namespace profiler;
using profiler::test::hasId;

std::shared_ptr<const Trace> opened(const std::filesystem::path& path)
{
    const auto trace = formats::openTrace(path);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? *trace : nullptr;
}

std::vector<double> valuesOf(const Trace& trace, std::string_view name)
{
    std::vector<double> values;
    for (const Track& track : trace.tracks())
        if (track.name == name)
            for (const CounterSample& sample : trace.counter(track.id))
                values.push_back(sample.value);
    return values;
}

/// An export whose only events are memory events with these values, in SQL.
void writeMemoryEvents(const std::filesystem::path& path, const std::string& rows)
{
    NsysFile sqlite(path);
    sqlite.makeTables();
    sqlite.run("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, contextId INT,"
               " address INT, bytes INT, memKind INT, memoryOperationType INT);"
               "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES " +
               rows);
}

/// An export as of 2020: few columns, no enumerations, no META_DATA_EXPORT.
constexpr const char* kOldTables = R"(
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaMemcpy_v3020'), (3, 'cuLaunchKernel');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
        contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, shortName INT NOT NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 1, 7, 5, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
        contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, bytes INT NOT NULL, copyKind INT NOT NULL,
        srcKind INT, dstKind INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (300, 400, 0, 1, 7, 6, 1000, 2, 2, 1), (400, 450, 0, 1, 7, 7, 10, 99, 77, 7);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, globalTid INT, correlationId INT,
        nameId INT NOT NULL);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (250, 420, 281476654432356, 6, 2), (50, 60, 281476654432356, 5, 3);
    CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, text TEXT, globalTid INT);
    INSERT INTO NVTX_EVENTS VALUES (10, 500, 'step', 281476654432356);
)";

TEST(NsysVersions, AnOldExportUsesCuptisEnumValues)
{
    const TemporaryFile file;
    NsysFile(file.path()).run(kOldTables);
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->ofKind(ActivityKind::Kernel).size(), 1U);
    EXPECT_EQ(trace->name(trace->ofKind(ActivityKind::Kernel)[0]), "gemm");
    EXPECT_EQ(trace->ofKind(ActivityKind::Nvtx).size(), 1U);
    EXPECT_EQ(trace->ofKind(ActivityKind::CudaDriver).size(), 1U);
    const auto transfers = analysis::scanActivity(*trace).transfers;
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[0].kind, CopyKind::DtoH);
    EXPECT_EQ(transfers[0].src, MemoryKind::Device);
    EXPECT_EQ(transfers[0].dst, MemoryKind::Pinned);
    EXPECT_EQ(transfers[1].kind, CopyKind::Unknown);
    EXPECT_EQ(transfers[1].src, MemoryKind::Unknown);
    EXPECT_EQ(trace->metadata().at("source.events"), "6");
    // The tables of device work contain no process, so it is the only one that makes calls.
    const Slice kernel = trace->ofKind(ActivityKind::Kernel)[0];
    EXPECT_EQ(trace->track(kernel.id.track).pid, 100);
    ASSERT_EQ(trace->flowsOf(kernel.id).size(), 1U);
    EXPECT_EQ(trace->name(trace->slice(trace->flowsOf(kernel.id)[0].from)), "cuLaunchKernel");
    EXPECT_EQ(trace->captureStats().unmatched, 1U); // a copy
    EXPECT_THAT(trace->captureStats().notes,
                testing::ElementsAre(
                    hasId("nsys.loss.no_launch", {{"count", 1}, {"table", "CUPTI_ACTIVITY_KIND_MEMCPY"}, {"row", 2}})));
}

TEST(NsysVersions, WithSeveralProcessesNoneIsGuessed)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.run(kOldTables);
        sqlite.run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (600, 610, " + std::to_string(globalId(101, 101)) +
                   ", 6, 2)");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->track(trace->ofKind(ActivityKind::Kernel)[0].id.track).pid, 0);
    EXPECT_EQ(trace->captureStats().unmatched, 3U);
}

TEST(NsysVersions, UnsupportedTablesAreNoted)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.run(kOldTables);
        sqlite.run("CREATE TABLE SCHED_EVENTS (start INT, cpu INT, isSchedIn INT, globalTid INT);"
                   "INSERT INTO SCHED_EVENTS VALUES (1, 0, 1, 5), (2, 0, 0, 5);"
                   "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INT, globalPid INT, address INT);"
                   "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (5, 1, 1);"
                   "CREATE TABLE CUDNN_EVENTS (start INT, end INT)");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->metadata().at("source.events"), "9");
    EXPECT_THAT(trace->captureStats().notes,
                testing::UnorderedElementsAre(
                    hasId("nsys.loss.no_launch"),
                    hasId("nsys.table_not_shown", {{"count", 2}, {"table", "SCHED_EVENTS"}}),
                    hasId("nsys.table_not_shown", {{"count", 1}, {"table", "CUDA_UM_CPU_PAGE_FAULT_EVENTS"}})));
}

TEST(NsysVersions, MetricsOfAGpuAreCounters)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.run(kOldTables);
        sqlite.run("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INT, sourceId INT, typeName TEXT, metricId INT,"
                   " metricName TEXT);"
                   "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (7, 0, 'GPU 0', 1, 'SMs Active [Throughput %]');"
                   "CREATE TABLE GPU_METRICS (rawTimestamp INT, timestamp INT, typeId INT, metricId INT, value INT);"
                   "INSERT INTO GPU_METRICS VALUES (1, 100, 7, 1, 50), (1, 110, 7, 1, 60), (1, 110, 8, 2, 5)");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_THAT(valuesOf(*trace, "SMs Active [Throughput %], GPU 0"), testing::ElementsAre(50, 60));
    EXPECT_THAT(valuesOf(*trace, "metric 2, type 8"), testing::ElementsAre(5));
}

TEST(NsysVersions, ComputeCapabilitiesAreRead)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    {
        NsysFile sqlite(file.path());
        sqlite.run("ALTER TABLE TARGET_INFO_GPU ADD COLUMN computeMajor INT;"
                   "ALTER TABLE TARGET_INFO_GPU ADD COLUMN computeMinor INT;"
                   "UPDATE TARGET_INFO_GPU SET computeMajor = 8, computeMinor = 9");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    ASSERT_FALSE(trace->devices().empty());
    EXPECT_EQ(trace->devices().front().computeMajor, 8);
    EXPECT_EQ(trace->devices().front().computeMinor, 9);
}

TEST(NsysVersions, LimitsOfMultiprocessorsAreRead)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    {
        NsysFile sqlite(file.path());
        for (const char* column :
             {"smCount", "maxWarpsPerSm", "threadsPerWarp", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm"})
            sqlite.run(std::string("ALTER TABLE TARGET_INFO_GPU ADD COLUMN ") + column + " INT");
        sqlite.run("UPDATE TARGET_INFO_GPU SET smCount = 132, maxWarpsPerSm = 64, threadsPerWarp = 32, "
                   "maxBlocksPerSm = 32, maxRegistersPerSm = 65536, maxShmemPerSm = 233472 WHERE id = 0;"
                   "UPDATE TARGET_INFO_GPU SET smCount = -1, maxWarpsPerSm = 1073741823, threadsPerWarp = 1073741823, "
                   "maxShmemPerSm = 99999999999 WHERE id = 1");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->devices().size(), 2U);
    EXPECT_EQ(trace->devices()[0].multiprocessors, 132);
    EXPECT_EQ(trace->devices()[0].limits, (MultiprocessorLimits{2048, 32, 65536, 233472}));
    EXPECT_EQ(trace->devices()[1].multiprocessors, 0);
    EXPECT_EQ(trace->devices()[1].limits, MultiprocessorLimits{}) << "impossible figures are unknown";
}

TEST(NsysVersions, LaunchConfigurationsAreRead)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    {
        NsysFile sqlite(file.path());
        for (const char* column :
             {"blockX", "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"})
            sqlite.run(std::string("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN ") + column + " INT");
        sqlite.run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 128, blockY = 1, blockZ = 1, staticSharedMemory = "
                   "1024, dynamicSharedMemory = 16384, localMemoryPerThread = 8 WHERE streamId = 7;"
                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = -1, registersPerThread = 0, dynamicSharedMemory = "
                   "16384 WHERE streamId = 9");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 4U);
    for (const Slice& kernel : kernels) {
        const LaunchConfig launch = trace->launch(kernel.args.launch);
        EXPECT_EQ(launch.dynamicSharedMemory, 16384U);
        if (trace->track(kernel.id.track).stream == StreamId{7}) {
            EXPECT_THAT(launch.grid, testing::ElementsAre(4, 2, 1));
            EXPECT_THAT(launch.block, testing::ElementsAre(128, 1, 1));
            EXPECT_EQ(launch.registers, 32U);
            EXPECT_EQ(launch.sharedMemory, 17408U);
            EXPECT_EQ(launch.localMemory, 8U);
        } else {
            EXPECT_EQ(launch.blocks(), 0U);
            EXPECT_EQ(launch.threads(), 0U);
            EXPECT_EQ(launch.registers, std::nullopt);
            EXPECT_EQ(launch.sharedMemory, std::nullopt) << "the static part is unknown";
        }
    }
}

TEST(NsysVersions, EnumTablesOfTheFileTakePrecedence)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.run(kOldTables);
        sqlite.run(
            "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
            "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (2, 'CUDA_MEMCPY_KIND_HTOD', ''), (99, 'CUDA_MEMCPY_KIND_PTOP', "
            "'');"
            "CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);"
            "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (2, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', ''),"
            "(1, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', ''), (77, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', '')");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    const auto transfers = analysis::scanActivity(*trace).transfers;
    ASSERT_EQ(transfers.size(), 2U);
    EXPECT_EQ(transfers[0].kind, CopyKind::HtoD);
    EXPECT_EQ(transfers[0].src, MemoryKind::Pageable);
    EXPECT_EQ(transfers[0].dst, MemoryKind::Device);
    EXPECT_EQ(transfers[1].kind, CopyKind::PtoP);
    EXPECT_EQ(transfers[1].src, MemoryKind::Managed);
}

TEST(NsysVersions, AGraphTracedAsAWholeCountsAsDeviceWork)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.makeTables();
        sqlite.run("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT NOT NULL, end INT NOT NULL, deviceId INT,"
                   " graphId INT, graphExecId INT, contextId INT, streamId INT, correlationId INT, globalPid INT);"
                   "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (100, 900, 0, 3, 4, 1, 7, 11, 281476654432256)");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->ofKind(ActivityKind::Kernel).size(), 1U);
    EXPECT_EQ(trace->name(trace->ofKind(ActivityKind::Kernel)[0]), "CUDA graph 3");
}

TEST(NsysVersions, MemoryEventsBecomeACounter)
{
    const TemporaryFile file;
    writeMemoryEvents(file.path(),
                      "(10, 0, 0, 1, 1, 1000, 2, 0), (20, 0, 0, 1, 2, 500, 2, 0), (30, 0, 0, 1, 1, 1000, 2, 1)");
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    ASSERT_EQ(trace->tracks().size(), 1U);
    EXPECT_EQ(trace->tracks()[0].name, "memory, device 0");
    const auto samples = trace->counter(trace->tracks()[0].id);
    ASSERT_EQ(samples.size(), 3U);
    EXPECT_EQ(samples[1].value, 1500);
    EXPECT_EQ(samples[2].value, 500);
}

TEST(NsysVersions, AnExportWithoutEventsIsAnEmptyTrace)
{
    const TemporaryFile file;
    NsysFile(file.path()).makeTables();
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->sliceCount(), 0U);
    EXPECT_EQ(trace->metadata().at("source.events"), "0");
}

TEST(NsysVersions, AReportIsRejectedWithTheExportCommand)
{
    const TemporaryFile file("run.nsys-rep");
    file.write("QUADD report of some kind");
    const auto trace = formats::openTrace(file.path());
    ASSERT_FALSE(trace);
    EXPECT_THAT(trace.error().what, hasId("nsys.report"));
    EXPECT_THAT(trace.error().hint, testing::HasSubstr("nsys export --type sqlite run.nsys-rep"));
}

TEST(NsysVersions, MemoryIsSummedByKindInTimeOrder)
{
    const TemporaryFile file;
    // Kinds: 1 pinned, 2 device. The first deallocation frees memory that was allocated before the recording.
    writeMemoryEvents(file.path(), "(30, 0, 0, 1, 1, 500, 2, 1), (20, 0, 0, 1, 1, 500, 2, 0),"
                                   "(10, 0, 0, 1, 9, 4000, 2, 1), (15, 0, 0, 1, 2, 7000, 1, 0)");
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    EXPECT_THAT(valuesOf(*trace, "memory, device 0"), testing::ElementsAre(0, 500, 0));
    EXPECT_THAT(valuesOf(*trace, "pinned host memory, device 0"), testing::ElementsAre(7000));
}

TEST(NsysVersions, OldExportsWriteDefaultsForWhatIsAbsent)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.makeTables();
        const std::string id = std::to_string(sqlite.string("epoch"));
        sqlite.run("INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid) VALUES "
                   "(100, 200, 59, '', " +
                   id +
                   ", 281476654432356), (300, -1, 60, 'never closed', 0, 281476654432356),"
                   "(900, 950, 59, 'last', 0, 281476654432356)");
    }
    const auto trace = opened(file.path());
    ASSERT_NE(trace, nullptr);
    const auto ranges = trace->ofKind(ActivityKind::Nvtx);
    ASSERT_EQ(ranges.size(), 3U);
    EXPECT_EQ(trace->name(ranges[0]), "epoch");
    EXPECT_EQ(trace->name(ranges[1]), "never closed");
    EXPECT_TRUE(ranges[1].is(slice_flag::kOpen));
    EXPECT_EQ(toNs(ranges[1].end()), 950);
}

} // namespace
} // namespace formats_sqlite_test
