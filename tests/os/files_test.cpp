#include "profiler/os/files.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/memory.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace profiler::os {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Files : public testing::Test {
protected:
    ~Files() override { fs::remove_all(folder); }
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(folder))
            found.push_back(entry.path().filename().string());
        return found;
    }
    static std::string contents(const fs::path& path)
    {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void put(const fs::path& path, const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }

    fs::path folder = createTemporaryFolder(fs::temp_directory_path() / "stepscope-os-").value();
};

TEST_F(Files, AreReadByPosition)
{
    put(folder / "a", "0123456789");
    const Descriptor file = openToRead(folder / "a");
    std::array<char, 4> into{};
    EXPECT_EQ(readAt(file.get(), 3, std::as_writable_bytes(std::span(into))).bytes, 4U);
    EXPECT_EQ(std::string(into.data(), 4), "3456");
    const Transfer atEnd = readAt(file.get(), 8, std::as_writable_bytes(std::span(into)));
    EXPECT_EQ(atEnd.bytes, 2U);
    EXPECT_EQ(atEnd.error, 0);
    EXPECT_EQ(readAt(-1, 0, std::as_writable_bytes(std::span(into))).error, EBADF);
}

TEST_F(Files, AMissingFileIsAnError)
{
    errno = 0;
    EXPECT_FALSE(openToRead(folder / "a"));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(readFile(folder / "a"), std::nullopt);
}

TEST_F(Files, OpeningAFifoToReadDoesNotWait)
{
    ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
    const Descriptor file = openToRead(folder / "fifo");
    ASSERT_TRUE(file);
    EXPECT_EQ(stateOf(file.get())->kind, FileState::Kind::Other);
}

TEST_F(Files, BothPartsAreWritten)
{
    Descriptor file = openToReplace(folder / "a");
    const std::string first = "head ", second(100'000, 'x');
    const Transfer written = writeAll(file.get(), std::as_bytes(std::span(first)), std::as_bytes(std::span(second)));
    EXPECT_EQ(written.bytes, first.size() + second.size());
    EXPECT_EQ(written.error, 0);
    EXPECT_EQ(file.close(), 0);
    EXPECT_EQ(contents(folder / "a"), first + second);
}

TEST_F(Files, AFullDiskIsAnError)
{
    const Descriptor full = openToReplace("/dev/full");
    EXPECT_EQ(writeAll(full.get(), "text").error, ENOSPC);
}

TEST_F(Files, ALogIsContinued)
{
    for (const char* line : {"one ", "two"})
        EXPECT_EQ(writeAll(openToAppend(folder / "log").get(), line).error, 0);
    EXPECT_EQ(contents(folder / "log"), "one two");
}

TEST_F(Files, KernelFilesWithoutSizeAreReadCompletely)
{
    const auto status = readFile("/proc/self/status");
    ASSERT_TRUE(status);
    EXPECT_NE(status->find("Threads:"), std::string::npos);
    EXPECT_EQ(readFile("/proc/self/status", 5), status->substr(0, 5));
}

TEST_F(Files, AnUnnamedFileLeavesNoName)
{
    const Descriptor file = openUnnamed(folder);
    ASSERT_TRUE(file);
    EXPECT_EQ(writeAllAt(file.get(), 100, std::as_bytes(std::span("x", 1))).error, 0);
    EXPECT_EQ(stateOf(file.get())->bytes, 101U);
    EXPECT_EQ(stateOf(file.get())->names, 0U);
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_FALSE(openUnnamed(folder / "missing"));
}

TEST_F(Files, TemporaryFilesHaveNewNames)
{
    const auto first = createTemporaryFile(folder / "model-", ".pt2"),
               second = createTemporaryFile(folder / "model-", ".pt2");
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->path, second->path);
    EXPECT_EQ(first->path.extension(), ".pt2");
    EXPECT_TRUE(fs::exists(first->path));
}

TEST_F(Files, ARenameToAnExistingNameFails)
{
    put(folder / "a", "a");
    put(folder / "b", "b");
    EXPECT_EQ(renameToNew(folder / "a", folder / "b"), EEXIST);
    EXPECT_EQ(contents(folder / "b"), "b");
    EXPECT_EQ(renameToNew(folder / "a", folder / "c"), 0);
    EXPECT_THAT(names(), UnorderedElementsAre("b", "c"));
}

TEST_F(Files, PermissionsAreChecked)
{
    put(folder / "a", "a");
    EXPECT_TRUE(canRead(folder / "a"));
    EXPECT_FALSE(canExecute(folder / "a"));
    EXPECT_TRUE(canExecute(folder));
    EXPECT_FALSE(canRead(folder / "missing"));
    EXPECT_TRUE(canWrite(folder));
    EXPECT_FALSE(canWrite(folder / "missing"));
}

TEST_F(Files, AReplacementAppearsOnlyWhenItIsComplete)
{
    put(folder / "a", "old");
    {
        auto abandoned = ReplacementFile::create(folder / "a");
        ASSERT_TRUE(abandoned);
        EXPECT_EQ(abandoned->write("new"), 0);
        EXPECT_EQ(names().size(), 2U);
    }
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_EQ(contents(folder / "a"), "old");

    auto file = ReplacementFile::create(folder / "a");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->write("....new"), 0);
    EXPECT_EQ(file->writeAt(0, std::as_bytes(std::span("the ", 4))), 0);
    ReplacementFile moved = std::move(*file);
    EXPECT_EQ(contents(folder / "a"), "old");
    EXPECT_EQ(moved.commit(), 0);
    EXPECT_EQ(contents(folder / "a"), "the new");
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(Files, AReplacementThatCannotBeNamedIsDeleted)
{
    fs::create_directory(folder / "a");
    put(folder / "a" / "inside", "kept");
    {
        auto file = ReplacementFile::create(folder / "a");
        ASSERT_TRUE(file);
        EXPECT_NE(file->commit(), 0);
    }
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_FALSE(ReplacementFile::create(folder / "missing" / "a"));
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(Files, AReplacementHasThePermissionsOfANewFile)
{
    const mode_t mask = ::umask(027);
    auto file = ReplacementFile::create(folder / "a");
    ::umask(mask);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->commit(), 0);
    EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms(0640));
}

TEST_F(Files, AnOwnFileIsReopenedAndNeverClosesAnotherFile)
{
    OwnFile file;
    ASSERT_TRUE(file.create(folder / "a", OwnFile::Use::Append));
    const int number = file.number(folder / "a");
    ASSERT_EQ(::close(number), 0); // a program that closes all its descriptors, and uses the number for its own file
    const Descriptor other = openToReplace(folder / "b");
    ASSERT_EQ(other.get(), number);
    const int reopened = file.number(folder / "a");
    EXPECT_NE(reopened, number);
    EXPECT_EQ(writeAll(reopened, "ours").error, 0);
    file.close();
    EXPECT_EQ(contents(folder / "a"), "ours");
    EXPECT_EQ(writeAll(other.get(), "theirs").error, 0);
    EXPECT_FALSE(OwnFile().create(folder / "a", OwnFile::Use::Map)) << "it exists";
}

TEST_F(Files, AnOwnFileNoticesThatItWasDeleted)
{
    OwnFile file;
    ASSERT_TRUE(file.create(folder / "a", OwnFile::Use::Append));
    fs::remove(folder / "a");
    EXPECT_GE(file.number(folder / "a"), 0);
    EXPECT_TRUE(file.isDeleted());
}

TEST_F(Files, APartLockedForWritingIsSeen)
{
    put(folder / "a", std::string(100, 'x'));
    const Descriptor writer(::open((folder / "a").c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 50;
    lock.l_len = 10;
    ASSERT_EQ(::fcntl(writer.get(), F_OFD_SETLK, &lock), 0);
    const Descriptor reader = openToRead(folder / "a");
    EXPECT_TRUE(isLockedForWriting(reader.get(), 55, 1));
    EXPECT_FALSE(isLockedForWriting(reader.get(), 0, 50));
}

TEST_F(Files, AMappingIsWrittenToTheFile)
{
    const auto file = createTemporaryFile(folder / "map-", "");
    ASSERT_TRUE(file);
    EXPECT_EQ(resize(file->file.get(), 8192), 0);
    EXPECT_EQ(reserve(file->file.get(), 0, 8192), 0);
    {
        const auto mapping = SharedMapping::map(file->file.get(), 8192);
        ASSERT_TRUE(mapping);
        mapping->data()[8191] = std::byte{'z'};
    }
    EXPECT_EQ(contents(file->path).back(), 'z');
    EXPECT_FALSE(SharedMapping::map(-1, 8192));
}

TEST(SharedMapping, WithoutAFileChildrenShareIt)
{
    const auto mapping = SharedMapping::anonymous(8192);
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->data()[8191], std::byte{0});
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        mapping->data()[8191] = std::byte{7};
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(mapping->data()[8191], std::byte{7});
}

} // namespace
} // namespace profiler::os
