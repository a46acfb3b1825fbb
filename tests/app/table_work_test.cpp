#include "app/tables/table_panel.h"

#include "app/tables/table_bar.h"
#include "app/tables/table_view.h"
#include "profiler/model/trace_builder.h"
#include "tests/app/app_support.h"

#include <QAction>
#include <QClipboard>
#include <QDockWidget>
#include <QMainWindow>
#include <QSignalSpy>
#include <QTest>

using app_test::find;

namespace {

constexpr int kPatienceMs = 20000;

std::shared_ptr<const profiler::Trace> kernels(int count, bool live)
{
    profiler::TraceBuilder builder;
    profiler::Track stream;
    stream.kind = profiler::TrackKind::Stream;
    const auto track = builder.addTrack(stream);
    const auto name = builder.intern("gemm");
    for (int i = 0; i < count; ++i) {
        profiler::Slice slice;
        slice.begin = profiler::traceTime(1000 * i);
        slice.duration = profiler::Nanoseconds{500};
        slice.kind = profiler::ActivityKind::Kernel;
        slice.name = name;
        builder.add(track, slice);
    }
    builder.captureStats().live = live;
    return builder.snapshot();
}

} // namespace

/// When tables run queries, and how long they block the GUI thread.
class TableWorkTest : public QObject {
    Q_OBJECT
private slots:
    void rowsAppearAlthoughSnapshotsAreFasterThanAQuery_data();
    void rowsAppearAlthoughSnapshotsAreFasterThanAQuery();
    void aGrowingTraceIsQueriedAtMostOncePerSecond();
    void aTableBehindATabWaitsUntilItComesToTheFront();
    void manyRowsAreCopiedInTheBackground();
};

void TableWorkTest::rowsAppearAlthoughSnapshotsAreFasterThanAQuery_data()
{
    QTest::addColumn<bool>("live");
    QTest::newRow("of a training") << true;
    QTest::newRow("of a file that is being read") << false;
}

void TableWorkTest::rowsAppearAlthoughSnapshotsAreFasterThanAQuery()
{
    QFETCH(bool, live);
    const auto trace = kernels(60'000, live);
    app::Selection selection;
    app::TablePanel panel(app::kernelSubject(), &selection, nullptr);
    panel.show();
    panel.replaceTrace(trace);
    QTimer snapshots;
    connect(&snapshots, &QTimer::timeout, &panel, [&] { panel.updateTrace(trace); });
    snapshots.start(1);
    QTRY_VERIFY_WITH_TIMEOUT(panel.view()->table()->rows() != nullptr, kPatienceMs);
    QCOMPARE(panel.view()->table()->rowCount(), 1);
    // The complete trace is queried once.
    snapshots.stop();
    panel.updateTrace(kernels(10, false));
    QTRY_VERIFY_WITH_TIMEOUT(panel.isUpToDate(), kPatienceMs);
    QCOMPARE(panel.view()->table()->index(0, 1).data().toString(), QString("10"));
}

void TableWorkTest::aGrowingTraceIsQueriedAtMostOncePerSecond()
{
    constexpr qint64 kPauseMs = 900; // one second, minus the tolerance of a coarse timer
    app::Selection selection;
    app::TablePanel panel(app::kernelSubject(), &selection, nullptr);
    const auto* table = panel.view()->table();
    QElapsedTimer sinceRows;
    const auto start = [&] { sinceRows.start(); };
    connect(table, &QAbstractItemModel::modelReset, &panel, start);
    panel.show();
    panel.replaceTrace(kernels(10, true));
    QTRY_VERIFY_WITH_TIMEOUT(sinceRows.isValid() && table->rowCount() == 1, kPatienceMs);
    std::vector<qint64> pauses;
    connect(table, &QAbstractItemModel::dataChanged, &panel, [&] { pauses.push_back(sinceRows.restart()); });
    QTimer snapshots;
    int count = 10;
    connect(&snapshots, &QTimer::timeout, &panel, [&] { panel.updateTrace(kernels(++count, true)); });
    snapshots.start(20);
    QTRY_VERIFY_WITH_TIMEOUT(pauses.size() >= 2, kPatienceMs);
    snapshots.stop();
    for (const qint64 pause : pauses)
        QVERIFY2(pause >= kPauseMs, qPrintable(QString("%1 ms").arg(pause)));
    QVERIFY(table->index(0, 1).data().toString().toInt() > 20); // the later snapshot was not lost
}

void TableWorkTest::aTableBehindATabWaitsUntilItComesToTheFront()
{
    app::Selection selection;
    QMainWindow window;
    std::vector<app::TablePanel*> panels;
    std::vector<QDockWidget*> docks;
    for (int i = 0; i < 2; ++i) {
        panels.push_back(new app::TablePanel(app::kernelSubject(), &selection, &window));
        docks.push_back(new QDockWidget(&window));
        docks.back()->setWidget(panels.back());
        window.addDockWidget(Qt::BottomDockWidgetArea, docks.back());
    }
    window.tabifyDockWidget(docks[0], docks[1]);
    docks[0]->raise();
    window.resize(900, 500);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QVERIFY(panels[1]->isVisible()); // according to Qt
    const auto open = [&](int count) {
        for (auto* panel : panels)
            panel->replaceTrace(kernels(count, false));
    };
    const auto count = [](const app::TablePanel* panel) {
        return panel->view()->table()->index(0, 1).data().toString();
    };
    open(10);
    QTRY_VERIFY_WITH_TIMEOUT(panels[0]->isUpToDate(), kPatienceMs);
    QTest::qWait(50);
    QVERIFY(!panels[1]->view()->table()->rows());
    docks[1]->raise();
    QTRY_COMPARE_WITH_TIMEOUT(count(panels[1]), QString("10"), kPatienceMs);
    // And vice versa.
    open(20);
    QTRY_COMPARE_WITH_TIMEOUT(count(panels[1]), QString("20"), kPatienceMs);
    QTest::qWait(50);
    QVERIFY(!panels[0]->view()->table()->rows());
    docks[0]->raise();
    QTRY_COMPARE_WITH_TIMEOUT(count(panels[0]), QString("20"), kPatienceMs);
    // A separate dock is always in front.
    docks[1]->setFloating(true);
    QTRY_COMPARE_WITH_TIMEOUT(count(panels[1]), QString("20"), kPatienceMs);
}

void TableWorkTest::manyRowsAreCopiedInTheBackground()
{
    constexpr int kRows = 6'000; // fewer rows are copied synchronously
    app::Selection selection;
    app::TablePanel panel(app::kernelSubject(), &selection, nullptr);
    panel.bar()->setGrouping({});
    panel.show();
    panel.replaceTrace(kernels(kRows, false));
    QTRY_VERIFY_WITH_TIMEOUT(panel.isUpToDate(), kPatienceMs);
    QSignalSpy noticed(&panel, &app::TablePanel::noticed);
    QGuiApplication::clipboard()->clear();
    auto* copyAll = find<QAction>(&panel, "tableCopyAll");
    copyAll->trigger();
    QCOMPARE(QGuiApplication::clipboard()->text(), QString()); // emitted from the event loop
    QVERIFY(!panel.isSaving());                                // nothing is lost with it
    copyAll->trigger();
    QCOMPARE(noticed.count(), 1);
    QVERIFY(noticed[0][0].toString().contains("still being copied"));
    QTRY_COMPARE_WITH_TIMEOUT(QGuiApplication::clipboard()->text().count(u'\n'), kRows + 1, kPatienceMs);
    // A cancelled copy leaves the clipboard unchanged, and the next one may start.
    QGuiApplication::clipboard()->clear();
    copyAll->trigger();
    emit panel.bar()->cancelled();
    copyAll->trigger();
    QCOMPARE(noticed.count(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(QGuiApplication::clipboard()->text().count(u'\n'), kRows + 1, kPatienceMs);
}

QTEST_MAIN(TableWorkTest)
#include "table_work_test.moc"
