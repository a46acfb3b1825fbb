#include "app/views/live/live.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace app {
namespace {

TEST(DecimatedSeries, AShortOneIsItsValues)
{
    DecimatedSeries course;
    EXPECT_TRUE(course.means().empty());
    for (const double value : {3.0, 1.0, 2.0})
        course.add(value);
    EXPECT_EQ(course.means(), (std::vector<double>{3, 1, 2}));
}

TEST(DecimatedSeries, StaysSmallHoweverLongTheRun)
{
    DecimatedSeries course;
    constexpr int kValues = 1'000'000;
    std::size_t most = 0;
    for (int i = 0; i < kValues; ++i) {
        course.add(i);
        most = std::max(most, course.means().size());
    }
    EXPECT_EQ(most, DecimatedSeries::kMost);
    // A straight line stays straight: 1024 values per mean, and the rest in the last one.
    const auto& means = course.means();
    ASSERT_EQ(means.size(), 977U);
    for (std::size_t i = 0; i + 1 < means.size(); ++i)
        ASSERT_EQ(means[i], 1024.0 * static_cast<double>(i) + 511.5) << i;
    EXPECT_EQ(means.back(), (976 * 1024 + kValues - 1) / 2.0);
}

TEST(Sparkline, TheCurveLeavesSpaceForTheValue)
{
    Sparkline figure("Throughput", nullptr);
    const auto picture = [&](const std::vector<double>& course) {
        figure.show("1,234,567 samples/s", course);
        figure.resize(figure.minimumSizeHint() + QSize(120, 0));
        return figure.grab().toImage();
    };
    const QImage words = picture({}), all = picture({1, 1, 1});
    ASSERT_NE(words, all);
    const auto columnsOf = [&](const auto& differs) {
        std::vector<int> columns;
        for (int x = 0; x < words.width(); ++x)
            for (int y = 0; y < words.height(); ++y)
                if (differs(x, y)) {
                    columns.push_back(x);
                    break;
                }
        return columns;
    };
    const QRgb ground = words.pixel(words.width() - 1, 0);
    const auto written = columnsOf([&](int x, int y) { return words.pixel(x, y) != ground; });
    const auto drawn = columnsOf([&](int x, int y) { return words.pixel(x, y) != all.pixel(x, y); });
    ASSERT_FALSE(written.empty() || drawn.empty());
    EXPECT_LT(written.back(), drawn.front());
}

} // namespace
} // namespace app
