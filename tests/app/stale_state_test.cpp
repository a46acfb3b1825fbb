#include "app/tables/table_bar.h"
#include "app/tables/table_panel.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/compare/compare.h"
#include "app/views/timeline/timeline_view.h"
#include "app/window/window_strips.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/support/trace_text.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTextEdit>
#include <QToolBar>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>

// A window that showed another trace before looks the same as a new window: no state of the earlier trace is left.

using app_test::App;
using app_test::find;

namespace {

constexpr int kPatienceMs = 60'000;
constexpr int kMostRows = 50; ///< rows of a table: the first ones identify the trace

std::unique_ptr<app_test::OwnFolders> folders;

/// A training with a loader, a device, NVTX ranges and a counter.
std::string deviceTraining()
{
    return R"(meta workload convnet
device 0 "First GPU"
lost dropped=3 note="the first recorder lost something"
repeat 24 every 1000
  main
    step 0 0 1000
    phase "data wait" 0 400
    phase forward 400 300
    op aten::first_convolution 410 200
    call cudaLaunchKernel 420 10 corr=1
    phase backward 700 200
    phase optimizer 900 90
    nvtx first_range 0 500
  worker 0
    stage first_decode 0 380
  stream 0 7
    kernel first_gemm 450 100 corr=1
    copy HtoD 390 20 bytes=4000000 src=pageable dst=device
    memset first_memset 560 5 bytes=1000
  counter first_counter
    sample 0 5
end
)";
}

/// A CPU training: no device, no loader, no ranges, other names.
std::string hostTraining()
{
    return R"(meta workload mlp
repeat 9 every 3000
  main
    step 0 0 3000
    phase "data wait" 0 30
    phase forward 30 2000
    op aten::second_linear 40 1500
    phase backward 2030 900
    op aten::second_backward 2040 700
    phase optimizer 2930 60
end
)";
}

/// No steps at all.
std::string unmarked()
{
    return "main\nop aten::third 0 50\nop aten::third 60 50\nop aten::fourth 120 10\n";
}

std::filesystem::path save(const QTemporaryDir& folder, const char* name, const std::string& text)
{
    const std::filesystem::path path = folder.filePath(name).toStdString();
    if (!profiler::formats::saveTrace(*test_support::traceFromText(text), path, {}))
        qFatal("a test's trace cannot be written");
    return path;
}

void open(App& app, const std::filesystem::path& file)
{
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(file);
    const bool done = QTest::qWaitFor(
        [&] {
            return opened.count() == 1 && app.bench.document.analysed() && app.bench.document.advice() &&
                   app.bench.document.analysed()->trace == app.bench.document.trace();
        },
        kPatienceMs);
    if (!done)
        qFatal("%s was not opened and analysed", file.c_str());
}

QString describe(const QWidget& widget, const QString& what, const QString& text)
{
    return QString("%1(%2) %3: %4").arg(widget.metaObject()->className(), widget.objectName(), what, text);
}

void addRows(QStringList& texts, const QAbstractItemView& view)
{
    const QAbstractItemModel* model = view.model();
    if (!model)
        return;
    for (int row = 0; row < std::min(model->rowCount(), kMostRows); ++row)
        for (int column = 0; column < model->columnCount(); ++column)
            texts << describe(view, QString("cell %1, %2").arg(row).arg(column),
                              model->index(row, column).data().toString());
    texts << describe(view, "rows", QString::number(model->rowCount()));
    texts << describe(view, "current", view.currentIndex().isValid() ? "some" : "none");
}

/// All texts of a widget: displayed, tooltip and accessible texts.
void addTexts(QStringList& texts, const QWidget& widget)
{
    const auto add = [&](const QString& what, const QString& text) {
        if (!text.isEmpty())
            texts << describe(widget, what, text);
    };
    add("tip", widget.toolTip());
    add("name", widget.accessibleName());
    add("description", widget.accessibleDescription());
    if (const auto* label = qobject_cast<const QLabel*>(&widget))
        add("text", label->text());
    else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        add("text", button->text() + (button->isEnabled() ? "" : " (off)") + (button->isChecked() ? " (checked)" : ""));
    else if (const auto* line = qobject_cast<const QLineEdit*>(&widget))
        add("text", line->text());
    else if (const auto* plain = qobject_cast<const QPlainTextEdit*>(&widget))
        add("text", plain->toPlainText());
    else if (const auto* rich = qobject_cast<const QTextEdit*>(&widget))
        add("text", rich->toPlainText());
    else if (const auto* bar = qobject_cast<const QProgressBar*>(&widget))
        add("value", QString::number(bar->value()));
    else if (const auto* choice = qobject_cast<const QComboBox*>(&widget)) {
        for (int i = 0; i < choice->count(); ++i)
            add("item", choice->itemText(i));
        add("current", choice->currentText());
    } else if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget);
               view && !qobject_cast<const QHeaderView*>(&widget)) // which contains the rows of its table
        addRows(texts, *view);
}

/// All visible texts of a window, with each dock brought to the front in turn.
QStringList visibleTexts(App& app)
{
    QStringList texts{"title: " + app.window.windowTitle()};
    const auto addVisible = [&](const QWidget& root) {
        for (const auto* widget : root.findChildren<QWidget*>())
            if (widget->isVisible())
                addTexts(texts, *widget);
    };
    for (auto* dock : app.window.findChildren<QDockWidget*>()) {
        texts << "dock: " + dock->windowTitle();
        dock->show();
        dock->raise();
        QTest::qWait(50); // VisibilityWatcher reports from the event loop
        const bool settled = QTest::qWaitFor(
            [&] {
                const auto tables = dock->findChildren<app::TablePanel*>();
                const auto buttons = dock->findChildren<QToolButton*>();
                const auto* looking = dock->findChild<QLabel*>("lookingCloser");
                const bool isUpToDate =
                    std::all_of(tables.begin(), tables.end(), [](const auto* table) { return table->isUpToDate(); });
                // PanelWork shows its cancel button while the panel reads the trace.
                const bool isReading = std::any_of(buttons.begin(), buttons.end(), [](const auto* button) {
                    return button->objectName().endsWith("Cancel") && button->isVisible() && button->isEnabled();
                });
                return isUpToDate && !isReading && !(looking && looking->isVisible());
            },
            kPatienceMs);
        if (!settled)
            qFatal("%s never settled", qPrintable(dock->objectName()));
        addVisible(*dock);
    }
    addVisible(*app.window.centralWidget());
    for (const auto* bar : app.window.findChildren<QStatusBar*>())
        addVisible(*bar);
    for (const auto* bar : app.window.findChildren<QToolBar*>())
        addVisible(*bar);
    if (QToolTip::isVisible())
        texts << "tool tip: " + QToolTip::text();
    texts.sort();
    return texts;
}

/// Differences between the two, for the failure message.
QString differences(const QStringList& was, const QStringList& is)
{
    QStringList extra, missing;
    std::set_difference(is.begin(), is.end(), was.begin(), was.end(), std::back_inserter(extra));
    std::set_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(missing));
    return "only after another trace:\n" + extra.join('\n') + "\nonly in a fresh window:\n" + missing.join('\n');
}

/// Leaves as much state behind as a user can.
void use(App& app, const std::filesystem::path& reference)
{
    const auto trace = app.bench.document.trace();
    // A selected slice, a range, marks, a bookmark and a search match.
    auto* canvas = app.window.findChild<app::TimelineCanvas*>();
    auto* timeline = app.window.findChild<app::TimelineView*>();
    const profiler::TimeRange whole = trace->range();
    canvas->setBookmark(whole.begin + whole.duration() / 2, "a place of the trace before");
    canvas->goToTime(whole.begin + whole.duration() / 3);
    canvas->marks().toggleMark();
    canvas->navigation().zoomIn();
    timeline->openFind();
    find<QLineEdit>(&app.window, "timelineFind")->setText("aten");
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(&app.window, "timelineFindPlace")->text().contains("found"), kPatienceMs);
    // In every dock: a selected row, a filter that hides most rows, expanded lists and tips.
    for (auto* dock : app.window.findChildren<QDockWidget*>()) {
        dock->show();
        dock->raise();
        QTest::qWait(30);
        if (auto* table = dock->findChild<app::TablePanel*>())
            table->bar()->setFilterText("nothing has this name");
    }
    for (const char* list : {"notFound", "cannotTell"})
        if (auto* widget = app.window.findChild<QWidget*>(list); widget && widget->isVisible())
            widget->findChild<QToolButton*>()->click();
    for (auto* why : app.window.findChildren<QToolButton*>("why"))
        why->click();
    auto* compare = app.window.findChild<app::ComparePanel*>();
    find<QDockWidget>(&app.window, "dock:compare")->raise();
    compare->compareWith(reference, "reference");
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(compare, "compareVerdict")->isVisible(), kPatienceMs);
    // A failed measurement, and a file that could not be opened.
    emit app.bench.experiments.failed("loader.workers", "the first trainer could not be started");
    emit app.bench.notices.noticed("Something about the trace before", {}, true);
    app.bench.document.selection()->selectRange({whole.begin, whole.begin + whole.duration() / 4});
    if (const auto steps = app.bench.document.analysed()->facts.steps; !steps.empty())
        app.bench.document.selection()->selectSlice(steps.front().slice);
    else
        app.bench.document.selection()->selectSlice(trace->ofKind(profiler::ActivityKind::CpuOp).front().id);
    QToolTip::showText({10, 10}, "about a slice of the trace before", canvas);
}

/// State of the user, not of the trace: a search, and the comparison target.
void prepare(App& app, const std::filesystem::path& reference)
{
    app.window.findChild<app::TimelineView*>()->openFind();
    find<QLineEdit>(&app.window, "timelineFind")->setText("aten");
    find<QDockWidget>(&app.window, "dock:compare")->raise();
    app.window.findChild<app::ComparePanel*>()->compareWith(reference, "reference");
}

void settle(App& app)
{
    find<QDockWidget>(&app.window, "dock:compare")->raise();
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(app.window.findChild<app::ComparePanel*>(), "compareVerdict")->isVisible(),
                             kPatienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(find<QLabel>(&app.window, "timelineFindPlace")->text().contains("found"), kPatienceMs);
    QTest::qWait(200); // the status line is redrawn ten times a second
    app.window.setFocus();
}

} // namespace

class StaleStateTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void noStateOfAnEarlierTraceIsLeft_data();
    void noStateOfAnEarlierTraceIsLeft();
    void nothingOfARunIsLeft();
    void aReportIsOfTheTraceOnScreen();
    void stepCountersStartWithTheFirstStep();
    void unfinishedWorkIsNeverAHundredPercent();
    void theToolbarShowsTheActivity();
};

void StaleStateTest::noStateOfAnEarlierTraceIsLeft_data()
{
    QTest::addColumn<std::string>("before");
    QTest::addColumn<std::string>("after");
    QTest::newRow("a device, then none") << deviceTraining() << hostTraining();
    QTest::newRow("no device, then one") << hostTraining() << deviceTraining();
    QTest::newRow("steps, then none") << deviceTraining() << unmarked();
}

void StaleStateTest::noStateOfAnEarlierTraceIsLeft()
{
    QFETCH(std::string, before);
    QFETCH(std::string, after);
    const QTemporaryDir folder;
    const auto first = save(folder, "first.sspack", before), second = save(folder, "second.sspack", after),
               reference = save(folder, "reference.sspack", hostTraining());
    QStringList fresh, used;
    {
        App app;
        open(app, second);
        prepare(app, reference);
        settle(app);
        fresh = visibleTexts(app);
    }
    QSettings().clear(); // recent traces do not belong to the trace
    {
        App app;
        open(app, first);
        use(app, reference);
        open(app, second);
        settle(app);
        used = visibleTexts(app);
    }
    QVERIFY2(used == fresh, qPrintable(differences(fresh, used)));
    QVERIFY(fresh.size() > 100); // it did search
}

void StaleStateTest::nothingOfARunIsLeft()
{
    const QTemporaryDir folder;
    const auto second = save(folder, "second.sspack", hostTraining());
    // The form, the undo history and the list of runs belong to the user and stay.
    const auto ofTheTrace = [](QStringList texts) {
        texts.erase(std::remove_if(texts.begin(), texts.end(),
                                   [](const QString& text) {
                                       return text.contains("ndo") || text.contains("Knob") ||
                                              text.contains("runsList") || text.startsWith("QHeaderView()") ||
                                              text.contains("compareWith") || text.contains("onlyChanged") ||
                                              text.contains("resetAll") || text.contains("records no operators");
                                   }),
                    texts.end());
        return texts;
    };
    QStringList fresh, used;
    {
        App app;
        app.bench.configuration.set(app_test::shortTraining(60), "short");
        open(app, second);
        QTest::qWait(200);
        app.window.setFocus();
        fresh = ofTheTrace(visibleTexts(app));
    }
    QSettings().clear();
    {
        App app;
        app.bench.configuration.set(app_test::shortTraining(60), "short");
        app.bench.training.start();
        QTRY_VERIFY_WITH_TIMEOUT(!app.bench.training.isOpen() && app.bench.document.analysed() &&
                                     app.bench.document.analysed()->trace == app.bench.document.trace(),
                                 kPatienceMs);
        open(app, second);
        QTest::qWait(200);
        app.window.setFocus();
        used = ofTheTrace(visibleTexts(app));
    }
    QVERIFY2(used == fresh, qPrintable(differences(fresh, used)));
}

void StaleStateTest::aReportIsOfTheTraceOnScreen()
{
    const QTemporaryDir folder;
    const auto first = save(folder, "first.sspack", deviceTraining()),
               second = save(folder, "second.sspack", hostTraining());
    const auto reportOf = [&](app::Workbench& bench, const char* name) {
        QSignalSpy told(&bench.notices, &app::Notices::noticed);
        const QString file = folder.filePath(name);
        bench.reports.saveReport(file.toStdString());
        if (!QTest::qWaitFor([&] { return told.count() == 1; }, kPatienceMs))
            qFatal("the report was not written");
        QFile read(file);
        return read.open(QIODevice::ReadOnly) ? QString::fromUtf8(read.readAll()) : QString();
    };
    App used, fresh;
    open(used, first);
    open(used, second);
    open(fresh, second);
    const QString report = reportOf(used.bench, "used.html");
    QVERIFY(!report.isEmpty() && !report.contains("first_"));
    QVERIFY(report.contains("second"));
}

void StaleStateTest::stepCountersStartWithTheFirstStep()
{
    App app;
    const auto* status = find<QStatusBar>(&app.window, {});
    const auto* bar = status->findChild<QProgressBar*>();
    const auto train = [&](int steps) {
        app.bench.configuration.set(app_test::shortTraining(steps), "training");
        app.bench.training.start();
        // Before the first step, no step count is shown.
        const auto connection =
            connect(&app.bench.training, &app::TrainingService::stateChanged, &app.window, [&](app::RunState state) {
                if (state == app::RunState::Running && app.bench.training.stepHistory().empty())
                    QVERIFY2(!bar->isVisible(), qPrintable(QString::number(bar->value())));
            });
        QVERIFY(!bar->isVisible() || app.bench.training.state() == app::RunState::Starting);
        QTRY_VERIFY_WITH_TIMEOUT(!app.bench.training.isOpen(), kPatienceMs);
        disconnect(connection);
        QVERIFY(!bar->isVisible());
    };
    train(30);
    train(20); // after a run whose progress bar was full
}

void StaleStateTest::unfinishedWorkIsNeverAHundredPercent()
{
    QSettings().setValue("loading/previewAfterMs", 0);
    const QTemporaryDir folder;
    std::string text = "main\n";
    text.reserve(4'000'000);
    for (int i = 0; i < 60'000; ++i)
        text += "op aten::mm " + std::to_string(10 * i) + " 5\n";
    const auto file = save(folder, "long.json", text);
    app::Workbench bench;
    std::vector<double> shares;
    connect(&bench.document, &app::TraceDocument::loading, this,
            [&](const QString&, double share) { shares.push_back(share); });
    QSignalSpy opened(&bench.document, &app::TraceDocument::traceOpened);
    bench.document.openTrace(file);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QVERIFY(shares.size() >= 2);
    QCOMPARE(shares.back(), 1.0);
    shares.pop_back();
    QVERIFY(std::all_of(shares.begin(), shares.end(), [](double share) { return share < 0.995; }));
}

void StaleStateTest::theToolbarShowsTheActivity()
{
    App app;
    const auto* label = [&]() -> const QLabel* {
        for (const auto* one : app.window.findChildren<QLabel*>())
            if (one->accessibleName() == "Current run")
                return one;
        return nullptr;
    }();
    QVERIFY(label);
    app.bench.jobs.begin(app::Job::Recording);
    QVERIFY2(label->text().contains("recording"), qPrintable(label->text()));
    app.bench.jobs.end(app::Job::Recording);
    QVERIFY(!label->text().contains("recording"));
    const QTemporaryDir folder;
    const auto file = save(folder, "first.sspack", hostTraining());
    QSignalSpy opened(&app.bench.document, &app::TraceDocument::traceOpened);
    app.bench.document.openTrace(file);
    QCOMPARE(label->text(), QString("opening a trace…"));
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, kPatienceMs);
    QCOMPARE(label->text(), QString("first.sspack"));
}

QTEST_MAIN(StaleStateTest)
#include "stale_state_test.moc"
