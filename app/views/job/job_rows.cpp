#include "app/views/job/job_rows.h"

#include "app/document/job_text.h"
#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "profiler/analysis/intervals.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace app {

namespace analysis = profiler::analysis;
using profiler::job::Job;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobRows)
};

EvidenceCell text(const QString& shown)
{
    return {shown.isEmpty() ? QStringLiteral("–") : shown, 0};
}
EvidenceCell count(std::int64_t value)
{
    return {formatCount(value), static_cast<double>(value)};
}
/// A rank or a step: a number that identifies something.
EvidenceCell number(std::int64_t value)
{
    return {QString::number(value), static_cast<double>(value)};
}
EvidenceCell time(double us)
{
    return {formatUs(us), us};
}
EvidenceCell share(double value)
{
    return {formatShare(value), value};
}
EvidenceCell bytes(std::int64_t value)
{
    return {value > 0 ? formatBytes(static_cast<double>(value)) : QStringLiteral("–"), static_cast<double>(value)};
}
EvidenceCell rate(double gbPerS)
{
    return {gbPerS > 0 ? formatSignificant(gbPerS) : QStringLiteral("–"), gbPerS};
}

EvidenceRow row(std::size_t key, std::vector<EvidenceCell> cells)
{
    EvidenceRow made;
    made.cells = std::move(cells);
    made.key = QString::number(key);
    return made;
}

} // namespace

std::vector<EvidenceModel::Column> stragglerColumns()
{
    return {{Texts::tr("Rank"), true},   {Texts::tr("Host"), false}, {Texts::tr("Late by"), true},
            {Texts::tr("Cause"), false}, {Texts::tr("When"), false}, {Texts::tr("Evidence"), false}};
}

std::vector<EvidenceRow> stragglerRows(const Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::Straggler& straggler : job.analysis.stragglers) {
        const analysis::RankDigest& rank = job.ranks[straggler.rank];
        rows.push_back(row(rows.size(), {number(rank.rank), text(asQString(rank.host)), time(straggler.lateUs),
                                         text(causeText(straggler.cause)), text(scopeText(job, straggler)),
                                         text(asQString(straggler.reason.text))}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> rankColumns()
{
    return {{Texts::tr("Rank"), true},     {Texts::tr("Host"), false},   {Texts::tr("Step time"), true},
            {Texts::tr("Busy"), true},     {Texts::tr("Waiting"), true}, {Texts::tr("Lateness"), true},
            {Texts::tr("Transfer"), true}, {Texts::tr("Exposed"), true}, {Texts::tr("Clock error"), true}};
}

std::vector<EvidenceRow> rankRows(const Job& job)
{
    std::vector<EvidenceRow> rows;
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        const analysis::RankDigest& digest = job.ranks[i];
        const analysis::JobRank& rank = job.analysis.ranks[i];
        const analysis::RankClock& clock = job.analysis.clock.ranks[i];
        const double errorUs = analysis::toUs(clock.error);
        rows.push_back(row(i, {number(digest.rank), text(asQString(digest.host)), time(rank.stepUs), share(digest.busy),
                               time(rank.waitUs), rank.lateUs > 0 ? time(rank.lateUs) : EvidenceCell{"–", 0},
                               time(rank.transferUs), time(rank.exposedUs),
                               clock.refined ? time(errorUs) : EvidenceCell{Texts::tr("unknown"), -1}}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> waitColumns()
{
    return {{Texts::tr("Collective"), false},   {Texts::tr("Size"), true},    {Texts::tr("Last"), true},
            {Texts::tr("Late by"), true},       {Texts::tr("Longest"), true}, {Texts::tr("Waited"), true},
            {Texts::tr("Waiting ranks"), false}};
}

std::vector<EvidenceRow> waitRows(const Job& job, const std::vector<analysis::StepWait>& waits)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::StepWait& wait : waits) {
        std::vector<std::int64_t> waiting;
        for (const std::size_t rank : wait.waiting)
            waiting.push_back(job.ranks[rank].rank);
        std::sort(waiting.begin(), waiting.end());
        QString collective = collectiveText(wait.kind);
        if (!wait.group.empty())
            collective = Texts::tr("%1 of %2").arg(collective, asQString(wait.group));
        rows.push_back(row(rows.size(), {text(collective),
                                         bytes(wait.bytes),
                                         number(job.ranks[wait.last].rank),
                                         time(wait.lateUs),
                                         time(wait.longestUs),
                                         {Texts::tr("%1 of %2").arg(waiting.size()).arg(wait.ranks),
                                          static_cast<double>(waiting.size())},
                                         text(formatNumbers(waiting))}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> groupColumns()
{
    return {{Texts::tr("Groups"), false}, {Texts::tr("Communicators"), true}, {Texts::tr("Ranks"), true},
            {Texts::tr("Calls"), true},   {Texts::tr("Exposed"), true},       {Texts::tr("Waiting"), true},
            {Texts::tr("Transfer"), true}};
}

std::vector<EvidenceRow> groupRows(const Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::GroupUse& use : job.analysis.groups)
        rows.push_back(
            row(rows.size(), {text(groupRoleText(use.role)), count(use.groups), count(use.size), count(use.calls),
                              time(use.exposedUs), time(use.waitUs), time(use.transferUs)}));
    return rows;
}

std::vector<EvidenceModel::Column> collectiveColumns()
{
    return {{Texts::tr("Collective"), false}, {Texts::tr("Ranks"), true},    {Texts::tr("Size"), true},
            {Texts::tr("Count"), true},       {Texts::tr("Transfer"), true}, {Texts::tr("Waiting"), true},
            {Texts::tr("Bus GB/s"), true},    {Texts::tr("Best"), true}};
}

std::vector<EvidenceRow> collectiveRows(const Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::CollectiveUse& use : job.analysis.collectives)
        rows.push_back(
            row(rows.size(), {text(collectiveText(use.kind)), count(use.ranks), bytes(use.bytes), count(use.count),
                              time(use.transferUs), time(use.waitUs), rate(use.busGbPerS), rate(use.bestBusGbPerS)}));
    return rows;
}

} // namespace app
