#include "advisor/runner/unified_diff.h"
#include "app/document/session.h"
#include "app/document/session_state.h"
#include "app/look/qstring.h"
#include "app/services/origin.h"

#include <QSaveFile>
#include <algorithm>

// The session's tuning and reports.
namespace app {

namespace {

/// The journal already contains this change, from any rule.
bool holds(const Journal& journal, const advisor::Toggle& toggle)
{
    return std::any_of(journal.changes.begin(), journal.changes.end(),
                       [&](const KeptChange& kept) { return kept.toggle == toggle; });
}

} // namespace

bool Session::tuningRunning() const
{
    return m->tuning.isRunning();
}
const TuneController& Session::tuning() const
{
    return m->tuning;
}

bool Session::isTuningOfScreen() const
{
    if (m->tuning.isOfProgram())
        return m->tuning.origin() == programOnScreen() && isMachineOnScreen(thisMachine());
    const config::TrainingConfig* onScreen = trainingOnScreen();
    const auto& result = m->tuning.result();
    std::vector<advisor::Toggle> found;
    if (result)
        for (const config::Difference& one : config::difference(result->start, result->best))
            found.push_back({one.key, one.a, one.b});
    return onScreen && isMachineOnScreen(thisMachine()) &&
           m->kept.isResultOf(*onScreen, m->tuning.startConfiguration(), found);
}

void Session::connectTuning()
{
    connect(&m->tuning, &TuneController::progressed, this, &Session::tuningProgressed);
    connect(&m->tuning, &TuneController::ended, this, [this] {
        std::vector<advisor::ExperimentResult> measured;
        if (const auto* outcome = m->tuning.outcome())
            for (const advisor::TuneTrial& trial : outcome->trials)
                if (trial.result)
                    measured.push_back(*trial.result);
        if (m->addPredictions(measured, m->tuning.isOfProgram() ? m->tuning.origin() : Origin()))
            settleResults();
    });
    connect(&m->tuning, &TuneController::ended, this, &Session::tuningEnded);
    connect(&m->reports, &ReportSaver::saved, this, [this](const std::filesystem::path& path) {
        emit noticed(tr("Report saved."), asQString(path.string()), false);
    });
    connect(&m->reports, &ReportSaver::failed, this, [this](const profiler::Error& error) {
        emit noticed(asQString(error.what.text), asQString(error.message()), true);
    });
}

void Session::startTuning(std::chrono::seconds budget)
{
    if (!mayStart())
        return;
    if (!programOnScreen().id.isEmpty()) {
        if (auto what = recordedProgram())
            passRecorded(std::move(*what), [this, budget](ProgramMeasurement isolated) {
                m->tuning.startProgram(std::move(isolated), budget);
                emit tuningStarted();
            });
        return;
    }
    if (!takeEdits())
        return;
    passGate([this, budget] {
        if (!mayStart())
            return;
        m->tuning.start(m->configuration, budget);
        emit tuningStarted();
    });
}

void Session::stopTuning()
{
    m->tuning.stop();
    emit busyChanged();
}

void Session::applyTuning()
{
    const auto& result = m->tuning.result();
    if (!result || isBusy())
        return;
    if (workloadOf(result->start) != workloadOf(m->configuration)) {
        emit noticed(tr("Not applied: another model was tuned."), tr("Tune the model that is configured now."), true);
        return;
    }
    SessionChange change;
    for (const config::Difference& found : config::difference(result->start, result->best))
        if (const std::string now = m->configuration.text(found.key); now != found.b)
            change.knobs.push_back({found.key, now, found.b});
    if (change.knobs.empty())
        return;
    // When the result is applied again, changes already in the journal are restored with it.
    config::TrainingConfig applied = m->configuration;
    for (const config::Difference& knob : change.knobs)
        static_cast<void>(applied.set(knob.key, knob.b));
    const Journal known = m->kept.inForce(applied);
    for (const advisor::TuneTrial& trial : result->trials)
        if (trial.outcome == advisor::TuneTrial::Outcome::Kept && trial.result && !holds(known, trial.change))
            change.kept.push_back({m->kept.freeName(asQString(trial.rule), change.kept), asQString(trial.title),
                                   trial.change, *trial.result});
    change.place = m->kept.changes.size();
    change.text = tr("apply tuning result");
    push(std::move(change));
}

void Session::saveTuned(const std::filesystem::path& path)
{
    if (!m->tuning.result())
        return;
    emit noticeOutdated();
    if (const auto saved = m->tuning.result()->best.save(path); !saved)
        emit noticed(tr("Could not save the configuration."), asQString(saved.error().message()), true);
}

void Session::saveTunedPatch(const std::filesystem::path& path)
{
    const auto& tuned = m->tuning.programResult();
    if (!tuned)
        return;
    emit noticeOutdated();
    const std::string diff = advisor::runner::diffInFolder(tuned->result.patch.diff, tuned->what.folder);
    QSaveFile out(asQString(path.string()));
    if (!out.open(QIODevice::WriteOnly) || out.write(QByteArray::fromStdString(diff)) < 0 || !out.commit())
        emit noticed(tr("Could not save the patch."), out.errorString(), true);
    else
        emit noticed(tr("Patch saved."), asQString(path.string()), false);
}

ReportContents Session::contentsOfTrace() const
{
    ReportContents contents;
    contents.title = traceTitle().isEmpty() ? tr("Training report") : tr("Training report: %1").arg(traceTitle());
    if (m->trace->sliceCount() > 0)
        contents.trace = m->trace;
    if (m->analysed && m->analysed->trace == m->trace)
        contents.analysed = m->analysed;
    contents.configuration = m->traceConfiguration;
    return contents;
}

/// Measured changes of a training.
/// @param of  the training they were measured with
void Session::addMeasured(ReportContents& to, const config::TrainingConfig& of) const
{
    if (!programOnScreen().id.isEmpty())
        return; // the trace on screen was recorded from a program
    const auto add = [&](const advisor::ExperimentResult& result) {
        if (m->kept.isResultOf(of, result.plan.baseline, result.plan.changes))
            to.experiments.push_back(result);
    };
    for (const KeptChange& kept : m->journal.changes)
        add(kept.result);
    for (const auto& [rule, result] : m->experiments.results())
        if (result.plan.changes.empty() || !m->journal.keptOf(rule, result.plan.changes.front()))
            add(result);
}

void Session::saveReport(const std::filesystem::path& path)
{
    emit noticeOutdated();
    ReportContents contents = contentsOfTrace();
    if (!programOnScreen().id.isEmpty()) {
        if (isTuningOfScreen())
            contents.program = m->tuning.programResult();
        for (const KeptChange& kept : m->journal.changes)
            contents.experiments.push_back(kept.result);
        for (const auto& [rule, result] : m->experiments.results())
            if (result.plan.changes.empty() || !m->journal.keptOf(rule, result.plan.changes.front()))
                contents.experiments.push_back(result);
    } else if (const config::TrainingConfig* onScreen = trainingOnScreen()) {
        addMeasured(contents, *onScreen);
        if (m->tuning.result() && isTuningOfScreen())
            contents.tuning = m->tuning.result();
    }
    m->reports.save(std::move(contents), path);
}

void Session::saveTuneReport(const std::filesystem::path& path)
{
    const auto& tuned = m->tuning.result();
    const auto& program = m->tuning.programResult();
    if (!tuned && !program)
        return;
    emit noticeOutdated();
    ReportContents contents = contentsOfTrace();
    if (!contents.trace || !isTuningOfScreen())
        contents = {};
    if (program) {
        contents.title = tr("Tuning report: %1").arg(m->tuning.origin().name);
        contents.program = program;
        m->reports.save(std::move(contents), path);
        return;
    }
    if (!contents.trace)
        contents.configuration = tuned->best;
    contents.title = tr("Tuning report: %1").arg(QString::fromStdString(workloadOf(tuned->start)));
    contents.tuning = tuned;
    addMeasured(contents, tuned->start);
    m->reports.save(std::move(contents), path);
}

} // namespace app
