#include "app/timeline/label_cache.h"

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <gtest/gtest.h>

namespace app {
namespace {

QImage drawn(LabelCache& labels, const QString& text)
{
    QImage image(200, 24, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    labels.draw(painter, 3, 2, 190, text, Qt::black);
    return image;
}

TEST(LabelCache, DropsUnusedLabelsAndDrawsTheSame)
{
    LabelCache labels;
    labels.setFont(QFont(), 1);
    const QImage first = drawn(labels, "aten::conv2d");
    const double width = labels.width("aten::conv2d", Qt::black);
    ASSERT_GT(width, 10);
    qsizetype most = 0;
    for (int i = 0; i < 9000; ++i) {
        labels.width(QString::number(i), Qt::black);
        most = std::max(most, labels.size());
        if (i % 500 == 0) {
            ASSERT_EQ(drawn(labels, "aten::conv2d"), first) << i;
        }
    }
    EXPECT_LE(most, 4096);
    EXPECT_GT(most, 2048) << "half of them stay when the other half goes";
    EXPECT_EQ(labels.width("aten::conv2d", Qt::black), width);
}

TEST(LabelCache, AnotherFontClearsTheCache)
{
    LabelCache labels;
    QFont font;
    labels.setFont(font, 1);
    for (int i = 0; i < 3000; ++i)
        labels.width(QString::number(i), Qt::black);
    const double width = labels.width("17", Qt::black);
    font.setPointSizeF(font.pointSizeF() * 3);
    labels.setFont(font, 1);
    EXPECT_EQ(labels.size(), 0);
    EXPECT_GT(labels.width("17", Qt::black), 2 * width);
}

} // namespace
} // namespace app
