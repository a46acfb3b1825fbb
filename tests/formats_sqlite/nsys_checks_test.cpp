#include "profiler/analysis/device/activity_scan.h"
#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Defects that are visible only in all rows of an export together.
namespace formats_sqlite_test {
namespace {

using namespace profiler;
using profiler::test::hasId;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<Message> notesOf(const std::filesystem::path& path)
{
    const auto trace = formats::openTrace(path);
    EXPECT_TRUE(trace) << trace.error().message();
    return trace ? (*trace)->captureStats().notes : std::vector<Message>{};
}

/// The notes about the file with two processes after a change.
std::vector<Message> notesAfter(const std::string& sql)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    NsysFile(file.path()).run(sql);
    return notesOf(file.path());
}

const auto kNoneOfThese =
    Not(Contains(AnyOf(hasId("nsys.loss.shared_call"), hasId("nsys.loss.doubled"), hasId("nsys.loss.overlapping"))));

TEST(NsysChecks, CallsThatShareAnIdAreNoted)
{
    EXPECT_THAT(
        notesAfter("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 1 WHERE rowid < 4"),
        Contains(hasId("nsys.loss.shared_call", {{"count", 2}, {"table", "CUPTI_ACTIVITY_KIND_RUNTIME"}, {"row", 2}})));
}

TEST(NsysChecks, DuplicateWorkIsNoted)
{
    EXPECT_THAT(
        notesAfter("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL"),
        Contains(hasId("nsys.loss.doubled", {{"count", 4}, {"table", "CUPTI_ACTIVITY_KIND_KERNEL"}, {"row", 5}})));
}

TEST(NsysChecks, RangesThatCrossAreNoted)
{
    EXPECT_THAT(notesAfter("UPDATE NVTX_EVENTS SET end = 9500 WHERE rowid = 3"),
                Contains(hasId("nsys.loss.overlapping", {{"count", 1}, {"table", "NVTX_EVENTS"}, {"row", 3}})));
}

TEST(NsysChecks, EqualIdsOfSeveralProcessesAreValid)
{
    EXPECT_THAT(notesAfter("VACUUM"), kNoneOfThese);
}

TEST(NsysChecks, ARuntimeCallMayShareTheIdOfItsDriverCall)
{
    EXPECT_THAT(notesAfter("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 1 WHERE rowid = 4"), kNoneOfThese);
}

TEST(NsysChecks, IdsMayRestartInALongRecording)
{
    EXPECT_THAT(notesAfter("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 1, start = start + 90000000000000, "
                           "end = end + 90000000000000 WHERE rowid = 2"),
                Not(Contains(hasId("nsys.loss.shared_call"))));
}

TEST(NsysChecks, NodesOfACudaGraphShareTheirLaunch)
{
    EXPECT_THAT(notesAfter("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphNodeId INTEGER;"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
                           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = rowid"),
                kNoneOfThese);
}

TEST(NsysChecks, RealExportsHaveNoneOfThese)
{
    for (const char* const name : {"nsys_2gpu_before.sqlite", "nsys_2gpu_after.sqlite"}) {
        const std::filesystem::path path = std::filesystem::path(STEPSCOPE_SHARED_TRACES) / name;
        if (!std::filesystem::exists(path))
            GTEST_SKIP() << "no " << path;
        const auto notes = notesOf(path);
        EXPECT_THAT(notes, kNoneOfThese);
        EXPECT_THAT(notes, testing::Each(hasId("nsys.loss.no_launch")));
    }
}

TEST(NsysChecks, UnifiedMemoryCopiesNeedNoEnumTable)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    NsysFile(file.path())
        .run("DROP TABLE ENUM_CUDA_MEMCPY_OPER; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE rowid > 3;"
             "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10 + rowid, srcKind = 7, dstKind = 7");
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    std::vector<CopyKind> kinds;
    for (const Slice& slice : (*trace)->ofKind(ActivityKind::GpuMemcpy)) {
        kinds.push_back(slice.args.copy);
        EXPECT_EQ(slice.args.src, MemoryKind::Managed);
        EXPECT_EQ(slice.args.dst, MemoryKind::Managed);
    }
    EXPECT_THAT(kinds, testing::ElementsAre(CopyKind::HtoD, CopyKind::DtoH, CopyKind::DtoD));
}

TEST(NsysChecks, SqliteErrorsOfADamagedSchemaAreValidText)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    std::string bytes = file.bytes();
    const std::size_t at = bytes.find("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME");
    ASSERT_NE(at, bytes.npos);
    bytes.replace(at + 2, 3, "\xff\xfe\x80");
    file.write(bytes);
    const auto trace = formats::openTrace(file.path());
    ASSERT_FALSE(trace);
    EXPECT_THAT(trace.error().message(), HasSubstr("malformed database schema"));
    for (const char c : trace.error().message())
        EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << trace.error().message();
    EXPECT_EQ(trace.error().message().find_first_of("\xff\xfe\x80"), std::string::npos);
}

} // namespace
} // namespace formats_sqlite_test
