#include "app/views/selection/selection_panel.h"

#include "app/charts/compact_bars.h"
#include "app/document/analyser.h"
#include "app/look/display_text.h"
#include "app/services/program_process.h"
#include "profiler/analysis/operators/same_name.h"

#include <QDockWidget>
#include <QEvent>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace app {

using profiler::Slice;
using profiler::SliceId;
using profiler::TimeRange;

namespace {

constexpr profiler::Nanoseconds kLate{1'000'000'000}; ///< maximum delay of late events in a live trace

constexpr int kNarrowestText = 48;    ///< pixels
constexpr int kNarrowestColumn = 270; ///< pixels: if the columns do not fit, they are stacked
constexpr int kTitleLines = 2;

QLabel* plainLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText); // names come from the trace
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setWordWrap(true);
    label->setMinimumWidth(kNarrowestText); // an unbreakable name would push the other columns out of view
    return label;
}

/// A link. Long names are elided in the middle instead of widening the page: both the folder and the function of a
/// Python frame, and the end of a kernel's name, may distinguish it from others.
class LinkButton : public QPushButton {
public:
    LinkButton(QString text, QWidget* parent) : QPushButton(parent), m_text(std::move(text))
    {
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        setText(QStringLiteral(" ")); // reserves a line until the width is known
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QPushButton::resizeEvent(event);
        const auto arrow = QStringLiteral("  →");
        const int room = width() - fontMetrics().horizontalAdvance(arrow) - 2;
        setText(fontMetrics().elidedText(m_text, Qt::ElideMiddle, room).replace(u'&', QStringLiteral("&&")) + arrow);
    }

private:
    QString m_text;
};

const auto kLinkStyle = QStringLiteral("text-align: left; padding: 1px 0px;");

constexpr int kAfterDuration = 2; ///< row of the self time

QString selfTimeLabel()
{
    return SelectionPanel::tr("Self time");
}

QString deviceTimeLabel()
{
    return SelectionPanel::tr("Device time");
}

/// The facts that readMore() added to a page.
std::vector<SliceDetail> factsReadLater(const std::vector<SliceDetail>& facts)
{
    std::vector<SliceDetail> found;
    std::copy_if(facts.begin(), facts.end(), std::back_inserter(found), [](const SliceDetail& fact) {
        return fact.label == selfTimeLabel() || fact.label == deviceTimeLabel();
    });
    return found;
}

/// The self time, and the device time of what the slice launched, where they say more than its duration.
std::vector<SliceDetail> timesOf(const profiler::Trace& trace, const Slice& slice, const std::stop_token& stop)
{
    std::vector<SliceDetail> times;
    if (const auto own = selfTime(trace, slice, stop); own != slice.duration)
        times.push_back({selfTimeLabel(), formatDuration(own), {}});
    if (const auto work = profiler::analysis::workLaunchedInside(trace, slice, stop); work.count > 0)
        times.push_back({deviceTimeLabel(),
                         SelectionPanel::tr("%1 in %2")
                             .arg(formatDuration(work.time), formatCounted(work.count, SelectionPanel::tr("launch"),
                                                                           SelectionPanel::tr("launches"))),
                         work.longest});
    return times;
}

Occurrences occurrencesOf(const profiler::Trace& trace, const Slice& slice, const std::stop_token& stop)
{
    const profiler::analysis::SameName same = profiler::analysis::sameName(trace, slice, stop);
    if (stop.stop_requested() || same.count < 2)
        return {};
    Occurrences page;
    const auto linked = [&](const QString& label, SliceId id) {
        page.details.push_back({label, formatDuration(trace.slice(id).duration), id});
    };
    page.details.push_back(
        {SelectionPanel::tr("Count"),
         SelectionPanel::tr("%1, %2 in total").arg(formatCount(same.count), formatDuration(same.total)),
         {}});
    linked(SelectionPanel::tr("Shortest"), same.shortestSlice);
    page.details.push_back({SelectionPanel::tr("Median"), formatDuration(same.median), {}});
    linked(SelectionPanel::tr("Longest"), same.longestSlice);
    page.details.push_back(
        {SelectionPanel::tr("This one"),
         same.shorter == 0 ? SelectionPanel::tr("none is shorter")
                           : SelectionPanel::tr("longer than %1 of them")
                                 .arg(formatShare(static_cast<double>(same.shorter) / static_cast<double>(same.count))),
         {}});
    if (same.previous)
        linked(SelectionPanel::tr("Previous"), *same.previous);
    if (same.next)
        linked(SelectionPanel::tr("Next"), *same.next);
    if (same.longest == same.shortest)
        return page;
    page.bins.assign(same.bins.begin(), same.bins.end());
    page.bin = profiler::analysis::binOf(slice.duration, same.shortest, same.longest);
    const double low = std::log(static_cast<double>(same.shortest.count()) + 1);
    const double step = (std::log(static_cast<double>(same.longest.count()) + 1) - low) / (same.kBins - 1);
    for (std::size_t i = 0; i < same.kBins; ++i) {
        const auto edge = [&](double at) {
            return formatDuration(std::clamp(
                profiler::Nanoseconds{std::llround(std::exp(low + step * (static_cast<double>(i) + at)) - 1)},
                same.shortest, same.longest));
        };
        page.tips << SelectionPanel::tr("%1 to %2: %3").arg(edge(-0.5), edge(0.5), formatCount(same.bins[i]));
    }
    return page;
}

/// A field of Chrome's events that the details already show better. If it occurs twice, one is a user argument; the
/// order in the file does not show which.
bool isShownAlready(const profiler::SliceDetails& all, std::string_view name, std::string_view value,
                    std::string_view title)
{
    constexpr std::array<std::string_view, 5> kFields = {"ph", "ts", "dur", "pid", "tid"};
    if (std::find(kFields.begin(), kFields.end(), name) == kFields.end())
        return name == "name" && value == title;
    return std::count_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == name; }) == 1;
}

QFont titleFont(QFont font)
{
    font.setBold(true);
    font.setPointSizeF(font.pointSizeF() * 1.1);
    return font;
}

EvidenceRow rowOf(const RangeSums::Sum& sum, const RangeSums& sums)
{
    const QString word = className(sum.which);
    const auto ns = [](profiler::Nanoseconds time) { return static_cast<double>(time.count()); };
    const double share = sums.self.count() > 0 ? ns(sum.self) / ns(sums.self) : 0;
    EvidenceRow row;
    row.cells = {{sum.name.empty() ? word : shortKernelName(sum.name), 0, asQString(sum.name)},
                 {formatDuration(sum.self), ns(sum.self)},
                 {formatShare(share), share},
                 {formatCount(sum.count), static_cast<double>(sum.count)},
                 {formatDuration(sum.longestDuration), ns(sum.longestDuration)}};
    row.swatch = sum.which;
    row.evidence.slice = sum.longest;
    return row;
}

} // namespace

SelectionPanel::SelectionPanel(Selection* selection, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_pages(new QStackedWidget(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_pages);
    auto* empty = new QLabel(tr("Nothing selected.\nClick a slice in the timeline to see its details. Drag on the "
                                "ruler to summarize a time range."),
                             this);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setForegroundRole(QPalette::PlaceholderText);
    empty->setMargin(16);
    m_pages->addWidget(empty);
    m_pages->addWidget(makeSlicePage());
    m_pages->addWidget(makeRangePage());
    setAccessibleName(tr("Selection"));
    connect(selection, &Selection::changed, this, &SelectionPanel::takeSelection);
    connect(selection, &Selection::detailsRequested, this, &SelectionPanel::comeToTheFront);
}

QWidget* SelectionPanel::makeSlicePage()
{
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(12, 8, 12, 0);
    m_title = plainLabel({}, page);
    m_title->setFont(titleFont(font()));
    m_title->setObjectName("sliceTitle");
    // A kernel name may fill the panel, so it is shortened; the tooltip has the full name.
    m_title->setMaximumHeight(kTitleLines * QFontMetrics(m_title->font()).lineSpacing() + 2);
    m_title->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    column->addWidget(m_title);
    m_details = new QScrollArea(page);
    m_details->setWidgetResizable(true);
    m_details->setFrameShape(QFrame::NoFrame);
    column->addWidget(m_details, 1);
    return page;
}

QWidget* SelectionPanel::makeRangePage()
{
    const std::vector<EvidenceModel::Column> columns = {
        {tr("Name"), false}, {tr("Time"), true}, {tr("Share"), true}, {tr("Count"), true}, {tr("Longest"), true}};
    auto byKind = columns;
    byKind.front().title = tr("Kind");
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(12, 8, 12, 0);
    m_rangeTitle = plainLabel({}, page);
    m_rangeTitle->setObjectName("rangeTitle");
    column->addWidget(m_rangeTitle);
    auto* tables = new QHBoxLayout;
    m_byClass = new EvidenceTable(byKind, tr("Time in the range by kind"), page);
    m_byName = new EvidenceTable(columns, tr("Time in the range by name"), page);
    m_byClass->setObjectName("byKind");
    m_byName->setObjectName("byName");
    m_byTrack = new EvidenceTable({{tr("Track"), false}, {tr("Busy"), true}, {tr("Idle"), true}, {tr("Slices"), true}},
                                  tr("Busy and idle time in the range by track"), page);
    m_byTrack->setObjectName("byTrack");
    tables->addWidget(m_byClass, 2);
    tables->addWidget(m_byName, 3);
    tables->addWidget(m_byTrack, 2);
    column->addLayout(tables, 1);
    for (EvidenceTable* table : {m_byClass, m_byName})
        connect(table, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) { follow(row.evidence); });
    return page;
}

/// A panel that the user has closed stays closed.
void SelectionPanel::comeToTheFront()
{
    for (QWidget* widget = this; widget; widget = widget->parentWidget())
        if (auto* dock = qobject_cast<QDockWidget*>(widget); dock && !dock->isHidden())
            dock->raise();
}

void SelectionPanel::setTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file)
{
    m_file = file;
    // A later snapshot of a live trace changes the sums of a range only if the range reaches its end. Previews of a
    // file may gain events at any time, and only the complete file has the recorded arguments of a slice.
    if (!m_trace || (m_summed && m_trace->range().end < m_summed->end + kLate))
        m_summed.reset();
    m_summedSlices.clear();
    if (!trace->captureStats().live) {
        m_summed.reset();
        m_readFor.reset();
    }
    m_trace = std::move(trace);
    takeSelection();
}

void SelectionPanel::setSteps(std::shared_ptr<const std::vector<profiler::analysis::Step>> steps)
{
    m_steps = std::move(steps);
    takeSelection();
}

void SelectionPanel::setAdvice(std::shared_ptr<const Advised> advised)
{
    m_advised = std::move(advised);
    takeSelection();
}

void SelectionPanel::takeSelection()
{
    if (const auto slice = m_selection->slice(); slice && m_trace && holds(*m_trace, *slice))
        showSlice(*slice);
    else if (m_selection->slices().size() > 1 && m_trace)
        sumSlices(m_selection->slices());
    else if (m_selection->range() && m_trace)
        sumRange(*m_selection->range());
    else {
        m_summing.cancel();
        m_summed.reset();
        m_summedSlices.clear();
        m_reading.cancel();
        m_readFor.reset();
        m_pages->setCurrentIndex(Empty);
    }
}

void SelectionPanel::showSlice(SliceId id)
{
    const Slice slice = m_trace->slice(id);
    SlicePage page;
    page.facts = sliceFacts(*m_trace, slice);
    for (SliceDetail& argument : sliceArguments(*m_trace, slice))
        page.facts.push_back(std::move(argument));
    page.launch = sliceLaunch(*m_trace, slice);
    page.stack = sliceStack(*m_trace, slice);
    if (m_steps)
        if (auto step = sliceStep(slice, *m_steps))
            page.links.push_back(std::move(*step));
    if (auto source = sourceOf(slice))
        page.links.push_back(std::move(*source));
    for (SliceDetail& link : sliceLinks(*m_trace, slice))
        page.links.push_back(std::move(link));
    // A growing trace is updated several times per second; the arguments already read for the same slice are still
    // valid.
    const bool same = m_readFor && m_readFor->id == slice.id && m_readFor->begin == slice.begin &&
                      m_readFor->duration == slice.duration && m_readFor->name == slice.name;
    if (same) {
        page.recorded = m_page.recorded;
        page.problem = m_page.problem;
        page.occurrences = m_page.occurrences;
        const auto later = factsReadLater(m_page.facts);
        page.facts.insert(page.facts.begin() + kAfterDuration, later.begin(), later.end());
    }
    m_page = std::move(page);
    m_title->setText(sliceTitle(*m_trace, slice));
    m_title->setToolTip(Qt::convertFromPlainText(m_title->text()));
    showPage();
    m_pages->setCurrentIndex(OneSlice);
    if (!same)
        readMore(slice);
}

/// The sampled line, in a file that the Source view can show; otherwise the recorded Python function, which is a link
/// if its file is on this machine.
std::optional<SliceDetail> SelectionPanel::sourceOf(const Slice& slice) const
{
    if (m_advised && m_advised->times)
        if (const auto place = m_advised->times->placeOf(slice);
            place && findFile(m_advised->files, QString::fromStdString(place->file)))
            return sourceLink(*place);
    auto function = pythonFunctionOf(*m_trace, slice);
    if (!function)
        return std::nullopt;
    const QString recorded = QString::fromStdString(function->file);
    const QString file = findSourceFile(recorded, m_file);
    if (file.isEmpty())
        return SliceDetail{tr("Python function"), tr("%1 · %2:%3 (this file is not on this machine)")
                                                      .arg(QString::fromStdString(function->function), recorded)
                                                      .arg(function->line)};
    function->file = file.toStdString();
    SliceDetail link = sourceLink(*function);
    link.label = tr("Python function");
    link.value = QStringLiteral("%1 · %2").arg(QString::fromStdString(function->function), link.value);
    return link;
}

/// Lines of the recorded program are in the Source view.
void SelectionPanel::openSource(const advisor::SourcePlace& place)
{
    const QString file = QString::fromStdString(place.file);
    if (m_advised && findFile(m_advised->files, file))
        m_selection->showSource(file, place.line);
    else
        m_selection->openInEditor(file, place.line);
}

void SelectionPanel::readMore(const Slice& slice)
{
    m_readFor = slice;
    const std::string title(m_trace->name(slice));
    m_reading.start(
        [this, trace = m_trace, slice, title](const std::stop_token& stop, const Background::Post& post) {
            const auto times = timesOf(*trace, slice, stop);
            const auto read = trace->details(slice.id);
            post([this, title, times, read] {
                m_page.facts.insert(m_page.facts.begin() + kAfterDuration, times.begin(), times.end());
                if (read)
                    for (const auto& [name, value] : *read) {
                        if (!isShownAlready(*read, name, value, title))
                            m_page.recorded.push_back({asQString(name), asQString(value), {}});
                    }
                else
                    m_page.problem = QString::fromStdString(read.error().message());
                showPage();
            });
            // The whole trace is read, so this comes later.
            post([this, same = occurrencesOf(*trace, slice, stop)] {
                m_page.occurrences = same;
                showPage();
            });
        },
        [this](const profiler::Error& error) {
            m_page.problem = QString::fromStdString(error.message());
            showPage();
        });
}

void SelectionPanel::showPage()
{
    // Keep focus and text selection if nothing has changed.
    const int room = std::clamp(width() / kNarrowestColumn, 1, 4);
    if (m_page == m_shown && m_details->widget() && room == m_columns)
        return;
    m_shown = m_page;
    m_columns = room;
    m_details->setWidget(makePage(m_page)); // deletes the previous one
}

QWidget* SelectionPanel::makePage(const SlicePage& page)
{
    auto* content = new QWidget(m_details);
    auto* columns = new QHBoxLayout(content);
    columns->setContentsMargins(0, 4, 0, 8);
    columns->setSpacing(28);
    std::vector<QWidget*> parts{makeColumn({}, page.facts, content)};
    if (!page.links.empty() || !page.launch.empty() || !page.occurrences.details.empty()) {
        auto* middle = new QWidget(content);
        auto* groups = new QVBoxLayout(middle);
        groups->setContentsMargins(0, 0, 0, 0);
        groups->setSpacing(12);
        if (!page.launch.empty())
            groups->addWidget(makeColumn(tr("Launch"), page.launch, middle));
        if (!page.links.empty())
            groups->addWidget(makeColumn({}, page.links, middle));
        if (!page.occurrences.details.empty())
            groups->addWidget(makeOccurrences(page.occurrences, middle));
        parts.push_back(middle);
    }
    if (!page.stack.empty())
        parts.push_back(makeColumn(tr("Call stack"), page.stack, content));
    if (!page.recorded.empty() || !page.problem.isEmpty()) {
        QWidget* recorded = makeColumn(tr("Recorded arguments"), page.recorded, content);
        if (!page.problem.isEmpty())
            static_cast<QFormLayout*>(recorded->layout())->addRow(plainLabel(page.problem, recorded));
        parts.push_back(recorded);
    }
    // If space is limited, the last groups get a column each and the others share the first.
    const std::size_t together = parts.size() - std::min(parts.size(), static_cast<std::size_t>(m_columns)) + 1;
    auto* first = new QVBoxLayout;
    first->setSpacing(12);
    for (std::size_t i = 0; i < together; ++i)
        first->addWidget(parts[i]);
    first->addStretch(1);
    columns->addLayout(first, 4);
    for (std::size_t i = together; i < parts.size(); ++i)
        columns->addWidget(parts[i], 4, Qt::AlignTop);
    return content;
}

QWidget* SelectionPanel::makeOccurrences(const Occurrences& same, QWidget* parent)
{
    QWidget* column = makeColumn(tr("All occurrences"), same.details, parent);
    column->setObjectName("occurrences");
    if (same.bins.empty())
        return column;
    auto* bar = new DistributionBar(column);
    bar->setBins(same.bins, same.bin, same.tips);
    bar->setAccessibleDescription(tr("Durations from shortest to longest on a logarithmic axis"));
    static_cast<QFormLayout*>(column->layout())->insertRow(1, bar);
    return column;
}

QWidget* SelectionPanel::makeColumn(const QString& heading, const std::vector<SliceDetail>& details, QWidget* parent)
{
    auto* column = new QWidget(parent);
    auto* form = new QFormLayout(column);
    form->setContentsMargins(0, 0, 0, 0);
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(4);
    if (!heading.isEmpty())
        form->addRow(new QLabel(heading, column));
    for (const SliceDetail& detail : details) {
        auto* label = new QLabel(column);
        label->setTextFormat(Qt::PlainText); // names of arguments come from the trace
        label->setText(detail.label);
        label->setForegroundRole(QPalette::PlaceholderText);
        if (!detail.link && !detail.source) {
            form->addRow(label, plainLabel(detail.value, column));
            continue;
        }
        auto* button = new LinkButton(detail.value, column);
        button->setFlat(true);
        button->setCursor(Qt::PointingHandCursor);
        button->setObjectName("link");
        button->setStyleSheet(kLinkStyle);
        button->setAccessibleName(detail.label + u' ' + detail.value);
        button->setToolTip(detail.source ? QString::fromStdString(detail.source->file) : detail.value);
        // Queued, because following the link deletes this button.
        connect(
            button, &QPushButton::clicked, this,
            [this, detail] {
                if (detail.source)
                    openSource(*detail.source);
                else
                    follow({*detail.link, {}});
            },
            Qt::QueuedConnection);
        form->addRow(label, button);
    }
    return column;
}

void SelectionPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (m_details->widget())
        showPage();
}

void SelectionPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange)
        return;
    // A style sheet keeps the colours of its creation.
    for (auto* link : findChildren<QPushButton*>("link")) {
        link->setStyleSheet({});
        link->setStyleSheet(kLinkStyle);
    }
}

void SelectionPanel::sumRange(TimeRange range)
{
    m_pages->setCurrentIndex(Range);
    if (m_summed == range)
        return;
    m_summedSlices.clear();
    m_summed = range;
    sum(tr("%1 selected").arg(formatDuration(range.duration())),
        [range](const profiler::Trace& trace, const std::stop_token& stop) { return rangeSums(trace, range, stop); });
}

void SelectionPanel::sumSlices(std::vector<SliceId> slices)
{
    m_pages->setCurrentIndex(Range);
    std::erase_if(slices, [this](SliceId id) { return !holds(*m_trace, id); });
    if (m_summedSlices == slices)
        return;
    m_summed.reset();
    m_summedSlices = slices;
    sum(tr("%1 selected").arg(formatCounted(static_cast<std::int64_t>(slices.size()), tr("slice"), tr("slices"))),
        [slices = std::move(slices)](const profiler::Trace& trace, const std::stop_token& stop) {
            return sliceSums(trace, slices, stop);
        });
}

/// @param title  what is selected, shown until the sums are known
void SelectionPanel::sum(const QString& title,
                         std::function<RangeSums(const profiler::Trace&, const std::stop_token&)> work)
{
    m_rangeTitle->setText(tr("%1 · summarizing…").arg(title));
    m_summing.start(
        [this, trace = m_trace, work = std::move(work)](const std::stop_token& stop, const Background::Post& post) {
            RangeSums sums = work(*trace, stop);
            if (!sums.stopped)
                post([this, sums = std::move(sums)] { showSums(sums); });
        },
        [this](const profiler::Error& error) { m_rangeTitle->setText(QString::fromStdString(error.message())); });
}

void SelectionPanel::showSums(const RangeSums& sums)
{
    const auto rows = [&](const std::vector<RangeSums::Sum>& all) {
        std::vector<EvidenceRow> made;
        for (const RangeSums::Sum& sum : all)
            made.push_back(rowOf(sum, sums));
        return made;
    };
    m_byClass->setRows(rows(sums.byClass));
    m_byName->setRows(rows(sums.byName));
    std::vector<EvidenceRow> tracks;
    for (const RangeSums::Track& track : sums.byTrack) {
        const auto share = static_cast<double>(track.busy.count()) /
                           static_cast<double>(std::max<std::int64_t>(sums.range.duration().count(), 1));
        const profiler::Nanoseconds idle = sums.range.duration() - track.busy;
        EvidenceRow row;
        row.cells = {{asQString(m_trace->track(track.track).name), 0},
                     {tr("%1 · %2").arg(formatDuration(track.busy), formatShare(share)), share},
                     {formatDuration(idle), static_cast<double>(idle.count())},
                     {formatCount(track.count), static_cast<double>(track.count)}};
        tracks.push_back(std::move(row));
    }
    m_byTrack->setRows(std::move(tracks));
    const QString duration = formatDuration(sums.range.duration()), self = formatDuration(sums.self),
                  count = formatCounted(sums.count, tr("slice"), tr("slices")),
                  begin = formatPosition(sums.range.begin - m_trace->range().begin);
    QString title =
        m_summedSlices.empty()
            ? tr("%1 selected, starting at %2: %3 with %4 of total time on all tracks")
                  .arg(duration, begin, count, self)
            : tr("%1 selected with %2 of total time, within %3 starting at %4").arg(count, self, duration, begin);
    if (sums.names > static_cast<std::int64_t>(sums.byName.size()))
        title += tr(" · top %1 of %2 names by time").arg(sums.byName.size()).arg(formatCount(sums.names));
    m_rangeTitle->setText(title);
}

void SelectionPanel::follow(const Evidence& evidence)
{
    if (!evidence.slice || !m_trace || !holds(*m_trace, *evidence.slice))
        return;
    const Slice slice = m_trace->slice(*evidence.slice);
    m_selection->selectSlice(slice.id);
    m_selection->show(slice.range(), slice.id.track);
}

} // namespace app
