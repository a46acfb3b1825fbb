#include "app/tables/table_panel.h"

#include "app/document/trace_document.h"
#include "app/look/number_format.h"
#include "app/services/notices.h"
#include "app/tables/slice_details.h"
#include "app/tables/table_bar.h"
#include "app/tables/table_view.h"

#include <QLabel>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <utility>

namespace app {

using profiler::Trace;

namespace {

constexpr qint64 kPatienceMs = 150; ///< shorter work shows no progress bar
constexpr std::size_t kMostSelected = 10'000; ///< rows whose slices are selected
constexpr double kSurroundings = 3; ///< multiple of the slice's duration shown on each side

std::shared_ptr<const Steps> noSteps()
{
    static const auto none = std::make_shared<const Steps>();
    return none;
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

void TablePanel::setOrder(TableOrder order)
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

/// Selects the slices of the selected rows if there are several; false otherwise. A group is no slice.
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
    panel->replaceTrace(document->trace());
    showSteps();
    return panel;
}

} // namespace app
