#include "trainer/session/progress.h"

#include <gtest/gtest.h>
#include <thread>

using config::protocol::StepProgress;

namespace {

class Steps final : public trainer::Progress {
public:
    void report(const config::protocol::Progress& record) override { list.push_back(std::get<StepProgress>(record)); }
    std::vector<StepProgress> list;
};

class StepReports : public testing::Test {
protected:
    trainer::Recording m_none;
    Steps m_told;
    trainer::StepReports m_reports{m_none, m_told};
};

TEST_F(StepReports, FastStepsAreSummedUp)
{
    for (int step = 0; step < 1000; ++step)
        m_reports.add(step, 0, 32, 0.001, step == 998 ? std::optional(0.5) : std::nullopt);
    m_reports.flush();
    ASSERT_FALSE(m_told.list.empty());
    EXPECT_LT(m_told.list.size(), 20u) << "a thousand fast steps are not a thousand records";
    std::int64_t covered = 0;
    for (const StepProgress& record : m_told.list)
        covered += record.steps;
    EXPECT_EQ(covered, 1000);
    const StepProgress& last = m_told.list.back();
    EXPECT_EQ(last.step, 999);
    EXPECT_NEAR(last.stepSeconds, 0.001, 1e-9);
    EXPECT_NEAR(last.samplesPerSecond, 32000, 1);
    EXPECT_EQ(last.loss, 0.5) << "the last loss that was read back";
}

TEST_F(StepReports, SlowStepsAreToldOneByOne)
{
    for (int step = 0; step < 3; ++step) {
        m_reports.add(step, 1, 16, 0.06, 2.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    ASSERT_EQ(m_told.list.size(), 3u);
    EXPECT_EQ(m_told.list[1].step, 1);
    EXPECT_EQ(m_told.list[1].steps, 1);
    EXPECT_EQ(m_told.list[1].epoch, 1);
}

TEST_F(StepReports, NothingIsToldTwice)
{
    m_reports.add(0, 0, 16, 0.01, std::nullopt);
    m_reports.flush();
    m_reports.flush();
    ASSERT_EQ(m_told.list.size(), 1u);
    EXPECT_FALSE(m_told.list[0].loss) << "no loss was read back";
}

} // namespace
