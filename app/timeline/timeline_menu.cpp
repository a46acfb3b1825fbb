#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_hit_test.h"

#include <QContextMenuEvent>
#include <QMenu>

// The context menu of the item under the pointer.
namespace app {

void TimelineCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (m_scene.isEmpty())
        return;
    const int row =
        event->reason() == QContextMenuEvent::Keyboard ? m_scene.currentRow : rowAt(m_scene, event->pos().y());
    QMenu menu(this);
    if (row >= 0 && row < m_scene.rows.count() && m_scene.rows.at(row).kind != TrackRow::Kind::Hidden) {
        m_scene.currentRow = row;
        viewport()->update();
        addRowEntries(menu, row);
        menu.addSeparator();
    }
    for (QMenu* group : timelineMenus(*this, &menu))
        menu.addMenu(group);
    menu.exec(event->globalPos());
}

/// Actions for one row.
void TimelineCanvas::addRowEntries(QMenu& menu, int index)
{
    const TrackRow& row = m_scene.rows.at(index);
    menu.addSection(row.name);
    const auto add = [&](const char* name, const QString& text) {
        QAction* action = timelineAction(*this, name);
        QAction* entry = menu.addAction(text);
        entry->setObjectName(name);
        entry->setShortcut(action->shortcut());
        entry->setShortcutVisibleInContextMenu(true);
        connect(entry, &QAction::triggered, action, &QAction::trigger);
    };
    if (row.foldable)
        add("toggleRow", row.open ? tr("Collapse") : tr("Expand"));
    add("togglePin", row.pinned ? tr("Unpin") : tr("Pin"));
    add("moveRowUp", tr("Move up"));
    add("moveRowDown", tr("Move down"));
    add("hideRow", tr("Hide"));
    if (const auto hidden = m_scene.rows.hidden(); !hidden.empty()) {
        QMenu* back = menu.addMenu(tr("Show hidden track"));
        for (const auto& [key, name] : hidden)
            back->addAction(QString(name).replace('&', "&&"), this, [this, key = key] { m_rows.showRow(key); });
        back->addSeparator();
        back->addAction(tr("All"), &m_rows, &TimelineRowCommands::showAllRows);
    }
}

} // namespace app
