#include "app/document/analyser.h"

#include "advisor/change/program_patch.h"
#include "advisor/rule.h"
#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace_builder.h"
#include "profiler/os/machine.h"

#include <algorithm>
#include <utility>

namespace app {

using namespace std::chrono_literals;
using profiler::analysis::LastSteps;

namespace {

// If a trace has no usable last steps, or they contain too many events, the whole trace is analysed more often than the
// cost limit allows, so that advice arrives in time.
constexpr std::chrono::milliseconds kLongestPause = 30s;
constexpr std::chrono::milliseconds kShortestPause = 1s;

/// @return null if it was stopped
std::shared_ptr<const Analysed> analyseAll(std::shared_ptr<const profiler::Trace> trace, const StepSource& source,
                                           const std::stop_token& stop)
{
    auto result = std::make_shared<Analysed>();
    FoundSteps found = stepsOf(*trace, source);
    result->source = source;
    result->whyNoRepetition = std::move(found.whyNoRepetition);
    if (stop.stop_requested())
        return nullptr;
    result->facts = profiler::analysis::analyse(*trace, std::move(found.steps), stop, source.rank);
    if (!source.range.empty() && !found.ofRange)
        result->whyNoRange = Analyser::tr("The trace has no range named “%1”.").arg(asQString(source.range));
    if (stop.stop_requested())
        return nullptr;
    // With several ranks, only the analysed rank: kernels of another rank would overlap these steps.
    result->summary = summarise(result->facts.rank ? result->facts.rank->trace : trace, result->facts.steps, stop);
    if (stop.stop_requested())
        return nullptr;
    if (found.ofRange)
        result->summary.stepRange = QString::fromStdString(source.range);
    result->summary.stepsRemoved = source.marksOnly;
    result->trace = std::move(trace);
    return result;
}

/// Adds the source information of the recorded Python program.
void addSource(Advised& advice, const profiler::Trace& trace)
{
    if (!advisor::change::describesProgram(trace))
        return;
    advice.files = recordedFiles(trace);
    advice.lines = advisor::sourceLines(trace);
    advice.times = std::make_shared<const advisor::SourceTimes>(trace);
}

/// The previous verdicts of a trace and the current verdicts of its last steps.
std::shared_ptr<const Advised> withLastSteps(const Advised& said, const profiler::Trace& trace, const LastSteps& last,
                                             const config::TrainingConfig* config)
{
    const auto end = profiler::TraceBuilder::endOf(trace, last.begin);
    auto advice = std::make_shared<Advised>(said);
    advice->rules = advisor::mergeLiveAdvice(std::move(advice->rules),
                                             advisor::adviseOnSteps(*end, profiler::analysis::analyse(*end), config));
    advice->lastSteps = last.count;
    advice->newest = last.newest;
    return advice;
}

} // namespace

FoundSteps stepsOf(const profiler::Trace& trace, const StepSource& source)
{
    FoundSteps found;
    if (source.repetition) {
        auto repeated = profiler::analysis::repeatedSteps(trace);
        found.steps = std::move(repeated.steps);
        found.whyNoRepetition = QString::fromStdString(repeated.whyNot.text);
    }
    if (!source.range.empty())
        found.steps = profiler::analysis::findSteps(trace, source.range);
    found.ofRange = !source.range.empty() && !found.steps.empty();
    // While a trace grows, step marks may still arrive and replace inferred steps.
    const bool mayInfer = source.range.empty() && !source.repetition && !source.marksOnly && !trace.captureStats().live;
    if (found.steps.empty())
        found.steps = mayInfer ? profiler::analysis::detectSteps(trace).steps : profiler::analysis::findSteps(trace);
    return found;
}

std::chrono::milliseconds Analyser::pauseAfter(std::chrono::nanoseconds cpu)
{
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(400 * cpu), kShortestPause);
}

Analyser::Analyser(QObject* parent) : QObject(parent), m_thread(this)
{
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, &Analyser::startNext);
}

/// @return empty if it was stopped
std::optional<Analyser::Found> Analyser::look(const Request& job, std::shared_ptr<const Advised> said, Cost cost,
                                              bool atWhole, const std::stop_token& stop)
{
    const config::TrainingConfig* config = job.config ? &*job.config : nullptr;
    const bool live = job.trace->captureStats().live;
    Found found{.whole = nullptr, .advice = std::move(said), .cost = cost};
    std::chrono::nanoseconds before = profiler::os::threadCpuTime();
    if (atWhole) {
        found.whole = analyseAll(job.trace, job.source, stop);
        if (!found.whole || stop.stop_requested())
            return std::nullopt;
        auto advice = std::make_shared<Advised>();
        advice->rules = advisor::advise(*job.trace, found.whole->facts, config, stop);
        if (stop.stop_requested())
            return std::nullopt;
        advice->program = advisor::programValues(*job.trace, config);
        // While a program runs, its description may change, and it cannot be measured.
        if (!live && !config)
            advisor::change::patchFindings(*job.trace, advice->rules);
        if (!live)
            addSource(*advice, *job.trace);
        advice->live = live;
        advice->steps = found.whole->facts.statistics.count;
        found.advice = std::move(advice);
        found.cost.whole = profiler::os::threadCpuTime() - std::exchange(before, profiler::os::threadCpuTime());
    }
    found.cost.hasLastSteps = false;
    if (!live || job.source != StepSource{} || pauseAfter(found.cost.whole) == kShortestPause)
        return found;
    if (const auto last = profiler::analysis::lastSteps(*job.trace)) {
        found.advice = withLastSteps(*found.advice, *job.trace, *last, config);
        found.cost.hasLastSteps = true;
        found.cost.lastSteps = profiler::os::threadCpuTime() - before;
    }
    return found;
}

std::chrono::milliseconds Analyser::untilNext(bool live) const
{
    if (!live || !m_said)
        return 0ms;
    const auto pause = std::min(pauseAfter(m_cost.hasLastSteps ? m_cost.lastSteps : m_cost.whole), kLongestPause);
    return std::max(0ms, pause - std::chrono::milliseconds(m_sinceEnd.elapsed()));
}

void Analyser::request(std::shared_ptr<const profiler::Trace> trace, std::optional<config::TrainingConfig> config)
{
    const bool live = trace->captureStats().live;
    m_next = Request{std::move(trace), std::move(config), m_source};
    if (m_busy)
        return;
    if (const auto wait = untilNext(live); wait == 0ms)
        startNext();
    else if (!m_later.isActive())
        m_later.start(wait);
}

void Analyser::reset()
{
    m_next.reset();
    m_source = {};
    m_later.stop();
    m_thread.cancel();
    m_busy = false;
    m_said.reset();
}

void Analyser::startNext()
{
    m_later.stop();
    if (!m_next || m_busy)
        return;
    m_busy = true;
    const bool atWhole = !m_next->trace->captureStats().live || !m_said || !m_cost.hasLastSteps ||
                         m_sinceWhole.elapsed() >= pauseAfter(m_cost.whole).count();
    m_thread.start(
        [this, job = *std::exchange(m_next, {}), said = m_said, cost = m_cost, atWhole](const std::stop_token& stop,
                                                                                        const Background::Post& post) {
            if (auto found = look(job, said, cost, atWhole, stop))
                post([this, found = *std::move(found)] { take(found); });
        },
        [this](const profiler::Error& error) {
            m_busy = false;
            emit failed(error);
            startNext();
        });
}

void Analyser::take(const Found& found)
{
    m_busy = false;
    m_said = found.advice;
    m_cost = found.cost;
    m_sinceEnd.start();
    if (found.whole) {
        m_sinceWhole.start();
        emit analysed(found.whole);
    }
    emit advised(found.advice);
    if (m_next)
        request(m_next->trace, m_next->config);
}

} // namespace app
