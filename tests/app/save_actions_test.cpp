#include "app/window/window_strips.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QAction>
#include <QDesktopServices>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUrl>

using app_test::App;
using app_test::find;
using app_test::SaveAs;
using app_test::shortTraining;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

} // namespace

/// Save actions of the File menu.
class SaveActionsTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

public slots:
    void open(const QUrl& url) { m_opened = url; }

private slots:
    void init()
    {
        app_test::useScript("train");
        QSettings().clear();
    }
    void theTraceIsExported();
    void aTraceOfCountersOnlyIsExported();
    void withoutATraceThereIsNothingToExport();
    void theReportIsSaved();

private:
    static bool strip(const App& app, const char* text)
    {
        const auto* strip = app.window.findChild<app::NoticeStrip*>();
        return QTest::qWaitFor([&] { return strip->isVisible() && strip->text().contains(text); }, 20000);
    }

    QUrl m_opened;
};

void SaveActionsTest::theTraceIsExported()
{
    const QTemporaryDir folder;
    App app;
    auto* exportTrace = find<QAction>(&app.window, "exportTrace");
    app.bench.configuration.set(shortTraining(), "short");
    app.bench.training.start();
    QTRY_VERIFY_WITH_TIMEOUT(app.bench.document.trace()->sliceCount() > 0 && !app.bench.training.isOpen(), 20000);
    QTRY_VERIFY_WITH_TIMEOUT(exportTrace->isEnabled(), 20000);
    const auto slices = app.bench.document.trace()->sliceCount();
    const SaveAs dialog(folder.filePath("mine.json"));
    exportTrace->trigger();
    QVERIFY(dialog.asked());
    QVERIFY(strip(app, "was exported"));
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(folder.filePath("mine.json").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QCOMPARE(app.bench.document.trace()->sliceCount(), slices);
}

void SaveActionsTest::aTraceOfCountersOnlyIsExported()
{
    const QTemporaryDir folder;
    QFile file(folder.filePath("counters.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"traceEvents": [
        {"ph": "C", "name": "power", "pid": 1, "ts": 0, "args": {"W": 50}},
        {"ph": "C", "name": "power", "pid": 1, "ts": 1000, "args": {"W": 70}}]})");
    file.close();
    App app;
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(file.fileName().toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 20000);
    QCOMPARE(app.bench.document.trace()->sliceCount(), std::size_t(0));
    auto* exportTrace = find<QAction>(&app.window, "exportTrace");
    QTRY_VERIFY_WITH_TIMEOUT(exportTrace->isEnabled(), 20000);
    const SaveAs dialog(folder.filePath("again.json"));
    exportTrace->trigger();
    QVERIFY(strip(app, "was exported"));
    app.bench.document.openTrace(folder.filePath("again.json").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, 20000);
    const auto again = app.bench.document.trace();
    const auto power = std::find_if(again->tracks().begin(), again->tracks().end(), [](const profiler::Track& track) {
        return track.kind == profiler::TrackKind::Counter;
    });
    QVERIFY(power != again->tracks().end());
    const auto samples = again->counter(power->id);
    QCOMPARE(samples.size(), std::size_t(2));
    QCOMPARE(samples[0].value, 50.0);
    QCOMPARE(samples[1].value, 70.0);
    QCOMPARE((samples[1].time - samples[0].time).count(), 1'000'000);
}

void SaveActionsTest::withoutATraceThereIsNothingToExport()
{
    const QTemporaryDir folder;
    App app;
    QVERIFY(!find<QAction>(&app.window, "exportTrace")->isEnabled());
    app.bench.document.exportTrace(folder.filePath("none.json").toStdString());
    QVERIFY(strip(app, "Nothing to export"));
    QVERIFY(!QFile::exists(folder.filePath("none.json")));
}

void SaveActionsTest::theReportIsSaved()
{
    const QTemporaryDir folder;
    App app;
    const SaveAs dialog(folder.filePath("mine")); // the name gets the extension of the first format
    find<QAction>(&app.window, "saveReport")->trigger();
    QVERIFY(dialog.asked());
    QVERIFY(strip(app, "Report saved"));
    QFile report(folder.filePath("mine.html"));
    QVERIFY(report.open(QIODevice::ReadOnly));
    QVERIFY(report.readAll().contains("<html"));
    // The notice opens it.
    QDesktopServices::setUrlHandler("file", this, "open");
    auto* button = find<QToolButton>(&app.window, "noticeOpen");
    QVERIFY(button->isVisible());
    button->click();
    QDesktopServices::unsetUrlHandler("file");
    QCOMPARE(m_opened, QUrl::fromLocalFile(report.fileName()));
    emit app.bench.notices.noticed("Something else.", {}, false);
    QVERIFY(!button->isVisible());
}

QTEST_MAIN(SaveActionsTest)
#include "save_actions_test.moc"
