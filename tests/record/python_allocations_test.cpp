#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>

// The memory that each line of a Python program allocates for tensors.
namespace record_test {
namespace {

using Json = nlohmann::json;

constexpr int kRounds = 12; ///< of allocations.py

struct Recorded {
    Json lines, printed;

    explicit Recorded(const std::string& options)
    {
        const Folder folder;
        const Ended ended = record(folder, python("allocations.py"), options);
        EXPECT_EQ(ended.status, 0) << ended.err;
        EXPECT_EQ(ended.err.find("Exception"), std::string::npos) << ended.err;
        printed = Json::parse(ended.out, nullptr, false);
        const Ended read =
            shell(folder, std::string(STEPSCOPE_CLI) + " lines --json '" + (folder / "t.sstrace").string() + "'");
        EXPECT_EQ(read.status, 0) << read.err;
        lines = Json::parse(read.out, nullptr, false);
    }

    /// The sum over the functions of the line that contains the text; zeros if it has none.
    [[nodiscard]] std::pair<double, std::int64_t> allocated(std::string_view text) const
    {
        std::ifstream script(std::string(SCRIPTS) + "/allocations.py");
        std::string line;
        int number = 1;
        while (std::getline(script, line) && line.find(text) == std::string::npos)
            ++number;
        std::pair<double, std::int64_t> sum{};
        for (const Json& each : lines["lines"])
            if (each["line"] == number) {
                sum.first += each["allocations"]["bytes"].get<double>();
                sum.second += each["allocations"]["count"].get<std::int64_t>();
            }
        return sum;
    }
};

} // namespace

TEST(RecordAllocations, AreExactAtLevelFull)
{
    const Recorded recorded("--level full");
    ASSERT_EQ(recorded.lines["allocations"], "exact");
    EXPECT_EQ(recorded.allocated("three megabytes"), std::pair(kRounds * 3e6, std::int64_t{kRounds * 3}));
    EXPECT_EQ(recorded.allocated("outside of any operator"), std::pair(kRounds * 2.5e6, std::int64_t{kRounds}));
    EXPECT_EQ(recorded.allocated("five megabytes"), std::pair(kRounds * 5e6, std::int64_t{kRounds}));
    EXPECT_EQ(recorded.allocated("half a megabyte"), std::pair(kRounds * 5e5, std::int64_t{kRounds}));
    const auto [backward, blocks] = recorded.allocated("(weights * batch).sum().backward()");
    EXPECT_GE(backward, kRounds * 2 * 4000.0) << "the product and the gradient";
    EXPECT_LT(backward, kRounds * 100e3);
    EXPECT_GE(blocks, kRounds * 3);
    // The program's own profiler sees what it would see without Stepscope.
    EXPECT_GE(recorded.printed["counted"], 8.5e6);
}

TEST(RecordAllocations, AreSampledWithOperators)
{
    const Recorded recorded("--ops");
    ASSERT_EQ(recorded.lines["allocations"], "sampled");
    double all = 0;
    for (const Json& line : recorded.lines["lines"])
        all += line["allocations"]["bytes"].get<double>();
    EXPECT_GT(all, 0.7 * kRounds * 11e6);
    EXPECT_LT(all, 1.1 * kRounds * 11e6);
    // The samples during its work follow its allocation; so do those of the short lines before it.
    EXPECT_GE(recorded.allocated("five megabytes").first, 0.75 * kRounds * 5e6);
    EXPECT_LE(recorded.allocated("half a megabyte").first, 0.25 * kRounds * 5e6);
    EXPECT_GE(recorded.allocated("half a megabyte").first, 0.75 * kRounds * 5e5);
    EXPECT_GE(recorded.printed["counted"], 8.5e6);
}

TEST(RecordAllocations, AreNotRecordedOtherwise)
{
    const Recorded recorded("");
    EXPECT_EQ(recorded.lines["allocations"], nullptr);
    ASSERT_FALSE(recorded.lines["lines"].empty());
    EXPECT_EQ(recorded.lines["lines"][0]["allocations"], nullptr);
}

} // namespace record_test
