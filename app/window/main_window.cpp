#include "app/window/main_window.h"

#include "advisor/tuner/tune_text.h"
#include "app/record/record_dialog.h"
#include "app/services/origin.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_panel.h"
#include "app/window/application.h"
#include "app/window/loading_bar.h"
#include "app/window/notice_strip.h"
#include "app/window/status_line.h"
#include "app/window/trust_question.h"
#include "stepscope_app_views_registry.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <chrono>
#include <cstdlib>

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

MainWindow::MainWindow(Session* session, Selection* selection, Appearance* appearance)
    : m_context{session, selection}, m_appearance(appearance)
{
    setObjectName("mainWindow");
    setWindowTitle("Stepscope");
    setAcceptDrops(true);
    resize(QSize(1440, 900).boundedTo(screen()->availableGeometry().size()));
    makeActions();
    makeMenus();
    makeToolBar();
    makeCentre();
    m_status = new StatusLine(session, this);
    setStatusBar(m_status);
    connectSession();
    restoreLayout();
    updateActions();
    updateForTrace();
}

MainWindow::~MainWindow()
{
    delete m_record; // it reports its end to the session, which then calls back into this window
}

void MainWindow::makeCentre()
{
    auto* centre = new QWidget(this);
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_notice = new NoticeStrip(centre);
    m_loading = new LoadingBar(centre);
    m_stack = new QStackedWidget(centre);
    m_centre = new QSplitter(Qt::Vertical, m_stack);
    m_centre->setChildrenCollapsible(false);
    for (const auto& [stem, view] : views::all())
        if (view.area == ViewArea::Start)
            m_start = view.create(m_context, m_stack);
    m_stack->addWidget(m_start);
    m_stack->addWidget(m_centre);
    // Until the visible page is known, no page requests space; otherwise docks that are about to be hidden would widen
    // the window.
    for (QWidget* page : {m_start, static_cast<QWidget*>(m_centre)})
        page->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    layout->addWidget(m_notice);
    layout->addWidget(m_loading);
    layout->addWidget(m_stack, 1);
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
    makeViews();
    makeViewMenu();
    m_complete = true;
    updateForTrace();
    m_appearance->followDesktop();
    m_context.session->reloadRuns();
    m_context.session->refreshDescription();
    emit completed();
}

void MainWindow::connectSession()
{
    Session* session = m_context.session;
    connect(session, &Session::noticed, m_notice, &NoticeStrip::show);
    connect(session, &Session::noticeOutdated, m_notice, &NoticeStrip::dismiss);
    if (auto* application = qobject_cast<Application*>(qApp))
        connect(application, &Application::outOfMemory, this, [this] {
            m_notice->show(tr("Out of memory."),
                           tr("The last action may be incomplete. Close other programs, or open a smaller trace."),
                           true);
        });
    connect(session, &Session::loading, m_loading, &LoadingBar::show);
    connect(session, &Session::loading, this, [this](const QString&, double share) {
        if (share == 0)
            m_notice->dismiss(); // the message was about the previous action
        if (share == 0 || share == 1)
            updateForTrace();
    });
    connect(m_loading, &LoadingBar::cancelled, session, &Session::cancelLoading);
    connect(session, &Session::traceReplaced, this, [this] {
        m_context.selection->clear();
        QToolTip::hideText(); // the message is about the previous trace
        showStartPage(false);
        updateForTrace();
    });
    connect(session, &Session::traceChanged, this, &MainWindow::keepSelection);
    connect(m_context.selection, &Selection::changed, this, [this] {
        const auto id = m_context.selection->slice();
        const auto trace = m_context.session->trace();
        m_selected = id && holds(*trace, *id) ? std::optional(trace->slice(*id)) : std::nullopt;
        m_selectedName = m_selected ? trace->name(*m_selected) : std::string_view();
    });
    connect(session, &Session::traceChanged, this, &MainWindow::updateActions);
    connect(session, &Session::traceOpened, this, &MainWindow::updateForTrace);
    connect(session, &Session::runStateChanged, this, [this](RunState state) {
        if (state == RunState::Starting)
            m_notice->dismiss();
        updateForTrace();
    });
    // Deferred, so that other receivers of this signal can save their state first.
    connect(session, &Session::runFinished, this, &MainWindow::goOnClosing, Qt::QueuedConnection);
    connect(session, &Session::codeAsked, this, [this](const CodeFile& file) {
        // A form that stays usable may ask the same question again while it is on screen.
        for (auto* open : findChildren<TrustQuestion*>())
            if (open->file().path == file.path && open->file().sha256 == file.sha256 &&
                open->file().command == file.command)
                return open->raise();
        auto* question = new TrustQuestion(file, this);
        connect(question, &TrustQuestion::answered, m_context.session,
                [this, file](CodeGate::Answer answer) { m_context.session->answerCode(file, answer); });
        question->open();
    });
    connect(session, &Session::copyAsked, this, &MainWindow::askForCopy);
    connect(session, &Session::busyChanged, this, &MainWindow::updateActions);
    for (const auto signal : {&Session::busyChanged, &Session::runsChanged})
        connect(session, signal, this, &MainWindow::updateForTrace);
    connect(session, &Session::tuningEnded, this, &MainWindow::tellTuned);
}

/// Measured programs must not change the user's files.
void MainWindow::askForCopy(const QString& folder, const QString& why)
{
    auto* box = new QMessageBox(QMessageBox::Question, tr("Run in a copy?"),
                                tr("Run the program in a copy of its folder?"), QMessageBox::NoButton, this);
    box->setObjectName("copyQuestion");
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText); // paths come from the trace
    box->setInformativeText(tr("Stepscope copies %1 to a temporary folder, runs the program there and deletes the "
                               "copy afterwards. Your files in %1 are not changed. Files that the program writes to "
                               "other folders are changed, as in any run.\n\nWhy a copy? %2.\n\nIf you agree, "
                               "Stepscope does not ask again.")
                                .arg(folder, why));
    if (auto* headline = box->findChild<QLabel*>("qt_msgbox_label")) {
        QFont bold = headline->font();
        bold.setBold(true);
        headline->setFont(bold);
    }
    QPushButton* copy = box->addButton(tr("Run in a copy"), QMessageBox::AcceptRole);
    box->setDefaultButton(box->addButton(QMessageBox::Cancel));
    connect(box, &QDialog::finished, m_context.session,
            [session = m_context.session, box, copy] { session->answerCopy(box->clickedButton() == copy); });
    box->open();
}

void MainWindow::tellTuned()
{
    // Tuning takes minutes, and the user may be in another view or another program.
    QApplication::alert(this);
    const auto* dock = findChild<QDockWidget*>("dock:tune");
    if (!dock || (dock->isVisible() && !dock->visibleRegion().isEmpty()))
        return;
    const TuneController& tuning = m_context.session->tuning();
    if (const auto* result = tuning.outcome())
        m_notice->show(tr("Tuning is done. %1").arg(QString::fromStdString(advisor::tuneSummary(*result))),
                       tr("Tuned: %1.").arg(tuning.origin().name) + '\n' + QString::fromStdString(result->why.text) +
                           '\n' + tr("The Tune view (Ctrl+T) lists the changes that were tried."),
                       false);
    else if (!tuning.trouble().isEmpty())
        m_notice->show(tuning.isOfProgram() ? tr("The program cannot be tuned.") : tr("The training cannot be tuned."),
                       tuning.trouble(), true);
}

void MainWindow::keepSelection()
{
    // Slice ids differ between the snapshots of a file that is being read.
    const auto trace = m_context.session->trace();
    if (!m_selected || trace->captureStats().live)
        return;
    const auto same = [&](const profiler::Slice& slice) {
        return slice.begin == m_selected->begin && slice.kind == m_selected->kind &&
               slice.duration == m_selected->duration && trace->name(slice) == m_selectedName;
    };
    // Of nested slices with the same times, choose the one with the nearest depth.
    const auto deeper = [&](const profiler::Slice& slice) { return std::abs(slice.depth - m_selected->depth); };
    if (holds(*trace, m_selected->id))
        if (const profiler::Slice slice = trace->slice(m_selected->id); same(slice) && deeper(slice) == 0)
            return;
    const profiler::TrackId track = m_selected->id.track;
    std::optional<profiler::Slice> found;
    if (track.value < trace->tracks().size())
        trace->forEach(track, {m_selected->begin, m_selected->begin + std::chrono::nanoseconds(1)},
                       [&](const profiler::Slice& slice) {
                           if (same(slice) && (!found || deeper(slice) < deeper(*found)))
                               found = slice;
                           return true;
                       });
    if (found)
        m_context.selection->selectSlice(found->id);
    else
        m_context.selection->clear();
}

void MainWindow::updateForTrace()
{
    const Session& session = *m_context.session;
    const QString title = session.traceTitle();
    setWindowTitle(title.isEmpty() ? QString("Stepscope") : title + " – Stepscope");
    m_runLabel->setText(!title.isEmpty()         ? title
                        : session.isLoading()    ? tr("opening a trace…")
                        : session.isBusy()       ? session.whyBusy()
                        : session.runs().empty() ? tr("no run yet")
                                                 : tr("no trace open"));
    m_runLabel->setToolTip(QString::fromStdString(session.tracePath().string()));
}

bool MainWindow::mayClose()
{
    const Session& session = *m_context.session;
    const bool training = session.runState() != RunState::Idle;
    const bool recording = session.isRecording();
    const auto tables = findChildren<TablePanel*>();
    const bool saving = std::any_of(tables.begin(), tables.end(), [](const auto* table) { return table->isSaving(); });
    const bool exporting = session.isExporting();
    if (m_closing || m_unasked || (!session.isBusy() && !exporting && !saving))
        return true;
    QMessageBox question(QMessageBox::Question, tr("Close Stepscope?"),
                         tr("%1 Stop it and close?")
                             .arg(session.isBusy() ? session.whyBusy()
                                  : exporting      ? tr("A trace is being exported.")
                                                   : tr("A table is being saved.")),
                         QMessageBox::NoButton, this);
    QStringList lost;
    if (session.isBusy())
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
    connect(&session, &Session::busyChanged, &question, [&] {
        if (!session.isBusy() && !exporting && !saving)
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
    if (m_complete)
        saveLayout();
    const bool recording = m_record && m_record->isRecording();
    if (m_context.session->isRunOpen() || recording) {
        // The trainer or the command finishes its trace first; then the window closes.
        m_closing = true;
        m_context.session->stop();
        if (recording) {
            m_record->stopForGood();
            m_notice->show(tr("Stopping the recording. The window closes when the trace is saved."), {}, false);
        }
        event->ignore();
        return;
    }
    m_context.session->cancelExperiment();
    m_context.session->stopTuning();
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
    openFile(files.front());
    if (files.size() > 1)
        m_notice->show(
            tr("Only one trace can be opened at a time: opening %1.").arg(QFileInfo(files.front()).fileName()),
            tr("Not opened:") + '\n' + files.mid(1).join('\n'), false);
}

void MainWindow::openFile(const QString& file)
{
    m_context.session->openFile(file.toStdString());
}

} // namespace app
