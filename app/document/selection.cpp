#include "app/document/selection.h"

#include <utility>

namespace app {

void Selection::selectSlice(profiler::SliceId slice)
{
    if (m_slice == slice)
        return;
    m_slice = slice;
    m_range.reset();
    emit changed();
}

void Selection::selectRange(profiler::TimeRange range)
{
    if (range.empty()) {
        clear();
        return;
    }
    if (m_range == range)
        return;
    m_slice.reset();
    m_range = range;
    emit changed();
}

void Selection::clear()
{
    if (!m_slice && !m_range)
        return;
    m_slice.reset();
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
