#include "app/timeline/timeline_row_commands.h"

#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <algorithm>

namespace app {

TimelineRowCommands::TimelineRowCommands(TimelineScene& scene, TimelineNavigation& navigation,
                                         QAbstractScrollArea& area)
    : m_scene(scene), m_navigation(navigation), m_area(area)
{
}

/// The current row stays current at its new position.
template <class Edit>
void TimelineRowCommands::edit(Edit&& change)
{
    const int current = m_scene.currentRow;
    const QString key = has(current) ? m_scene.rows.at(current).key : QString();
    change();
    const int now = m_scene.rows.rowOfKey(key);
    m_scene.currentRow = now >= 0 ? now : std::min(current, m_scene.rows.count() - 1);
    m_scene.draggedRow = -1;
    m_scene.dropLine.reset();
    m_navigation.update();
    emit layoutChanged();
}

void TimelineRowCommands::setLayout(RowLayout layout)
{
    m_scene.rows.setLayout(std::move(layout));
    m_scene.currentRow = std::min(m_scene.currentRow, m_scene.rows.count() - 1);
    m_navigation.update();
}

void TimelineRowCommands::setFilter(const Filter& filter)
{
    if (m_scene.rows.filter() == filter && !m_scene.rows.droppedFilter())
        return;
    m_scene.rows.setFilter(filter);
    m_scene.currentRow = std::min(m_scene.currentRow, m_scene.rows.count() - 1);
    m_navigation.update();
}

void TimelineRowCommands::rowUp()
{
    goToRow(m_scene.currentRow - 1);
}
void TimelineRowCommands::rowDown()
{
    goToRow(m_scene.currentRow + 1);
}

void TimelineRowCommands::goToRow(int row)
{
    const int last = m_scene.rows.count() - 1;
    m_scene.currentRow = std::clamp(row, std::min(0, last), std::max(last, -1));
    m_navigation.scrollToRow(m_scene.currentRow, 0);
    m_area.viewport()->update();
}

void TimelineRowCommands::toggleRow()
{
    const int row = m_scene.currentRow;
    if (!has(row))
        return;
    if (m_scene.rows.at(row).kind == TrackRow::Kind::Hidden)
        showAllRows();
    else
        edit([&] { m_scene.rows.setOpen(row, !m_scene.rows.at(row).open); });
}

void TimelineRowCommands::foldAll()
{
    edit([this] { m_scene.rows.setAllOpen(false); });
}
void TimelineRowCommands::unfoldAll()
{
    edit([this] { m_scene.rows.setAllOpen(true); });
}

void TimelineRowCommands::moveRow(int by)
{
    if (!has(m_scene.currentRow))
        return;
    edit([&] { m_scene.rows.move(m_scene.currentRow, by); });
    m_navigation.scrollToRow(m_scene.currentRow, 0);
}

void TimelineRowCommands::moveRowUp()
{
    moveRow(-1);
}
void TimelineRowCommands::moveRowDown()
{
    moveRow(1);
}

void TimelineRowCommands::hideRow()
{
    if (has(m_scene.currentRow))
        edit([this] { m_scene.rows.hide(m_scene.currentRow); });
}

void TimelineRowCommands::togglePin()
{
    const int row = m_scene.currentRow;
    if (has(row))
        edit([&] { m_scene.rows.setPinned(row, !m_scene.rows.at(row).pinned); });
}

void TimelineRowCommands::showAllRows()
{
    edit([this] { m_scene.rows.showAll(); });
}

void TimelineRowCommands::showRow(const QString& key)
{
    edit([&] { m_scene.rows.show(key); });
}

void TimelineRowCommands::resetRows()
{
    edit([this] { m_scene.rows.setLayout({}); });
}

void TimelineRowCommands::resize(int row, int y)
{
    if (!has(row))
        return;
    m_scene.rows.resize(row, y - m_scene.rows.at(row).top);
    m_navigation.update();
}

void TimelineRowCommands::drag(int row, int y)
{
    if (!has(row))
        return;
    const auto drop = m_scene.rows.dropAt(row, y);
    m_scene.draggedRow = row;
    m_scene.dropLine = drop ? std::optional(drop->y) : std::nullopt;
    m_area.viewport()->update();
}

void TimelineRowCommands::drop(int row, int y)
{
    edit([&] {
        if (!has(row))
            return;
        if (const auto drop = m_scene.rows.dropAt(row, y))
            m_scene.rows.drop(row, *drop);
    });
}

void TimelineRowCommands::endResize()
{
    edit([] {});
}

bool TimelineRowCommands::has(int row) const
{
    return row >= 0 && row < m_scene.rows.count();
}

} // namespace app
