#include "trainer/session/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using config::protocol::Notice;
using profiler::foreignText;
using trainer::data::BadSample;
using trainer::data::Split;

namespace {

class Notices final : public trainer::Progress {
public:
    void report(const config::protocol::Progress& record) override { list.push_back(std::get<Notice>(record)); }
    std::vector<Notice> list;
};

TEST(BadSamples, EachFileIsNamedOnceOverAllEpochs)
{
    Notices notices;
    trainer::BadSamples bad(notices);
    const std::vector<BadSample> found = {{3, foreignText("a.jpg is no JPEG")}, {9, foreignText("b.jpg is cut short")}};
    bad.add(Split::Train, found);
    bad.add(Split::Train, found);
    bad.reportTotal();
    ASSERT_EQ(notices.list.size(), 2u);
    EXPECT_EQ(notices.list[0].what, "a.jpg is no JPEG");
    EXPECT_EQ(notices.list[1].count, 2);
    EXPECT_EQ(notices.list[1].severity, Notice::Severity::Warning);
}

TEST(BadSamples, OfBothSplitsAreReported)
{
    Notices notices;
    trainer::BadSamples bad(notices);
    const std::vector<BadSample> found = {{3, foreignText("x")}};
    bad.add(Split::Train, found);
    bad.add(Split::Validation, found);
    EXPECT_EQ(notices.list.size(), 2u);
}

TEST(BadSamples, ManyAreCountedInsteadOfNamed)
{
    Notices notices;
    trainer::BadSamples bad(notices);
    for (std::int64_t i = 0; i < 500; ++i)
        bad.add(Split::Train, std::vector<BadSample>{{i, foreignText("file " + std::to_string(i))}});
    const auto named = notices.list.size();
    EXPECT_LT(named, 50u);
    bad.reportTotal();
    ASSERT_EQ(notices.list.size(), named + 1);
    EXPECT_EQ(notices.list.back().count, 500);
    EXPECT_EQ(notices.list.back().id, "training.bad_samples");
    bad.reportTotal();
    EXPECT_EQ(notices.list.size(), named + 1) << "nothing new, so nothing is reported";
}

} // namespace
