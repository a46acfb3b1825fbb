#include "profiler/io/formats/format.h"
#include "tests/formats_sqlite/nsys_file.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

// Files that are no whole Nsight Systems export.
namespace formats_sqlite_test {
namespace {

using namespace profiler;
using testing::Contains;
using testing::HasSubstr;

Error errorOf(const std::filesystem::path& path)
{
    const auto trace = formats::openTrace(path);
    EXPECT_FALSE(trace) << (*trace)->sliceCount() << " slices were read";
    return trace ? Error{} : trace.error();
}

/// Kernels enough for many pages.
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

TEST(NsysDamage, AnotherProgramsDatabaseIsRefused)
{
    const TemporaryFile file;
    NsysFile(file.path()).run("CREATE TABLE bookmarks (id INTEGER, url TEXT); INSERT INTO bookmarks VALUES (1, 'x')");
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Unsupported);
    EXPECT_THAT(error.message(), HasSubstr("no Nsight Systems export"));
    EXPECT_THAT(error.message(), HasSubstr("nsys export --type sqlite"));
}

TEST(NsysDamage, AnEmptyDatabaseIsRefused)
{
    const TemporaryFile file;
    NsysFile(file.path()).run("CREATE TABLE t (x); DROP TABLE t");
    EXPECT_THAT(errorOf(file.path()).message(), HasSubstr("no Nsight Systems export"));
}

TEST(NsysDamage, AViewInPlaceOfATableIsNotRun)
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

TEST(NsysDamage, ACutFileShowsWhatIsLeft)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_GT((*trace)->sliceCount(), 1000U);
    EXPECT_LT((*trace)->sliceCount(), 20000U);
    EXPECT_TRUE((*trace)->captureStats().cut);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL, after row")));
}

TEST(NsysDamage, AFileCutBeforeAnyEventIsRefused)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::filesystem::resize_file(file.path(), 3000);
    const Error error = errorOf(file.path());
    EXPECT_THAT(error.message(), HasSubstr(file.path().string()));
    EXPECT_THAT(error.message(), HasSubstr("nsys export"));
}

TEST(NsysDamage, OverwrittenPagesAreToldWithTableAndRow)
{
    const TemporaryFile file;
    writeKernels(file.path(), 20000);
    std::string bytes = file.bytes();
    bytes.replace(bytes.size() / 2, 8192, std::string(8192, '\xff'));
    file.write(bytes);
    const auto trace = formats::openTrace(file.path());
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_GT((*trace)->sliceCount(), 1000U);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL, after row")));
}

TEST(NsysDamage, AWriteAheadLogIsNotMissed)
{
    const TemporaryFile file;
    NsysFile sqlite(file.path());
    sqlite.run("PRAGMA journal_mode=WAL");
    sqlite.makeTables();
    const Error error = errorOf(file.path());
    EXPECT_EQ(error.code, Error::Code::Unavailable);
    EXPECT_THAT(error.message(), HasSubstr("write-ahead log"));
    EXPECT_THAT(error.message(), HasSubstr("wal_checkpoint"));
}

TEST(NsysDamage, AFileThatIsBeingWrittenIsNotRead)
{
    const TemporaryFile file;
    writeKernels(file.path(), 10);
    // A lock is a process's: the writer must be another one.
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
    EXPECT_THAT(error.message(), HasSubstr("another program is writing"));
    ASSERT_EQ(::write(done[1], &byte, 1), 1);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(formats::openTrace(file.path()));
    for (const int fd : {locked[0], locked[1], done[0], done[1]})
        ::close(fd);
}

TEST(NsysDamage, AnInterruptedExportIsRefused)
{
    const TemporaryFile file;
    writeKernels(file.path(), 10);
    std::ofstream(file.path().string() + "-journal") << "left behind";
    EXPECT_THAT(errorOf(file.path()).message(), HasSubstr("interrupted"));
}

TEST(NsysDamage, ReadingLeavesNothingBesideTheFile)
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

TEST(NsysDamage, APathMayHoldWhatAUriMayNot)
{
    const TemporaryFile file("100%25 done?#1.sqlite");
    writeKernels(file.path(), 10);
    EXPECT_TRUE(formats::openTrace(file.path()));
}

TEST(NsysDamage, RowsWithImpossibleValuesCostOnlyThemselves)
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
    EXPECT_EQ((*trace)->sliceCount(), 5U);
    EXPECT_EQ((*trace)->captureStats().dropped, 3U);
    EXPECT_THAT((*trace)->captureStats().notes,
                Contains("3 rows have no time and are left out (the first in CUPTI_ACTIVITY_KIND_KERNEL, row 2)."));
    EXPECT_THAT((*trace)->captureStats().notes,
                Contains("2 rows end before they begin: they are shown as empty (the first in "
                         "CUPTI_ACTIVITY_KIND_KERNEL, row 5)."));
}

} // namespace
} // namespace formats_sqlite_test
