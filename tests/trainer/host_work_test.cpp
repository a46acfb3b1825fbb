#include "trainer/loop/host_work.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

using trainer::HostWork;

namespace {

class Work : public testing::TestWithParam<bool> {
protected:
    HostWork m_work{GetParam(), nullptr};
};

TEST_P(Work, IsDoneInTheOrderInWhichItWasGiven)
{
    std::vector<int> done;
    for (int i = 0; i < 1000; ++i)
        m_work.give("number", [&done, i] { done.push_back(i); });
    m_work.finish();
    ASSERT_EQ(done.size(), 1000u);
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST_P(Work, ThatFailsIsToldAndWhatFollowsIsDone)
{
    bool after = false;
    m_work.give("bad", [] { throw std::runtime_error("the disk is full"); });
    m_work.give("good", [&] { after = true; });
    m_work.finish();
    EXPECT_TRUE(after);
    EXPECT_EQ(m_work.takeError(), "the disk is full");
    EXPECT_EQ(m_work.takeError(), std::nullopt);
}

TEST_P(Work, IsOnAThreadOfItsOwnOnlyWhereThatWasAsked)
{
    std::thread::id where;
    m_work.give("where", [&] { where = std::this_thread::get_id(); });
    m_work.finish();
    EXPECT_EQ(where == std::this_thread::get_id(), !GetParam());
}

INSTANTIATE_TEST_SUITE_P(Host, Work, testing::Bool(), [](const auto& test) { return test.param ? "Apart" : "AtOnce"; });

TEST(HostWork, FinishesWhatWasGivenBeforeItEnds)
{
    int done = 0;
    {
        HostWork work(true, nullptr);
        for (int i = 0; i < 50; ++i)
            work.give("number", [&] { ++done; });
    }
    EXPECT_EQ(done, 50);
}

} // namespace
