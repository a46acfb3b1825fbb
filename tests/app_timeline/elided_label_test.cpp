#include "app/look/labels.h"

#include <QHBoxLayout>
#include <gtest/gtest.h>

namespace app {
namespace {

TEST(ElidedLabel, ShrinksForItsNeighbours)
{
    QWidget line;
    auto* layout = new QHBoxLayout(&line);
    auto* label = new ElidedLabel(&line);
    layout->addWidget(label);
    label->setText("short");
    EXPECT_EQ(label->minimumSizeHint().width(), label->sizeHint().width());
    const QString name(300, QChar(u'n'));
    label->setText(name);
    EXPECT_LT(line.minimumSizeHint().width(), 200);
    line.resize(200, 40);
    line.show();
    EXPECT_LE(label->geometry().right(), 200);
    EXPECT_EQ(label->text(), name) << "for screen readers";
    // Both ends are visible.
    const QImage image = label->grab().toImage();
    const auto ink = [&](int from, int to) {
        const QRgb ground = image.pixel(0, 0);
        for (int x = from; x < to; ++x)
            for (int y = 0; y < image.height(); ++y)
                if (image.pixel(x, y) != ground)
                    return true;
        return false;
    };
    EXPECT_TRUE(ink(0, 30));
    EXPECT_TRUE(ink(image.width() - 30, image.width()));
}

} // namespace
} // namespace app
