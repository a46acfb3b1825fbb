#include "app/main_window.h"

#include "app/shell/loading_bar.h"
#include "app/shell/notice_strip.h"
#include "app/shell/status_line.h"
#include "stepscope_app_views_registry.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

namespace app {

MainWindow::MainWindow(Session* session, Selection* selection, Appearance* appearance)
    : m_context{session, selection}, m_appearance(appearance)
{
    setObjectName("mainWindow");
    setWindowTitle("Stepscope");
    setAcceptDrops(true);
    resize(1440, 900);
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

MainWindow::~MainWindow() = default;

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
    // After this event the shell is on screen: only now the rest is made.
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
    connect(session, &Session::loading, m_loading, &LoadingBar::show);
    connect(m_loading, &LoadingBar::cancelled, session, &Session::cancelLoading);
    connect(session, &Session::traceReplaced, this, [this] {
        m_context.selection->clear();
        m_notice->dismiss();
        showStartPage(false);
        updateForTrace();
    });
    connect(session, &Session::runStateChanged, this, [this](RunState state) {
        updateActions();
        updateForTrace();
        if (m_closing && state == RunState::Idle)
            close();
    });
    connect(session, &Session::experimentStarted, this, &MainWindow::updateActions);
    connect(session, &Session::experimentFinished, this, &MainWindow::updateActions);
    connect(session, &Session::experimentFailed, this, &MainWindow::updateActions);
}

void MainWindow::updateForTrace()
{
    const Session& session = *m_context.session;
    const QString title = session.traceTitle();
    setWindowTitle(title.isEmpty() ? QString("Stepscope") : title + " – Stepscope");
    m_runLabel->setText(title.isEmpty() ? tr("no run yet") : title);
    m_runLabel->setToolTip(QString::fromStdString(session.tracePath().string()));
}

bool MainWindow::mayClose()
{
    const Session& session = *m_context.session;
    const bool training = session.runState() != RunState::Idle;
    if (m_closing || (!training && !session.experimentRunning()))
        return true;
    QMessageBox question(QMessageBox::Question, tr("Close Stepscope?"),
                         training ? tr("A training is running. Stop it and close?")
                                  : tr("A change is being measured. Stop it and close?"),
                         QMessageBox::NoButton, this);
    question.setInformativeText(training ? tr("What it recorded until now is kept.")
                                         : tr("What was measured until now is lost."));
    auto* stop = question.addButton(tr("Stop and close"), QMessageBox::AcceptRole);
    question.setDefaultButton(question.addButton(QMessageBox::Cancel));
    question.exec();
    return question.clickedButton() == static_cast<QAbstractButton*>(stop);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayClose()) {
        event->ignore();
        return;
    }
    if (m_complete)
        saveLayout();
    if (m_context.session->runState() != RunState::Idle) {
        // The trainer ends its trace; the window closes when it has.
        m_closing = true;
        m_context.session->stop();
        event->ignore();
        return;
    }
    m_context.session->cancelExperiment();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const auto urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QString file = event->mimeData()->urls().front().toLocalFile();
    event->acceptProposedAction();
    if (file.endsWith(".json"))
        m_context.session->loadConfiguration(file.toStdString());
    else
        m_context.session->openTrace(file.toStdString());
}

} // namespace app
