#include "trainer/session/host_work.h"

#include "profiler/model/result.h"

#include <gtest/gtest.h>
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

TEST_P(Work, ThatFailsIsReportedAndLaterWorkIsDone)
{
    bool after = false;
    m_work.give("bad", [] {
        profiler::throwError<"test.full", "the disk is full">(profiler::Error::Code::NoSpace, "/a/file");
    });
    m_work.give("good", [&] { after = true; });
    m_work.finish();
    EXPECT_TRUE(after);
    const std::exception_ptr error = m_work.takeError();
    ASSERT_TRUE(error);
    try {
        std::rethrow_exception(error);
    } catch (const profiler::Failure& failure) {
        EXPECT_EQ(failure.error().what.id, "test.full");
        EXPECT_EQ(failure.error().where, "/a/file");
    }
    EXPECT_FALSE(m_work.takeError());
}

TEST_P(Work, IsOnASeparateThreadOnlyOnRequest)
{
    std::thread::id where;
    m_work.give("where", [&] { where = std::this_thread::get_id(); });
    m_work.finish();
    EXPECT_EQ(where == std::this_thread::get_id(), !GetParam());
}

INSTANTIATE_TEST_SUITE_P(Host, Work, testing::Bool(), [](const auto& test) { return test.param ? "Apart" : "AtOnce"; });

TEST(HostWork, FinishesPendingWorkBeforeItEnds)
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
