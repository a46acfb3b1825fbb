#include "app/document/job_document.h"
#include "app/document/trace_files.h"
#include "app/tables/evidence_table.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_groups.h"
#include "app/views/job/job.h"
#include "app/views/job/job_heat_map.h"
#include "app/window/dock_layout.h"
#include "app/window/window_strips.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/job_traces.h"
#include "tests/support/trace_text.h"

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

// Jobs of many ranks in the window: how they open, and their page.

using app::JobFigure;
using app::JobHeatMap;
using app::JobPanel;
using app_test::App;
using app_test::find;
using profiler::analysis::StragglerCause;
using test_support::Fault;
using test_support::JobTraceOptions;

namespace {

constexpr int kLong = 30'000; ///< time limit in ms for a slow machine

std::unique_ptr<app_test::OwnFolders> folders;

/// A window, and the traces of a job in a folder.
struct Shown {
    explicit Shown(QSize size = {1366, 768}) : app(size) {}

    std::vector<std::filesystem::path> write()
    {
        return test_support::writeJobTraces(folder.filePath("traces").toStdString(), options);
    }
    void drop(const std::vector<std::filesystem::path>& files)
    {
        QMimeData data;
        QList<QUrl> urls;
        for (const auto& file : files)
            urls << QUrl::fromLocalFile(QString::fromStdString(file.string()));
        data.setUrls(urls);
        QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&app.window, &enter);
        QDropEvent dropped(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&app.window, &dropped);
    }
    void dropFolder() { drop({folder.filePath("traces").toStdString()}); }
    /// The job is read, and the trace of its selected rank is analysed.
    void await()
    {
        if (!QTest::qWaitFor([&] { return app.bench.job.isOpen() && app.bench.document.analysed(); }, kLong))
            qFatal("the job was not opened");
    }
    /// Opens a job with a slow rank.
    void open(Fault fault, int rank)
    {
        options.fault = fault;
        options.faultyRanks = {rank};
        write();
        dropFolder();
        await();
    }
    JobPanel* panel() { return app.window.findChild<JobPanel*>(); }
    QString text(JobPanel::Page page, int row, int column)
    {
        return panel()->table(page)->model()->index(row, column).data().toString();
    }
    app::NoticeStrip* strip() { return app.window.findChild<app::NoticeStrip*>(); }
    [[nodiscard]] std::string openFile() const { return app.bench.document.path().filename().string(); }
    /// The number of the step whose mark is selected in the trace.
    [[nodiscard]] std::optional<std::int64_t> selectedStep() const
    {
        const auto slice = app.bench.document.selection()->slice();
        const auto analysed = app.bench.document.analysed();
        if (slice && analysed)
            for (const auto& step : analysed->facts.steps)
                if (step.slice == *slice)
                    return step.index;
        return std::nullopt;
    }

    QTemporaryDir folder;
    JobTraceOptions options{.ranks = 8, .ranksPerHost = 4, .steps = 8, .layers = 12};
    App app;
};

/// A job without files, whose rank takes `us` in a step.
std::shared_ptr<const profiler::job::Job> madeUp(std::size_t ranks, std::size_t steps,
                                                 const std::function<double(std::size_t, std::size_t)>& us)
{
    auto job = std::make_shared<profiler::job::Job>();
    for (std::size_t step = 0; step < steps; ++step)
        job->analysis.steps.push_back(static_cast<std::int64_t>(step));
    job->analysis.ranks.resize(ranks);
    job->analysis.clock.ranks.resize(ranks);
    job->worldSize = static_cast<std::int64_t>(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        auto& digest = job->ranks.emplace_back();
        auto& figures = job->analysis.ranks[rank];
        digest.rank = static_cast<std::int64_t>(rank);
        for (std::size_t step = 0; step < steps; ++step) {
            const double value = us(rank, step);
            figures.stepByStepUs.push_back(value);
            figures.waitByStepUs.push_back(0);
            figures.lateByStepUs.push_back(value);
            figures.computeByStepUs.push_back(0);
            if (std::isfinite(value)) {
                auto& own = digest.steps.emplace_back();
                own.index = static_cast<std::int64_t>(step);
                own.range = {profiler::traceTime(0), profiler::traceTime(static_cast<std::int64_t>(value * 1000))};
                own.steady = true;
            }
        }
    }
    job->analysis.stepUs = 100;
    return job;
}

} // namespace

class JobViewTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void withoutAJobThePageSaysWhatToDo();
    void aFolderShowsTheStragglerAndItsCause();
    void aJobWithoutStragglersNamesNone();
    void aRecentJobOpensAgain();
    void severalFilesAreAJob();
    void filesOfDifferentFormatsAreRefused();
    void aDamagedRankIsExcludedAndNamed();
    void readingIsReportedInFiles();
    void cancelKeepsWhatWasOnScreen();
    void ranksAreShownAsTheyAreRead();
    void theTimelineGetsItsShareOfTheWindow_data();
    void theTimelineGetsItsShareOfTheWindow();
    void cancelRemovesThePartThatWasRead();
    void aTraceOpenedMeanwhileSupersedesTheJob();
    void theKeyboardSelectsAndOpensRanks();
    void theMapAndTheTablesShowTheSameRank();
    void waitsNameTheLastRankOfTheStep();
    void theTimelineShowsAllRanksOnOneClock();
    void ranksWithTheSameProcessIdShowNoOtherOne();
    void anotherTraceClosesTheJob();
    void moreRanksThanPixelsShowTheLargest();
    void stepsThatWereNotRecordedHaveNoColor();
    void numbersAreListedAsRanges();
};

void JobViewTest::withoutAJobThePageSaysWhatToDo()
{
    Shown shown;
    auto* empty = find<QLabel>(shown.panel(), "jobEmpty");
    QVERIFY(empty->isVisibleTo(shown.panel()));
    QVERIFY(!empty->text().isEmpty());
    QVERIFY(find<QAction>(&shown.app.window, "openJob")->isEnabled());
}

void JobViewTest::aFolderShowsTheStragglerAndItsCause()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    auto* panel = shown.panel();
    QTRY_VERIFY(panel->isVisible() && !panel->visibleRegion().isEmpty());
    QCOMPARE(shown.app.window.findChild<app::DockLayout*>()->shown(), std::optional(app::DocumentKind::Job));
    QCOMPARE(panel->table(JobPanel::Stragglers)->model()->rowCount(), 1);
    QVERIFY(panel->table(JobPanel::Stragglers)->isVisible());
    QCOMPARE(shown.text(JobPanel::Stragglers, 0, 0), QString("5"));
    QCOMPARE(shown.text(JobPanel::Stragglers, 0, 1), QString("node1"));
    QCOMPARE(shown.text(JobPanel::Stragglers, 0, 3), app::causeText(StragglerCause::SlowLoader));
    QVERIFY(find<QLabel>(panel, "jobSummary")->text().contains(app::causeText(StragglerCause::SlowLoader)));
    QCOMPARE(panel->table(JobPanel::Ranks)->model()->rowCount(), 8);
    // The rank is selected, its trace is open, and the timeline shows the step in which it is latest.
    QVERIFY(panel->heatMap()->current().has_value());
    QCOMPARE(panel->heatMap()->current()->rank, std::size_t(5));
    QCOMPARE(shown.openFile(), std::string("rank5.json"));
    const auto& job = *shown.app.bench.job.job();
    QTRY_COMPARE(shown.selectedStep(), std::optional(job.analysis.steps[*shown.app.bench.job.step()]));
    // Its row has the colour of the largest value, others that of the smallest.
    const QColor late = panel->heatMap()->colorOf({5, 3}), others = panel->heatMap()->colorOf({1, 3});
    QVERIFY2(late.lightness() > others.lightness() + 80, qPrintable(late.name() + ' ' + others.name()));
}

void JobViewTest::aJobWithoutStragglersNamesNone()
{
    Shown shown;
    shown.write();
    shown.dropFolder();
    shown.await();
    QVERIFY(shown.app.bench.job.job()->analysis.stragglers.empty());
    QCOMPARE(shown.panel()->table(JobPanel::Stragglers)->model()->rowCount(), 0);
    QTRY_VERIFY(shown.panel()->table(JobPanel::Ranks)->isVisible());
    QVERIFY(!shown.strip()->isVisible());
    // Jitter is not painted as if it were a difference.
    for (std::size_t rank = 0; rank < 8; ++rank)
        QVERIFY(shown.panel()->heatMap()->colorOf({rank, 2}).lightness() < 128);
}

void JobViewTest::aRecentJobOpensAgain()
{
    Shown shown;
    shown.write();
    shown.dropFolder();
    shown.await();
    const QString folder = shown.folder.filePath("traces");
    QCOMPARE(app::recentTraces(), QStringList{folder}); // without the rank that is shown
    const auto before = shown.app.bench.job.job();
    auto* recent = shown.app.window.findChild<QMenu*>("recentTraces");
    emit qobject_cast<QMenu*>(recent->parent())->aboutToShow();
    QCOMPARE(recent->actions().front()->toolTip(), folder);
    recent->actions().front()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(shown.app.bench.job.isOpen() && shown.app.bench.job.job() != before, kLong);
    shown.await();
}

void JobViewTest::severalFilesAreAJob()
{
    Shown shown;
    const auto files = shown.write();
    shown.drop({files[1], files[2], files[4]});
    shown.await();
    QCOMPARE(shown.app.bench.job.job()->ranks.size(), std::size_t(3));
    QCOMPARE(shown.app.bench.job.job()->missing.size(), std::size_t(5));
    QVERIFY2(shown.app.window.windowTitle().contains("traces"), qPrintable(shown.app.window.windowTitle()));
    QTRY_VERIFY(shown.strip()->isVisible());
    QVERIFY2(shown.strip()->text().contains("0, 3"), qPrintable(shown.strip()->text()));
}

void JobViewTest::filesOfDifferentFormatsAreRefused()
{
    Shown shown;
    const auto files = shown.write();
    const std::filesystem::path other = shown.folder.filePath("other.sspack").toStdString();
    QVERIFY(profiler::formats::saveTrace(*test_support::traceFromText("main\nop aten::mm 0 10"), other, {}));
    QSignalSpy told(&shown.app.bench.notices, &app::Notices::noticed);
    shown.drop({files[0], other});
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kLong);
    QVERIFY(told[0][2].toBool());
    QVERIFY2(told[0][0].toString().contains("formats"), qPrintable(told[0][0].toString()));
    QVERIFY(!shown.app.bench.job.isOpen());
    QVERIFY(shown.app.bench.document.title().isEmpty());
    QVERIFY(shown.strip()->isVisible());
}

void JobViewTest::aDamagedRankIsExcludedAndNamed()
{
    Shown shown;
    shown.options.fault = Fault::SlowCompute;
    shown.options.faultyRanks = {6};
    const auto files = shown.write();
    std::filesystem::resize_file(files[2], std::filesystem::file_size(files[2]) / 2);
    shown.dropFolder();
    shown.await();
    QCOMPARE(shown.app.bench.job.job()->ranks.size(), std::size_t(7));
    QTRY_VERIFY(shown.strip()->isVisible());
    QVERIFY2(shown.strip()->text().contains("rank2.json"), qPrintable(shown.strip()->text()));
    QVERIFY(
        shown.strip()->detail().contains(QString::fromStdString(shown.app.bench.job.job()->excluded.front().why.text)));
    // The other ranks work.
    QCOMPARE(shown.text(JobPanel::Stragglers, 0, 0), QString("6"));
    QCOMPARE(shown.panel()->table(JobPanel::Ranks)->model()->rowCount(), 7);
    QVERIFY(find<QLabel>(shown.panel(), "jobNotes")->text().contains("2"));
}

void JobViewTest::readingIsReportedInFiles()
{
    Shown shown;
    shown.write();
    QSignalSpy loading(&shown.app.bench.job, &app::JobDocument::loading);
    shown.dropFolder();
    shown.await();
    QVERIFY(loading.count() >= 10); // the start, nothing read, 8 files, the end
    QCOMPARE(loading.first()[1].toDouble(), 0.0);
    double before = 0;
    for (qsizetype i = 0; i + 1 < loading.size(); ++i) {
        const double share = loading[i][1].toDouble();
        QVERIFY(share >= before && share < 1); // unfinished work never reads 100 %
        before = share;
    }
    QCOMPARE(loading.last()[1].toDouble(), 1.0);
    QVERIFY2(loading[loading.size() - 2][0].toString().contains("8 of 8"),
             qPrintable(loading[loading.size() - 2][0].toString()));
}

void JobViewTest::cancelKeepsWhatWasOnScreen()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    const auto before = shown.app.bench.job.job();
    shown.dropFolder();
    QVERIFY(shown.app.bench.job.isLoading());
    auto* cancel = find<QPushButton>(&shown.app.window, "cancelLoading");
    QVERIFY(cancel->isVisible());
    QTest::mouseClick(cancel, Qt::LeftButton);
    QVERIFY(!shown.app.bench.job.isLoading());
    QVERIFY(!cancel->isVisible());
    QTest::qWait(300);
    QCOMPARE(shown.app.bench.job.job(), before);
    QVERIFY(!shown.strip()->isVisible());
}

void JobViewTest::ranksAreShownAsTheyAreRead()
{
    QSettings().setValue("loading/previewAfterMs", 0);
    Shown shown;
    shown.write();
    std::vector<std::size_t> ranks;
    connect(&shown.app.bench.job, &app::JobDocument::changed, this, [&] {
        ranks.push_back(shown.app.bench.job.job()->ranks.size());
        if (ranks.size() == 1) {
            QVERIFY(shown.app.bench.job.isLoading());
            QVERIFY(find<QLabel>(shown.panel(), "jobNotes")->text().contains("read"));
            // No trace is open yet, but the timeline does not ask for one.
            const auto text = shown.app.window.findChild<app::TimelineCanvas*>()->emptyText();
            QCOMPARE(text.title, QString("Reading the traces of the job"));
            QVERIFY2(text.below.contains("of 8"), qPrintable(text.below));
            shown.app.bench.job.openSelected(); // no effect yet
            QVERIFY(!shown.app.bench.document.isLoading());
        }
    });
    QSignalSpy opened(&shown.app.bench.job, &app::JobDocument::opened);
    shown.dropFolder();
    shown.await();
    QVERIFY(ranks.size() >= 2);
    QVERIFY(ranks.front() < 8 && std::is_sorted(ranks.begin(), ranks.end()));
    QCOMPARE(ranks.back(), std::size_t(8));
    QCOMPARE(opened.count(), 1);
    QCOMPARE(shown.app.window.findChild<app::TimelineCanvas*>()->emptyText().title,
             QString("This trace has no events"));
    QVERIFY(!shown.strip()->isVisible()); // no rank is missing
}

void JobViewTest::theTimelineGetsItsShareOfTheWindow_data()
{
    app_test::addTimelineShares();
}

void JobViewTest::theTimelineGetsItsShareOfTheWindow()
{
    QFETCH(QSize, size);
    QFETCH(double, share);
    Shown shown(size);
    shown.open(Fault::SlowLoader, 5);
    QTest::qWait(100);
    QCOMPARE(shown.app.window.size(), size);
    const QSize timeline = shown.app.window.findChild<app::TimelineCanvas*>()->size();
    const double got = double(timeline.width()) * timeline.height() / (double(size.width()) * size.height());
    QVERIFY2(got >= share, qPrintable(QString::number(got)));
    // The heat map of the ranks is high enough to be read.
    QVERIFY(shown.panel()->heatMap()->visibleRegion().boundingRect().height() >= 60);
}

void JobViewTest::cancelRemovesThePartThatWasRead()
{
    Shown shown;
    shown.options.ranks = 48; // reading takes long enough
    shown.open(Fault::SlowLoader, 5);
    const auto before = shown.app.bench.job.job();
    QSettings().setValue("loading/previewAfterMs", 0);
    bool isFirst = true;
    // At once: a queued call could come after the last file was read.
    connect(&shown.app.bench.job, &app::JobDocument::changed, this, [&] {
        if (std::exchange(isFirst, false))
            shown.app.bench.job.cancelLoading();
    });
    shown.dropFolder();
    QTRY_VERIFY_WITH_TIMEOUT(!isFirst, kLong);
    QTRY_VERIFY(!shown.app.bench.job.isLoading());
    QCOMPARE(shown.app.bench.job.job(), before);
    QCOMPARE(shown.text(JobPanel::Stragglers, 0, 0), QString("5"));
}

void JobViewTest::aTraceOpenedMeanwhileSupersedesTheJob()
{
    Shown shown;
    const auto files = shown.write();
    shown.dropFolder();
    shown.app.bench.document.openTrace(files[3]);
    QVERIFY(!shown.app.bench.job.isLoading());
    QTRY_VERIFY_WITH_TIMEOUT(shown.app.bench.document.analysed(), kLong);
    QTest::qWait(300);
    QVERIFY(!shown.app.bench.job.isOpen());
    QCOMPARE(shown.openFile(), std::string("rank3.json"));
}

void JobViewTest::theKeyboardSelectsAndOpensRanks()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    JobHeatMap* map = shown.panel()->heatMap();
    shown.app.window.activateWindow();
    QTRY_VERIFY(map->hasFocus());
    const std::size_t step = map->current()->step;
    QTest::keyClick(map, Qt::Key_Down);
    QCOMPARE(map->current(), std::optional(JobHeatMap::Cell{6, step}));
    QTest::keyClick(map, Qt::Key_Home, Qt::ControlModifier);
    QCOMPARE(map->current(), std::optional(JobHeatMap::Cell{0, step}));
    QTest::keyClick(map, Qt::Key_Up);
    QCOMPARE(map->current(), std::optional(JobHeatMap::Cell{0, step}));
    QTest::keyClick(map, Qt::Key_End);
    const std::size_t last = shown.app.bench.job.job()->analysis.steps.size() - 1;
    QCOMPARE(map->current(), std::optional(JobHeatMap::Cell{0, last}));
    QTest::keyClick(map, Qt::Key_Left);
    QTest::keyClick(map, Qt::Key_PageDown);
    QCOMPARE(map->current(), std::optional(JobHeatMap::Cell{1, last - 1}));
    QVERIFY(map->accessibleDescription().contains("1"));
    QTest::keyClick(map, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(shown.openFile(), std::string("rank1.json"), kLong);
    QTRY_COMPARE_WITH_TIMEOUT(shown.selectedStep(), std::optional(shown.app.bench.job.job()->analysis.steps[last - 1]),
                              kLong);
    QVERIFY(shown.app.bench.job.isOpen());
    QVERIFY(map->hasFocus()); // the next rank can be chosen
    // Another step of the same rank needs no reading.
    QSignalSpy replaced(&shown.app.bench.document, &app::TraceDocument::traceReplaced);
    QTest::keyClick(map, Qt::Key_Home);
    QTest::keyClick(map, Qt::Key_Return);
    QTRY_COMPARE(shown.selectedStep(), std::optional(shown.app.bench.job.job()->analysis.steps[0]));
    QCOMPARE(replaced.count(), 0);
}

void JobViewTest::theMapAndTheTablesShowTheSameRank()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    auto* panel = shown.panel();
    auto* ranks = panel->table(JobPanel::Ranks);
    panel->setPage(JobPanel::Ranks);
    // Sorted by lateness, the slow rank is at the end.
    ranks->sortByColumn(5, Qt::AscendingOrder);
    QCOMPARE(shown.text(JobPanel::Ranks, 7, 0), QString("5"));
    QCOMPARE(ranks->currentIndex().row(), 7);
    ranks->setCurrentIndex(ranks->model()->index(2, 0));
    QCOMPARE(panel->heatMap()->current()->rank, std::size_t(shown.text(JobPanel::Ranks, 2, 0).toInt()));
    const QRect cell = panel->heatMap()->rectOf({4, 2});
    QTest::mouseClick(panel->heatMap(), Qt::LeftButton, {}, cell.center());
    QCOMPARE(panel->heatMap()->current(), std::optional(JobHeatMap::Cell{4, 2}));
    QCOMPARE(shown.text(JobPanel::Ranks, ranks->currentIndex().row(), 0), QString("4"));
    // The straggler's row selects it and a step in which it is late.
    panel->setPage(JobPanel::Stragglers);
    auto* stragglers = panel->table(JobPanel::Stragglers);
    QVERIFY(!stragglers->currentIndex().isValid());
    stragglers->setCurrentIndex(stragglers->model()->index(0, 0));
    QCOMPARE(panel->heatMap()->current()->rank, std::size_t(5));
    QTest::mouseDClick(panel->heatMap(), Qt::LeftButton, {}, panel->heatMap()->rectOf({2, 1}).center());
    QTRY_COMPARE_WITH_TIMEOUT(shown.openFile(), std::string("rank2.json"), kLong);
    // Colours of another figure.
    auto* figure = find<QComboBox>(panel, "jobFigure");
    figure->setCurrentIndex(figure->findData(static_cast<int>(JobFigure::Waiting)));
    QVERIFY(panel->heatMap()->colorOf({5, 3}).lightness() < panel->heatMap()->colorOf({1, 3}).lightness());
}

void JobViewTest::waitsNameTheLastRankOfTheStep()
{
    Shown shown;
    shown.options.faultySteps = {4};
    shown.open(Fault::SlowLoader, 5);
    auto* panel = shown.panel();
    panel->setPage(JobPanel::Waits);
    auto* tabs = find<QTabBar>(panel, "jobTabs");
    const int late = shown.options.firstStep + 4;
    QVERIFY2(tabs->tabText(JobPanel::Waits).endsWith(QString::number(late)),
             qPrintable(tabs->tabText(JobPanel::Waits)));
    QCOMPARE(shown.text(JobPanel::Waits, 0, 2), QString("5"));
    QCOMPARE(shown.text(JobPanel::Waits, 0, 6), QString("0–4, 6, 7"));
    // Another step has other waits; its row selects the rank that was last.
    const auto& steps = shown.app.bench.job.job()->analysis.steps;
    const auto other = static_cast<std::size_t>(std::ranges::find(steps, late - 1) - steps.begin());
    shown.app.bench.job.select(0, other);
    QVERIFY(tabs->tabText(JobPanel::Waits).endsWith(QString::number(late - 1)));
    auto* waits = panel->table(JobPanel::Waits);
    waits->setCurrentIndex(waits->model()->index(0, 0));
    QCOMPARE(QString::number(*shown.app.bench.job.rank()), shown.text(JobPanel::Waits, 0, 2));
    QCOMPARE(shown.app.bench.job.step(), std::optional(other));
}

void JobViewTest::theTimelineShowsAllRanksOnOneClock()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    auto* timeline = find<QComboBox>(shown.panel(), "jobTimeline");
    const auto choose = [&](app::JobTimeline which) {
        timeline->setCurrentIndex(timeline->findData(static_cast<int>(which)));
        emit timeline->activated(timeline->currentIndex());
    };
    choose(app::JobTimeline::ByLateness);
    QTRY_COMPARE_WITH_TIMEOUT(shown.app.bench.job.timeline(), app::JobTimeline::ByLateness, kLong);
    const app::TraceDocument& document = shown.app.bench.document;
    std::set<std::string> bands;
    for (const profiler::Track& track : document.trace()->tracks()) {
        bands.insert(track.processName);
        if (track.processName == "rank 5 on node1")
            QCOMPARE(track.processSortIndex, 0); // the latest is on top
    }
    QCOMPARE(bands.size(), std::size_t(8));
    const auto rows = app::rowTree(*document.trace());
    QCOMPARE(rows.size(), std::size_t(8));
    QVERIFY2(rows.front().name.startsWith("rank 5 on node1"), qPrintable(rows.front().name));
    for (const app::RowNode& row : rows)
        QVERIFY2(row.startsFolded && !row.children.empty(), qPrintable(row.name));
    const auto bandOfSelection = [&] {
        const auto slice = document.selection()->slice();
        return slice ? document.trace()->track(slice->track).processName : std::string();
    };
    QCOMPARE(bandOfSelection(), std::string("rank 5 on node1"));
    // Another rank is shown in the same trace.
    QSignalSpy replaced(&document, &app::TraceDocument::traceReplaced);
    shown.app.bench.job.select(2, 1);
    shown.app.bench.job.openSelected();
    QCOMPARE(bandOfSelection(), std::string("rank 2 on node0"));
    QCOMPARE(replaced.count(), 0);
    // Cancel keeps it, and the choice shows what is on screen.
    choose(app::JobTimeline::ByHost);
    QVERIFY(shown.app.bench.job.isLoading());
    shown.app.bench.job.cancelLoading();
    QCOMPARE(timeline->currentData().toInt(), static_cast<int>(app::JobTimeline::ByLateness));
    // Back to one rank.
    choose(app::JobTimeline::OneRank);
    QTRY_COMPARE_WITH_TIMEOUT(shown.openFile(), std::string("rank2.json"), kLong);
    QVERIFY(shown.app.bench.job.isOpen());
    QCOMPARE(timeline->currentData().toInt(), static_cast<int>(app::JobTimeline::OneRank));
}

// In containers, the ranks of each host may all be process 1.
void JobViewTest::ranksWithTheSameProcessIdShowNoOtherOne()
{
    Shown shown;
    shown.options.ranks = 2;
    const auto files = shown.write();
    QFile second(QString::fromStdString(files[1].string()));
    QVERIFY(second.open(QIODevice::ReadWrite));
    QByteArray json = second.readAll();
    json.replace("\"pid\": 4001", "\"pid\": 4000");
    second.resize(0);
    second.seek(0);
    second.write(json);
    second.close();
    shown.dropFolder();
    shown.await();
    shown.app.bench.job.setTimeline(app::JobTimeline::ByRank);
    QTRY_COMPARE_WITH_TIMEOUT(shown.app.bench.job.timeline(), app::JobTimeline::ByRank, kLong);
    QStringList names;
    for (const app::RowNode& row : app::rowTree(*shown.app.bench.document.trace()))
        names << row.name;
    QCOMPARE(names, QStringList({"rank 0 on node0 (4000)", "rank 1 on node0"}));
}

void JobViewTest::anotherTraceClosesTheJob()
{
    Shown shown;
    shown.open(Fault::SlowLoader, 5);
    const std::filesystem::path other = shown.folder.filePath("other.sspack").toStdString();
    QVERIFY(profiler::formats::saveTrace(*test_support::traceFromText("main\nop aten::mm 0 10"), other, {}));
    shown.app.bench.document.openTrace(other);
    QTRY_VERIFY_WITH_TIMEOUT(!shown.app.bench.job.isOpen(), kLong);
    QVERIFY(find<QLabel>(shown.panel(), "jobEmpty")->isVisibleTo(shown.panel()));
    QCOMPARE(shown.app.window.findChild<app::DockLayout*>()->shown(), std::optional(app::DocumentKind::Trace));
    QVERIFY2(!shown.app.window.windowTitle().contains("traces"), qPrintable(shown.app.window.windowTitle()));
}

void JobViewTest::moreRanksThanPixelsShowTheLargest()
{
    JobHeatMap map(nullptr);
    map.resize(500, 250);
    map.setFigure(JobFigure::StepTime);
    map.setFigures(std::make_shared<const app::JobFigures>(
        madeUp(1000, 40, [](std::size_t rank, std::size_t step) { return rank == 437 && step == 23 ? 200 : 100; })));
    const QRect cell = map.rectOf({437, 23});
    QCOMPARE(cell.height(), 1); // several ranks share it
    QVERIFY(map.colorOf({437, 23}).lightness() > map.colorOf({500, 23}).lightness() + 80);
    QCOMPARE(map.cellAt(cell.center()), std::optional(JobHeatMap::Cell{437, 23}));
    const QImage image = map.grab().toImage();
    QCOMPARE(image.pixelColor(cell.center()), map.colorOf({437, 23}));
    // Each rank has its place, also the last one.
    QVERIFY(map.rectOf({999, 0}).bottom() > map.rectOf({0, 0}).bottom() + 100);
    for (std::size_t rank = 1; rank < 1000; ++rank)
        QVERIFY(map.rectOf({rank, 0}).top() - map.rectOf({rank - 1, 0}).top() <= 1);
    // The same for steps.
    map.setFigures(std::make_shared<const app::JobFigures>(
        madeUp(2, 3000, [](std::size_t rank, std::size_t step) { return rank == 1 && step == 1234 ? 200 : 100; })));
    QCOMPARE(map.cellAt(map.rectOf({1, 1234}).center()), std::optional(JobHeatMap::Cell{1, 1234}));
    QVERIFY(map.colorOf({1, 1234}).lightness() > map.colorOf({0, 1234}).lightness() + 80);
}

void JobViewTest::stepsThatWereNotRecordedHaveNoColor()
{
    JobHeatMap map(nullptr);
    map.resize(500, 250);
    map.setFigure(JobFigure::StepTime);
    map.setFigures(std::make_shared<const app::JobFigures>(
        madeUp(8, 10, [](std::size_t rank, std::size_t) { return rank == 3 ? std::nan("") : 100; })));
    QVERIFY(map.colorOf({2, 4}).isValid());
    QVERIFY(!map.colorOf({3, 4}).isValid());
    QVERIFY(map.describe({3, 4}) != map.describe({2, 4}));
    map.setFigures(nullptr);
    QVERIFY(!map.cellAt({100, 100}));
    QTest::keyClick(&map, Qt::Key_Down);
    QVERIFY(!map.current());
}

void JobViewTest::numbersAreListedAsRanges()
{
    const std::vector<std::int64_t> numbers{0, 2, 3, 4, 5, 7, 8, 10};
    QCOMPARE(app::formatNumbers(numbers), QString("0, 2–5, 7, 8, 10"));
    QCOMPARE(app::formatNumbers(numbers, 2), QString("0, 2–5 and 3 more"));
    QCOMPARE(app::formatNumbers({}), QString());
}

QTEST_MAIN(JobViewTest)
#include "job_view_test.moc"
