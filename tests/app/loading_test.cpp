#include "app/document/trace_files.h"
#include "app/tables/range_sums.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/workbench.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QDir>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

// A long file while it loads: its preview, and the metadata of an exported copy.

namespace {

constexpr int kSteps = 16'000;
constexpr int kLong = 20'000; ///< time limit in ms for a slow machine

std::unique_ptr<app_test::OwnFolders> folders;

/// More text than one read call returns: repeatedly an operator of 80 µs with a nested one of 40 µs, and a kernel of 60
/// µs.
QString longFile(const QTemporaryDir& folder)
{
    QByteArray text = R"({"schemaVersion": 1, "traceEvents": [)";
    for (int i = 0; i < kSteps; ++i) {
        const QByteArray begin = QByteArray::number(1000 + i * 100);
        text += (i == 0 ? "" : ",");
        text +=
            R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"dur":80,"args":{"External id":)" +
            QByteArray::number(i) + R"(},"ts":)" + begin + "}," +
            R"({"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":7,"tid":7,"dur":40,"ts":)" + begin + "}," +
            R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":3,"dur":60,"args":{"device":0,"stream":3},"ts":)" +
            begin + "}";
    }
    text += "]}";
    QFile file(folder.filePath("long.json"));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("a test's file cannot be written");
    return file.fileName();
}

/// Opens a long file and calls `atPreview` when its preview appears.
template <class AtPreview>
void openLong(app::Workbench& bench, const QString& file, AtPreview atPreview)
{
    bool done = false;
    // The last signal for a new trace.
    const auto connection = QObject::connect(&bench.document, &app::TraceDocument::analysedChanged, [&] {
        if (!std::exchange(done, true))
            atPreview();
    });
    bench.document.openTrace(file.toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(done, kLong);
    QObject::disconnect(connection);
}

QStringList textsOf(const QSignalSpy& told)
{
    QStringList texts;
    for (const auto& notice : told)
        texts << notice.at(0).toString();
    return texts;
}

} // namespace

class LoadingTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init()
    {
        QSettings().clear();
        QSettings().setValue("loading/previewAfterMs", 0);
    }
    void aPreviewIsSummarizedButNotExported();
    void aPartiallyLoadedTraceStaysUsableWhenAnotherFileFails();
    void aPartiallyLoadedTraceStaysUsableAfterCancel();
    void anExportedCopyContainsTheBookmarks();
    void bookmarksFromACopyCanBeRemoved();
};

void LoadingTest::aPreviewIsSummarizedButNotExported()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed), opened(&bench.document, &app::TraceDocument::traceOpened);
    std::shared_ptr<const profiler::Trace> part;
    const QString copy = folder.filePath("copy.sspack");
    openLong(bench, longFile(folder), [&] {
        part = bench.document.trace();
        bench.document.exportTrace(copy.toStdString());
    });
    QCOMPARE(textsOf(told), QStringList{"long.json is still loading. Export it when loading is done."});
    QVERIFY(!told.at(0).at(2).toBool());
    const app::RangeSums sums = app::rangeSums(*part, part->range());
    QVERIFY(sums.count > 0);
    QCOMPARE(static_cast<std::size_t>(sums.count), part->sliceCount());
    QCOMPARE(sums.names, std::int64_t(3));
    for (const app::RangeSums::Sum& sum : sums.byName) {
        const std::int64_t each = sum.name == "gemm" ? 60'000 : 40'000; // half of the outer operator belongs to the
                                                                        // inner one
        QCOMPARE(static_cast<std::int64_t>(sum.self.count()), sum.count * each);
    }
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kLong);
    QCOMPARE(bench.document.trace()->sliceCount(), std::size_t(3 * kSteps));
    QVERIFY(part->sliceCount() < bench.document.trace()->sliceCount());
    QVERIFY(!QFile::exists(copy));
    bench.document.exportTrace(copy.toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 2, kLong);
    QCOMPARE(textsOf(told).back(), QString("The trace was exported to copy.sspack."));
}

void LoadingTest::aPartiallyLoadedTraceStaysUsableWhenAnotherFileFails()
{
    const QTemporaryDir folder;
    QFile picture(folder.filePath("holiday.jpg"));
    QVERIFY(picture.open(QIODevice::WriteOnly));
    picture.write("\xff\xd8\xff\xe0 a picture");
    picture.close();
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed), opened(&bench.document, &app::TraceDocument::traceOpened);
    std::size_t part = 0;
    openLong(bench, longFile(folder), [&] {
        part = bench.document.trace()->sliceCount();
        bench.document.openTrace(picture.fileName().toStdString());
    });
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kLong);
    QVERIFY2(textsOf(told).front().startsWith("holiday.jpg cannot be opened: "), qPrintable(textsOf(told).front()));
    QVERIFY2(told.at(0).at(1).toString().contains("Only part of long.json is shown."),
             qPrintable(told.at(0).at(1).toString()));
    QCOMPARE(opened.count(), 0);
    QCOMPARE(bench.document.trace()->sliceCount(), part);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed(), kLong); // analysed like any other trace
    bench.document.exportTrace(folder.filePath("part.sspack").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 2, kLong);
    QCOMPARE(textsOf(told).back(), QString("The loaded part of the trace was exported to part.sspack."));
    bench.document.openTrace(folder.filePath("part.sspack").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kLong);
    QCOMPARE(bench.document.trace()->sliceCount(), part);
}

void LoadingTest::aPartiallyLoadedTraceStaysUsableAfterCancel()
{
    const QTemporaryDir folder;
    app::Workbench bench;
    QSignalSpy told(&bench.notices, &app::Notices::noticed), opened(&bench.document, &app::TraceDocument::traceOpened);
    openLong(bench, longFile(folder), [&] { bench.document.cancelLoading(); });
    QCOMPARE(textsOf(told), QStringList{"Opening long.json was cancelled. Only part of it is shown."});
    QVERIFY(bench.document.trace()->sliceCount() > 0);
    QTRY_VERIFY_WITH_TIMEOUT(bench.document.analysed(), kLong);
    QCOMPARE(bench.document.analysed()->trace->sliceCount(), bench.document.trace()->sliceCount());
    bench.document.openTrace(folder.filePath("long.json").toStdString()); // and later all of it
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kLong);
    QCOMPARE(bench.document.trace()->sliceCount(), std::size_t(3 * kSteps));
}

namespace {

/// The app with a file on screen and its bookmarks.
struct Opened {
    explicit Opened(const QString& file)
    {
        QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
        app.bench.document.openTrace(file.toStdString());
        if (!QTest::qWaitFor([&] { return opened.count() == 1; }, kLong))
            qFatal("%s was not opened", qPrintable(file));
        canvas = app.window.findChild<app::TimelineCanvas*>();
    }
    void exportTo(const QString& file)
    {
        QSignalSpy told(&app.bench.notices, &app::Notices::noticed);
        app.bench.document.exportTrace(file.toStdString());
        if (!QTest::qWaitFor([&] { return told.count() == 1; }, kLong) || told.at(0).at(2).toBool())
            qFatal("%s was not written", qPrintable(file));
    }
    [[nodiscard]] std::vector<app::TimelineMark> bookmarks() const { return canvas->scene().marks.bookmarks(); }

    app_test::App app;
    app::TimelineCanvas* canvas = nullptr;
};

} // namespace

void LoadingTest::anExportedCopyContainsTheBookmarks()
{
    const QTemporaryDir folder;
    const auto time = profiler::traceTime(2'000'123);
    const QString copy = folder.filePath("copy.sspack");
    {
        Opened original(longFile(folder));
        original.canvas->setBookmark(time, "the slow one – \"here\"");
        original.exportTo(copy);
        original.exportTo(folder.filePath("copy.json")); // this format cannot store bookmarks, which is not an error
    }
    // For another user, who has no stored data for the file.
    QVERIFY(QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/bookmarks").removeRecursively());
    Opened opened(copy);
    QCOMPARE(opened.bookmarks(), (std::vector<app::TimelineMark>{{time, true, "the slow one – \"here\""}}));
    opened.exportTo(folder.filePath("second.sspack"));
    Opened second(folder.filePath("second.sspack"));
    QCOMPARE(second.bookmarks(), opened.bookmarks());
}

void LoadingTest::bookmarksFromACopyCanBeRemoved()
{
    const QTemporaryDir folder;
    const auto time = profiler::traceTime(2'000'000);
    const QString copy = folder.filePath("copy.sspack"), bare = folder.filePath("bare.sspack");
    {
        Opened original(longFile(folder));
        original.canvas->setBookmark(time, "here");
        original.exportTo(copy);
    }
    {
        Opened opened(copy);
        QCOMPARE(opened.bookmarks().size(), std::size_t(1));
        opened.canvas->goToTime(time);
        opened.canvas->marks().removeBookmark();
        QVERIFY(opened.bookmarks().empty());
        opened.exportTo(bare);
    }
    QVERIFY2(Opened(copy).bookmarks().empty(), "they must not return");
    QVERIFY(!Opened(bare).app.bench.document.trace()->metadata().contains("timeline.bookmarks"));
}

QTEST_MAIN(LoadingTest)
#include "loading_test.moc"
