#include "app/window/window_actions.h"

#include "app/document/trace_files.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/window/command_palette.h"
#include "app/window/dock.h"
#include "app/window/dock_layout.h"
#include "app/window/window_dialogs.h"
#include "app/window/workbench.h"

#include <QAction>
#include <QActionGroup>
#include <QFileInfo>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QToolBar>
#include <QToolButton>
#include <QWhatsThis>
#include <iterator>
#include <utility>

namespace app {

namespace {

constexpr int kHeadingMargin = 24;              ///< pixels around the heading of a menu
constexpr std::size_t kMostNames = 20'000;      ///< the palette filters as many names within a few milliseconds
constexpr int kSettingRank = 1, kSliceRank = 2; ///< commands come first

/// Text of an action without the mark of its access key and without dots.
QString plainText(const QAction& action)
{
    QString text = action.text();
    text.replace("&&", "\x01").remove('&').replace("\x01", "&");
    return text.remove(QStringLiteral("…"));
}

void addEntries(const QMenu& menu, const QString& context, std::vector<PaletteEntry>& entries)
{
    for (QAction* action : menu.actions()) {
        if (QMenu* below = action->menu()) {
            emit below->aboutToShow(); // some menus are filled when they open
            addEntries(*below, context + QStringLiteral(" › ") + plainText(*action), entries);
        } else if (!action->isSeparator() && !action->text().isEmpty() && action->isVisible()) {
            const QPointer<QAction> what = action;
            entries.push_back({plainText(*action), context, action->shortcut().toString(QKeySequence::NativeText),
                               action->isEnabled(), action->isChecked(), 0, [what] {
                                   if (what)
                                       what->trigger();
                               }});
        }
    }
}

} // namespace

WindowActions::WindowActions(Workbench* bench, Appearance* appearance, QMainWindow* window, DockLayout* layout,
                             WindowDialogs* dialogs)
    : QObject(window), m_bench(bench), m_appearance(appearance), m_window(window), m_layout(layout), m_dialogs(dialogs)
{
    makeActions();
    makeLayoutActions();
    makeMenus();
    makeToolBar();
    connect(m_layout, &DockLayout::changed, this, &WindowActions::showLayoutState);
    connect(&m_bench->document, &TraceDocument::traceChanged, this, &WindowActions::update);
    connect(&m_bench->pair, &TracePair::openChanged, this, &WindowActions::update);
    connect(&m_bench->pair, &TracePair::activeSideChanged, this, &WindowActions::fillTimelineMenu);
    connect(&m_bench->training, &TrainingService::stateChanged, this, &WindowActions::update);
    connect(&m_bench->jobs, &JobGuard::changed, this, &WindowActions::update);
    update();
    showLayoutState();
}

QAction* WindowActions::make(const QString& name, const QString& iconStem, const QString& text, const QKeySequence& key)
{
    auto* action = new QAction(iconStem.isEmpty() ? QIcon() : icon(iconStem), text, this);
    action->setObjectName(name);
    action->setShortcut(key);
    action->setToolTip(key.isEmpty() ? text
                                     : QString("%1 (%2)").arg(QString(text).remove('&').remove("…"),
                                                              key.toString(QKeySequence::NativeText)));
    m_window->addAction(action); // its shortcut also works when no menu or toolbar has it
    return action;
}

void WindowActions::makeActions()
{
    const auto add = [this](const QString& name, const QString& iconStem, const QString& text, const QKeySequence& key,
                            auto slot) {
        QAction* action = make(name, iconStem, text, key);
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    m_actions.start = add("start", "start", tr("&Start"), Qt::Key_F5, [this] { m_bench->training.start(); });
    m_actions.pause = add("pause", "pause", tr("&Pause"), Qt::Key_F6, [this] {
        m_bench->training.state() == RunState::Paused ? m_bench->training.resume() : m_bench->training.pause();
    });
    m_actions.stop = add("stop", "stop", tr("S&top"), Qt::SHIFT | Qt::Key_F5, [this] { m_bench->jobs.stop(); });
    m_actions.openTrace =
        add("openTrace", "open", tr("&Open trace…"), QKeySequence::Open, [this] { m_dialogs->openTrace(); });
    m_actions.openRemote = add("openRemote", {}, tr("Open re&mote trace…"), Qt::CTRL | Qt::ALT | Qt::Key_M,
                               [this] { m_dialogs->openRemote(); });
    m_actions.openJob =
        add("openJob", "folder", tr("Open a &job…"), Qt::CTRL | Qt::ALT | Qt::Key_J, [this] { m_dialogs->openJob(); });
    m_actions.openBeside = add("openBeside", "side_by_side", tr("Open &beside…"), Qt::CTRL | Qt::ALT | Qt::Key_O,
                               [this] { m_dialogs->openBeside(); });
    m_actions.closeBeside = add("closeBeside", {}, tr("C&lose second trace"), Qt::CTRL | Qt::ALT | Qt::Key_W,
                                [this] { m_bench->pair.close(); });
    m_actions.record = add("recordProgram", "record", tr("&Record program…"), Qt::CTRL | Qt::Key_R,
                           [this] { m_dialogs->recordProgram(); });
    m_actions.exportTrace = add("exportTrace", {}, tr("&Export trace…"), Qt::CTRL | Qt::SHIFT | Qt::Key_E,
                                [this] { m_dialogs->exportTrace(); });
    m_actions.saveReport = add("saveReport", {}, tr("Save re&port…"), Qt::CTRL | Qt::SHIFT | Qt::Key_R,
                               [this] { m_dialogs->saveReport(); });
    m_actions.tune = add("tuneTraining", "measure", tr("&Tune…"), Qt::CTRL | Qt::Key_T, [this] {
        m_layout->showDocument();
        m_layout->reveal("tune");
    });
    m_actions.openConfiguration = add("openConfiguration", {}, tr("Open &configuration…"),
                                      Qt::CTRL | Qt::SHIFT | Qt::Key_O, [this] { m_dialogs->openConfiguration(); });
    m_actions.saveConfiguration = add("saveConfiguration", "save", tr("Save configuration &as…"), QKeySequence::Save,
                                      [this] { m_dialogs->saveConfiguration(); });
    m_actions.home =
        add("home", {}, tr("Start &page"), Qt::ALT | Qt::Key_Home, [this] { m_layout->show(DocumentKind::Start); });
    m_actions.quit = add("quit", {}, tr("&Quit"), Qt::CTRL | Qt::Key_Q, [this] { m_window->close(); });
    m_actions.findKnob =
        add("findKnob", "search", tr("&Find setting"), Qt::CTRL | Qt::SHIFT | Qt::Key_F, [this] { findSetting({}); });
    m_actions.palette = add("commandPalette", "search", tr("&Command palette…"), Qt::CTRL | Qt::SHIFT | Qt::Key_P,
                            [this] { openPalette(); });
    m_actions.help = add("help", {}, tr("&Help"), QKeySequence::HelpContents, [this] { m_dialogs->showHelp(); });
    m_actions.undo = m_bench->configuration.undoStack()->createUndoAction(this, tr("&Undo"));
    m_actions.undo->setObjectName("undo");
    m_actions.undo->setShortcuts(QKeySequence::Undo);
    m_actions.undo->setIcon(icon("undo"));
    m_actions.redo = m_bench->configuration.undoStack()->createRedoAction(this, tr("&Redo"));
    m_actions.redo->setObjectName("redo");
    m_actions.redo->setShortcuts(QKeySequence::Redo);
    m_actions.redo->setIcon(icon("redo"));
}

void WindowActions::makeLayoutActions()
{
    m_actions.maximize = make("maximizeTimeline", "maximize", tr("&Maximize timeline"), Qt::CTRL | Qt::Key_M);
    m_actions.maximize->setCheckable(true);
    connect(m_actions.maximize, &QAction::triggered, this, [this](bool on) {
        m_layout->setMaximized(on);
        showLayoutState();
    });
    const auto addPanels = [this](const QString& name, const QString& text, Qt::Key key, Qt::DockWidgetArea area) {
        QAction* action = make(name, "panel_" + QString(name).remove("Panels"), text, key);
        action->setCheckable(true);
        connect(action, &QAction::triggered, this, [this, area](bool on) {
            m_layout->setAreaShown(area, on);
            showLayoutState();
        });
        return action;
    };
    m_actions.leftPanels =
        addPanels("leftPanels", tr("&Left panels: configuration, runs"), Qt::Key_F7, Qt::LeftDockWidgetArea);
    m_actions.bottomPanels =
        addPanels("bottomPanels", tr("&Bottom panels: selection, tables"), Qt::Key_F8, Qt::BottomDockWidgetArea);
    m_actions.rightPanels = addPanels("rightPanels", tr("&Right panel: advisor"), Qt::Key_F9, Qt::RightDockWidgetArea);
}

void WindowActions::makeMenus()
{
    QMenuBar* bar = m_window->menuBar();
    QMenu* file = bar->addMenu(tr("&File"));
    file->addAction(m_actions.openTrace);
    m_recentMenu = file->addMenu(tr("Open &recent trace or job"));
    m_recentMenu->setObjectName("recentTraces");
    connect(file, &QMenu::aboutToShow, this, &WindowActions::fillRecentMenu);
    file->addActions({m_actions.openRemote, m_actions.openJob, m_actions.openBeside, m_actions.closeBeside});
    file->addActions({m_actions.record, m_actions.exportTrace, m_actions.saveReport});
    file->addSeparator();
    file->addActions({m_actions.openConfiguration, m_actions.saveConfiguration});
    file->addSeparator();
    file->addActions({m_actions.home});
    file->addSeparator();
    file->addAction(m_actions.quit);
    QMenu* edit = bar->addMenu(tr("&Edit"));
    edit->addActions({m_actions.undo, m_actions.redo});
    edit->addSeparator();
    edit->addActions({m_actions.findKnob, m_actions.palette});
    QMenu* run = bar->addMenu(tr("&Run"));
    run->addActions({m_actions.start, m_actions.pause, m_actions.stop});
    run->addSeparator();
    run->addAction(m_actions.tune);
    m_viewMenu = bar->addMenu(tr("&View"));
    QMenu* help = bar->addMenu(tr("&Help"));
    help->addActions({m_actions.help, QWhatsThis::createAction(this)});
    help->addAction(tr("&About Stepscope"), m_dialogs, &WindowDialogs::showAbout);
}

void WindowActions::makeToolBar()
{
    auto* bar = new QToolBar(tr("Toolbar"), m_window);
    bar->setObjectName("toolBar");
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setIconSize({16, 16});
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->addAction(m_actions.leftPanels);
    bar->addSeparator();
    bar->addActions({m_actions.start, m_actions.pause, m_actions.stop, m_actions.tune});
    bar->addSeparator();
    m_runLabel = new ElidedLabel(bar);
    m_runLabel->setContentsMargins(8, 0, 8, 0);
    m_runLabel->setAccessibleName(tr("Current run"));
    QFont font = m_runLabel->font();
    font.setWeight(QFont::DemiBold);
    m_runLabel->setFont(font);
    bar->addWidget(m_runLabel);
    auto* spacer = new QWidget(bar);
    spacer->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(spacer);
    // Its shortcut belongs to the timeline: Ctrl+F searches in the focused view.
    QAction* find = bar->addAction(icon("search"), tr("Find…"), this, [this] {
        if (const TimelineCanvas* timeline = activeTimeline())
            timelineAction(*timeline, "find")->trigger();
    });
    find->setObjectName("findName");
    find->setToolTip(tr("Find a name on the timeline (Ctrl+F)"));
    bar->addActions({m_actions.undo, m_actions.redo});
    bar->addSeparator();
    bar->addAction(m_actions.openTrace);
    bar->addSeparator();
    bar->addActions({m_actions.bottomPanels, m_actions.rightPanels, m_actions.maximize});
    for (QAction* action : {m_actions.leftPanels, m_actions.undo, m_actions.redo, m_actions.bottomPanels,
                            m_actions.rightPanels, m_actions.maximize})
        if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action)))
            button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    m_window->addToolBar(bar);
}

void WindowActions::addViews()
{
    std::vector<QDockWidget*> docks;
    for (const DockLayout::PlacedView& placed : m_layout->views()) {
        if (placed.widget->objectName() == "timeline")
            makeTimelineMenu(placed.view.title);
        else
            addViewMenu(placed.widget, placed.view.title);
        if (placed.dock)
            docks.push_back(placed.dock);
    }
    m_dockController = new DockController(m_window, [this] { m_layout->focusCentre(); });
    m_viewMenu->addAction(m_actions.maximize);
    m_viewMenu->addActions({m_actions.leftPanels, m_actions.bottomPanels, m_actions.rightPanels});
    m_viewMenu->addSeparator();
    for (const DockLayout::PlacedView& placed : m_layout->views())
        if (!placed.dock && placed.widget->objectName() != "timeline") {
            QAction* strip = m_viewMenu->addAction(placed.view.title);
            strip->setObjectName("strip:" + placed.widget->objectName());
            strip->setCheckable(true);
            connect(strip, &QAction::triggered, this, [this, widget = placed.widget](bool on) {
                m_layout->setOpen(widget, on);
                showLayoutState();
            });
            m_strips.emplace_back(strip, placed.widget);
        }
    connect(m_viewMenu, &QMenu::aboutToShow, this, &WindowActions::showLayoutState); // strips can be dragged shut
    m_viewMenu->addSeparator();
    // Before the check boxes of the panels: the first match in the command palette shows a panel and never closes it.
    makeGoToMenu();
    m_dockController->addTo(m_viewMenu, docks);
    m_viewMenu->addSeparator();
    makeThemeMenu();
    m_viewMenu->addAction(tr("&Reset layout"), m_layout, &DockLayout::reset)->setObjectName("resetLayout");
}

void WindowActions::makeGoToMenu()
{
    QMenu* menu = m_viewMenu->addMenu(tr("&Go to"));
    const auto add = [&](const DockLayout::PlacedView& placed) {
        QAction* action = menu->addAction(placed.view.title, this, [this, placed] { m_layout->reveal(placed); });
        action->setObjectName("goTo:" + placed.widget->objectName());
        if (const auto number = menu->actions().size(); number <= 10)
            action->setShortcut(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number % 10));
    };
    for (const DockLayout::PlacedView& placed : m_layout->views())
        if (placed.widget->objectName() == "timeline")
            add(placed);
    for (const ViewArea area : {ViewArea::Bottom, ViewArea::Left, ViewArea::Right})
        for (const DockLayout::PlacedView& placed : m_layout->views())
            if (placed.view.area == area)
                add(placed);
}

void WindowActions::makeThemeMenu()
{
    QMenu* themes = m_viewMenu->addMenu(tr("&Theme"));
    auto* group = new QActionGroup(themes);
    const auto add = [&](const QString& name, const QString& text, Theme theme) {
        QAction* action = themes->addAction(text, this, [this, theme] { m_appearance->setTheme(theme); });
        action->setObjectName(name);
        action->setCheckable(true);
        action->setChecked(m_appearance->theme() == theme);
        group->addAction(action);
    };
    add("themeSystem", tr("Follow &system"), Theme::System);
    add("themeLight", tr("&Light"), Theme::Light);
    add("themeDark", tr("&Dark"), Theme::Dark);
}

void WindowActions::addViewMenu(QWidget* view, const QString& title)
{
    if (view->actions().isEmpty())
        return;
    auto* menu = new QMenu(title, m_window);
    menu->addActions(view->actions());
    m_window->menuBar()->insertMenu(m_viewMenu->menuAction(), menu);
}

void WindowActions::makeTimelineMenu(const QString& title)
{
    m_timelineMenu = new QMenu(title, m_window);
    m_timelineMenu->setObjectName("timelineMenu");
    m_window->menuBar()->insertMenu(m_viewMenu->menuAction(), m_timelineMenu);
    // The names of the traces may have changed.
    connect(m_timelineMenu, &QMenu::aboutToShow, this, &WindowActions::showTimelineName);
    fillTimelineMenu();
}

/// Fills the menu with the commands of the timeline that the user used last.
void WindowActions::fillTimelineMenu()
{
    const TimelineCanvas* timeline = activeTimeline();
    if (!timeline || !m_timelineMenu)
        return;
    m_timelineMenu->clear();
    for (QMenu* old : m_timelineMenu->findChildren<QMenu*>(Qt::FindDirectChildrenOnly))
        old->deleteLater();
    m_timelineName = m_timelineMenu->addSection({});
    for (QMenu* menu : timelineMenus(*timeline, m_timelineMenu))
        m_timelineMenu->addMenu(menu);
    showTimelineName();
}

/// Of two timelines, the menu names the one on which it acts.
void WindowActions::showTimelineName()
{
    const Side side = m_bench->pair.activeSide();
    const bool isNamed = m_bench->pair.isOpen();
    m_timelineName->setVisible(isNamed);
    const QString name =
        isNamed ? (side == Side::First ? tr("A  ·  %1") : tr("B  ·  %1")).arg(m_bench->pair.document(side)->title())
                : QString();
    m_timelineName->setText(QString(name).replace('&', "&&"));
    // A heading does not widen its menu.
    m_timelineMenu->setMinimumWidth(isNamed ? m_timelineMenu->fontMetrics().horizontalAdvance(name) + kHeadingMargin
                                            : 0);
}

/// Null before the views exist.
TimelineCanvas* WindowActions::activeTimeline() const
{
    const QString stem = m_bench->pair.activeSide() == Side::First ? "timeline" : "side_by_side";
    for (const DockLayout::PlacedView& placed : m_layout->views())
        if (placed.widget->objectName() == stem)
            return placed.widget->findChild<TimelineCanvas*>();
    return nullptr;
}

void WindowActions::update()
{
    const RunState state = m_bench->training.state();
    const QString busy = m_bench->jobs.whyBusy();
    m_actions.start->setEnabled(busy.isEmpty());
    m_actions.start->setToolTip(busy.isEmpty() ? tr("Start the training (F5)")
                                               : tr("%1 Running both would skew the results.").arg(busy));
    m_actions.pause->setEnabled(state == RunState::Running || state == RunState::Paused);
    m_actions.pause->setText(state == RunState::Paused ? tr("&Resume") : tr("&Pause"));
    m_actions.pause->setIcon(icon(state == RunState::Paused ? "start" : "pause"));
    m_actions.stop->setEnabled(m_bench->jobs.canStop());
    m_actions.openTrace->setEnabled(state == RunState::Idle);
    m_actions.openRemote->setEnabled(state == RunState::Idle);
    m_actions.openJob->setEnabled(state == RunState::Idle);
    m_actions.openBeside->setEnabled(state == RunState::Idle && holdsAnything(*m_bench->document.trace()));
    m_actions.closeBeside->setEnabled(m_bench->pair.isOpen());
    m_actions.exportTrace->setEnabled(state == RunState::Idle && holdsAnything(*m_bench->document.trace()));
}

bool WindowActions::canOpenBeside() const
{
    return m_actions.openBeside->isEnabled();
}

void WindowActions::showLayoutState()
{
    const bool hasViews = m_layout->shown().has_value();
    m_actions.maximize->setEnabled(hasViews && m_layout->shown() != DocumentKind::Start);
    m_actions.maximize->setChecked(m_layout->isMaximized());
    for (const auto& [action, area] : {std::pair(m_actions.leftPanels, Qt::LeftDockWidgetArea),
                                       std::pair(m_actions.bottomPanels, Qt::BottomDockWidgetArea),
                                       std::pair(m_actions.rightPanels, Qt::RightDockWidgetArea)}) {
        action->setEnabled(hasViews);
        action->setChecked(m_layout->isAreaShown(area));
    }
    for (const auto& [action, widget] : m_strips) {
        action->setEnabled(!widget->isHidden()); // a view without contents hides itself
        action->setChecked(m_layout->isOpen(widget));
    }
}

void WindowActions::showRun(const QString& text, const QString& toolTip)
{
    m_runLabel->setText(text);
    m_runLabel->setToolTip(toolTip);
}

void WindowActions::fillRecentMenu()
{
    m_recentMenu->clear();
    const QStringList recent = recentTraces();
    m_recentMenu->setEnabled(!recent.isEmpty() && m_actions.openTrace->isEnabled());
    for (const QString& file : recent) {
        const QFileInfo info(file);
        QString text = info.fileName();
        if (!info.exists())
            text = tr("%1 (missing)").arg(text);
        else if (info.isDir())
            text = tr("%1 (job)").arg(text);
        QAction* action = m_recentMenu->addAction(text.replace('&', "&&"), this, [this, file, isJob = info.isDir()] {
            if (isJob)
                m_bench->job.open({file.toStdString()});
            else
                m_bench->document.openFile(file.toStdString());
        });
        action->setToolTip(file);
        action->setEnabled(info.exists());
    }
    m_recentMenu->setToolTipsVisible(true);
    m_recentMenu->addSeparator();
    m_recentMenu->addAction(tr("&Clear list"), this, [] { forgetRecentTraces(); });
}

/// Brings the form with its search field to the front.
void WindowActions::findSetting(const QString& text)
{
    for (const DockLayout::PlacedView& placed : m_layout->views())
        if (auto* search = placed.widget->findChild<QLineEdit*>("searchKnobs")) {
            m_layout->reveal(placed);
            search->setFocus(Qt::ShortcutFocusReason);
            if (!text.isEmpty())
                search->setText(text);
            search->selectAll();
        }
}

/// Searches the timeline of the document for a name and goes to its first slice.
void WindowActions::findSlices(const QString& name)
{
    m_layout->reveal("timeline");
    m_bench->pair.setActiveSide(Side::First);
    const TimelineCanvas* timeline = activeTimeline();
    auto* text = m_window->findChild<QLineEdit*>("timelineFind");
    if (!timeline || !text)
        return;
    timelineAction(*timeline, "find")->trigger();
    text->setText(name);
    timelineAction(*timeline, "findNext")->trigger();
}

void WindowActions::openPalette()
{
    if (!m_palette)
        m_palette = new CommandPalette(m_window);
    std::vector<PaletteEntry> entries;
    for (const QAction* top : m_window->menuBar()->actions())
        if (QMenu* menu = top->menu()) {
            emit menu->aboutToShow();
            addEntries(*menu, plainText(*top), entries);
        }
    const config::TrainingConfig& configuration = m_bench->configuration.get();
    for (const config::Knob& knob : config::knobs())
        entries.push_back(
            {asQString(knob.label),
             tr("Setting › %1 · %2").arg(asQString(knob.group), QString::fromStdString(configuration.text(knob.key))),
             {},
             true,
             false,
             kSettingRank,
             [this, label = asQString(knob.label)] { findSetting(label); }});
    if (m_named == m_bench->document.trace()) {
        auto slices = sliceEntries();
        std::move(slices.begin(), slices.end(), std::back_inserter(entries));
    } else {
        readSliceNames();
    }
    m_palette->open(std::move(entries));
}

void WindowActions::readSliceNames()
{
    m_named.reset();
    m_sliceNames.clear();
    m_reading.start(
        [this, trace = m_bench->document.trace()](const std::stop_token& stop, const Background::Post& post) {
            std::vector<std::pair<QString, quint64>> names;
            for (const SliceName& found : sliceNames(*trace, kMostNames, stop))
                names.emplace_back(asQString(trace->string(found.name)), found.slices);
            post([this, trace, names = std::move(names)] {
                m_named = trace;
                m_sliceNames = names;
                if (m_palette->isVisible())
                    m_palette->add(sliceEntries());
            });
        },
        [](const profiler::Error&) {}); // without enough memory, the palette has no slice names
}

std::vector<PaletteEntry> WindowActions::sliceEntries()
{
    std::vector<PaletteEntry> entries;
    entries.reserve(m_sliceNames.size());
    for (const auto& [name, count] : m_sliceNames)
        entries.push_back({name,
                           formatCounted(static_cast<std::int64_t>(count), tr("slice"), tr("slices")),
                           {},
                           true,
                           false,
                           kSliceRank,
                           [this, name = name] { findSlices(name); }});
    return entries;
}

} // namespace app
