#include "app/views/runs/runs_list.h"

#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/services/run_store.h"
#include "app/views/runs/runs_model.h"

#include <QContextMenuEvent>
#include <QDesktopServices>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSettings>
#include <QUrl>
#include <algorithm>

namespace app {

namespace {
constexpr auto kBaselineKey = "runs/baseline";
// Sample of rows that determines the column widths: Qt measures a thousand rows per column on every change, which is
// slow.
constexpr int kMeasuredRows = 50;
} // namespace

RunsList::RunsList(RunStore* runs, ConfigurationModel* configuration, TraceDocument* document, QWidget* parent)
    : QTreeView(parent), m_runs(runs), m_configuration(configuration), m_document(document),
      m_model(new RunsModel(this))
{
    setObjectName("runsList");
    setModel(m_model);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setAllColumnsShowFocus(true);
    setFrameShape(QFrame::NoFrame);
    setTextElideMode(Qt::ElideRight);
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setResizeContentsPrecision(kMeasuredRows);
    header()->setSectionResizeMode(RunsModel::Changes, QHeaderView::Stretch);
    m_model->setBaseline(QSettings().value(kBaselineKey).toString());
    connect(m_runs, &RunStore::changed, this, &RunsList::showRuns);
    connect(this, &QTreeView::activated, this, [this](const QModelIndex& index) { open(m_model->run(index.row())); });
    showRuns();
}

void RunsList::showRuns()
{
    m_model->setRuns(m_runs->all());
}

bool RunsList::event(QEvent* event)
{
    // A run of another window may have ended in the meantime.
    const auto& runs = m_runs->all();
    if (event->type() == QEvent::WindowActivate &&
        std::any_of(runs.begin(), runs.end(), [](const RunRecord& run) { return run.isRunning(); }))
        m_runs->reload();
    return QTreeView::event(event);
}

void RunsList::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Delete) && currentIndex().isValid())
        remove(RunRecord(m_model->run(currentIndex().row()))); // the list may change while the question is open
    else
        QTreeView::keyPressEvent(event);
}

void RunsList::contextMenuEvent(QContextMenuEvent* event)
{
    const QModelIndex index = indexAt(event->pos());
    if (!index.isValid())
        return;
    const RunRecord run = m_model->run(index.row());
    QMenu menu(this);
    menu.addAction(icon("open"), tr("Open"), this, [&] { open(run); });
    menu.addAction(tr("Use this configuration"), this,
                   [&] { m_configuration->set(run.configuration, tr("configuration of %1").arg(run.name)); });
    auto* compare = menu.addAction(tr("Compare with the trace on screen"), this, [&] { m_runs->compare(run); });
    compare->setEnabled(m_document->trace()->sliceCount() > 0 && m_document->path() != run.trace());
    menu.addAction(tr("Use as baseline"), this, [&] {
        QSettings().setValue(kBaselineKey, run.name);
        m_model->setBaseline(run.name);
    });
    menu.addSeparator();
    menu.addAction(icon("folder"), tr("Show folder"), this, [&] {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(run.folder.string())));
    });
    menu.addAction(tr("Delete…") + QStringLiteral("\tDel"), this, [&] { remove(run); });
    menu.exec(event->globalPos());
}

void RunsList::open(const RunRecord& run)
{
    if (!m_runs->current() || m_runs->current()->folder != run.folder) // its trace is already shown
        m_document->openTrace(run.trace());
}

void RunsList::remove(const RunRecord& run)
{
    const auto answer = QMessageBox::question(this, tr("Delete the run?"),
                                              tr("The run %1 and its trace will be deleted permanently.").arg(run.name),
                                              QMessageBox::Cancel | QMessageBox::Discard, QMessageBox::Cancel);
    if (answer == QMessageBox::Discard)
        m_runs->remove(run);
}

void RunsList::paintEvent(QPaintEvent* event)
{
    QTreeView::paintEvent(event);
    if (m_model->rowCount() > 0)
        return;
    QPainter painter(viewport());
    painter.setPen(shades(palette()).muted);
    painter.drawText(viewport()->rect().adjusted(10, 8, -10, -8), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                     tr("Your training runs are listed here, each with its configuration and its trace."));
}

} // namespace app
