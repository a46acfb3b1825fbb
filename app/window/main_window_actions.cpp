#include "app/document/trace_files.h"
#include "app/look/elided_label.h"
#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/save_dialog.h"
#include "app/record/record_dialog.h"
#include "app/report/report_file.h"
#include "app/tables/slice_details.h"
#include "app/window/dock.h"
#include "app/window/dock_controller.h"
#include "app/window/main_window.h"
#include "app/window/notice_strip.h"

#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolBar>
#include <QToolButton>
#include <QWhatsThis>

// Actions, menus and the toolbar.
namespace app {

void MainWindow::makeActions()
{
    const auto make = [this](const QString& name, const QString& iconStem, const QString& text, const QKeySequence& key,
                             auto slot) {
        auto* action = new QAction(iconStem.isEmpty() ? QIcon() : icon(iconStem), text, this);
        action->setObjectName(name);
        action->setShortcut(key);
        action->setToolTip(key.isEmpty() ? text
                                         : QString("%1 (%2)").arg(QString(text).remove('&').remove("…"),
                                                                  key.toString(QKeySequence::NativeText)));
        connect(action, &QAction::triggered, this, slot);
        return action;
    };
    m_actions.start = make("start", "start", tr("&Start"), Qt::Key_F5, [this] { m_bench->training.start(); });
    m_actions.pause = make("pause", "pause", tr("&Pause"), Qt::Key_F6, [this] {
        m_bench->training.state() == RunState::Paused ? m_bench->training.resume() : m_bench->training.pause();
    });
    m_actions.stop = make("stop", "stop", tr("S&top"), Qt::SHIFT | Qt::Key_F5, [this] { m_bench->jobs.stop(); });
    m_actions.openTrace =
        make("openTrace", "open", tr("&Open trace…"), QKeySequence::Open, [this] { openTraceDialog(); });
    m_actions.record =
        make("recordProgram", "record", tr("&Record program…"), Qt::CTRL | Qt::Key_R, [this] { recordProgram(); });
    m_actions.exportTrace = make("exportTrace", {}, tr("&Export trace…"), Qt::CTRL | Qt::SHIFT | Qt::Key_E,
                                 [this] { exportTraceDialog(); });
    m_actions.saveReport =
        make("saveReport", {}, tr("Save re&port…"), Qt::CTRL | Qt::SHIFT | Qt::Key_P, [this] { saveReportDialog(); });
    m_actions.tune = make("tuneTraining", "measure", tr("&Tune…"), Qt::CTRL | Qt::Key_T, [this] { showTune(); });
    m_actions.openConfiguration = make("openConfiguration", {}, tr("Open &configuration…"),
                                       Qt::CTRL | Qt::SHIFT | Qt::Key_O, [this] { openConfigurationDialog(); });
    m_actions.saveConfiguration = make("saveConfiguration", "save", tr("Save configuration &as…"), QKeySequence::Save,
                                       [this] { saveConfigurationDialog(); });
    m_actions.home = make("home", {}, tr("Start &page"), Qt::ALT | Qt::Key_Home, [this] { showStartPage(true); });
    m_actions.quit = make("quit", {}, tr("&Quit"), Qt::CTRL | Qt::Key_Q, [this] { close(); });
    m_actions.findKnob = make("findKnob", "search", tr("&Find setting"), Qt::CTRL | Qt::SHIFT | Qt::Key_F, [this] {
        for (const auto& [view, dock] : m_docks)
            if (auto* search = dock->findChild<QLineEdit*>("searchKnobs")) {
                dock->show();
                dock->raise();
                search->setFocus(Qt::ShortcutFocusReason);
                search->selectAll();
            }
    });
    m_actions.undo = m_bench->configuration.undoStack()->createUndoAction(this, tr("&Undo"));
    m_actions.undo->setObjectName("undo");
    m_actions.undo->setShortcuts(QKeySequence::Undo);
    m_actions.undo->setIcon(icon("undo"));
    m_actions.redo = m_bench->configuration.undoStack()->createRedoAction(this, tr("&Redo"));
    m_actions.redo->setObjectName("redo");
    m_actions.redo->setShortcuts(QKeySequence::Redo);
    m_actions.redo->setIcon(icon("redo"));
}

void MainWindow::makeMenus()
{
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(m_actions.openTrace);
    m_recentMenu = file->addMenu(tr("Open &recent trace"));
    m_recentMenu->setObjectName("recentTraces");
    connect(file, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    file->addActions({m_actions.record, m_actions.exportTrace, m_actions.saveReport});
    file->addSeparator();
    file->addActions({m_actions.openConfiguration, m_actions.saveConfiguration});
    file->addSeparator();
    file->addActions({m_actions.home});
    file->addSeparator();
    file->addAction(m_actions.quit);
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    edit->addActions({m_actions.undo, m_actions.redo});
    edit->addSeparator();
    edit->addAction(m_actions.findKnob);
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addActions({m_actions.start, m_actions.pause, m_actions.stop});
    run->addSeparator();
    run->addAction(m_actions.tune);
    m_viewMenu = menuBar()->addMenu(tr("&View"));
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(QWhatsThis::createAction(this));
    help->addAction(tr("&About Stepscope"), this, &MainWindow::showAbout);
}

void MainWindow::makeToolBar()
{
    auto* bar = new QToolBar(tr("Toolbar"), this);
    bar->setObjectName("toolBar");
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setIconSize({16, 16});
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
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
        if (auto* timeline = findChild<QAction*>("find"))
            timeline->trigger();
    });
    find->setObjectName("findName");
    find->setToolTip(tr("Find a name on the timeline (Ctrl+F)"));
    bar->addActions({m_actions.undo, m_actions.redo});
    bar->addSeparator();
    bar->addAction(m_actions.openTrace);
    for (QAction* action : {m_actions.undo, m_actions.redo})
        if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action)))
            button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    addToolBar(bar);
}

void MainWindow::makeViewMenu()
{
    std::vector<QDockWidget*> docks;
    for (const auto& [view, dock] : m_docks)
        docks.push_back(dock);
    m_dockController = new DockController(this, [this] { focusCentre(); });
    m_dockController->addTo(m_viewMenu, docks);
    m_viewMenu->addSeparator();
    makeGoToMenu();
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
    m_viewMenu->addAction(tr("&Reset layout"), this, &MainWindow::resetLayout)->setObjectName("resetLayout");
}

void MainWindow::makeGoToMenu()
{
    QMenu* menu = m_viewMenu->addMenu(tr("&Go to"));
    const auto add = [&](const QString& title, QWidget* widget, QDockWidget* dock) {
        QAction* action = menu->addAction(title, this, [this, widget, dock] {
            if (m_stack->currentIndex() == 0 && !m_bench->document.title().isEmpty())
                showStartPage(false);
            if (dock)
                DockController::reveal(dock);
            else
                widget->setFocus(Qt::ShortcutFocusReason);
        });
        action->setObjectName("goTo:" + widget->objectName());
        if (const auto number = menu->actions().size(); number <= 10)
            action->setShortcut(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + number % 10));
    };
    if (m_centre->count() > 0)
        add(tr("Timeline"), m_centre->widget(m_centre->count() - 1), nullptr);
    for (const ViewArea area : {ViewArea::Bottom, ViewArea::Left, ViewArea::Right})
        for (const auto& [view, dock] : m_docks)
            if (view.area == area)
                add(view.title, dock->widget(), dock);
}

void MainWindow::addViewActions(QWidget* view, const QString& title)
{
    if (view->actions().isEmpty())
        return;
    auto* menu = new QMenu(title, this);
    menu->addActions(view->actions());
    menuBar()->insertMenu(m_viewMenu->menuAction(), menu);
}

void MainWindow::updateActions()
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
    m_actions.exportTrace->setEnabled(state == RunState::Idle && holdsAnything(*m_bench->document.trace()));
}

void MainWindow::openTraceDialog()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a trace"), {}, openTraceFilter());
    if (!file.isEmpty())
        m_bench->document.openTrace(file.toStdString());
}

void MainWindow::recordProgram()
{
    if (!m_record) {
        m_record = new RecordDialog(&m_bench->recording, &m_bench->trust, &m_bench->jobs, &m_bench->document, this);
        // Deferred: the dialog first detaches from the recording.
        connect(m_record, &RecordDialog::recordingChanged, this, &MainWindow::goOnClosing, Qt::QueuedConnection);
    }
    m_record->show();
    m_record->raise();
    m_record->activateWindow();
}

void MainWindow::exportTraceDialog()
{
    // The extension determines the format.
    QList<FileKind> kinds;
    for (const TraceFileKind& kind : writableTraceKinds())
        kinds << FileKind{kind.filter, kind.extension};
    if (const QString file = askWhereToSave(this, tr("Export trace"), {}, kinds); !file.isEmpty())
        m_bench->document.exportTrace(file.toStdString());
}

void MainWindow::saveReportDialog()
{
    if (const QString file = askForReportFile(this, tr("Save report"), "report.html"); !file.isEmpty())
        m_bench->reports.saveReport(file.toStdString());
}

void MainWindow::showTune()
{
    showStartPage(false);
    if (auto* dock = findChild<QDockWidget*>("dock:tune"))
        DockController::reveal(dock);
}

void MainWindow::fillRecentMenu()
{
    m_recentMenu->clear();
    const QStringList recent = recentTraces();
    m_recentMenu->setEnabled(!recent.isEmpty() && m_actions.openTrace->isEnabled());
    for (const QString& file : recent) {
        const QFileInfo info(file);
        QString text = info.fileName();
        if (!info.isFile())
            text = tr("%1 (missing)").arg(text);
        QAction* action = m_recentMenu->addAction(text.replace('&', "&&"), this, [this, file] { openFile(file); });
        action->setToolTip(file);
        action->setEnabled(info.isFile());
    }
    m_recentMenu->setToolTipsVisible(true);
    m_recentMenu->addSeparator();
    m_recentMenu->addAction(tr("&Clear list"), this, [] { forgetRecentTraces(); });
}

void MainWindow::openConfigurationDialog()
{
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Open a configuration"), {}, tr("Configurations (*.json)"));
    if (!file.isEmpty())
        m_bench->configuration.load(file.toStdString());
}

void MainWindow::saveConfigurationDialog()
{
    const QString file =
        askWhereToSave(this, tr("Save the configuration"), "training.json", {{tr("Configurations (*.json)"), ".json"}});
    if (file.isEmpty())
        return;
    if (const auto saved = m_bench->configuration.get().save(file.toStdString()); !saved)
        m_notice->show(tr("Could not save the configuration."), QString::fromStdString(saved.error().message()), true);
}

void MainWindow::showAbout()
{
    const auto& description = m_bench->configuration.description();
    QString text = tr("<h3>Stepscope %1</h3><p>Shows where the time of a training step goes, says what to change, "
                      "and measures whether the change pays.</p>")
                       .arg(QApplication::applicationVersion());
    if (m_bench->configuration.descriptionKnown())
        text += tr("<p>Trainer: LibTorch %1, %2. %3</p>")
                    .arg(QString::fromStdString(description.torchVersion).toHtmlEscaped())
                    .arg(formatCounted(description.cores, tr("core"), tr("cores")))
                    .arg(description.gpuAvailable ? tr("A GPU is available.")
                                                  : QString::fromStdString(description.gpuReason).toHtmlEscaped());
    QMessageBox::about(this, tr("About Stepscope"), text);
}

} // namespace app
