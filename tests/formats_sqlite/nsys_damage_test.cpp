#include "profiler/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/support/message_matchers.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// Files that are not a complete Nsight Systems export.
namespace formats_sqlite_test {
namespace {

using namespace profiler;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using testing::Contains;
using testing::HasSubstr;

Error errorOf(const std::filesystem::path& path)
{
    const auto trace = formats::openTrace(path);
    EXPECT_FALSE(trace) << (*trace)->sliceCount() << " slices were read";
    return trace ? Error{} : trace.error();
}

/// Enough kernels for many pages.
void writeKernels(const std::filesystem::path& path, int count)
{
    NsysFile file(path);
    file.makeTables();
    file.run("INSERT INTO StringIds VALUES (1, 'kernel');"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
             std::to_string(count) +
             ") "
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 5, 0, 1, 0, 7, i, 0, 1, 1, NULL, 1, 1, 1, "
             "1 FROM n");
}

TEST(NsysDamage, AnotherProgramsDatabaseIsRejected)
{
    const TemporaryFile file;
    NsysFile(file.path()).run("CREATE TABLE bookmarks (id INTEGER, url TEXT); INSERT INTO bookmarks VALUES (1, 'x')");
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Unsupported);
    EXPECT_THAT(error.what, hasId("nsys.no_export"));
    EXPECT_THAT(error.hint, HasSubstr("nsys export --type sqlite"));
}

TEST(NsysDamage, AnEmptyDatabaseIsRejected)
{
    const TemporaryFile file;
    NsysFile(file.path()).run("CREATE TABLE t (x); DROP TABLE t");
    EXPECT_THAT(errorOf(file.path()).what, hasId("nsys.no_export"));
}

TEST(NsysDamage, AViewInsteadOfATableIsNotExecuted)
{
    const TemporaryFile file;
    NsysFile(file.path())
        .run(
            "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT); CREATE TABLE StringIds (id INTEGER, value TEXT);"
            "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS start, i AS end FROM n");
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ((*trace)->sliceCount(), 0U);
}

TEST(NsysDamage, ATruncatedFileShowsTheRest)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_GT((*trace)->sliceCount(), 1000U);
    EXPECT_LT((*trace)->sliceCount(), 20000U);
    EXPECT_TRUE((*trace)->captureStats().cut);
    EXPECT_THAT((*trace)->captureStats().notes,
                Contains(hasIdAndPart("nsys.read_in_part", "why", "table CUPTI_ACTIVITY_KIND_KERNEL, after row")));
}

TEST(NsysDamage, AFileTruncatedBeforeAnyEventIsRejected)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::filesystem::resize_file(file.path(), 3000);
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Malformed);
    EXPECT_THAT(error.where, HasSubstr(file.path().string()));
    EXPECT_THAT(error.hint, HasSubstr("nsys export"));
}

TEST(NsysDamage, OverwrittenPagesAreReportedWithTableAndRow)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::string bytes = file.bytes();
    bytes.replace(bytes.size() / 2, 8192, std::string(8192, '\xff'));
    file.write(bytes);
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_GT((*trace)->sliceCount(), 1000U);
    EXPECT_THAT((*trace)->captureStats().notes,
                Contains(hasIdAndPart("nsys.read_in_part", "why", "table CUPTI_ACTIVITY_KIND_KERNEL, after row")));
}

TEST(NsysDamage, AWriteAheadLogIsDetected)
{
    const TemporaryFile file;
    NsysFile sqlite(file.path());
    sqlite.run("PRAGMA journal_mode=WAL");
    sqlite.makeTables();
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Unavailable);
    EXPECT_THAT(error.what, hasId("nsys.wal"));
    EXPECT_THAT(error.hint, HasSubstr("wal_checkpoint"));
}

TEST(NsysDamage, AFileThatIsBeingWrittenIsNotRead)
{
    const TemporaryFile file;
    writeKernels(file.path(), 10);
    // Locks belong to a process, so the writer must be another process.
    int locked[2], done[2];
    ASSERT_EQ(::pipe(locked), 0);
    ASSERT_EQ(::pipe(done), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        char byte = 0;
        NsysFile writer(file.path());
        writer.run("BEGIN EXCLUSIVE");
        (void)!::write(locked[1], &byte, 1);
        (void)!::read(done[0], &byte, 1);
        ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(locked[0], &byte, 1), 1);
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Unavailable);
    EXPECT_THAT(error.what, hasId("nsys.being_written"));
    ASSERT_EQ(::write(done[1], &byte, 1), 1);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(formats::openTrace(file.path()));
    for (const int fd : {locked[0], locked[1], done[0], done[1]})
        ::close(fd);
}

TEST(NsysDamage, AnInterruptedExportIsRejected)
{
    const TemporaryFile file;
    writeKernels(file.path(), 10);
    std::ofstream(file.path().string() + "-journal") << "left behind";
    EXPECT_THAT(errorOf(file.path()).what, hasId("nsys.journal"));
}

TEST(NsysDamage, ReadingCreatesNoOtherFiles)
{
    const TemporaryFile file;
    writeKernels(file.path(), 10);
    std::filesystem::permissions(file.path(), std::filesystem::perms::owner_read);
    const std::string before = file.bytes();
    EXPECT_TRUE(formats::openTrace(file.path()));
    EXPECT_EQ(file.bytes(), before);
    const auto folder = std::filesystem::directory_iterator(file.path().parent_path());
    EXPECT_EQ(std::distance(begin(folder), end(folder)), 1);
}

TEST(NsysDamage, APathMayContainCharactersThatAUriMayNot)
{
    const TemporaryFile file("100%25 done?#1.sqlite");
    writeKernels(file.path(), 10);
    EXPECT_TRUE(formats::openTrace(file.path()));
}

TEST(NsysDamage, RowsWithInvalidValuesAffectOnlyThemselves)
{
    const TemporaryFile file;
    {
        NsysFile sqlite(file.path());
        sqlite.run(
            "CREATE TABLE META_DATA_EXPORT (name, value); CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value);"
            "INSERT INTO StringIds VALUES (1, 'kernel'), (2, x'ff00fe');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,"
            " globalPid, demangledName);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 1, 0, 1),"
            "(NULL, 20, 0, 1, 7, 1, 0, 1), ('soon', 'later', 0, 1, 7, 1, 0, 1), (1.5, 2.5, 0, 1, 7, 1, 0, 1),"
            "(50, 40, 0, 1, 7, 1, 0, 1),"
            "(9223372036854775807, -9223372036854775808, 0, 1, 7, 1, 0, 1),"
            "(-9223372036854775808, 9223372036854775807, -1, 'x', -9, 'y', 'z', 2),"
            "(60, 70, 99999999999, 1, 99999999999, -5, -1, 12345)");
    }
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ((*trace)->sliceCount(), 2U);
    EXPECT_EQ((*trace)->captureStats().dropped, 6U);
    EXPECT_EQ(toNs((*trace)->range().end), 50);
    const auto lost = [](const std::string& id, int count, int row) {
        return hasId("nsys.loss." + id, {{"count", count}, {"table", "CUPTI_ACTIVITY_KIND_KERNEL"}, {"row", row}});
    };
    EXPECT_THAT((*trace)->captureStats().notes, testing::ElementsAre(lost("no_time", 3, 2), lost("far_time", 2, 6),
                                                                     lost("no_place", 1, 8), lost("backwards", 1, 5)));
}

TEST(NsysDamage, ARowWithACorruptTimeDoesNotDistortFigures)
{
    for (const char* const change :
         {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 9223372036854775807 WHERE rowid = 10",
          "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 3000000000000000 WHERE rowid = 10", // 35 days
          "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 9223372036854775800, end = start + 7 WHERE rowid = 10",
          "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775807 WHERE rowid = 10"}) {
        const TemporaryFile file;
        writeKernels(file.path(), 1000);
        NsysFile(file.path()).run(change);
        const auto trace = formats::openTrace(file.path());
        ASSERT_TRUE(trace) << trace.error().message();
        EXPECT_EQ((*trace)->sliceCount(), 999U) << change;
        EXPECT_EQ((*trace)->range(), (TimeRange{traceTime(10), traceTime(10'005)})) << change;
        EXPECT_THAT((*trace)->captureStats().notes,
                    Contains(hasId("nsys.loss.far_time", {{"table", "CUPTI_ACTIVITY_KIND_KERNEL"}, {"row", 10}})));
        EXPECT_EQ((*trace)->captureStats().dropped, 1U);
    }
}

TEST(NsysDamage, WallClockTimesAreValid)
{
    const TemporaryFile file;
    writeKernels(file.path(), 1000);
    NsysFile(file.path())
        .run("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 1790000000000000000, "
             "end = end + 1790000000000000000; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 5, end = 7 "
             "WHERE rowid = 20");
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ((*trace)->sliceCount(), 999U);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("nsys.loss.far_time", {{"row", 20}})));
}

TEST(NsysDamage, InvalidValuesAreNoted)
{
    const TemporaryFile file;
    writeTwoProcesses(file.path());
    NsysFile(file.path())
        .run("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -1000000 WHERE rowid IN (2, 3);"
             "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -5, end = -2 WHERE rowid = 2;"
             "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 99999, shortName = 99999 WHERE rowid = 1;"
             "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 88888 WHERE rowid = 4;"
             "UPDATE NVTX_EVENTS SET textId = -3 WHERE rowid = 2;"
             "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET deviceId = 99999999999 WHERE rowid = 1");
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    const auto& notes = (*trace)->captureStats().notes;
    const auto lost = [](const std::string& id, int count, const std::string& table, int row) {
        return Contains(
            hasId("nsys.loss." + id, {{"count", count}, {"table", "CUPTI_ACTIVITY_KIND_" + table}, {"row", row}}));
    };
    EXPECT_THAT(notes, lost("negative_bytes", 2, "MEMCPY", 2));
    EXPECT_THAT(notes, lost("negative_time", 1, "KERNEL", 2));
    EXPECT_THAT(notes, lost("no_name", 3, "KERNEL", 1));
    EXPECT_THAT(notes, lost("no_place", 1, "MEMSET", 1));
    for (const Slice& slice : (*trace)->ofKind(ActivityKind::GpuMemcpy))
        EXPECT_GE(slice.args.bytes, 0);
}

} // namespace
} // namespace formats_sqlite_test
