#include "app/window/main_window.h"

#include "advisor/tuner/tune_text.h"
#include "app/document/trace_files.h"
#include "app/services/origin.h"
#include "app/tables/table_panel.h"
#include "app/window/application.h"
#include "app/window/dock.h"
#include "app/window/dock_layout.h"
#include "app/window/remote_strip.h"
#include "app/window/window_actions.h"
#include "app/window/window_dialogs.h"
#include "app/window/window_strips.h"
#include "profiler/job/job_files.h"

#include <QApplication>
#include <QChildEvent>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QTabBar>
#include <QTimer>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace {

QStringList droppedFiles(const QMimeData& data)
{
    QStringList files;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile())
            files << url.toLocalFile();
    return files;
}

} // namespace

MainWindow::MainWindow(Workbench* bench, Appearance* appearance)
    : m_bench(bench), m_appearance(appearance), m_layout(new DockLayout(bench, this)),
      m_dialogs(new WindowDialogs(bench, this)),
      m_actions(new WindowActions(bench, appearance, this, m_layout, m_dialogs))
{
    setObjectName("mainWindow");
    setWindowTitle("Stepscope");
    setAcceptDrops(true);
    resize(QSize(1440, 900).boundedTo(screen()->availableGeometry().size()));
    makeCentre();
    setStatusBar(new StatusLine(&bench->training, &bench->jobs, &bench->document, &bench->levelCosts, this));
    connectWorkbench();
    m_layout->restoreGeometry();
    showTitle();
}

void MainWindow::makeCentre()
{
    auto* centre = new QWidget(this);
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_notice = new NoticeStrip(centre);
    m_loading = new LoadingBar(centre);
    layout->addWidget(m_notice);
    layout->addWidget(m_loading);
    layout->addWidget(new RemoteStrip(&m_bench->remote, centre));
    layout->addWidget(m_layout->centre(), 1);
    setCentralWidget(centre);
}

void MainWindow::paintEvent(QPaintEvent* event)
{
    QMainWindow::paintEvent(event);
    if (m_painted)
        return;
    m_painted = true;
    // The window is visible after this event; only now are the docks made.
    QTimer::singleShot(0, this, [this] {
        emit firstPainted();
        complete();
    });
}

void MainWindow::complete()
{
    m_layout->makeViews();
    m_actions->addViews();
    if (m_bench->document.title().isEmpty())
        m_layout->show(DocumentKind::Start);
    else
        m_layout->showDocument();
    m_complete = true;
    showTitle();
    m_appearance->followDesktop();
    m_bench->runs.reload();
    m_bench->configuration.refreshDescription();
    emit completed();
}

bool MainWindow::event(QEvent* event)
{
    // Tab bars are created and removed with the docks. Tabs without enough space scroll instead of shrinking to one or
    // two letters.
    if (event->type() == QEvent::ChildPolished) {
        if (auto* tabs = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
            addTabOverflow(tabs);
            tabs->setElideMode(Qt::ElideNone);
            tabs->setUsesScrollButtons(true);
            tabs->setAccessibleName(tr("Views"));
            connect(tabs, &QTabBar::tabBarDoubleClicked, m_layout,
                    [this, tabs](int tab) { m_layout->toggleTall(tabs->tabText(tab)); });
        }
    }
    return QMainWindow::event(event);
}

bool MainWindow::focusNextPrevChild(bool next)
{
    return DockController::moveFocus(this, next);
}

void MainWindow::connectWorkbench()
{
    connect(&m_bench->notices, &Notices::noticed, m_notice, &NoticeStrip::show);
    connect(&m_bench->notices, &Notices::saved, m_notice, &NoticeStrip::offerToOpen);
    connect(&m_bench->notices, &Notices::outdated, m_notice, &NoticeStrip::dismiss);
    if (auto* application = qobject_cast<Application*>(qApp))
        connect(application, &Application::outOfMemory, this, [this] {
            m_notice->show(tr("Out of memory."),
                           tr("The last action may be incomplete. Close other programs, or open a smaller trace."),
                           true);
        });
    connect(&m_bench->document, &TraceDocument::loading, m_loading, &LoadingBar::show);
    connect(&m_bench->document, &TraceDocument::loading, this, [this](const QString&, double share) {
        if (share == 0)
            m_notice->dismiss(); // the message was about the previous action
        if (share == 0 || share == 1)
            showTitle();
    });
    connect(&m_bench->pair, &TracePair::openChanged, this, [this] {
        m_layout->setSecondShown(m_bench->pair.isOpen());
        showTitle();
    });
    connect(&m_bench->pair, &TracePair::changed, this, &MainWindow::showTitle);
    connect(m_loading, &LoadingBar::cancelled, this, [this] {
        if (m_bench->remote.isOpening())
            m_bench->remote.cancelOpening();
        else if (m_bench->job.isLoading())
            m_bench->job.cancelLoading();
        else
            m_bench->document.cancelLoading();
    });
    connect(&m_bench->job, &JobDocument::loading, m_loading, &LoadingBar::show);
    connect(&m_bench->remote, &RemoteTraceService::progressed, m_loading, &LoadingBar::show);
    connect(&m_bench->job, &JobDocument::changed, this, &MainWindow::showTitle);
    connect(&m_bench->job, &JobDocument::opened, this, [this] {
        m_layout->showDocument();
        m_layout->reveal("job");
    });
    connect(&m_bench->document, &TraceDocument::traceReplaced, this, [this] {
        QToolTip::hideText(); // the message is about the previous trace
        m_layout->showDocument();
        showTitle();
    });
    connect(&m_bench->document, &TraceDocument::traceOpened, this, [this] {
        // The kind is certain now, but the user may have gone to the start page.
        if (m_layout->shown() != DocumentKind::Start)
            m_layout->showDocument();
        if (m_bench->document.trace()->format() == "pytorch-memory") // it has no steps; it shows what uses memory
            m_layout->reveal("memory");
        showTitle();
    });
    connect(&m_bench->training, &TrainingService::stateChanged, this, [this](RunState state) {
        if (state == RunState::Starting)
            m_notice->dismiss();
        showTitle();
    });
    // Deferred, so that other receivers of this signal can save their state first.
    connect(&m_bench->training, &TrainingService::finished, this, &MainWindow::goOnClosing, Qt::QueuedConnection);
    connect(m_dialogs, &WindowDialogs::recordingChanged, this, &MainWindow::goOnClosing, Qt::QueuedConnection);
    connect(&m_bench->jobs, &JobGuard::changed, this, &MainWindow::showTitle);
    connect(&m_bench->runs, &RunStore::changed, this, &MainWindow::showTitle);
    connect(&m_bench->tuning, &TuningService::ended, this, &MainWindow::tellTuned);
}

void MainWindow::tellTuned()
{
    // Tuning takes minutes, and the user may be in another view or another program.
    QApplication::alert(this);
    const auto* dock = findChild<QDockWidget*>("dock:tune");
    if (!dock || (isSeen(dock)))
        return;
    const TuningService& tuning = m_bench->tuning;
    if (const auto* result = tuning.outcome())
        m_notice->show(tr("Tuning is done. %1").arg(QString::fromStdString(advisor::tuneSummary(*result))),
                       tr("Tuned: %1.").arg(tuning.origin().name) + '\n' + QString::fromStdString(result->why.text) +
                           '\n' + tr("The Tune view (Ctrl+T) lists the changes that were tried."),
                       false);
    else if (!tuning.trouble().isEmpty())
        m_notice->show(tuning.isOfProgram() ? tr("The program cannot be tuned.") : tr("The training cannot be tuned."),
                       tuning.trouble(), true);
}

void MainWindow::showTitle()
{
    QString title = m_bench->document.title();
    if (m_bench->job.isOpen())
        title = title.isEmpty() ? m_bench->job.title() : tr("%1 · %2").arg(m_bench->job.title(), title);
    const TraceDocument* second = m_bench->pair.document(Side::Second);
    const QString both = second && !second->title().isEmpty() ? tr("%1 and %2").arg(title, second->title()) : title;
    setWindowTitle(title.isEmpty() ? QString("Stepscope") : both + " – Stepscope");
    m_actions->showRun(!title.isEmpty()                ? title
                       : m_bench->document.isLoading() ? tr("opening a trace…")
                       : m_bench->jobs.isBusy()        ? m_bench->jobs.whyBusy()
                       : m_bench->runs.all().empty()   ? tr("no run yet")
                                                       : tr("no trace open"),
                       QString::fromStdString(m_bench->document.path().string()));
}

bool MainWindow::mayClose()
{
    const bool training = m_bench->training.state() != RunState::Idle;
    const bool recording = m_bench->jobs.isRunning(Job::Recording);
    const auto tables = findChildren<TablePanel*>();
    const bool saving = std::any_of(tables.begin(), tables.end(), [](const auto* table) { return table->isSaving(); });
    const bool exporting = m_bench->document.isExporting();
    if (m_closing || m_unasked || (!m_bench->jobs.isBusy() && !exporting && !saving))
        return true;
    QMessageBox question(QMessageBox::Question, tr("Close Stepscope?"),
                         tr("%1 Stop it and close?")
                             .arg(m_bench->jobs.isBusy() ? m_bench->jobs.whyBusy()
                                  : exporting            ? tr("A trace is being exported.")
                                                         : tr("A table is being saved.")),
                         QMessageBox::NoButton, this);
    QStringList lost;
    if (m_bench->jobs.isBusy())
        lost << (training || recording ? tr("Events recorded so far are kept.") : tr("Measurements so far are lost."));
    if (exporting)
        lost << tr("The file that is being exported will not be written.");
    if (saving)
        lost << tr("The table that is being saved will not be written.");
    question.setInformativeText(lost.join('\n'));
    auto* stop = question.addButton(tr("Stop and close"), QMessageBox::AcceptRole);
    question.setDefaultButton(question.addButton(QMessageBox::Cancel));
    // The activity may end while the question is open. Then there is nothing to stop, and the window stays open to show
    // the result.
    connect(&m_bench->jobs, &JobGuard::changed, &question, [&] {
        if (!m_bench->jobs.isBusy() && !exporting && !saving)
            question.reject();
    });
    question.exec();
    return m_unasked || question.clickedButton() == static_cast<QAbstractButton*>(stop);
}

void MainWindow::closeUnasked()
{
    m_unasked = true;
    // An open question keeps the window open.
    while (QWidget* modal = QApplication::activeModalWidget()) {
        modal->close();
        if (modal == QApplication::activeModalWidget())
            break;
    }
    close();
}

void MainWindow::goOnClosing()
{
    if (m_closing)
        close();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayClose()) {
        event->ignore();
        return;
    }
    m_layout->save();
    const bool recording = m_dialogs->isRecording();
    if (m_bench->training.isOpen() || recording) {
        // The trainer or the command finishes its trace first; then the window closes.
        m_closing = true;
        m_bench->training.stop();
        if (recording) {
            m_dialogs->stopRecordingForGood();
            m_notice->show(tr("Stopping the recording. The window closes when the trace is saved."), {}, false);
        }
        event->ignore();
        return;
    }
    m_bench->experiments.cancel();
    m_bench->tuning.stop();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!droppedFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QStringList files = droppedFiles(*event->mimeData());
    event->acceptProposedAction();
    std::vector<std::filesystem::path> paths;
    for (const QString& file : files)
        paths.emplace_back(file.toStdString());
    if (profiler::job::mayBeJob(paths))
        m_bench->job.open(paths);
    else if (m_actions->canOpenBeside())
        openDropped(files.front());
    else
        m_bench->document.openFile(paths.front());
}

/// Asks whether a trace replaces the one on screen or opens beside it. A configuration opens without a question.
void MainWindow::openDropped(const QString& file)
{
    m_dropped.start(
        [this, file](const std::stop_token&, const Background::Post& post) {
            const bool isConfiguration = looksLikeConfiguration(file.toStdString());
            post([this, file, isConfiguration] {
                if (isConfiguration)
                    m_bench->document.openFile(file.toStdString());
                else
                    m_dialogs->askHowToOpen(file);
            });
        },
        [this, file](const profiler::Error&) { m_dialogs->askHowToOpen(file); });
}

} // namespace app
