#include "tests/job/job_fixture.h"

#include <fstream>

using namespace job_test;
using profiler::job::findJobFiles;
using test_support::JobTraceOptions;
using test_support::writeJobTraces;

namespace {

class JobFiles : public testing::Test {
protected:
    void write(const fs::path& name, std::string_view text) const
    {
        fs::create_directories((m_folder.path() / name).parent_path());
        std::ofstream(m_folder.path() / name) << text;
    }
    [[nodiscard]] fs::path path(std::string_view name = {}) const { return m_folder.path() / name; }
    /// The names of the files that belong to the job.
    [[nodiscard]] std::vector<std::string> found(const std::vector<fs::path>& inputs) const
    {
        const auto files = findJobFiles(inputs);
        std::vector<std::string> names;
        if (files)
            for (const fs::path& file : files->files)
                names.push_back(fs::relative(file, m_folder.path()).string());
        return names;
    }

    static constexpr std::string_view kTrace = R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1}]})";
    test_support::TemporaryFolder m_folder;
};

} // namespace

TEST_F(JobFiles, ArePutInTheOrderOfTheirNumbers)
{
    for (const int rank : {10, 2, 0, 1})
        write("rank" + std::to_string(rank) + ".json", kTrace);
    EXPECT_EQ(found({path()}), (std::vector<std::string>{"rank0.json", "rank1.json", "rank2.json", "rank10.json"}));
}

TEST_F(JobFiles, OfAFolderLeaveOutWhatIsNoTrace)
{
    write("rank0.json", kTrace);
    write("config.json", R"({"lr": 0.1})");
    write("README.md", "a text");
    write(".hidden.json", kTrace);
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_TRUE(files);
    EXPECT_EQ(files->files.size(), 1U);
    EXPECT_EQ(files->others, 1U);
}

TEST_F(JobFiles, OnlyTraceOfAFolderIsOpenedAsThatTrace)
{
    using profiler::job::onlyTraceIn;
    write("log/run.json", kTrace);
    write("log/config.json", R"({"lr": 0.1})");
    EXPECT_EQ(onlyTraceIn(std::vector{path()}), path("log/run.json"));
    EXPECT_EQ(onlyTraceIn(std::vector{path("log/*.json")}), path("log/run.json"));
    EXPECT_EQ(onlyTraceIn(std::vector{path("log/run.json")}), std::nullopt) << "a file needs no search";
    write("log/job.json", "{}");
    EXPECT_EQ(onlyTraceIn(std::vector{path()}), std::nullopt) << "a rank of a recorded job";
    fs::remove(path("log/job.json"));
    write("log/run2.json", kTrace);
    EXPECT_EQ(onlyTraceIn(std::vector{path()}), std::nullopt);
    EXPECT_EQ(onlyTraceIn(std::vector{path("nowhere")}), std::nullopt);
}

TEST_F(JobFiles, AreFoundInFoldersInside)
{
    write("node0/rank0.json", kTrace);
    write("node1/rank1.json", kTrace);
    EXPECT_EQ(found({path()}), (std::vector<std::string>{"node0/rank0.json", "node1/rank1.json"}));
}

TEST_F(JobFiles, OfOneProcessAreNoRanks)
{
    for (const char* name :
         {"vm_58.1795911217557605601.pt.trace.json", "vm_58.1795911217569186744.pt.trace.json",
          "vm_59.1795911217557605601.pt.trace.json", "vm_60.7.pt.trace.json", "vm_60.8.pt.trace.json"})
        write(name, kTrace);
    EXPECT_EQ(found({path()}), (std::vector<std::string>{"vm_58.1795911217569186744.pt.trace.json",
                                                         "vm_59.1795911217557605601.pt.trace.json",
                                                         "vm_60.7.pt.trace.json", "vm_60.8.pt.trace.json"}));
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_TRUE(files);
    ASSERT_EQ(files->notes.size(), 1U);
    EXPECT_EQ(files->notes[0].id, "job.earlier_cycle");
}

TEST_F(JobFiles, MatchAPattern)
{
    write("rank0.json", kTrace);
    write("rank1.json", kTrace);
    write("other.json", kTrace);
    EXPECT_EQ(found({path("rank*.json")}), (std::vector<std::string>{"rank0.json", "rank1.json"}));
}

TEST_F(JobFiles, WithAnyCharactersInTheirNamesAreFound)
{
    const std::string name = "rank0 [a*b]\n\xff\xfe'\".json";
    write(name, kTrace);
    EXPECT_EQ(found({path()}), std::vector{name});
    EXPECT_EQ(found({path(name)}), std::vector{name});
}

TEST_F(JobFiles, EndWithoutALoopIfALinkLeadsBack)
{
    write("rank0.json", kTrace);
    fs::create_directory_symlink(path(), path("again"));
    fs::create_symlink(path("self.json"), path("self.json"));
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_TRUE(files);
    EXPECT_EQ(files->files.front().filename(), "rank0.json");
    EXPECT_LE(files->files.size(), 2U); // the link to itself is reported when it is opened
}

TEST_F(JobFiles, CountOnceIfALinkNamesThemAgain)
{
    write("rank0.json", kTrace);
    fs::create_symlink(path("rank0.json"), path("rank1.json"));
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_TRUE(files);
    EXPECT_EQ(files->files.size(), 1U);
    EXPECT_TRUE(hasNote(files->notes, "job.same_file"));
}

TEST_F(JobFiles, OfSeveralFormatsAreRefused)
{
    write("rank0.json", kTrace);
    write("rank1.sqlite", std::string("SQLite format 3\0", 16) + std::string(4096, '\0'));
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().what.id, "job.mixed_formats");
}

TEST_F(JobFiles, AreMissedInAnEmptyFolderAndUnderAWrongName)
{
    const auto empty = findJobFiles(std::vector{path()});
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().what.id, "job.no_traces");
    const auto none = findJobFiles(std::vector{path("nowhere")});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what.id, "job.no_input");
}

TEST_F(JobFiles, AreManyWithoutTakingLong)
{
    for (int i = 0; i < 10'000; ++i)
        write("rank" + std::to_string(i) + ".json", kTrace);
    const auto files = findJobFiles(std::vector{path()});
    ASSERT_TRUE(files);
    EXPECT_EQ(files->files.size(), 10'000U);
    EXPECT_EQ(files->files[9'999].filename(), "rank9999.json");
}
