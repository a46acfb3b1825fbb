#include "app/views/runs/runs.h"

#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/services/run_store.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "trainer/config/protocol.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QFont>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSettings>
#include <QTreeView>
#include <QUrl>
#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace app {

namespace {

/// The kept runs: double click or Enter opens a run, Del deletes it; other actions are in its context menu.
class RunsList : public QTreeView {
public:
    RunsList(RunStore* runs, ConfigurationModel* configuration, TraceDocument* document, QWidget* parent);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void showRuns();
    void open(const RunRecord& run);
    void remove(const RunRecord& run);

    RunStore* m_runs;
    ConfigurationModel* m_configuration;
    TraceDocument* m_document;
    RunsModel* m_model;
};

constexpr auto kBaselineKey = "runs/baseline";
// Sample of rows that determines the column widths: Qt measures a thousand rows per column on every change, which is
// slow.
constexpr int kMeasuredRows = 50;

} // namespace

QString changesText(const config::TrainingConfig& baseline, const config::TrainingConfig& run)
{
    QStringList parts;
    for (const config::Difference& change : config::difference(baseline, run)) {
        const config::Knob* knob = config::findKnob(change.key);
        parts << QString("%1 = %2").arg(knob ? asQString(knob->label) : asQString(change.key), asQString(change.b));
    }
    return parts.join(", ");
}

void RunsModel::setRuns(std::vector<RunRecord> runs)
{
    beginResetModel();
    m_runs = std::move(runs);
    findBaselines();
    endResetModel();
}

void RunsModel::setBaseline(const QString& name)
{
    beginResetModel();
    m_baseline = name;
    findBaselines();
    endResetModel();
}

void RunsModel::findBaselines()
{
    // Per workload, because rates of different models are not comparable.
    std::map<std::string, std::size_t, std::less<>> found;
    for (std::size_t i = 0; i < m_runs.size(); ++i)
        found[m_runs[i].configuration.text("workload")] = i; // sorted newest first, so the last is the oldest
    for (std::size_t i = m_runs.size(); i-- > 0;)
        if (m_runs[i].name == m_baseline)
            found[m_runs[i].configuration.text("workload")] = i;
    m_baselines.clear();
    for (const RunRecord& run : m_runs)
        m_baselines.push_back(found.find(run.configuration.text("workload"))->second);
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}
int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const RunRecord& shown = run(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(index.row(), index.column());
    case Qt::ToolTipRole:
        return toolTip(shown);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::AlignVCenter | (index.column() >= Rate ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ForegroundRole:
        if (index.column() == Rate && shown.outcome.state == "failed")
            return shades(QApplication::palette()).bad;
        return {};
    default:
        return {};
    }
}

/// The rate; if there is none, the state of the run.
QString RunsModel::rateText(const RunOutcome& outcome)
{
    if (outcome.state == "failed")
        return tr("failed");
    if (outcome.state == "running")
        return tr("running");
    if (outcome.state == "interrupted")
        return tr("interrupted");
    if (outcome.samplesPerSecond > 0)
        return formatSignificant(outcome.samplesPerSecond, kPlainCounts);
    return outcome.state == "stopped" ? tr("stopped") : QString();
}

QString RunsModel::text(int row, int column) const
{
    const RunRecord &run = this->run(row), &baseline = this->baseline(row);
    const bool isBaseline = &baseline == &run;
    switch (column) {
    case When:
        return QLocale().toString(run.started, "d MMM HH:mm");
    case Changes: {
        if (isBaseline)
            return tr("baseline");
        const QString changes = changesText(baseline.configuration, run.configuration);
        return changes.isEmpty() ? tr("no changes") : changes;
    }
    case Rate:
        return rateText(run.outcome);
    case Against:
        if (isBaseline || run.outcome.state == "failed" || run.outcome.samplesPerSecond <= 0 ||
            baseline.outcome.samplesPerSecond <= 0)
            return {};
        return formatRatio(run.outcome.samplesPerSecond / baseline.outcome.samplesPerSecond);
    default:
        return {};
    }
}

QString RunsModel::toolTip(const RunRecord& run) const
{
    QStringList lines{run.name};
    const QString changes = changesText(config::TrainingConfig(), run.configuration);
    lines << (changes.isEmpty() ? tr("all defaults") : changes);
    if (run.outcome.steps > 0)
        lines << tr("%1, loss %2")
                     .arg(formatCounted(run.outcome.steps, tr("step"), tr("steps")),
                          formatSignificant(run.outcome.finalLoss));
    if (run.outcome.validationMetric > 0)
        lines << tr("validation %1")
                     .arg(QString::fromStdString(
                         config::protocol::metricText(run.outcome.metric.toStdString(), run.outcome.validationMetric)));
    if (run.outcome.state == "interrupted")
        lines << tr("Stepscope exited before this run finished. You can open the events recorded until then.");
    if (!run.outcome.message.isEmpty())
        lines << run.outcome.message;
    return lines.join('\n');
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (section >= Rate ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::ToolTipRole && section == Against)
        return tr("Throughput relative to the baseline. These are single runs: measure the change for a verdict.");
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case When:
        return tr("Run");
    case Changes:
        return tr("Changes");
    case Rate:
        return tr("Samples/s");
    case Against:
        return tr("Ratio");
    default:
        return {};
    }
}

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

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new RunsList(&bench.runs, &bench.configuration, &bench.document, parent);
}

} // namespace

View runs()
{
    return {QCoreApplication::translate("views", "Runs"), ViewArea::Left, 1, create};
}

} // namespace app::views
