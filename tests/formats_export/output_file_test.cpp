#include "profiler/formats/format.h"
#include "tests/formats_export/exported.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace formats_export_test {
namespace {

using namespace profiler;
using profiler::test::hasId;
using test_support::traceFromText;

constexpr std::string_view kMany = "main\n repeat 20000 every 10\n op aten::mm 0 5\n end";

/// Exits with 0 if saving fails and leaves no file behind.
void saveWithLittleRoom(const Folder& folder)
{
    struct rlimit limit = {};
    limit.rlim_cur = limit.rlim_max = 4096;
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto saved = formats::saveTrace(*traceFromText(kMany), folder / "a.csv");
    std::_Exit(saved || folder.files() != 0 ? 1 : 0);
}

TEST(Saving, AStopRequestKeepsTheExistingFile)
{
    const Folder folder;
    const auto trace = traceFromText(kMany);
    for (const char* name : {"a.pftrace", "a.csv"}) {
        ASSERT_TRUE(formats::saveTrace(*traceFromText("main\n op a 0 1"), folder / name));
        const std::string before = bytesOf(folder / name);
        std::stop_source source;
        formats::WriteOptions options;
        options.stop = source.get_token();
        options.progress = [&](double) { source.request_stop(); };
        const auto saved = formats::saveTrace(*trace, folder / name, options);
        ASSERT_FALSE(saved);
        EXPECT_EQ(saved.error().code, Error::Code::Cancelled);
        EXPECT_EQ(bytesOf(folder / name), before);
    }
    EXPECT_EQ(folder.files(), 2U);
}

TEST(Saving, ProgressGrowsToOne)
{
    const Folder folder;
    std::vector<double> shares;
    formats::WriteOptions options;
    options.progress = [&](double share) { shares.push_back(share); };
    ASSERT_TRUE(formats::saveTrace(*traceFromText(kMany), folder / "a.csv", options));
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    ASSERT_FALSE(shares.empty());
    EXPECT_EQ(shares.back(), 1);
}

TEST(Saving, AMissingFolderIsAnError)
{
    const Folder folder;
    const auto saved = formats::saveTrace(*traceFromText("main\n op a 0 1"), folder / "none/a.csv");
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().where, testing::EndsWith("none/a.csv"));
}

TEST(Saving, AnUnreadableTraceIsNotCopiedInPart)
{
    const Folder folder;
    ASSERT_TRUE(formats::saveTrace(*traceFromText("main\n repeat 200000 every 10\n op aten::mm 0 5\n end"),
                                   folder / "a.sspack"));
    formats::ReadOptions options;
    options.memoryBudget = 1 << 20; // its blocks stay in the file
    const auto trace = formats::openTrace(folder / "a.sspack", options);
    ASSERT_TRUE(trace) << trace.error().message();
    std::filesystem::resize_file(folder / "a.sspack", 100);
    for (const char* name : {"b.pftrace", "b.csv", "b.json", "b.sspack"}) {
        const auto saved = formats::saveTrace(**trace, folder / name);
        ASSERT_FALSE(saved) << name;
        EXPECT_EQ(saved.error().code, Error::Code::Io);
        EXPECT_THAT(saved.error().what, testing::AnyOf(hasId("save.unread"), hasId("save.unread_part")));
    }
    EXPECT_EQ(folder.files(), 1U);
}

TEST(Saving, AFullDiskLeavesNoFile)
{
    // A file size limit simulates a disk that becomes full.
    const Folder folder;
    EXPECT_EXIT(saveWithLittleRoom(folder), testing::ExitedWithCode(0), "");
}

TEST(Saving, GzHasTheSameContent)
{
    EXPECT_EQ(inflated(exported(kTraining, "a.csv.gz")), exported(kTraining, "a.csv"));
}

TEST(Saving, AnUnknownExtensionListsTheKnownOnes)
{
    const Folder folder;
    const auto saved = formats::saveTrace(*traceFromText("main\n op a 0 1"), folder / "a.xyz");
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().what, hasId("save.unknown_format"));
    EXPECT_THAT(saved.error().hint, testing::HasSubstr(".pftrace"));
}

} // namespace
} // namespace formats_export_test
