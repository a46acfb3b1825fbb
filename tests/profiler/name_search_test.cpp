#include "profiler/model/name_search.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace profiler;
using test_support::traceFromText;
using testing::ElementsAre;

const std::vector<TrackId> kBoth{TrackId{0}, TrackId{1}};

std::shared_ptr<const Trace> twoTracks()
{
    return traceFromText(R"(main
 op aten::Linear 0 10
  op aten::addmm 1 5
 op aten::relu 20 2
 op aten::linear 40 10
stream 0 7
 kernel gemm_linear 1 4
 kernel relu_kernel 30 4
)");
}

NameSearch searchOf(const std::shared_ptr<const Trace>& trace, NamePattern pattern)
{
    auto search = NameSearch::make(trace, pattern);
    EXPECT_TRUE(search) << (search ? "" : search.error().message());
    return std::move(*search);
}

std::vector<std::string> walk(const NameSearch& search)
{
    std::vector<std::string> names;
    for (auto hit = search.next(kBoth, traceTime(-1)); hit; hit = search.next(kBoth, *hit))
        names.emplace_back(search.trace()->name(*hit));
    return names;
}

std::vector<std::string> walkBack(const NameSearch& search)
{
    std::vector<std::string> names;
    for (auto hit = search.previous(kBoth, traceTime(1'000'000)); hit; hit = search.previous(kBoth, *hit))
        names.emplace_back(search.trace()->name(*hit));
    return names;
}

TEST(NameSearch, FindsTextInAnyCaseAndInOrderOfTime)
{
    const auto search = searchOf(twoTracks(), {"LINEAR"});
    EXPECT_EQ(search.nameCount(), 3U);
    EXPECT_EQ(search.count(kBoth), 3U);
    EXPECT_THAT(walk(search), ElementsAre("aten::Linear", "gemm_linear", "aten::linear"));
    EXPECT_THAT(walkBack(search), ElementsAre("aten::linear", "gemm_linear", "aten::Linear"));
}

TEST(NameSearch, TextIsNotAnExpressionAndCaseSensitivityIsOptional)
{
    EXPECT_EQ(searchOf(twoTracks(), {"aten..linear"}).count(kBoth), 0U);
    EXPECT_EQ(searchOf(twoTracks(), {"linear", false, true}).count(kBoth), 2U);
    EXPECT_EQ(searchOf(twoTracks(), {""}).count(kBoth), 0U);
}

TEST(NameSearch, AcceptsExpressionsAndReportsTheirErrors)
{
    EXPECT_THAT(walk(searchOf(twoTracks(), {"^aten::(re|add)", true})), ElementsAre("aten::addmm", "aten::relu"));
    const auto wrong = NameSearch::make(twoTracks(), {"relu(", true});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Error::Code::Invalid);
    EXPECT_EQ(wrong.error().where, "character 6");
}

TEST(NameSearch, AnExpressionWithTooManyStepsGivesUp)
{
    const auto trace = traceFromText("main\n op " + std::string(60, 'a') + " 0 1");
    const auto search = searchOf(trace, {"^(a+)+b$", true});
    EXPECT_EQ(search.count(std::vector{TrackId{0}}), 0U);
    EXPECT_LE(search.undecidedNames(), 1U);
}

TEST(NameSearch, FindsOtherAlphabetsAndInvalidUtf8)
{
    const auto trace = traceFromText("main\n op ÉCOLE 0 1\n op \"bad\xff name\" 2 1");
    EXPECT_EQ(searchOf(trace, {"école"}).count(std::vector{TrackId{0}}), 1U);
    EXPECT_EQ(searchOf(trace, {"name"}).count(std::vector{TrackId{0}}), 1U);
}

TEST(NameSearch, ReportsRanksAndMarks)
{
    const auto trace = twoTracks();
    const auto search = searchOf(trace, {"linear"});
    const auto last = search.previous(kBoth, traceTime(1'000'000));
    ASSERT_TRUE(last);
    EXPECT_EQ(search.rank(kBoth, *last), 2U);
    std::vector<std::uint32_t> marks(5);
    search.marks(kBoth, {traceTime(0), traceTime(50'000)}, marks);
    EXPECT_THAT(marks, ElementsAre(2, 0, 0, 0, 1));
    EXPECT_EQ(search.count(std::vector{TrackId{1}}), 1U);
}

} // namespace
