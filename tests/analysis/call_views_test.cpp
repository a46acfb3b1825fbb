#include "profiler/analysis/call_tree/call_views.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace profiler::analysis {
namespace {

using namespace std::chrono_literals;
using test_support::traceFromText;
using testing::ElementsAre;

/// Each node as "outer;inner self/total", in order; times in µs.
std::vector<std::string> paths(const CallTree& tree)
{
    std::vector<std::string> texts(tree.nodes.size());
    std::vector<std::string> lines;
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        texts[i] = (node.parent == 0 ? "" : texts[node.parent] + ";") + std::string(tree.name(node));
        lines.push_back(texts[i] + " " + std::to_string(node.self.count() / 1000) + "/" +
                        std::to_string(node.total.count() / 1000));
    }
    return lines;
}

CallTree treeOf(std::string_view text)
{
    return callTree(*traceFromText(text), {});
}

constexpr std::string_view kTwoCallers = R"(
    main
      op a 0 100
      op copy 10 30
      op b 100 50
      op copy 110 20
      op copy 200 5
)";

TEST(BottomUp, ListsTheCallersOfEachName)
{
    const CallTree tree = treeOf(kTwoCallers);
    const CallTree callers = bottomUp(tree);
    EXPECT_THAT(paths(callers), ElementsAre("a 70/70", "copy 5/55", "copy;a 30/30", "copy;b 20/20", "b 30/30"));
    EXPECT_EQ(callers.total(), tree.total());
}

TEST(SandwichView, CallersAndCalleesOfOneName)
{
    const Sandwich view = sandwich(treeOf(R"(
        main
          op a 0 100
          op mid 10 60
          op x 20 30
          op b 100 50
          op mid 110 20
          op x 115 10
          op y 126 3
    )"),
                                   "mid");
    EXPECT_THAT(paths(view.callers), ElementsAre("mid 0/80", "mid;a 60/60", "mid;b 20/20"));
    EXPECT_THAT(paths(view.callees), ElementsAre("mid 37/80", "mid;x 40/40", "mid;y 3/3"));
}

constexpr std::string_view kRecursion = R"(
    main
      op f 0 100
      op g 10 80
      op f 20 50
)";

TEST(SandwichView, RecursionAddsNothingTwice)
{
    const Sandwich view = sandwich(treeOf(kRecursion), "f");
    EXPECT_THAT(paths(view.callers), ElementsAre("f 100/100"));
    EXPECT_THAT(paths(view.callees), ElementsAre("f 20/100", "f;g 30/80", "f;g;f 50/50"));
}

TEST(CallTotals, RecursionAddsNothingTwice)
{
    const CallTree tree = treeOf(kRecursion);
    const std::vector<CallTotal> totals = callTotals(tree);
    ASSERT_EQ(totals.size(), 2U);
    EXPECT_EQ(totals[0].name, "f");
    EXPECT_EQ(totals[0].self, 70us);
    EXPECT_EQ(totals[0].total, 100us);
    EXPECT_EQ(totals[0].calls, 2);
    EXPECT_EQ(totals[0].longestTime, 100us);
    EXPECT_EQ(totals[1].name, "g");
    EXPECT_EQ(totals[1].self, 30us);
    EXPECT_EQ(totals[1].total, 80us);
}

TEST(CallDifference, PathsOfBothTreesWithTheirTimes)
{
    const CallDifference diff = difference(treeOf(R"(
        main
          op a 0 100
          op x 10 20
          op gone 40 30
    )"),
                                           treeOf(R"(
        main
          op first 0 1
          op a 10 90
          op x 20 60
    )"));
    EXPECT_FALSE(diff.perStep);
    ASSERT_EQ(diff.nodes.size(), 5U);
    EXPECT_DOUBLE_EQ(diff.nodes[0].totalA, 100'000);
    EXPECT_DOUBLE_EQ(diff.nodes[0].totalB, 91'000);
    EXPECT_EQ(diff.name(diff.nodes[1]), "a");
    EXPECT_DOUBLE_EQ(diff.nodes[1].change(), -10'000);
    EXPECT_DOUBLE_EQ(diff.nodes[1].selfA, 50'000);
    EXPECT_DOUBLE_EQ(diff.nodes[1].selfB, 30'000);
    EXPECT_EQ(diff.nodes[1].end, 4U);
    EXPECT_EQ(diff.name(diff.nodes[2]), "x");
    EXPECT_EQ(diff.nodes[2].parent, 1U);
    EXPECT_DOUBLE_EQ(diff.nodes[2].change(), 40'000);
    EXPECT_EQ(diff.name(diff.nodes[3]), "gone");
    EXPECT_DOUBLE_EQ(diff.nodes[3].totalB, 0);
    EXPECT_DOUBLE_EQ(diff.nodes[3].weight(), 15'000);
    EXPECT_LT(diff.nodes[3].longestTimeB, 0ns);
    EXPECT_EQ(diff.name(diff.nodes[4]), "first");
}

TEST(CallDifference, IsPerStepIfBothTreesCoverSteps)
{
    const auto of = [](std::string_view text) {
        const auto trace = traceFromText(text);
        CallTreeOptions options;
        options.scope = scopeOf(*trace, findSteps(*trace));
        return callTree(*trace, options);
    };
    const CallDifference diff = difference(of(R"(
        main
          repeat 4 every 100
            step 0 0 100
            op a 10 20
          end
    )"),
                                           of(R"(
        main
          repeat 2 every 100
            step 0 0 100
            op a 10 30
            op a 50 5
          end
    )"));
    EXPECT_TRUE(diff.perStep);
    ASSERT_EQ(diff.nodes.size(), 3U);
    EXPECT_DOUBLE_EQ(diff.nodes[1].totalA, 100'000);
    EXPECT_DOUBLE_EQ(diff.nodes[1].totalB, 100'000);
    EXPECT_DOUBLE_EQ(diff.nodes[2].totalA, 20'000);
    EXPECT_DOUBLE_EQ(diff.nodes[2].totalB, 35'000);
    EXPECT_DOUBLE_EQ(diff.nodes[2].callsB, 2);
}

TEST(CollapsedStacks, OneLinePerPathWithSelfTime)
{
    EXPECT_EQ(collapsedStacks(treeOf(R"(
        main
          op a 0 100
          op "b;c" 10 30
          op tiny 50 0.2
          op d 60 40
          op e 60 40
    )")),
              "a 30\na;d;e 40\na;b:c 30\n");
}

} // namespace
} // namespace profiler::analysis
