#include "profiler/formats/container/trace_file.h"

#include "profiler/formats/container/frame.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/message_matchers.h"
#include "tests/support/temporary_folder.h"

#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::container;
using profiler::test::hasId;

namespace {

/// The descriptor under which this process has a file open; −1 if it is not open.
int fileNumber(const std::filesystem::path& path)
{
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry.path(), gone) == path)
            return std::stoi(entry.path().filename().string());
    }
    return -1;
}

} // namespace

TEST(FrameWriter, WritesFramesThatCanBeReadWhileTheFileIsOpen)
{
    const test_support::TemporaryFolder folder;
    auto writer = FrameWriter::create(folder / "a.sstrace", 77);
    ASSERT_TRUE(writer) << writer.error().message();
    Payload strings;
    appendString(strings, 5, "forward");
    ASSERT_TRUE((*writer)->write(FrameType::Strings, strings));
    ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_EQ(trace.runId, 77U);
    EXPECT_TRUE(trace.whole);
    EXPECT_FALSE(trace.ended);
    EXPECT_EQ(trace.strings.at(5), "forward");
    ASSERT_TRUE((*writer)->write(FrameType::End, {}));
    trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.ended);
    EXPECT_TRUE(trace.problems.empty());
    EXPECT_EQ((*writer)->bytesWritten(), std::filesystem::file_size(folder / "a.sstrace"));
}

TEST(FrameWriter, ReplacesAnOlderFileAndLeavesNoOtherFiles)
{
    const test_support::TemporaryFolder folder;
    std::ofstream(folder / "a.sstrace") << "old";
    ASSERT_TRUE(FrameWriter::create(folder / "a.sstrace", 1));
    EXPECT_EQ(parseTrace(folder / "a.sstrace").runId, 1U);
    EXPECT_EQ(folder.files(), 1U);
}

TEST(FrameWriter, NamesAMissingFolder)
{
    const test_support::TemporaryFolder folder;
    const auto writer = FrameWriter::create(folder / "none/a.sstrace", 1);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, Error::Code::NotFound);
    EXPECT_EQ(writer.error().where, (folder / "none/a.sstrace").string());
    EXPECT_FALSE(writer.error().hint.empty());
}

TEST(FrameWriter, RefusesAFolderInsteadOfAFile)
{
    const test_support::TemporaryFolder folder;
    const auto writer = FrameWriter::create(folder.path(), 1);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, Error::Code::Invalid);
    EXPECT_EQ(folder.files(), 0U);
}

TEST(FrameWriter, RefusesAFrameThatReadersWouldReject)
{
    const test_support::TemporaryFolder folder;
    auto writer = FrameWriter::create(folder / "a.sstrace", 1);
    ASSERT_TRUE(writer);
    EXPECT_FALSE((*writer)->write(FrameType::Events, Payload(kMaxPayloadBytes + 1)));
    EXPECT_TRUE((*writer)->write(FrameType::End, {}));
    EXPECT_TRUE(parseTrace(folder / "a.sstrace").ended);
}

// The superuser may write anywhere, so a process of the user "nobody" tries it.
TEST(FrameWriter, KeepsAnExistingFileWithoutWritePermission)
{
    const test_support::TemporaryFolder folder;
    std::ofstream(folder / "a.sstrace") << "old";
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65'534) != 0)
            _exit(3);
        const auto writer = FrameWriter::create(folder / "a.sstrace", 1);
        _exit(writer ? 1 : writer.error().code == Error::Code::Permission ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(std::filesystem::file_size(folder / "a.sstrace"), 3U);
}

// A program that turns itself into a daemon closes all open files.
TEST(FrameWriter, AFileClosedByTheProgramIsReopenedAndOtherFilesAreNotTouched)
{
    const test_support::TemporaryFolder folder;
    {
        auto writer = FrameWriter::create(folder / "a.sstrace", 1);
        ASSERT_TRUE(writer);
        ASSERT_TRUE((*writer)->write(FrameType::Clock, {}));
        const int ours = fileNumber(folder / "a.sstrace");
        ASSERT_GE(ours, 0);
        close(ours);
        const int others = open((folder / "another").c_str(), O_CREAT | O_RDWR, 0600);
        ASSERT_EQ(others, ours) << "the program's file now has our descriptor";
        EXPECT_TRUE((*writer)->write(FrameType::End, {}));
        writer->reset();
        EXPECT_EQ(write(others, "text", 4), 4) << "it is not closed with the trace";
        close(others);
    }
    EXPECT_EQ(std::filesystem::file_size(folder / "another"), 4U);
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    EXPECT_TRUE(trace.whole);
    EXPECT_TRUE(trace.ended);
}

TEST(FrameWriter, AFileClosedAndReplacedByTheProgramIsNotWrittenTo)
{
    const test_support::TemporaryFolder folder;
    auto writer = FrameWriter::create(folder / "a.sstrace", 1);
    ASSERT_TRUE(writer);
    close(fileNumber(folder / "a.sstrace"));
    std::filesystem::rename(folder / "a.sstrace", folder / "moved");
    std::ofstream(folder / "a.sstrace") << "mine";
    EXPECT_FALSE((*writer)->write(FrameType::End, {}));
    EXPECT_EQ(std::filesystem::file_size(folder / "a.sstrace"), 4U);
}

TEST(FrameWriter, ADeletedFileIsAnError)
{
    const test_support::TemporaryFolder folder;
    auto writer = FrameWriter::create(folder / "a.sstrace", 1);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->write(FrameType::End, {}));
    std::filesystem::remove_all(folder.path());
    const auto written = (*writer)->write(FrameType::End, {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, profiler::Error::Code::NotFound);
    EXPECT_THAT(written.error().what, hasId("trace.deleted"));
}

} // namespace capture_test
