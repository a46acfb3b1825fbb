#include "tests/formats/json_text.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

// Ranges that consist of two events, in files with many parts that several threads join separately.
namespace {

using namespace profiler;
using namespace json_test;

struct End {
    char phase = 'B'; ///< B, E, b, e
    int key = 0;      ///< the thread, or the id
    std::int64_t us = 0;
    std::string name; ///< ends may omit it
};

/// The result of joining all ends in time order: "key name begin+duration" of each, sorted, and the number without a
/// match.
struct Joined {
    std::vector<std::string> ranges;
    std::uint64_t unmatched = 0;
    friend bool operator==(const Joined&, const Joined&) = default;
};

Joined joinedByTime(std::vector<End> ends)
{
    std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.us < b.us; });
    std::map<std::pair<bool, int>, std::vector<End>> open;
    Joined joined;
    const auto add = [&](const End& begin, std::int64_t us) {
        joined.ranges.push_back((begin.phase == 'b' ? "net " : "thread " + std::to_string(begin.key) + " ") +
                                begin.name + " " + std::to_string(begin.us) + "+" + std::to_string(us - begin.us));
    };
    for (const End& end : ends) {
        auto& stack = open[{end.phase == 'b' || end.phase == 'e', end.key}];
        if (end.phase == 'B' || end.phase == 'b') {
            stack.push_back(end);
        } else if (stack.empty()) {
            ++joined.unmatched;
        } else {
            auto which = std::find_if(stack.rbegin(), stack.rend(), [&](const End& b) { return b.name == end.name; });
            if (end.name.empty() || which == stack.rend())
                which = stack.rbegin();
            add(*which, end.us);
            stack.erase(std::prev(which.base()));
        }
    }
    for (const auto& [key, stack] : open)
        for (const End& begin : stack) {
            ++joined.unmatched;
            add(begin, ends.back().us);
        }
    std::sort(joined.ranges.begin(), joined.ranges.end());
    return joined;
}

std::string jsonOf(const std::vector<End>& ends)
{
    const std::string padding(400, '.'); // makes many parts from few events
    std::string text;
    for (const End& end : ends) {
        const bool async = end.phase == 'b' || end.phase == 'e';
        text += (text.empty() ? "" : ",\n") + std::string(R"({"ph":")") + end.phase + R"(","pid":1,"ts":)" +
                std::to_string(end.us) + R"(,"tid":)" + (async ? "9" : std::to_string(end.key)) +
                (async ? R"(,"cat":"net","id":")" + std::to_string(end.key) + '"' : "") +
                (end.name.empty() ? "" : R"(,"name":")" + end.name + '"') + R"(,"args":{"padding":")" + padding +
                "\"}}";
    }
    return object(text);
}

Joined joinedByReader(const std::vector<End>& ends, unsigned threads)
{
    const auto trace = open(jsonOf(ends), threads);
    Joined joined;
    for (const Track& row : trace->tracks())
        for (const Slice& slice : trace->sorted(row.id))
            joined.ranges.push_back(row.name + " " + std::string(trace->name(slice)) + " " +
                                    std::to_string(toNs(slice.begin) / 1000) + "+" +
                                    std::to_string(slice.duration.count() / 1000));
    std::sort(joined.ranges.begin(), joined.ranges.end());
    joined.unmatched = trace->captureStats().unmatched;
    return joined;
}

/// Random ends of threads and ids, some with other names and some without a range.
std::vector<End> randomEnds(unsigned seed, int count)
{
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::vector<End> ends;
    for (int i = 0; i < count; ++i) {
        End end;
        const bool async = below(3) == 0, begins = below(2) == 0;
        end.phase = async ? (begins ? 'b' : 'e') : begins ? 'B' : 'E';
        end.key = 1 + below(async ? 40 : 3);
        end.us = i / 2;
        if (begins || below(2) == 0)
            end.name = std::string(1, static_cast<char>('a' + below(4)));
        ends.push_back(end);
    }
    return ends;
}

TEST(RangeParts, AreJoinedAcrossPartsInTimeOrder)
{
    for (const unsigned seed : {1U, 2U, 3U}) {
        const auto ends = randomEnds(seed, 4000);
        ASSERT_GT(jsonOf(ends).size(), std::size_t{6} * 256 * 1024);
        const Joined expected = joinedByTime(ends);
        EXPECT_EQ(joinedByReader(ends, 1), expected);
        EXPECT_EQ(joinedByReader(ends, 3), expected);
    }
}

TEST(RangeParts, OutOfOrderInAPartAreJoinedInTimeOrder)
{
    auto ends = randomEnds(4, 4000);
    std::mt19937 random(5);
    for (std::size_t i = 0; i + 8 < ends.size(); i += 8)
        std::shuffle(ends.begin() + static_cast<std::ptrdiff_t>(i), ends.begin() + static_cast<std::ptrdiff_t>(i + 8),
                     random);
    EXPECT_EQ(joinedByReader(ends, 3), joinedByTime(ends));
}

TEST(RangeParts, OutOfOrderBetweenPartsAreJoinedInTimeOrder)
{
    auto ends = randomEnds(6, 4000);
    std::rotate(ends.begin(), ends.begin() + 1700, ends.end());
    EXPECT_EQ(joinedByReader(ends, 3), joinedByTime(ends));
    // Some threads are in order, one is not.
    ends = randomEnds(7, 4000);
    std::stable_partition(ends.begin(), ends.end(), [](const End& end) { return end.key != 2 || end.us > 900; });
    EXPECT_EQ(joinedByReader(ends, 3), joinedByTime(ends));
}

TEST(RangeParts, CountersOutOfOrderAreSorted)
{
    std::string text;
    for (int i = 0; i < 3000; ++i)
        text += (i == 0 ? "" : ",") + std::string(R"({"ph":"C","name":"n","pid":1,"ts":)") +
                std::to_string((i + 1000) % 3000) + R"(,"args":{"v":)" + std::to_string((i + 1000) % 3000) +
                "},\"x\":\"" + std::string(400, '.') + "\"}";
    const auto trace = open(object(text), 3);
    const auto samples = trace->counter(track(*trace, "n")->id);
    ASSERT_EQ(samples.size(), 3000U);
    for (std::size_t i = 0; i < samples.size(); ++i)
        ASSERT_EQ(samples[i].value, static_cast<double>(i));
}

} // namespace
