#include "app/tables/table_panel.h"

#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "app/services/notices.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_bar.h"
#include "app/tables/table_rows.h"
#include "app/tables/table_view.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QMenu>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>
#include <utility>

namespace app {

using profiler::Trace;

namespace {

constexpr qint64 kPatienceMs = 150;           ///< shorter work shows no progress bar
constexpr std::size_t kMostSelected = 10'000; ///< rows whose slices are selected
constexpr double kSurroundings = 3;           ///< multiple of the slice's duration shown on each side

std::shared_ptr<const Steps> noSteps()
{
    static const auto none = std::make_shared<const Steps>();
    return none;
}

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

TablePanel::TablePanel(TableSubject subject, Selection* selection, QWidget* parent)
    : QWidget(parent), m_subject(std::move(subject)), m_selection(selection), m_steps(noSteps()),
      m_bar(new TableBar(m_subject, this)), m_view(new TableView(m_subject.title, this)), m_empty(new QLabel(this)),
      m_pages(new QStackedLayout)
{
    setAccessibleName(m_subject.title);
    m_empty->setObjectName("tableEmpty");
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_empty->setMargin(12);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(m_view);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addLayout(m_pages, 1);
    setFocusProxy(m_view);
    makeActions();
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, [this] {
        if (m_front.isInFront())
            start(nullptr);
    });
    connect(&m_front, &VisibilityWatcher::cameToFront, this, [this] {
        if (m_dirty)
            request();
        else
            takeSelection();
    });
    connect(m_bar, &TableBar::filterChanged, this, &TablePanel::request);
    connect(m_bar, &TableBar::groupingChanged, this, [this] {
        // Grouped tables have different columns.
        m_order = {};
        request();
    });
    connect(m_bar, &TableBar::cancelled, this, [this] {
        m_query.cancel();
        cancelWriting();
        if (std::exchange(m_busy, false))
            m_dirty = m_cancelled = true;
        m_bar->setProgress(1);
        showState();
    });
    m_empty->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_empty, &QLabel::linkActivated, this, &TablePanel::request);
    connect(m_view, &TableView::orderChanged, this, &TablePanel::setOrder);
    connect(m_view, &TableView::rowChosen, this, &TablePanel::choose);
    connect(m_view, &TableView::rowActivated, this, &TablePanel::choose);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        // The current row may stay the same, or it changed before the selection.
        if (!m_view->hasFocus() || chooseSeveral() || m_selection->slices().size() < 2)
            return;
        if (const auto rows = m_view->selectedRows(); rows.size() == 1)
            choose(rows.front());
    });
    connect(selection, &Selection::changed, this, [this] {
        if (const auto range = selectedTime(); range && !m_following) // a row of this table does not restrict it
            m_bar->setRange(*range);
        takeSelection();
    });
    showState();
}

void TablePanel::replaceTrace(std::shared_ptr<const Trace> trace)
{
    m_query.cancel();
    m_walk.cancel();
    m_busy = false;
    m_bar->setProgress(1);
    m_steps = noSteps();
    m_occurrences.reset();
    m_view->setRows(nullptr); // they keep the previous trace alive
    m_bar->forgetFilter();
    m_cancelled = false;
    m_sinceEnd.invalidate();
    updateTrace(std::move(trace));
}

void TablePanel::updateTrace(std::shared_ptr<const Trace> trace)
{
    m_trace = std::move(trace);
    m_deviceTimes = m_trace ? std::make_shared<OpDeviceTimesCache>(m_trace) : nullptr;
    follow();
}

void TablePanel::setSteps(std::shared_ptr<const Steps> steps)
{
    if (!steps)
        steps = noSteps();
    const bool change = !steps->empty() || !m_steps->empty();
    m_steps = std::move(steps);
    if (change)
        follow();
}

/// Like request(), but for a trace that has grown. A query may take longer than the interval between snapshots; the
/// newest snapshot is queried only when the running query has ended, because otherwise no query would ever finish.
void TablePanel::follow()
{
    m_dirty = true;
    m_occurrences.reset();
    if (m_busy || !m_front.isInFront() || !m_trace)
        return;
    const bool live = m_trace->captureStats().live;
    if (live && m_later.isActive())
        return;
    // A growing trace is updated several times per second; queries are limited to a tenth of one core.
    qint64 wait = 0;
    if (live && m_sinceEnd.isValid())
        wait = std::max<qint64>(0, std::max<qint64>(1000, 10 * m_lastMs) - m_sinceEnd.elapsed());
    m_later.start(static_cast<int>(wait));
}

void TablePanel::request()
{
    m_dirty = true;
    m_occurrences.reset();
    if (m_front.isInFront() && m_trace)
        m_later.start(0); // several simultaneous requests become one query
}

void TablePanel::setOrder(const TableOrder& order)
{
    if (order == m_order)
        return;
    m_order = order;
    if (isUpToDate() && m_view->table()->rows())
        start(m_view->table()->rows());
    else
        request();
}

TableQuery TablePanel::query() const
{
    return {m_bar->filter(), m_order, m_bar->grouping(), m_steps, m_deviceTimes};
}

/// Each grouping has its own choice of columns.
QString TablePanel::columnsKey() const
{
    QStringList fields;
    for (const Field field : m_bar->grouping())
        fields << QString::fromLatin1(fieldInfo(field).keyword);
    return QStringLiteral("tables/%1/%2").arg(m_subject.key, fields.isEmpty() ? "slices" : fields.join(u'+'));
}

void TablePanel::start(std::shared_ptr<const TableRows> sameRows)
{
    m_later.stop();
    m_busy = true;
    m_dirty = m_cancelled = false;
    m_query.start(
        [this, trace = m_trace, subject = m_subject, query = query(),
         sameRows = std::move(sameRows)](const std::stop_token& stop, const Background::Post& post) {
            QElapsedTimer timer;
            timer.start();
            qint64 reported = kPatienceMs;
            const auto progress = [&](double share) {
                if (timer.elapsed() - reported < 50)
                    return;
                reported = timer.elapsed();
                post([this, share] { m_bar->setProgress(std::min(share, 0.999)); });
            };
            auto rows =
                sameRows ? sameRows->sorted(query.order, stop) : runQuery(trace, subject, query, progress, stop);
            if (rows)
                post([this, rows = std::move(rows), took = timer.elapsed()] { take(rows, took); });
        },
        [this](const profiler::Error& error) { fail(error); });
    showState();
}

void TablePanel::take(std::shared_ptr<const TableRows> rows, qint64 tookMs)
{
    m_busy = false;
    m_lastMs = tookMs;
    m_sinceEnd.start();
    m_bar->setProgress(1);
    m_view->setRows(std::move(rows), columnsKey());
    m_view->markOrder(m_order);
    showState();
    takeSelection();
    if (m_dirty)
        follow();
}

/// There is no result; the user may try again.
void TablePanel::fail(const profiler::Error& error)
{
    m_busy = false;
    m_dirty = m_cancelled = true;
    m_bar->setProgress(1);
    showState();
    emit noticed(tr("%1 cannot be shown.").arg(m_subject.title), QString::fromStdString(error.message()), true);
}

void TablePanel::showState()
{
    const auto& rows = m_view->table()->rows();
    const bool any = rows && rows->size() > 0;
    m_pages->setCurrentIndex(any ? 1 : 0);
    const auto count = static_cast<std::int64_t>(rows ? rows->size() : 0);
    const bool grouped = !m_bar->grouping().empty() && m_subject.hasNames();
    const bool byName = m_bar->grouping() == TableGrouping{Field::Name};
    m_bar->setCount(!any          ? QString()
                    : m_cancelled ? tr("cancelled")
                    : !grouped    ? formatCounted(count, tr("row"), tr("rows"))
                    : byName      ? formatCounted(count, tr("name"), tr("names"))
                                  : formatCounted(count, tr("group"), tr("groups")));
    const TableFilter filter = m_bar->filter();
    const bool filtered = filter != TableFilter();
    m_empty->setText(!m_trace || m_trace->sliceCount() == 0 ? tr("Nothing recorded yet.")
                     : m_busy                               ? tr("Searching the trace…")
                     : m_cancelled ? tr("Cancelled. <a href=\"again\">Search the trace again</a>")
                     : filtered    ? tr("No rows match the filter.")
                                   : m_subject.none);
    updateActions();
}

/// The selected range, or the time of the selected slice.
std::optional<profiler::TimeRange> TablePanel::selectedTime() const
{
    const auto slice = m_selection->slice();
    if (!slice || !m_trace || !holds(*m_trace, *slice))
        return m_selection->range();
    const profiler::TimeRange range = m_trace->slice(*slice).range();
    return profiler::TimeRange{range.begin, std::max(range.end, range.begin + profiler::Nanoseconds{1})};
}

void TablePanel::takeSelection()
{
    if (m_following || !m_front.isInFront() || !m_view->table()->rows())
        return;
    const auto id = m_selection->slice();
    const TableRows& rows = *m_view->table()->rows();
    if (!id || !holds(rows.trace(), *id)) {
        m_view->showRow({});
    } else {
        const auto row = rows.find(rows.trace().slice(*id));
        if (!row || row != m_view->currentRow())
            m_view->showRow(row);
    }
    updateActions();
}

void TablePanel::choose(std::size_t row)
{
    m_occurrences.reset();
    // Slice ids change with the next preview of a file; its rows will follow shortly.
    if (&m_view->table()->rows()->trace() != m_trace.get() && !m_trace->captureStats().live)
        return;
    if (!chooseSeveral())
        showSlice(m_view->table()->rows()->slice(row));
    updateActions();
}

/// Selects the slices of the selected rows if there are several; false otherwise. A group is not a slice.
bool TablePanel::chooseSeveral()
{
    const auto& rows = m_view->table()->rows();
    const std::size_t count = m_view->selectedCount();
    if (!rows || &rows->trace() != m_trace.get() || !m_bar->grouping().empty() || count < 2 || count > kMostSelected)
        return false;
    std::vector<profiler::SliceId> slices;
    for (const std::size_t row : m_view->selectedRows())
        slices.push_back(rows->slice(row));
    m_following = true;
    m_selection->selectSlices(std::move(slices));
    m_following = false;
    return true;
}

void TablePanel::showSlice(profiler::SliceId id)
{
    if (!m_trace || !holds(*m_trace, id))
        return;
    const profiler::Slice slice = m_trace->slice(id);
    const auto around =
        profiler::Nanoseconds{static_cast<std::int64_t>(static_cast<double>(slice.duration.count()) * kSurroundings)};
    m_following = true;
    m_selection->selectSlice(id);
    m_selection->show({slice.begin - around, slice.end() + around}, id.track);
    m_following = false;
}

TablePanel* makeTablePanel(TableSubject subject, const TraceDocument* document, Notices* notices, QWidget* parent)
{
    auto* panel = new TablePanel(std::move(subject), document->selection(), parent);
    const auto showSteps = [=] {
        const auto analysed = document->analysed();
        panel->setSteps(analysed ? std::shared_ptr<const Steps>(analysed, &analysed->facts.steps) : nullptr);
    };
    QObject::connect(document, &TraceDocument::traceReplaced, panel, [=] { panel->replaceTrace(document->trace()); });
    QObject::connect(document, &TraceDocument::traceChanged, panel, [=] { panel->updateTrace(document->trace()); });
    QObject::connect(document, &TraceDocument::analysedChanged, panel, showSteps);
    QObject::connect(panel, &TablePanel::noticed, notices,
                     [notices](const QString& what, const QString& detail, bool isError) {
                         emit notices->outdated();
                         emit notices->noticed(what, detail, isError);
                     });
    QObject::connect(panel, &TablePanel::saved, notices, &Notices::saved);
    panel->replaceTrace(document->trace());
    showSteps();
    return panel;
}

// User actions of a table.

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
    if (QString terms = rows.filterTerms(row); !terms.isEmpty())
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
        return [this, saved, file = QString::fromStdString(path.string())] {
            if (!saved)
                return emit noticed(tr("Could not save the table."), QString::fromStdString(saved.error().message()),
                                    true);
            emit noticed(tr("The table was saved."), file, false);
            emit this->saved(file);
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
