#include "trainer/session/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

using testing::ElementsAre;
using testing::IsEmpty;
using trainer::OpWindow;

namespace {

std::vector<int> stepsOf(const OpWindow& window, int until)
{
    std::vector<int> steps;
    for (int step = 0; step < until; ++step)
        if (window.contains(step))
            steps.push_back(step);
    return steps;
}

TEST(OpWindow, RecordsAfterTheFirstStepsAndOncePerPeriod)
{
    EXPECT_THAT(stepsOf(OpWindow(50, 5), 120), ElementsAre(3, 4, 5, 6, 7, 50, 51, 52, 53, 54, 100, 101, 102, 103, 104));
}

TEST(OpWindow, RecordsEveryStepWhenTheWindowFillsThePeriod)
{
    EXPECT_EQ(stepsOf(OpWindow(1, 1), 10), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(OpWindow, ZeroRecordsOnlyOnRequest)
{
    OpWindow window(0, 5);
    EXPECT_THAT(stepsOf(window, 200), IsEmpty());
    EXPECT_EQ(window.validationBatches(), 0);
    window.request(10, 2);
    EXPECT_FALSE(window.contains(12));
    EXPECT_TRUE(window.contains(10));
    EXPECT_TRUE(window.contains(11));
}

} // namespace
