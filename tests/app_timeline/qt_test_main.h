#pragma once

#include <QApplication>
#include <QStyleFactory>
#include <gtest/gtest.h>

namespace test {

/// main() of widget tests with real widgets, on Qt's offscreen platform unless QT_QPA_PLATFORM is set.
inline int runWithWidgets(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QApplication application(argc, argv);
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    return RUN_ALL_TESTS();
}

} // namespace test
