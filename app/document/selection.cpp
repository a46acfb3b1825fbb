#include "app/document/selection.h"

#include <unordered_set>
#include <utility>

namespace app {

void Selection::selectSlice(profiler::SliceId slice)
{
    selectSlices({slice});
}

void Selection::selectSlices(std::vector<profiler::SliceId> slices)
{
    if (slices.empty()) {
        clear();
        return;
    }
    std::vector<profiler::SliceId> once;
    std::unordered_set<profiler::SliceId> known;
    for (const profiler::SliceId slice : slices)
        if (known.insert(slice).second)
            once.push_back(slice);
    if (m_slices == once)
        return;
    m_slices = std::move(once);
    m_range.reset();
    emit changed();
}

void Selection::toggleSlice(profiler::SliceId slice)
{
    std::vector<profiler::SliceId> slices = m_slices;
    if (std::erase(slices, slice) == 0)
        slices.push_back(slice);
    selectSlices(std::move(slices));
}

void Selection::selectRange(profiler::TimeRange range)
{
    if (range.empty()) {
        clear();
        return;
    }
    if (m_range == range)
        return;
    m_slices.clear();
    m_range = range;
    emit changed();
}

void Selection::clear()
{
    if (m_slices.empty() && !m_range)
        return;
    m_slices.clear();
    m_range.reset();
    emit changed();
}

void Selection::mark(std::shared_ptr<const MarkedItems> items)
{
    if (m_marked == items)
        return;
    m_marked = std::move(items);
    emit markedChanged();
}

void Selection::show(profiler::TimeRange range, std::optional<profiler::TrackId> track)
{
    emit showRequested(range, track);
}

void Selection::showSource(const QString& file, int line)
{
    emit sourceRequested(file, line);
}

void Selection::explainStep(profiler::SliceId step)
{
    emit explanationRequested(step);
}

} // namespace app
