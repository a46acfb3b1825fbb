#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_reader.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

// Files that programs wrote before live and sealed files had one format (version 7).
namespace {

using namespace profiler;
using container::readTrace;
using test_support::traceToText;

const std::filesystem::path kFiles = STEPSCOPE_OLD_FILES;

TEST(OldFiles, ALiveFileOfVersion3Opens)
{
    const auto read = readTrace(kFiles / "recording_v3.sstrace");
    ASSERT_TRUE(read) << read.error().message();
    const Trace& trace = **read;
    EXPECT_EQ(trace.sliceCount(), 5U);
    const auto kernels = trace.ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(trace.name(kernels[0]), "gemm");
    EXPECT_EQ(kernels[0].correlation.value, 41U);
    const LaunchConfig launch = trace.launch(kernels[0].args.launch);
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{8, 2, 1}));
    EXPECT_EQ(launch.registers, 40U);
    EXPECT_EQ(launch.sharedMemory, 17'408U);
    const auto copies = trace.ofKind(ActivityKind::GpuMemcpy);
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].args.bytes, 5'000'000'000);
    EXPECT_EQ(copies[0].args.src, MemoryKind::Pinned);
    ASSERT_EQ(trace.devices().size(), 1U);
    EXPECT_EQ(trace.devices()[0].multiprocessors, 132);
    EXPECT_EQ(trace.tracks()[0].processName, "python train.py");
    EXPECT_EQ(trace.metadata().at("workload"), "convnet");
    EXPECT_EQ(trace.captureStats().dropped, 3U);
    EXPECT_FALSE(trace.captureStats().cut);
}

TEST(OldFiles, ASealedFileOfVersion6Opens)
{
    const auto live = readTrace(kFiles / "recording_v3.sstrace"), sealed = readTrace(kFiles / "packed_v6.sspack");
    ASSERT_TRUE(sealed) << sealed.error().message();
    EXPECT_EQ(traceToText(**sealed), traceToText(**live));
}

TEST(OldFiles, DetailsOfASealedFileOfVersion6AreRead)
{
    const auto trace = readTrace(kFiles / "details_v6.sspack");
    ASSERT_TRUE(trace) << trace.error().message();
    const auto kernels = (*trace)->ofKind(ActivityKind::Kernel);
    ASSERT_FALSE(kernels.empty());
    const auto details = (*trace)->details(kernels[0].id);
    ASSERT_TRUE(details) << details.error().message();
    EXPECT_FALSE(details->empty());
}

TEST(OldFiles, AreSealedInTheCurrentFormat)
{
    const wire_test::TestFolder folder;
    for (const char* name : {"recording_v3.sstrace", "packed_v6.sspack", "details_v6.sspack"}) {
        const auto old = readTrace(kFiles / name);
        ASSERT_TRUE(old) << old.error().message();
        const auto path = folder.path() / "new.sstrace";
        ASSERT_TRUE(container::writeTrace(**old, path));
        const auto sealed = readTrace(path);
        ASSERT_TRUE(sealed) << sealed.error().message();
        EXPECT_EQ(traceToText(**sealed), traceToText(**old)) << name;
    }
}

} // namespace
