#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/save_dialog.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_bar.h"
#include "app/tables/table_panel.h"
#include "app/tables/table_text.h"
#include "app/tables/table_view.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <algorithm>
#include <numeric>

// User actions of a table.
namespace app {

namespace {

// A clipboard keeps several copies of the text in memory.
constexpr std::size_t kMostCopied = 1'000'000;
// Formatting more rows takes too long for a click.
constexpr std::size_t kMostAtOnce = 5'000;

/// Each row is about slices of one name and kind.
bool ofOneName(const TableGrouping& grouping)
{
    return grouping.empty() || std::find(grouping.begin(), grouping.end(), Field::Name) != grouping.end();
}

TableSubject onlyKind(const TableSubject& subject, profiler::ActivityKind kind)
{
    TableSubject only = subject;
    only.kinds = kindBits({kind});
    return only;
}

} // namespace

void TablePanel::makeActions()
{
    const auto make = [this](const char* name, const QString& iconStem, const QString& text, const QKeySequence& key,
                             auto slot) {
        auto* action = new QAction(iconStem.isEmpty() ? QIcon() : icon(iconStem), text, this);
        action->setObjectName(QString::fromLatin1(name));
        action->setShortcut(key);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        action->setToolTip(QString("%1 (%2)").arg(QString(text).remove('&'), key.toString(QKeySequence::NativeText)));
        connect(action, &QAction::triggered, this, slot);
        m_view->addAction(action); // not added to the panel, because its actions become a menu of the window
        return action;
    };
    m_actions.show = make("tableShow", "show", tr("&Show on the timeline"), Qt::CTRL | Qt::Key_Return, [this] {
        if (const auto row = m_view->currentRow())
            choose(*row);
    });
    m_actions.previous = make("tablePrevious", "previous", tr("&Previous occurrence"), Qt::ALT | Qt::Key_Left,
                              [this] { goToOccurrence(-1); });
    m_actions.next =
        make("tableNext", "next", tr("&Next occurrence"), Qt::ALT | Qt::Key_Right, [this] { goToOccurrence(1); });
    m_actions.list =
        make("tableList", {}, tr("&List all slices of this row"), Qt::ALT | Qt::Key_Return, [this] { listGroup(); });
    m_actions.filter =
        make("tableFilterName", {}, tr("&Filter by this row"), Qt::ALT | Qt::Key_N, [this] { filterByName(); });
    m_actions.find =
        make("tableFind", "search", tr("F&ilter…"), Qt::CTRL | Qt::Key_F, [this] { m_bar->focusFilter(); });
    m_actions.copy = make("tableCopy", "copy", tr("&Copy rows"), QKeySequence::Copy, [this] { copySelected(false); });
    m_actions.copyCsv = make("tableCopyCsv", {}, tr("Copy rows as CS&V"), Qt::CTRL | Qt::SHIFT | Qt::Key_C,
                             [this] { copySelected(true); });
    m_actions.copyAll =
        make("tableCopyAll", {}, tr("Copy &everything as CSV"), Qt::CTRL | Qt::ALT | Qt::Key_C, [this] { copyAll(); });
    m_actions.save = make("tableSave", "save", tr("&Save as CSV…"), Qt::CTRL | Qt::ALT | Qt::Key_S, [this] { save(); });
    if (m_subject.hasNames())
        m_bar->addActionButtons({m_actions.previous, m_actions.next});
    m_bar->addMenu(tr("Copy or save %1").arg(m_subject.title), "copy",
                   {m_actions.copy, m_actions.copyCsv, m_actions.copyAll, m_actions.save});
    QMenu* columns = m_bar->addMenu(tr("Columns of %1").arg(m_subject.title), "columns");
    connect(columns, &QMenu::aboutToShow, this, [this, columns] {
        columns->clear();
        m_view->addColumnActions(columns);
    });
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_view, &QWidget::customContextMenuRequested, this, &TablePanel::showMenu);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &TablePanel::updateActions);
}

void TablePanel::showMenu(QPoint at)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(m_actions.show);
    if (m_subject.hasNames())
        menu->addActions({m_actions.previous, m_actions.next});
    menu->addSeparator();
    if (m_subject.hasNames())
        menu->addActions({m_actions.list, m_actions.filter});
    menu->addAction(m_actions.find);
    menu->addSeparator();
    menu->addActions({m_actions.copy, m_actions.copyCsv, m_actions.copyAll, m_actions.save});
    menu->popup(m_view->viewport()->mapToGlobal(at));
}

void TablePanel::updateActions()
{
    const auto& rows = m_view->table()->rows();
    const bool row = rows && m_view->currentRow();
    const bool any = rows && rows->size() > 0;
    for (QAction* action :
         {m_actions.show, m_actions.next, m_actions.previous, m_actions.filter, m_actions.copy, m_actions.copyCsv})
        action->setEnabled(row);
    m_actions.list->setEnabled(row && !m_bar->grouping().empty());
    m_actions.copyAll->setEnabled(any && rows->size() <= kMostCopied);
    m_actions.save->setEnabled(any);
}

void TablePanel::goToOccurrence(int direction)
{
    const auto row = m_view->currentRow();
    if (!row || !m_trace)
        return;
    if (m_occurrences) {
        stepFrom(*m_occurrences, direction);
        return;
    }
    const auto& rows = m_view->table()->rows();
    const profiler::Slice slice = rows->trace().slice(rows->slice(*row));
    TableQuery walk = query();
    walk.order = {};
    walk.grouping = {};
    if (auto own = parseFilter(termsOf(*row), filterFields(false)))
        walk.filter.conditions.insert(walk.filter.conditions.end(), own->begin(), own->end());
    m_walk.start(
        [this, trace = m_trace, subject = ofOneName(m_bar->grouping()) ? onlyKind(m_subject, slice.kind) : m_subject,
         walk, direction](const std::stop_token& stop, const Background::Post& post) {
            auto found = runQuery(trace, subject, walk, {}, stop);
            if (found)
                post([this, found = std::move(found), direction] {
                    m_occurrences = found;
                    stepFrom(*found, direction);
                });
        },
        [this](const profiler::Error& error) {
            emit noticed(tr("Could not search for the next occurrence."), QString::fromStdString(error.message()),
                         true);
        });
}

void TablePanel::stepFrom(const TableRows& occurrences, int direction)
{
    const auto size = static_cast<std::int64_t>(occurrences.size());
    if (size == 0)
        return;
    const auto now = m_selection->slice();
    const auto at = now && holds(*m_trace, *now) ? occurrences.find(m_trace->slice(*now)) : std::nullopt;
    // If no occurrence is selected: the first or last one. Wraps around at the ends.
    const std::int64_t next =
        at ? (static_cast<std::int64_t>(*at) + direction + size) % size : (direction > 0 ? 0 : size - 1);
    showSlice(occurrences.slice(static_cast<std::size_t>(next)));
    m_bar->setCount(tr("%1 of %2").arg(formatCount(next + 1), formatCount(size)));
    if (m_bar->grouping().empty()) {
        m_following = true;
        const profiler::Slice slice = m_trace->slice(occurrences.slice(static_cast<std::size_t>(next)));
        m_view->showRow(m_view->table()->rows()->find(slice));
        m_following = false;
    }
}

/// Terms of a filter for the slices of a row: of a group, or of the name of a slice.
QString TablePanel::termsOf(std::size_t row) const
{
    const TableRows& rows = *m_view->table()->rows();
    if (const QString terms = rows.filterTerms(row); !terms.isEmpty())
        return terms;
    const auto name = rows.trace().name(rows.trace().slice(rows.slice(row)));
    return filterTerm(filterFields(false).front(), TableValue::ofText(asQString(name)));
}

void TablePanel::listGroup()
{
    const auto row = m_view->currentRow();
    if (m_bar->grouping().empty() || !row)
        return;
    const QString terms = termsOf(*row);
    m_bar->setGrouping({});
    m_bar->setFilterText(terms);
}

void TablePanel::filterByName()
{
    if (const auto row = m_view->currentRow())
        m_bar->setFilterText(termsOf(*row));
}

void TablePanel::copySelected(bool asCsv)
{
    const auto& rows = m_view->table()->rows();
    const std::vector<std::size_t> selected = m_view->selectedRows();
    if (!rows || selected.empty())
        return;
    if (selected.size() > kMostCopied) {
        emit noticed(tr("Too many rows for the clipboard. Save the table as CSV instead."), {}, false);
        return;
    }
    copy(selected, asCsv ? TableText::Csv : TableText::Tsv);
}

void TablePanel::copyAll()
{
    const auto& rows = m_view->table()->rows();
    if (!rows || rows->size() > kMostCopied)
        return;
    std::vector<std::size_t> all(rows->size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    copy(std::move(all), TableText::Csv);
}

void TablePanel::copy(std::vector<std::size_t> positions, TableText kind)
{
    const auto rows = m_view->table()->rows();
    if (positions.size() <= kMostAtOnce) {
        QApplication::clipboard()->setText(tableText(*rows, positions, m_view->shownColumns(), kind));
        return;
    }
    if (!mayWrite())
        return;
    write(Writing::Clipboard, [rows, positions = std::move(positions), columns = m_view->shownColumns(),
                               kind](const std::function<void(double)>& progress, const std::stop_token& stop) {
        return [text = tableText(*rows, positions, columns, kind, progress, stop)] {
            QApplication::clipboard()->setText(text);
        };
    });
}

void TablePanel::save()
{
    const auto rows = m_view->table()->rows();
    if (!rows || !mayWrite())
        return;
    const QString file = askWhereToSave(this, tr("Save %1 as CSV").arg(m_subject.title),
                                        m_subject.title.toLower() + ".csv", {{tr("CSV (*.csv)"), ".csv"}});
    if (file.isEmpty())
        return;
    const std::filesystem::path path = file.toStdString();
    write(Writing::File, [this, rows, columns = m_view->shownColumns(),
                          path](const std::function<void(double)>& progress, const std::stop_token& stop) {
        const auto saved = saveCsv(*rows, columns, path, progress, stop);
        return [this, saved] {
            if (!saved)
                emit noticed(tr("Could not save the table."), QString::fromStdString(saved.error().message()), true);
        };
    });
}

/// True if nothing is being written; otherwise reports it.
bool TablePanel::mayWrite()
{
    if (m_writing == Writing::Nothing)
        return true;
    emit noticed(m_writing == Writing::File
                     ? tr("%1 is still being saved. Try again when that is done, or cancel it.").arg(m_subject.title)
                     : tr("%1 is still being copied. Try again when that is done, or cancel it.").arg(m_subject.title),
                 {}, false);
    return false;
}

void TablePanel::write(Writing what, const TableWork& work)
{
    m_writing = what;
    m_bar->setProgress(0);
    m_saving.start(
        [this, work](const std::stop_token& stop, const Background::Post& post) {
            const auto progress = [&](double share) {
                post([this, share] { m_bar->setProgress(std::min(share, 0.999)); });
            };
            post([this, done = work(progress, stop)] {
                m_writing = Writing::Nothing;
                m_bar->setProgress(1);
                done();
            });
        },
        [this](const profiler::Error& error) {
            m_writing = Writing::Nothing;
            m_bar->setProgress(1);
            emit noticed(tr("Could not save the table."), QString::fromStdString(error.message()), true);
        });
}

void TablePanel::cancelWriting()
{
    m_saving.cancelAndWait(); // the partial file is removed
    m_writing = Writing::Nothing;
}

} // namespace app
