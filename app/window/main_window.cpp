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

MainWindow::MainWindow(Workbench* bench, Appearance* appearance) : m_bench(bench), m_appearance(appearance)
{
    setObjectName("mainWindow");
    setWindowTitle("Stepscope");
    setAcceptDrops(true);
    resize(QSize(1440, 900).boundedTo(screen()->availableGeometry().size()));
    makeActions();
    makeMenus();
    makeToolBar();
    makeCentre();
    m_status = new StatusLine(&bench->training, &bench->jobs, &bench->document, &bench->levelCosts, this);
    setStatusBar(m_status);
    connectWorkbench();
    restoreLayout();
    updateActions();
    updateForTrace();
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
            m_start = view.create(*m_bench, m_stack);
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
    m_bench->runs.reload();
    m_bench->configuration.refreshDescription();
    emit completed();
}

void MainWindow::connectWorkbench()
{
    connect(&m_bench->notices, &Notices::noticed, m_notice, &NoticeStrip::show);
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
            updateForTrace();
    });
    connect(m_loading, &LoadingBar::cancelled, &m_bench->document, &TraceDocument::cancelLoading);
    connect(&m_bench->document, &TraceDocument::traceReplaced, this, [this] {
        QToolTip::hideText(); // the message is about the previous trace
        showStartPage(false);
        updateForTrace();
    });
    connect(&m_bench->document, &TraceDocument::traceChanged, this, &MainWindow::updateActions);
    connect(&m_bench->document, &TraceDocument::traceOpened, this, &MainWindow::updateForTrace);
    connect(&m_bench->training, &TrainingService::stateChanged, this, [this](RunState state) {
        if (state == RunState::Starting)
            m_notice->dismiss();
        updateActions();
        updateForTrace();
    });
    // Deferred, so that other receivers of this signal can save their state first.
    connect(&m_bench->training, &TrainingService::finished, this, &MainWindow::goOnClosing, Qt::QueuedConnection);
    connect(&m_bench->trust, &TrustStore::codeAsked, this, [this](const CodeFile& file) {
        // A form that stays usable may ask the same question again while it is on screen.
        for (auto* open : findChildren<TrustQuestion*>())
            if (open->file().path == file.path && open->file().sha256 == file.sha256 &&
                open->file().command == file.command)
                return open->raise();
        auto* question = new TrustQuestion(file, this);
        TrustStore* trust = &m_bench->trust;
        connect(question, &TrustQuestion::answered, trust,
                [trust, file](TrustStore::Answer answer) { trust->answerCode(file, answer); });
        question->open();
    });
    connect(&m_bench->trust, &TrustStore::copyAsked, this, &MainWindow::askForCopy);
    connect(&m_bench->jobs, &JobGuard::changed, this, &MainWindow::updateActions);
    connect(&m_bench->jobs, &JobGuard::changed, this, &MainWindow::updateForTrace);
    connect(&m_bench->runs, &RunStore::changed, this, &MainWindow::updateForTrace);
    connect(&m_bench->tuning, &TuningService::ended, this, &MainWindow::tellTuned);
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
    TrustStore* trust = &m_bench->trust;
    connect(box, &QDialog::finished, trust, [trust, box, copy] { trust->answerCopy(box->clickedButton() == copy); });
    box->open();
}

void MainWindow::tellTuned()
{
    // Tuning takes minutes, and the user may be in another view or another program.
    QApplication::alert(this);
    const auto* dock = findChild<QDockWidget*>("dock:tune");
    if (!dock || (dock->isVisible() && !dock->visibleRegion().isEmpty()))
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

void MainWindow::updateForTrace()
{
    const QString title = m_bench->document.title();
    setWindowTitle(title.isEmpty() ? QString("Stepscope") : title + " – Stepscope");
    m_runLabel->setText(!title.isEmpty()                ? title
                        : m_bench->document.isLoading() ? tr("opening a trace…")
                        : m_bench->jobs.isBusy()        ? m_bench->jobs.whyBusy()
                        : m_bench->runs.all().empty()   ? tr("no run yet")
                                                        : tr("no trace open"));
    m_runLabel->setToolTip(QString::fromStdString(m_bench->document.path().string()));
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
    if (m_complete)
        saveLayout();
    const bool recording = m_record && m_record->isRecording();
    if (m_bench->training.isOpen() || recording) {
        // The trainer or the command finishes its trace first; then the window closes.
        m_closing = true;
        m_bench->training.stop();
        if (recording) {
            m_record->stopForGood();
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
    openFile(files.front());
    if (files.size() > 1)
        m_notice->show(
            tr("Only one trace can be opened at a time: opening %1.").arg(QFileInfo(files.front()).fileName()),
            tr("Not opened:") + '\n' + files.mid(1).join('\n'), false);
}

void MainWindow::openFile(const QString& file)
{
    m_bench->document.openFile(file.toStdString());
}

} // namespace app
