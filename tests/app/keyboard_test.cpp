#include "app/session/samples.h"
#include "app/widgets/timeline_canvas.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QDockWidget>
#include <QTest>
#include <QToolButton>
#include <set>

using app_test::App;
using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

QString nameOf(const QWidget* widget)
{
    return QString("%1 %2 %3").arg(widget->metaObject()->className(), widget->objectName(), widget->accessibleName());
}

const QDockWidget* dockOf(const QWidget* widget)
{
    while (widget && !qobject_cast<const QDockWidget*>(widget))
        widget = widget->parentWidget();
    return static_cast<const QDockWidget*>(widget);
}

/// With a trace on screen, all of it looked at.
struct Workbench : App {
    Workbench()
    {
        const auto file = app::sampleFile(app::allSamples().front());
        if (!file)
            qFatal("%s", file.error().message().c_str());
        session.openTrace(*file);
        if (!QTest::qWaitFor([this] { return session.analysed() && session.advice(); }, 20'000))
            qFatal("the sample was never looked at");
        window.activateWindow();
    }
    /// Where Tab goes from the timeline until it is back there.
    std::vector<QWidget*> round(Qt::Key key)
    {
        constexpr int kMostStops = 400;
        auto* canvas = window.findChild<app::TimelineCanvas*>();
        canvas->setFocus();
        std::vector<QWidget*> stops;
        do {
            stops.push_back(window.focusWidget());
            QTest::keyClick(window.focusWidget(), key);
        } while (window.focusWidget() != canvas && stops.size() < kMostStops);
        return stops;
    }
};

} // namespace

class KeyboardTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void tabGoesRoundAllThatIsSeen();
    void whatShowsAPictureOnlyHasAName();
};

void KeyboardTest::tabGoesRoundAllThatIsSeen()
{
    Workbench bench;
    for (const char* front : {"dock:summary", "dock:nvtx_ranges", "dock:kernels"}) {
        find<QDockWidget>(&bench.window, front)->raise();
        QCoreApplication::processEvents();
        for (const auto key : {Qt::Key_Tab, Qt::Key_Backtab}) {
            const auto stops = bench.round(key);
            std::set<QString> docks;
            std::set<QWidget*> seen;
            for (QWidget* stop : stops) {
                QVERIFY2(seen.insert(stop).second, qPrintable("twice: " + nameOf(stop)));
                if (const QDockWidget* dock = dockOf(stop)) {
                    QVERIFY2(!dock->visibleRegion().isEmpty(), qPrintable("not seen: " + nameOf(stop)));
                    docks.insert(dock->objectName());
                }
            }
            for (const char* dock : {front, "dock:run", "dock:runsList", "dock:advisor"})
                QVERIFY2(docks.contains(dock), dock);
        }
    }
}

void KeyboardTest::whatShowsAPictureOnlyHasAName()
{
    Workbench bench;
    for (const auto* button : bench.window.findChildren<QToolButton*>())
        if (!button->isHidden() && button->metaObject()->className() == QByteArray("QToolButton"))
            QVERIFY2(!button->text().isEmpty() || !button->accessibleName().isEmpty(),
                     qPrintable(nameOf(button) + " in " + nameOf(button->parentWidget())));
}

QTEST_MAIN(KeyboardTest)
#include "keyboard_test.moc"
