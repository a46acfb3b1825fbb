#include "app/document/trace_pair.h"
#include "app/look/display_text.h"
#include "app/tables/evidence_table.h"
#include "app/tables/table_panel.h"
#include "app/tables/table_view.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/flame/flame_graph.h"
#include "app/views/flame/flame_panel.h"
#include "app/views/memory/memory_panel.h"
#include "app/views/steps/steps.h"
#include "profiler/formats/format.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"
#include "tests/app/story_support.h"
#include "tests/support/allocator_trace.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cstdio>
#include <ctime>

// Ten tasks of a user who reads a trace, done in the window with the mouse and the keyboard only. For each: its clicks
// and keys, its time, and the longest time during which the window did not react to events, by the clock and in CPU
// time of the thread. Ordinarily on a small trace; STEPSCOPE_STORY_SLICES=10000000 runs it on a large one, and
// STEPSCOPE_STORY_MOST_MS fails it if one reaction takes more CPU time than this.

using app::Side;
using app_test::App;
using app_test::find;
using app_test::StoryAnswers;

namespace {

constexpr int kPatienceMs = 30'000;

std::unique_ptr<app_test::OwnFolders> folders;

std::size_t slicesFromEnvironment()
{
    const qulonglong slices = qEnvironmentVariable("STEPSCOPE_STORY_SLICES").toULongLong();
    return slices > 0 ? slices : 40'000;
}

double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Measures how long the event loop of this thread does not run. Its timer ticks every millisecond; the time between
/// two ticks is the time that an event took.
class Watchdog : public QObject {
public:
    Watchdog()
    {
        m_tick.setTimerType(Qt::PreciseTimer);
        m_tick.setInterval(1);
        connect(&m_tick, &QTimer::timeout, this, &Watchdog::look);
    }
    void begin()
    {
        m_longestMs = m_longestCpuMs = 0;
        m_stalls = 0;
        m_tick.start();
        pass();
    }
    void end()
    {
        look();
        m_tick.stop();
    }
    /// What was done since the last tick was not the window's.
    void pass()
    {
        m_since.start();
        m_cpu = threadMs();
    }
    [[nodiscard]] double longestMs() const { return m_longestMs; }
    [[nodiscard]] double longestCpuMs() const { return m_longestCpuMs; }
    [[nodiscard]] int stalls() const { return m_stalls; } ///< of more than 50 ms of CPU time

private:
    void look()
    {
        const double wall = static_cast<double>(m_since.nsecsElapsed()) / 1e6, cpu = threadMs() - m_cpu;
        m_longestMs = std::max(m_longestMs, wall);
        m_longestCpuMs = std::max(m_longestCpuMs, cpu);
        m_stalls += cpu > 50 ? 1 : 0;
        pass();
    }

    QTimer m_tick;
    QElapsedTimer m_since;
    double m_cpu = 0, m_longestMs = 0, m_longestCpuMs = 0;
    int m_stalls = 0;
};

/// Runs the event loop, which sleeps when there is nothing to do, unlike QTest::qWaitFor().
bool waitFor(const std::function<bool()>& condition)
{
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (timer.elapsed() > kPatienceMs)
            return false;
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    return true;
}

void settle(int ms)
{
    QElapsedTimer timer;
    timer.start();
    waitFor([&] { return timer.elapsed() >= ms; });
}

/// A hand: counts what it does.
struct Hand {
    QWidget* window = nullptr;
    int clicks = 0, keys = 0;

    void click(QWidget* widget, QPoint at, Qt::KeyboardModifiers modifiers = {})
    {
        ++clicks;
        QTest::mouseClick(widget, Qt::LeftButton, modifiers, at);
        QCoreApplication::processEvents();
    }
    void click(QWidget* widget) { click(widget, widget->rect().center()); }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        ++keys;
        QTest::keyClick(focus(), key, modifiers);
        QCoreApplication::processEvents();
    }
    /// The shortcut of an action.
    void press(const QAction* action)
    {
        if (action->shortcut().isEmpty())
            qFatal("%s has no shortcut", qPrintable(action->objectName()));
        const QKeyCombination shortcut = action->shortcut()[0];
        press(shortcut.key(), shortcut.keyboardModifiers());
    }
    void type(const QString& text)
    {
        keys += static_cast<int>(text.size());
        for (const QChar c : text) {
            QTest::keyClick(focus(), c.toLatin1());
            QCoreApplication::processEvents();
        }
    }
    void paste(QLineEdit* into, const QString& text)
    {
        keys += 2;
        into->setText(text);
    }
    /// What gets the keys: in a dialog, if one is open.
    [[nodiscard]] QWidget* focus() const
    {
        if (QWidget* focus = QApplication::focusWidget())
            return focus;
        window->activateWindow();
        return window->focusWidget() ? window->focusWidget() : window;
    }
    /// Chooses an entry of a combo box with the keyboard.
    void choose(QComboBox* box, int entry)
    {
        click(box);
        keys += entry + 2;
        QTest::keyClick(box->view(), Qt::Key_Home);
        for (int i = 0; i < entry; ++i)
            QTest::keyClick(box->view(), Qt::Key_Down);
        QTest::keyClick(box->view(), Qt::Key_Return);
        QCoreApplication::processEvents();
        window->activateWindow();
        if (box->currentIndex() != entry)
            qFatal("%s shows entry %d", qPrintable(box->objectName()), box->currentIndex());
    }
};

} // namespace

class StoryTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void initTestCase();
    void findTheLongestKernelOfAStep();
    void followItToItsLaunchAndPythonLine();
    void seeTheGapBeforeIt();
    void sumAnOperator();
    void compareTwoSteps();
    void listPageableCopies();
    void exportTheTable();
    void explainASlowStep();
    void compareTwoTracesByKernel();
    void findTheHolderOfThePeak();
    void cleanupTestCase();

private:
    void begin(const char* task);
    void end();
    void open(const char* action, const QString& file);
    void typeFile(const QString& file);
    void goToTheSlowStep();
    void goTo(const char* view) { hand.press(find<QAction>(&app->window, QString("goTo:%1").arg(view))); }
    app::TablePanel* showTable(const char* view);
    void filter(app::TablePanel* table, const QString& text);
    void sortBy(app::TablePanel* table, const QString& title);
    [[nodiscard]] QString cell(app::TablePanel* table, int row, const QString& title) const;
    [[nodiscard]] app::Selection* selection() const { return app->bench.document.selection(); }
    [[nodiscard]] std::optional<profiler::Slice> selected() const;
    [[nodiscard]] app::TimelineCanvas* canvas() const { return app->window.findChild<app::TimelineCanvas*>(); }
    bool analysed();
    void activate();

    QTemporaryDir folder;
    QString trace, second, snapshot, csv;
    StoryAnswers answers;
    std::unique_ptr<App> app;
    Hand hand;
    Watchdog watchdog;
    QElapsedTimer timer;
    QString task;
    QStringList table;
    double mostCpuMs = 0;
};

void StoryTest::initTestCase()
{
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QSettings().clear();
    const std::size_t slices = slicesFromEnvironment();
    trace = folder.filePath("first.sspack");
    second = folder.filePath("second.sspack");
    snapshot = folder.filePath("memory.sspack");
    csv = folder.filePath("copies.csv");
    {
        const auto first = app_test::storyTrace(slices, 1, &answers);
        qInfo("%zu slices, %lld steps", first->sliceCount(), static_cast<long long>(answers.steps));
        QVERIFY(profiler::formats::saveTrace(*first, trace.toStdString(), {}).has_value());
    }
    QVERIFY(profiler::formats::saveTrace(*app_test::storyTrace(slices / 10, 0.7, nullptr), second.toStdString(), {})
                .has_value());
    const std::string build = "/venv/torch/nn/modules/linear.py:1 __init__\n/me/model.py:5 __init__";
    const auto memory = test_support::AllocatorTrace()
                            .alloc(0x1000, 4'000'000, build)
                            .alloc(0x1000 + 5'000'000, 3'000'000, "/me/train.py:41 main")
                            .free(0x1000 + 5'000'000, 3'000'000, "/me/train.py:41 main")
                            .trace();
    QVERIFY(profiler::formats::saveTrace(*memory, snapshot.toStdString(), {}).has_value());
    app = std::make_unique<App>(QSize(1920, 1080));
    hand.window = &app->window;
    activate();
    begin("0. open the trace");
    open("openTrace", trace);
    QVERIFY(waitFor([this] { return analysed(); }));
    end();
    QCOMPARE(app->bench.document.trace()->sliceCount() > slices / 2, true);
    settle(500); // what starts by itself after opening
}

bool StoryTest::analysed()
{
    const auto& document = app->bench.document;
    return document.trace()->sliceCount() > 0 && !document.isLoading() && document.analysed() &&
           document.analysed()->trace == document.trace() && document.advice();
}

void StoryTest::begin(const char* name)
{
    task = name;
    hand.clicks = hand.keys = 0;
    watchdog.begin();
    timer.start();
}

void StoryTest::end()
{
    watchdog.end();
    const double seconds = static_cast<double>(timer.nsecsElapsed()) / 1e9;
    mostCpuMs = std::max(mostCpuMs, watchdog.longestCpuMs());
    table << QString("%1 %2 %3 %4 %5 %6 %7")
                 .arg(task, -44)
                 .arg(hand.clicks, 6)
                 .arg(hand.keys, 6)
                 .arg(seconds, 8, 'f', 2)
                 .arg(watchdog.longestMs(), 10, 'f', 1)
                 .arg(watchdog.longestCpuMs(), 10, 'f', 1)
                 .arg(watchdog.stalls(), 7);
}

/// Types the name of a file into the dialog that the keys open.
void StoryTest::typeFile(const QString& file)
{
    auto* look = new QTimer(this);
    connect(look, &QTimer::timeout, this, [this, look, file] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (!qobject_cast<QFileDialog*>(dialog))
            return;
        look->deleteLater();
        look->stop();
        hand.paste(find<QLineEdit>(dialog, "fileNameEdit"), file);
        ++hand.keys;
        QMetaObject::invokeMethod(dialog, "accept");
    });
    look->start(5);
}

void StoryTest::open(const char* name, const QString& file)
{
    typeFile(file);
    hand.press(find<QAction>(&app->window, name));
    activate();
}

/// A window manager does so when a dialog is closed.
void StoryTest::activate()
{
    app->window.activateWindow();
    QVERIFY(waitFor([this] { return app->window.isActiveWindow(); }));
}

app::TablePanel* StoryTest::showTable(const char* view)
{
    auto* dock = find<QDockWidget>(&app->window, QString("dock:%1").arg(view));
    auto* action = find<QAction>(&app->window, QString("goTo:%1").arg(view));
    if (action->shortcut().isEmpty()) { // its tab
        auto* bar = app->window.findChild<QTabBar*>();
        for (QTabBar* each : app->window.findChildren<QTabBar*>())
            for (int i = 0; i < each->count(); ++i)
                if (each->parent() == &app->window && each->tabText(i) == dock->windowTitle()) {
                    bar = each;
                    hand.click(bar, bar->tabRect(i).center());
                }
        dock->widget()->setFocus();
    } else {
        hand.press(action);
    }
    auto* panel = dock->findChild<app::TablePanel*>();
    if (!waitFor([panel] { return panel->isUpToDate() && panel->view()->table()->rowCount() > 0; }))
        qFatal("%s has no rows: visible %d", view, panel->isVisible());
    return panel;
}

void StoryTest::filter(app::TablePanel* panel, const QString& text)
{
    panel->view()->setFocus();
    hand.press(Qt::Key_F, Qt::ControlModifier);
    hand.press(Qt::Key_A, Qt::ControlModifier);
    hand.type(text);
    settle(200); // the pause after typing
    QVERIFY(waitFor([panel] { return panel->isUpToDate(); }));
}

void StoryTest::sortBy(app::TablePanel* panel, const QString& title)
{
    QHeaderView* header = panel->view()->horizontalHeader();
    bool found = false;
    for (int column = 0; column < panel->view()->table()->columnCount(); ++column)
        if (panel->view()->table()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == title) {
            QVERIFY2(!header->isSectionHidden(column), qPrintable(title));
            found = true;
            hand.click(header->viewport(), QPoint(header->sectionViewportPosition(column) + 12, header->height() / 2));
            break; // the columns may be others now
        }
    QVERIFY2(found, qPrintable(title));
    QVERIFY(waitFor([panel] { return panel->isUpToDate(); }));
}

QString StoryTest::cell(app::TablePanel* panel, int row, const QString& title) const
{
    const app::TableModel* model = panel->view()->table();
    for (int column = 0; column < model->columnCount(); ++column)
        if (model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == title)
            return model->index(row, column).data().toString();
    return QString("no column %1").arg(title);
}

std::optional<profiler::Slice> StoryTest::selected() const
{
    const auto id = selection()->slice();
    return id ? std::optional(app->bench.document.trace()->slice(*id)) : std::nullopt;
}

void StoryTest::findTheLongestKernelOfAStep()
{
    begin("1. longest kernel of step 7");
    app::TablePanel* kernels = showTable("kernels");
    filter(kernels, QString("step=%1").arg(answers.stepWithKernel));
    sortBy(kernels, "Max");
    hand.click(kernels->view()->viewport(),
               kernels->view()->visualRect(kernels->view()->table()->index(0, 0)).center());
    QVERIFY(waitFor([this] { return selected().has_value(); }));
    settle(50);
    end();
    QCOMPARE(QString::fromStdString(std::string(app->bench.document.trace()->name(*selected()))),
             QString::fromStdString(answers.kernel));
    QCOMPARE(selected()->duration.count(), answers.kernelNs);
    QCOMPARE(cell(kernels, 0, "Name"), QString("mean (reduce)"));
    QCOMPARE(kernels->view()->table()->index(0, 0).data(Qt::ToolTipRole).toString(),
             QString::fromStdString(answers.kernel));
}

void StoryTest::followItToItsLaunchAndPythonLine()
{
    begin("2. its launching call and Python line");
    goTo("timeline");
    hand.press(Qt::Key_BracketLeft);
    goTo("selection");
    const auto linkedLine = [this] {
        const auto links = find<QDockWidget>(&app->window, "dock:selection")->findChildren<QPushButton*>();
        return std::any_of(links.begin(), links.end(), [this](const QPushButton* link) {
            return link->isVisible() && link->accessibleName().contains(QString::fromStdString(answers.line));
        });
    };
    const bool found = waitFor([&] { return selected() && linkedLine(); });
    end();
    QStringList links;
    for (const auto* link : find<QDockWidget>(&app->window, "dock:selection")->findChildren<QPushButton*>())
        links << link->accessibleName();
    QVERIFY2(found, qPrintable(links.join(", ")));
    QCOMPARE(selected()->kind, profiler::ActivityKind::CudaRuntime);
    QCOMPARE(selected()->correlation.value, answers.correlation);
}

void StoryTest::seeTheGapBeforeIt()
{
    begin("3. the gap before that kernel and its cause");
    goTo("timeline");
    hand.press(Qt::Key_BracketRight);
    settle(100);
    end();
    const auto kernel = selected();
    QVERIFY(kernel && kernel->kind == profiler::ActivityKind::Kernel);
    const app::TimelineScene& scene = canvas()->scene();
    QVERIFY(scene.gaps);
    const auto visible = scene.axis.visible();
    const auto gaps = scene.gaps->in({0}, {visible.begin, kernel->begin + profiler::Nanoseconds{1}});
    QVERIFY(!gaps.empty());
    const auto& gap = gaps.back();
    QCOMPARE(gap.range.end, kernel->begin);
    QVERIFY2(std::abs(gap.range.duration().count() - answers.gapNs) < 2'000,
             qPrintable(QString("%1, %2").arg(gap.range.duration().count()).arg(answers.gapNs)));
    QVERIFY(visible.contains(gap.range.begin + gap.range.duration() / 2));
    QVERIFY(!app::gapWord(gap.cause).isEmpty());
}

void StoryTest::sumAnOperator()
{
    begin("4. total time of all aten::copy_");
    app::TablePanel* ops = showTable("ops");
    filter(ops, "name=aten::copy_");
    end();
    QCOMPARE(ops->view()->table()->rowCount(), 1);
    QCOMPARE(cell(ops, 0, "Total"), app::formatDuration(profiler::Nanoseconds{answers.copyNs}));
    QCOMPARE(cell(ops, 0, "Count"), app::formatCount(2 * answers.steps));
}

void StoryTest::goToTheSlowStep()
{
    goTo("timeline");
    hand.press(Qt::Key_G, Qt::ControlModifier);
    QVERIFY(waitFor([this] { return app->window.findChild<QDialog*>("goTo") != nullptr; }));
    hand.type(QString("step %1").arg(answers.slowStep));
    hand.press(Qt::Key_Return);
    activate();
}

void StoryTest::compareTwoSteps()
{
    begin("5. compare two steps");
    goToTheSlowStep();
    auto* dock = find<QDockWidget>(&app->window, "dock:flame");
    for (QTabBar* bar : app->window.findChildren<QTabBar*>())
        for (int i = 0; i < bar->count(); ++i)
            if (bar->parent() == &app->window && bar->tabText(i) == dock->windowTitle())
                hand.click(bar, bar->tabRect(i).center());
    auto* panel = dock->findChild<app::FlamePanel*>();
    hand.choose(find<QComboBox>(panel, "flameScope"), int(app::FlamePanel::Scope::SelectedStep));
    auto* other = find<QComboBox>(panel, "flameOther");
    hand.choose(other, other->findData(int(app::FlamePanel::Other::MedianStep)));
    const bool done = waitFor(
        [panel] { return panel->isUpToDate() && panel->graph()->frames() && panel->graph()->frames()->isDifference; });
    end();
    QVERIFY(done);
    QVERIFY(panel->graph()->frames()->frames.size() > 3);
}

void StoryTest::listPageableCopies()
{
    begin("8. all pageable copies above 1 MB");
    app::TablePanel* copies = showTable("copies");
    auto* grouping = find<QComboBox>(copies, "tableGrouping");
    hand.choose(grouping, grouping->count() - 1);
    filter(copies, "from:pageable bytes>1MB");
    end();
    QCOMPARE(copies->view()->table()->rowCount(), static_cast<int>(answers.pageable));
}

void StoryTest::exportTheTable()
{
    begin("9. export the table");
    auto* copies = find<QDockWidget>(&app->window, "dock:copies")->findChild<app::TablePanel*>();
    copies->view()->setFocus();
    typeFile(csv);
    hand.press(Qt::Key_S, Qt::ControlModifier | Qt::AltModifier);
    activate();
    const bool written = waitFor([&] { return !copies->isSaving() && QFile::exists(csv); });
    end();
    QVERIFY(written);
    QFile file(csv);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().count('\n'), static_cast<int>(answers.pageable) + 1);
}

void StoryTest::explainASlowStep()
{
    begin("10. explain one slow step");
    goToTheSlowStep();
    auto* why = find<QToolButton>(&app->window, "whyIsThisStepSlow");
    QVERIFY(waitFor([why] { return why->isVisible(); }));
    hand.click(why);
    auto* dialog = app->window.findChild<app::StepExplanation*>();
    QVERIFY(dialog);
    const auto causes = [dialog] { return dialog->findChildren<QPushButton*>(); };
    const bool explained = waitFor([&] { return !causes().isEmpty(); });
    end();
    QVERIFY(explained);
    QVERIFY2(dialog->windowTitle().contains(QString::number(answers.slowStep)), qPrintable(dialog->windowTitle()));
    QStringList said;
    for (const QWidget* part : dialog->findChildren<QWidget*>())
        said << part->accessibleName() << part->toolTip();
    for (const QLabel* label : dialog->findChildren<QLabel*>())
        said << label->text();
    for (const QPushButton* button : causes())
        said << button->text();
    QVERIFY2(said.join(' ').contains("data"), qPrintable(said.join(' ')));
    dialog->close();
    activate();
}

void StoryTest::compareTwoTracesByKernel()
{
    begin("7. difference of two traces by kernel");
    open("openBeside", second);
    app::TracePair& pair = app->bench.pair;
    QVERIFY(waitFor([&] { return pair.isOpen() && !pair.steps(Side::Second).empty() && pair.isUpToDate(); }));
    goTo("timeline");
    hand.press(Qt::Key_PageDown, Qt::AltModifier);
    auto* of = find<QComboBox>(&app->window, "differenceOf");
    QVERIFY(waitFor([&] { return pair.isUpToDate() && pair.difference() && of->isVisible(); }));
    hand.choose(of, 2);
    end();
    const auto* rows = find<app::EvidenceTable>(&app->window, "differenceTable")->evidence();
    QVERIFY(rows->rowCount() >= 4);
    for (int row = 0; row < rows->rowCount(); ++row)
        QVERIFY2(rows->row(row).cells[0].text.contains("kernel") || rows->row(row).cells[0].text.contains("copy"),
                 qPrintable(rows->row(row).cells[0].text));
    QVERIFY2(rows->row(0).cells[3].number < 0, "the kernels of the second trace are faster");
    begin("   close the second trace");
    hand.press(find<QAction>(&app->window, "closeBeside"));
    end();
    QVERIFY(!pair.isOpen());
}

void StoryTest::findTheHolderOfThePeak()
{
    begin("6. biggest holder of the peak (a snapshot)");
    open("openTrace", snapshot);
    QVERIFY(waitFor([this] { return app->bench.document.path() == snapshot.toStdString() && analysed(); }));
    auto* dock = find<QDockWidget>(&app->window, "dock:memory");
    for (QTabBar* bar : app->window.findChildren<QTabBar*>())
        for (int i = 0; i < bar->count(); ++i)
            if (bar->parent() == &app->window && bar->tabText(i) == dock->windowTitle())
                hand.click(bar, bar->tabRect(i).center());
    auto* panel = dock->findChild<app::MemoryPanel*>();
    const bool done = waitFor([panel] { return panel->isUpToDate() && panel->table()->model()->rowCount() > 0; });
    end();
    QVERIFY(done);
    QCOMPARE(panel->table()->model()->index(0, 0).data().toString(), QString("model.py:5"));
    QCOMPARE(panel->table()->model()->index(0, 1).data().toString(), QString("4.00 MB"));
}

void StoryTest::cleanupTestCase()
{
    std::printf("\n%-44s %6s %6s %8s %10s %10s %7s\n", "task", "clicks", "keys", "seconds", "stall ms", "cpu ms",
                "> 50 ms");
    for (const QString& line : table)
        std::printf("%s\n", qPrintable(line));
    std::fflush(stdout);
    app.reset();
    const double most = qEnvironmentVariable("STEPSCOPE_STORY_MOST_MS").toDouble();
    QVERIFY2(most <= 0 || mostCpuMs <= most, qPrintable(QString("%1 ms").arg(mostCpuMs)));
}

QTEST_MAIN(StoryTest)
#include "story_test.moc"
