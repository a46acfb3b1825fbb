#include "profiler/formats/format.h"
#include "tests/formats/json_text.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <string>

// A copy in a sealed file contains everything that the original file contains.
namespace {

using namespace profiler;

/// Everything except the positions of the slices' texts in the file.
std::string withoutPlaces(const Trace& trace)
{
    return std::regex_replace(json_test::dump(trace), std::regex(" src \\d+"), "");
}

void expectSameDetails(const Trace& copy, const Trace& original)
{
    std::size_t entries = 0;
    for (const Track& track : original.tracks())
        for (const Slice& slice : original.sorted(track.id)) {
            const auto expected = original.details(slice.id);
            ASSERT_TRUE(expected) << expected.error().message();
            const auto details = copy.details(slice.id);
            ASSERT_TRUE(details) << details.error().message();
            EXPECT_EQ(*details, *expected);
            entries += details->size();
        }
    EXPECT_GT(entries, 0U);
}

TEST(PackedCopy, OfAJsonTraceLosesNothing)
{
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(STEPSCOPE_JSON_CORPUS)) {
        const auto original = formats::openTrace(entry.path());
        if (!original || (*original)->sliceCount() == 0)
            continue;
        const json_test::TextFile folder("", "copy.sspack");
        ASSERT_TRUE(formats::saveTrace(**original, folder.path()));
        const auto copy = formats::openTrace(folder.path());
        ASSERT_TRUE(copy) << copy.error().message();
        EXPECT_EQ(withoutPlaces(**copy), withoutPlaces(**original)) << entry.path();
        expectSameDetails(**copy, **original);
        ++files;
    }
    EXPECT_GE(files, 5U);
}

TEST(PackedCopy, OfASpilledTraceLosesNothing)
{
    std::string events;
    for (int i = 0; i < 20'000; ++i)
        events += std::string(i > 0 ? "," : "") + R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":)" +
                  std::to_string(i % 2) + R"(,"ts":)" + std::to_string(i * 10) + R"(,"dur":8.5,"args":{"Ev Idx":)" +
                  std::to_string(i) + "}}";
    const json_test::TextFile file(json_test::object(events));
    formats::ReadOptions options;
    options.memoryBudget = 64 << 10;
    const auto spilled = formats::openTrace(file.path(), options);
    const auto inMemory = formats::openTrace(file.path());
    ASSERT_TRUE(spilled && inMemory);
    ASSERT_LT((*spilled)->memoryBytes(), (*inMemory)->memoryBytes() / 2) << "most of it is on disk";
    const json_test::TextFile folder("", "copy.sspack");
    ASSERT_TRUE(formats::saveTrace(**spilled, folder.path()));
    const auto copy = formats::openTrace(folder.path());
    ASSERT_TRUE(copy) << copy.error().message();
    for (std::uint32_t i = 0; i < 10'000; i += 101) {
        const SliceId id{TrackId{1}, i};
        const auto expected = (*inMemory)->details(id).value();
        EXPECT_FALSE(expected.empty());
        EXPECT_EQ((*spilled)->details(id).value(), expected);
        EXPECT_EQ((*copy)->details(id).value(), expected);
    }
}

TEST(PackedCopy, OfSpilledCountersLosesNothing)
{
    std::string events;
    for (int i = 0; i < 40'000; ++i) // including late ones
        events += std::string(i > 0 ? "," : "") + R"({"ph":"C","name":"load","pid":7,"ts":)" +
                  std::to_string(i * 10 - i % 3 * 400) + R"(,"args":{"a":)" + std::to_string(i) + R"(,"b":)" +
                  std::to_string(i % 9) + ".25}}";
    const json_test::TextFile file(json_test::object(events));
    formats::ReadOptions options;
    options.memoryBudget = 128 << 10;
    const auto spilled = formats::openTrace(file.path(), options);
    const auto inMemory = formats::openTrace(file.path());
    ASSERT_TRUE(spilled && inMemory);
    EXPECT_LT((*spilled)->memoryBytes(), std::size_t{256} << 10);
    EXPECT_GT((*inMemory)->memoryBytes(), std::size_t{80'000} * sizeof(CounterSample));
    EXPECT_EQ(json_test::dump(**spilled), json_test::dump(**inMemory));
    const json_test::TextFile folder("", "copy.sspack");
    ASSERT_TRUE(formats::saveTrace(**spilled, folder.path()));
    const auto copy = formats::openTrace(folder.path());
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(json_test::dump(**copy), json_test::dump(**inMemory));
}

// Details are read in file order, but only a limited number at a time.
TEST(PackedCopy, OfEventsThatExceedMemoryLosesNothing)
{
    constexpr int kEvents = 3000;
    std::string events;
    for (int i = 0; i < kEvents; ++i) { // the first third is large, and the last event comes first in the file
        const int at = kEvents - 1 - i;
        events += std::string(i > 0 ? "," : "") +
                  R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":)" + std::to_string(at * 10) +
                  R"(,"dur":8.5,"args":{"at":)" + std::to_string(at) + R"(,"text":")" +
                  std::string(at < kEvents / 3 ? 40'000 : 4, 'x') + "\"}}";
    }
    const json_test::TextFile file(json_test::object(events)), folder("", "copy.sspack");
    const auto original = formats::openTrace(file.path());
    ASSERT_TRUE(original) << original.error().message();
    ASSERT_TRUE(formats::saveTrace(**original, folder.path()));
    const auto copy = formats::openTrace(folder.path());
    ASSERT_TRUE(copy) << copy.error().message();
    expectSameDetails(**copy, **original);
}

} // namespace
