#include "app/document/trace_pair.h"

#include "app/tables/slice_details.h"

#include <algorithm>
#include <utility>

namespace app {

namespace analysis = profiler::analysis;
using analysis::Step;
using analysis::StepDifference;
using analysis::StepMatch;
using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;
using profiler::TraceTime;

void LinkedViewport::setRanges(TimeRange first, TimeRange second)
{
    if (m_ranges == std::array{first, second})
        return;
    m_ranges = {first, second};
    emit limitsChanged();
    follow(Side::First);
}

void LinkedViewport::setShift(Nanoseconds shift)
{
    if (shift == m_shift)
        return;
    m_shift = shift;
    emit limitsChanged();
    follow(Side::First);
    emit changed();
}

void LinkedViewport::setLocked(bool locked)
{
    if (locked == m_locked)
        return;
    m_locked = locked;
    emit limitsChanged();
    follow(Side::First);
    emit changed();
}

void LinkedViewport::move(Side side, const View& view)
{
    if (m_views[index(side)] == view)
        return;
    m_views[index(side)] = view;
    follow(side);
}

/// Moves the other timeline. The widths of the headers are always equal.
void LinkedViewport::follow(Side moved)
{
    if (!isLinked())
        return;
    const Side other = otherSide(moved);
    const View& from = m_views[index(moved)];
    View& to = m_views[index(other)];
    const View before = to;
    to.headerWidth = from.headerWidth;
    if (m_locked)
        to.visible = toOther(moved, from.visible);
    if (to != before)
        emit viewWanted(other);
}

TimeRange LinkedViewport::limits(Side side) const
{
    if (!isLinked() || !m_locked)
        return {};
    const TimeRange own = m_ranges[index(side)];
    const TimeRange other = toOther(otherSide(side), m_ranges[index(otherSide(side))]);
    return own.empty() ? other : TimeRange{std::min(own.begin, other.begin), std::max(own.end, other.end)};
}

TraceTime LinkedViewport::toOther(Side from, TraceTime time) const
{
    return from == Side::First ? time - m_shift : time + m_shift;
}

TimeRange LinkedViewport::toOther(Side from, TimeRange range) const
{
    return {toOther(from, range.begin), toOther(from, range.end)};
}

TracePair::TracePair(Notices* notices, const RunStore* runs, TraceDocument* first)
    : m_notices(notices), m_runs(runs), m_first(first)
{
    connectDocument(Side::First);
}

TracePair::~TracePair()
{
    m_first->disconnect(this);
    m_first->selection()->disconnect(this);
}

void TracePair::connectDocument(Side side)
{
    TraceDocument* document = this->document(side);
    connect(document, &TraceDocument::traceChanged, this, &TracePair::takeRanges);
    connect(document, &TraceDocument::analysedChanged, this, &TracePair::takeSteps);
    connect(document->selection(), &Selection::changed, this, [this, side] { takeSelection(side); });
    if (side == Side::First) {
        connect(document, &TraceDocument::traceReplaced, this, &TracePair::close);
        return;
    }
    connect(document, &TraceDocument::loading, this, &TracePair::changed);
    // Deferred, because the title is not known yet when loading ends.
    connect(
        document, &TraceDocument::loading, this,
        [this] {
            if (m_second && !m_second->isLoading() && m_second->title().isEmpty())
                close();
        },
        Qt::QueuedConnection);
}

void TracePair::open(const std::filesystem::path& file)
{
    const bool isNew = !m_second;
    if (isNew)
        m_second = std::make_unique<TraceDocument>(m_notices, m_runs);
    m_alignment = Alignment::ByStep;
    m_marks = {};
    m_step = {};
    m_difference.reset();
    if (isNew) {
        connectDocument(Side::Second);
        emit openChanged();
    }
    m_second->openTrace(file);
    emit differenceChanged();
    emit changed();
}

void TracePair::close()
{
    if (!m_second)
        return;
    m_work.cancel();
    m_busy = false;
    m_second->disconnect(this);
    m_second->selection()->disconnect(this);
    if (m_second->isLoading())
        m_second->cancelLoading();
    m_second.release()->deleteLater(); // it may have emitted the signal that led here
    m_marks = {};
    m_step = {};
    m_compared = {};
    m_difference.reset();
    m_viewport.setRanges({}, {});
    emit differenceChanged();
    emit openChanged();
    setActiveSide(Side::First);
}

void TracePair::setActiveSide(Side side)
{
    const Side possible = isOpen() ? side : Side::First;
    if (m_active == possible)
        return;
    m_active = possible;
    emit activeSideChanged();
}

const std::vector<Step>& TracePair::steps(Side side) const
{
    static const std::vector<Step> kNone;
    const TraceDocument* document = this->document(side);
    const auto analysed = document ? document->analysed() : nullptr;
    return analysed && analysed->trace == document->trace() ? analysed->facts.steps : kNone;
}

void TracePair::takeRanges()
{
    if (!m_second)
        return;
    m_viewport.setRanges(m_first->trace()->range(), m_second->trace()->range());
    // Until the steps are known, the traces start at the same position.
    align();
    emit changed();
}

void TracePair::takeSteps()
{
    if (!m_second)
        return;
    if (m_alignment != Alignment::ByMark)
        m_match = analysis::matchSteps(steps(Side::First), steps(Side::Second));
    m_step = {};
    m_compared = {};
    takeSelection(Side::First);
    if (!m_step[0]) {
        // The middle one of the visible steps that have a counterpart: the user looks at it.
        const auto& all = steps(Side::First);
        const profiler::TimeRange visible = m_viewport.view(Side::First).visible;
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (matched(Side::First, i) && (visible.empty() || visible.overlaps(all[i].range)))
                candidates.push_back(i);
        if (!candidates.empty()) {
            setStep(Side::First, candidates[candidates.size() / 2]);
            compute(Side::First, std::nullopt);
        }
    }
    align();
    emit changed();
}

std::optional<std::size_t> TracePair::matched(Side from, std::size_t position) const
{
    return analysis::matchedStep(from == Side::First ? m_match : reversed(m_match), steps(from), position,
                                 steps(otherSide(from)));
}

void TracePair::setStep(Side side, std::optional<std::size_t> position)
{
    m_step[index(side)] = position;
    m_step[index(otherSide(side))] = position ? matched(side, *position) : std::nullopt;
}

void TracePair::takeSelection(Side side)
{
    if (!m_second || m_selecting)
        return;
    const TraceDocument* document = this->document(side);
    Selection* other = this->document(otherSide(side))->selection();
    const Selection* selection = document->selection();
    std::optional<Slice> slice;
    if (selection->slice() && holds(*document->trace(), *selection->slice()))
        slice = document->trace()->slice(*selection->slice());
    std::optional<std::size_t> position;
    if (slice)
        position = analysis::stepOfSlice(*document->trace(), steps(side), *slice);
    else if (selection->range())
        position = analysis::stepContaining(steps(side), selection->range()->begin);
    if (slice || selection->range()) {
        setStep(side, position);
        if (m_alignment != Alignment::BySelection || !slice)
            align(); // otherwise when the counterpart is known
    }
    if (!slice) {
        m_selecting = true;
        if (selection->range())
            other->selectRange(m_viewport.toOther(side, *selection->range()));
        else
            other->clear();
        m_selecting = false;
    }
    compute(side, slice);
    emit changed();
}

/// Finds the counterpart of a slice and the difference of the current step in the background.
void TracePair::compute(Side from, std::optional<Slice> slice)
{
    const auto& steps = this->steps(from);
    const auto& otherSteps = this->steps(otherSide(from));
    const auto here = m_step[index(from)], there = m_step[index(otherSide(from))];
    if (!here || !there) {
        m_work.cancel();
        m_busy = false;
        if (slice) {
            m_selecting = true;
            document(otherSide(from))->selection()->clear();
            m_selecting = false;
        }
        if (std::exchange(m_difference, nullptr))
            emit differenceChanged();
        return;
    }
    struct Job {
        std::shared_ptr<const profiler::Trace> trace, other;
        Step step, otherStep;
        std::optional<Slice> slice;
    };
    const Job job{document(from)->trace(), document(otherSide(from))->trace(), steps[*here], otherSteps[*there], slice};
    const bool sameTraces =
        m_compared == (from == Side::First ? std::array{job.trace, job.other} : std::array{job.other, job.trace});
    const bool known = sameTraces && m_difference &&
                       m_difference->stepA.range == (from == Side::First ? job.step : job.otherStep).range &&
                       m_difference->stepB.range == (from == Side::First ? job.otherStep : job.step).range;
    if (!slice && known)
        return;
    m_busy = true;
    m_work.start(
        [this, job, from, known](const std::stop_token& stop, const Background::Post& post) {
            const auto found = job.slice ? counterpart(*job.trace, job.step, *job.slice, *job.other, job.otherStep)
                                         : std::optional<Slice>();
            if (job.slice)
                post([this, job, from, found] {
                    m_selecting = true;
                    Selection* other = document(otherSide(from))->selection();
                    if (found)
                        other->selectSlice(found->id);
                    else
                        other->clear();
                    m_selecting = false;
                    if (m_alignment == Alignment::BySelection)
                        alignCounterparts(from, *job.slice, found);
                    if (found)
                        emit counterpartSelected(otherSide(from), found->id);
                });
            if (stop.stop_requested())
                return;
            if (known) {
                post([this] { m_busy = false; });
                return;
            }
            const bool forward = from == Side::First;
            auto difference = std::make_shared<const StepDifference>(
                forward ? stepDifference(*job.trace, job.step, *job.other, job.otherStep)
                        : stepDifference(*job.other, job.otherStep, *job.trace, job.step));
            post([this, difference, job, forward] {
                m_busy = false;
                m_difference = difference;
                m_compared = {forward ? job.trace : job.other, forward ? job.other : job.trace};
                emit differenceChanged();
            });
        },
        [this](const profiler::Error&) { m_busy = false; });
}

void TracePair::alignCounterparts(Side from, const Slice& slice, const std::optional<Slice>& other)
{
    if (!other)
        return align();
    const Nanoseconds ahead = slice.begin - other->begin;
    m_viewport.setShift(from == Side::First ? ahead : -ahead);
}

/// Aligns the current step.
void TracePair::align()
{
    if ((m_alignment != Alignment::ByStep && m_alignment != Alignment::BySelection) || !m_second)
        return;
    const auto first = m_step[0], second = m_step[1];
    if (first && second)
        m_viewport.setShift(steps(Side::First)[*first].range.begin - steps(Side::Second)[*second].range.begin);
    else if (steps(Side::First).empty() || steps(Side::Second).empty())
        m_viewport.setShift(m_first->trace()->range().begin - m_second->trace()->range().begin);
}

void TracePair::alignBySteps(Alignment how)
{
    if (!m_second)
        return;
    m_alignment = how;
    m_marks = {};
    m_match = analysis::matchSteps(steps(Side::First), steps(Side::Second));
    setStep(Side::First, m_step[0]);
    compute(Side::First, std::nullopt);
    align();
    takeSelection(Side::First);
    emit changed();
}

void TracePair::setMark(Side side, TraceTime time)
{
    if (!m_second)
        return;
    m_marks[index(side)] = time;
    if (m_marks[0] && m_marks[1]) {
        m_alignment = Alignment::ByMark;
        const auto first = analysis::stepContaining(steps(Side::First), *m_marks[0]);
        const auto second = analysis::stepContaining(steps(Side::Second), *m_marks[1]);
        if (first && second) {
            m_match = {StepMatch::By::Position,
                       static_cast<std::ptrdiff_t>(*second) - static_cast<std::ptrdiff_t>(*first)};
            setStep(Side::First, first);
            compute(Side::First, std::nullopt);
        }
        m_viewport.setShift(*m_marks[0] - *m_marks[1]);
    }
    emit changed();
}

void TracePair::alignByShift(Nanoseconds shift)
{
    if (!m_second)
        return;
    m_alignment = Alignment::ByShift;
    m_viewport.setShift(shift);
    emit changed();
}

std::optional<std::size_t> TracePair::stepBeside(int by) const
{
    const auto& all = steps(Side::First);
    if (!m_second || all.empty())
        return std::nullopt;
    const auto count = std::ssize(all);
    const auto current = m_step[0] ? static_cast<std::ptrdiff_t>(*m_step[0]) : by > 0 ? -1 : count;
    for (auto at = current + by; at >= 0 && at < count; at += by)
        if (matched(Side::First, static_cast<std::size_t>(at)))
            return static_cast<std::size_t>(at);
    return std::nullopt;
}

void TracePair::goToStep(int by)
{
    const auto position = stepBeside(by);
    if (!position)
        return;
    const Step& step = steps(Side::First)[*position];
    Selection* selection = m_first->selection();
    if (step.found) // its slice is only the first one in it
        selection->selectRange(step.range);
    else
        selection->selectSlice(step.slice);
    selection->show(step.range);
}

} // namespace app
