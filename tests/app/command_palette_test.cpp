#include "app/window/command_palette.h"

#include "app/document/trace_files.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/dock.h"
#include "app/window/dock_layout.h"
#include "tests/app/app_support.h"
#include "tests/app/app_window.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QDockWidget>
#include <QLineEdit>
#include <QListView>
#include <QSettings>
#include <QTest>

using app::matchScore;
using app::PaletteEntry;
using app_test::App;
using app_test::find;

namespace {

std::unique_ptr<app_test::OwnFolders> folders;

std::vector<PaletteEntry> entriesNamed(const QStringList& titles)
{
    std::vector<PaletteEntry> entries;
    for (const QString& title : titles)
        entries.push_back({title, {}, {}, true, false, 0, {}});
    return entries;
}

QStringList best(const std::vector<PaletteEntry>& entries, const QString& pattern)
{
    QStringList titles;
    for (const std::size_t entry : app::bestEntries(entries, pattern, 10))
        titles << entries[entry].title;
    return titles;
}

void openTrace(App& app)
{
    const auto file = app::sampleFile(app::allSamples().front());
    if (!file)
        qFatal("%s", file.error().message().c_str());
    app.bench.document.openTrace(*file);
    if (!QTest::qWaitFor([&] { return app.bench.document.analysed() && app.bench.document.advice(); }, 20'000))
        qFatal("the sample was not analysed in time");
    app.window.activateWindow();
}

/// The palette of a window, as a user operates it.
struct Palette {
    explicit Palette(App& app) : window(app.window)
    {
        QTest::keyClick(&app.window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        widget = find<app::CommandPalette>(&app.window, "commandPalette");
        text = find<QLineEdit>(widget, "commandText");
        list = find<QListView>(widget, "commandList");
    }
    void type(const QString& words) const
    {
        text->clear();
        QTest::keyClicks(text, words);
    }
    [[nodiscard]] QStringList titles() const
    {
        QStringList all;
        for (int row = 0; row < list->model()->rowCount(); ++row)
            all << list->model()->index(row, 0).data().toString();
        return all;
    }
    [[nodiscard]] QModelIndex titled(const QString& title) const
    {
        for (int row = 0; row < list->model()->rowCount(); ++row)
            if (list->model()->index(row, 0).data().toString() == title)
                return list->model()->index(row, 0);
        return {};
    }
    void press(Qt::Key key) const { QTest::keyClick(text, key); }

    app::MainWindow& window;
    app::CommandPalette* widget;
    QLineEdit* text;
    QListView* list;
};

} // namespace

class CommandPaletteTest : public QObject {
    Q_OBJECT
public:
    static void initMain() { folders = std::make_unique<app_test::OwnFolders>(); }

private slots:
    void init() { QSettings().clear(); }
    void lettersMustAppearInTheirOrder();
    void wholeWordsBeatScatteredLetters();
    void wordsMayComeInAnyOrder();
    void theContextMatchesLessThanTheTitle();
    void commandsComeBeforeSlicesThatMatchAsWell();
    void ofManyNamesOnlyTheWantedNumberIsReturned();
    void theNamesOfSlicesAreCounted();
    void aKeyOpensItAndEscClosesIt();
    void itListsActionsViewsSettingsKnobsAndSlices();
    void everyActionOfTheMenusIsListedWithItsKey();
    void enterRunsTheCommandUnderTheArrow();
    void aDisabledCommandIsShownAndDoesNotRun();
    void theNameOfAViewShowsItEvenIfItIsOpen();
    void aKnobIsFoundInTheForm();
    void aSliceNameIsSearchedOnTheTimeline();
    void theFocusedPanelIsTheOneThatACommandIsAbout();
};

void CommandPaletteTest::lettersMustAppearInTheirOrder()
{
    QVERIFY(matchScore(u"ztl", u"Zoom to selection"));
    QVERIFY(!matchScore(u"lzt", u"Zoom to selection"));
    QVERIFY(matchScore(u"ZOOM", u"zoom in"));
    QVERIFY(!matchScore(u"zoomx", u"zoom in"));
    QVERIFY(matchScore(u"", u"anything"));
    QVERIFY(!matchScore(u"a", u""));
}

void CommandPaletteTest::wholeWordsBeatScatteredLetters()
{
    QVERIFY(*matchScore(u"open", u"Open trace") > *matchScore(u"open", u"Reopen trace"));
    QVERIFY(*matchScore(u"open", u"Reopen trace") > *matchScore(u"open", u"Overlapped entries"));
    QVERIFY(*matchScore(u"add", u"aten::add") > *matchScore(u"add", u"aten::addmm_out_cuda_impl"));
    QVERIFY(*matchScore(u"fit", u"Fit") > *matchScore(u"fit", u"Fit all"));
    // Initials beat letters inside words.
    QVERIFY(*matchScore(u"ctr", u"Collapse tracks") > *matchScore(u"ctr", u"Select other"));
    QCOMPARE(best(entriesNamed({"Zoom out", "Reset zoom", "Zoom", "Show all"}), "zoom"),
             QStringList({"Zoom", "Zoom out", "Reset zoom"}));
}

void CommandPaletteTest::wordsMayComeInAnyOrder()
{
    QVERIFY(matchScore(u"trace open", u"Open trace"));
    QVERIFY(!matchScore(u"trace close", u"Open trace"));
    QCOMPARE(best(entriesNamed({"Light", "Open recent trace", "Open trace"}), "tr op").front(), QString("Open trace"));
}

void CommandPaletteTest::theContextMatchesLessThanTheTitle()
{
    auto entries = entriesNamed({"Dark", "Themes"});
    entries[0].context = "View › Theme";
    QCOMPARE(best(entries, "theme"), QStringList({"Themes", "Dark"}));
    QCOMPARE(best(entries, "dark theme"), QStringList("Dark"));
}

void CommandPaletteTest::commandsComeBeforeSlicesThatMatchAsWell()
{
    auto entries = entriesNamed({"forward", "forward"});
    entries[0].rank = 2;
    QCOMPARE(app::bestEntries(entries, u"forward", 1), std::vector<std::size_t>{1});
}

void CommandPaletteTest::ofManyNamesOnlyTheWantedNumberIsReturned()
{
    std::vector<PaletteEntry> entries;
    for (int i = 0; i < 21'000; ++i)
        entries.push_back(
            {QString("vectorized_elementwise_kernel<CUDAFunctor_add%1>").arg(i), "12 slices", {}, true, false, 2, {}});
    entries.push_back({"vecadd", {}, {}, true, false, 2, {}});
    const std::vector<std::size_t> best = app::bestEntries(entries, u"vecadd", 200);
    QCOMPARE(best.size(), std::size_t{200});
    QCOMPARE(best.front(), entries.size() - 1);
}

void CommandPaletteTest::theNamesOfSlicesAreCounted()
{
    App app;
    openTrace(app);
    const auto trace = app.bench.document.trace();
    const auto names = app::sliceNames(*trace, 10'000, {});
    QVERIFY(names.size() > 5);
    std::uint64_t slices = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        slices += names[i].slices;
        QVERIFY(i == 0 || names[i - 1].slices >= names[i].slices);
    }
    QCOMPARE(slices, std::uint64_t{trace->sliceCount()});
    QCOMPARE(app::sliceNames(*trace, 3, {}).size(), std::size_t{3});
}

void CommandPaletteTest::aKeyOpensItAndEscClosesIt()
{
    App app;
    openTrace(app);
    auto* canvas = app.window.findChild<app::TimelineCanvas*>();
    canvas->setFocus();
    const Palette palette(app);
    QVERIFY(palette.widget->isVisible());
    QCOMPARE(app.window.focusWidget(), static_cast<QWidget*>(palette.text));
    QVERIFY(app.window.rect().contains(palette.widget->geometry()));
    palette.type("zoom");
    QCOMPARE(palette.titles().front().left(4), QString("Zoom"));
    palette.press(Qt::Key_Escape);
    QVERIFY(!palette.widget->isVisible());
    QCOMPARE(app.window.focusWidget(), static_cast<QWidget*>(canvas));
}

void CommandPaletteTest::itListsActionsViewsSettingsKnobsAndSlices()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    for (const auto& [typed, title] : {std::pair("export tr", "Export trace"), std::pair("kernels", "Kernels"),
                                       std::pair("dark", "Dark"), std::pair("workers", "Workers"),
                                       std::pair("fit all", "Fit all"), std::pair("maximize", "Maximize timeline")}) {
        palette.type(typed);
        QVERIFY2(palette.titles().contains(title), typed);
    }
    palette.type("data wait");
    QTRY_VERIFY2(palette.titles().contains("data wait"), "a name of slices");
}

void CommandPaletteTest::everyActionOfTheMenusIsListedWithItsKey()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    for (const char* name : {"openTrace", "exportTrace", "saveReport", "home", "quit", "undo", "findKnob", "start",
                             "tuneTraining", "maximizeTimeline", "leftPanels", "zoomIn", "togglePin", "floatPanel"}) {
        const auto* action = find<QAction>(&app.window, name);
        const QString title = QString(action->text()).remove('&').remove(QStringLiteral("…"));
        palette.type(title);
        const QModelIndex entry = palette.titled(title);
        QVERIFY2(entry.isValid(), name);
        QVERIFY2(entry.data(Qt::AccessibleTextRole)
                     .toString()
                     .endsWith(action->shortcut().toString(QKeySequence::NativeText)),
                 name);
    }
}

void CommandPaletteTest::enterRunsTheCommandUnderTheArrow()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    palette.type("theme");
    const QModelIndex dark = palette.titled("Dark");
    QVERIFY(dark.isValid());
    for (int i = 0; i < 20 && palette.list->currentIndex().row() < dark.row(); ++i)
        palette.press(Qt::Key_Down);
    QCOMPARE(palette.list->currentIndex().data().toString(), QString("Dark"));
    palette.press(Qt::Key_Return);
    QVERIFY(!palette.widget->isVisible());
    QCOMPARE(app.appearance.theme(), app::Theme::Dark);
}

void CommandPaletteTest::aDisabledCommandIsShownAndDoesNotRun()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    palette.type("pause");
    const QModelIndex pause = palette.titled("Pause");
    QVERIFY(pause.isValid());
    QVERIFY(!pause.flags().testFlag(Qt::ItemIsEnabled));
    QVERIFY(palette.list->currentIndex() != pause);
}

void CommandPaletteTest::theNameOfAViewShowsItEvenIfItIsOpen()
{
    App app;
    openTrace(app);
    auto* dock = find<QDockWidget>(&app.window, "dock:kernels");
    for (int i = 0; i < 2; ++i) { // behind another tab, and in front
        const Palette palette(app);
        palette.type("kernels");
        palette.press(Qt::Key_Return);
        QTRY_VERIFY(app::isSeen(dock));
        QVERIFY(dock->isAncestorOf(app.window.focusWidget()));
    }
}

void CommandPaletteTest::aKnobIsFoundInTheForm()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    palette.type("workers");
    QCOMPARE(palette.list->currentIndex().data().toString(), QString("Workers"));
    palette.press(Qt::Key_Return);
    QVERIFY(find<QDockWidget>(&app.window, "dock:run")->isVisible());
    QCOMPARE(find<QLineEdit>(&app.window, "searchKnobs")->text(), QString("Workers"));
}

void CommandPaletteTest::aSliceNameIsSearchedOnTheTimeline()
{
    App app;
    openTrace(app);
    const Palette palette(app);
    palette.type("data wait");
    QTRY_VERIFY(palette.titled("data wait").isValid());
    palette.list->setCurrentIndex(palette.titled("data wait"));
    palette.press(Qt::Key_Return);
    const auto selected = [&] { return app.bench.document.selection()->slice(); };
    QTRY_VERIFY_WITH_TIMEOUT(selected().has_value(), 10'000);
    const auto trace = app.bench.document.trace();
    QCOMPARE(trace->name(trace->slice(*selected())), std::string_view("data wait"));
}

void CommandPaletteTest::theFocusedPanelIsTheOneThatACommandIsAbout()
{
    App app;
    openTrace(app);
    find<QAction>(&app.window, "goTo:ops")->trigger();
    auto* dock = find<QDockWidget>(&app.window, "dock:ops");
    QTRY_VERIFY(dock->isAncestorOf(app.window.focusWidget()));
    const Palette palette(app);
    const QString title = "Close " + dock->windowTitle();
    palette.type(title);
    QCOMPARE(palette.list->currentIndex().data().toString(), title);
    palette.press(Qt::Key_Return);
    QVERIFY(dock->isHidden());
}

QTEST_MAIN(CommandPaletteTest)
#include "command_palette_test.moc"
