#include "app/views/runs/runs_model.h"

#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/theme.h"
#include "trainer/config/protocol.h"

#include <QApplication>
#include <QFont>
#include <QLocale>
#include <functional>
#include <map>
#include <string>

namespace app {

namespace {

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
        return QVariant(Qt::Alignment(Qt::AlignVCenter | (index.column() >= Rate ? Qt::AlignRight : Qt::AlignLeft)));
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
        return QVariant(Qt::Alignment(Qt::AlignVCenter | (section >= Rate ? Qt::AlignRight : Qt::AlignLeft)));
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

} // namespace app
