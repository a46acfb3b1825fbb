#include "app/views/source/source.h"

#include "app/configuration/configuration_model.h"
#include "app/document/analyser.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/notices.h"
#include "app/services/program_process.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

namespace {

QString timeText(double us)
{
    return us > 0 ? formatUs(us) : QString();
}

bool isAllocated(const advisor::SourceLine& line)
{
    return line.allocations && line.allocations->count > 0;
}

constexpr int kTabWidth = 4; ///< letters

/// Lines with a thirtieth of the time or more are visibly shaded. The shade grows with the square root of the share, so
/// that a tenth, a half and no time are distinguishable.
QColor heatColor(const QPalette& palette, double share)
{
    return blend(palette.color(QPalette::Base), shades(palette).warning, 0.28 * std::sqrt(std::clamp(share, 0.0, 1.0)));
}

/// Draws the shading of hot lines and the syntax colours.
class LineDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const bool isSelected = option.state & QStyle::State_Selected;
        const double share = index.data(SourceModel::HeatRole).toDouble();
        if (!isSelected && share > 0)
            painter->fillRect(option.rect, heatColor(option.palette, share));
        if (index.column() != SourceModel::Code)
            return QStyledItemDelegate::paint(painter, option, index);
        if (isSelected)
            painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
        QString text = index.data().toString();
        QTextLayout layout(text, option.font);
        QTextOption tabs;
        tabs.setTabStopDistance(kTabWidth * option.fontMetrics.horizontalAdvance(' '));
        tabs.setWrapMode(QTextOption::NoWrap);
        layout.setTextOption(tabs);
        const auto* parts =
            static_cast<const std::vector<CodePart>*>(index.data(SourceModel::PartsRole).value<const void*>());
        if (!isSelected && parts)
            layout.setFormats(codeFormats(*parts, codeColors(option.palette)));
        layout.beginLayout();
        layout.createLine();
        layout.endLayout();
        painter->save();
        painter->setClipRect(option.rect);
        painter->setPen(option.palette.color(isSelected ? QPalette::HighlightedText : QPalette::Text));
        layout.draw(painter, QPointF(option.rect.left() + 6,
                                     option.rect.top() + (option.rect.height() - option.fontMetrics.height()) / 2.0));
        painter->restore();
    }

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        if (index.column() == SourceModel::Code) {
            const QString text = index.data().toString();
            const auto tabs = static_cast<int>(text.count('\t'));
            size.setWidth(option.fontMetrics.horizontalAdvance(text) + 12 +
                          tabs * kTabWidth * option.fontMetrics.horizontalAdvance(' '));
        }
        return size;
    }
};

QToolButton* makeButton(const char* name, const char* iconName, const QString& text, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setObjectName(name);
    button->setIcon(icon(iconName));
    button->setToolTip(text);
    button->setAccessibleName(text);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

/// Margin around a range, so that its surroundings stay visible.
profiler::TimeRange withSurroundings(profiler::TimeRange range)
{
    const auto room = range.duration() * 3 / 4;
    return {range.begin - room, range.end + room};
}

} // namespace

void SourceModel::show(const RecordedFile* file, const advisor::SourceLines& lines,
                       const std::vector<advisor::RuleAdvice>& findings)
{
    beginResetModel();
    m_rows.clear();
    m_sampledUs = lines.sampledUs;
    m_hasDevice = std::any_of(lines.lines.begin(), lines.lines.end(),
                              [](const advisor::SourceLine& line) { return line.deviceUs.has_value(); });
    m_hasAllocations = lines.allocations != advisor::AllocationSource::NotRecorded;
    std::map<int, Row> rows;
    const std::string path = file ? file->path.toStdString() : std::string();
    if (file) {
        auto parts = pythonParts(file->lines);
        for (int i = 0; i < file->lines.size(); ++i) {
            rows[i + 1].code = file->lines[i];
            rows[i + 1].parts = std::move(parts[static_cast<std::size_t>(i)]);
        }
    }
    const bool hasText = file && !file->lines.isEmpty();
    const auto rowAt = [&](int line) -> Row* {
        if (hasText)
            return rows.contains(line) ? &rows[line] : nullptr;
        return &rows[line];
    };
    for (const advisor::SourceLine& line : lines.lines)
        if (Row* row = line.file == path ? rowAt(line.line) : nullptr) {
            // A line in several functions, for example with a comprehension, has several entries.
            row->time.samples += line.samples;
            row->time.selfUs += line.selfUs;
            row->time.totalUs = std::max(row->time.totalUs, line.totalUs);
            row->time.waitUs += line.waitUs;
            if (line.deviceUs)
                row->time.deviceUs = row->time.deviceUs.value_or(0) + *line.deviceUs;
            if (line.allocations) {
                const advisor::LineAllocations before = row->time.allocations.value_or(advisor::LineAllocations());
                row->time.allocations = {before.bytes + line.allocations->bytes,
                                         before.count + line.allocations->count};
            }
        }
    for (std::size_t i = 0; i < findings.size(); ++i)
        for (const advisor::SourcePlace& place : findings[i].advice.source)
            if (Row* row = findings[i].advice.state == advisor::State::Fires && place.file == path ? rowAt(place.line)
                                                                                                   : nullptr;
                row && (row->findings.empty() || row->findings.back() != i)) {
                row->findings.push_back(i);
                const QString title = QString::fromStdString(findings[i].advice.title);
                row->titles += (row->titles.isEmpty() ? "" : "\n") + title;
            }
    for (auto& [number, row] : rows) {
        row.line = number;
        m_rows.push_back(std::move(row));
    }
    endResetModel();
}

int SourceModel::lineOf(int row) const
{
    return row >= 0 && row < rowCount() ? m_rows[static_cast<std::size_t>(row)].line : 0;
}

int SourceModel::rowOf(int line) const
{
    const auto found = std::lower_bound(m_rows.begin(), m_rows.end(), line,
                                        [](const Row& row, int wanted) { return row.line < wanted; });
    return found != m_rows.end() && found->line == line ? static_cast<int>(found - m_rows.begin()) : -1;
}

const std::vector<std::size_t>& SourceModel::findingsOf(int row) const
{
    static const std::vector<std::size_t> s_none;
    return row >= 0 && row < rowCount() ? m_rows[static_cast<std::size_t>(row)].findings : s_none;
}

int SourceModel::hottestRow() const
{
    const auto hottest = std::max_element(m_rows.begin(), m_rows.end(),
                                          [](const Row& a, const Row& b) { return a.time.selfUs < b.time.selfUs; });
    return hottest == m_rows.end() || hottest->time.selfUs <= 0 ? -1 : static_cast<int>(hottest - m_rows.begin());
}

int SourceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int SourceModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QString SourceModel::text(const Row& row, int column) const
{
    switch (column) {
    case Finding:
        return row.findings.size() > 1 ? QString::number(row.findings.size()) : QString();
    case Line:
        return QString::number(row.line);
    case Host:
        return timeText(row.time.totalUs);
    case Self:
        return timeText(row.time.selfUs);
    case Wait:
        return timeText(row.time.waitUs);
    case Device:
        return timeText(row.time.deviceUs.value_or(0));
    case Allocated:
        return isAllocated(row.time) ? formatBytes(static_cast<double>(row.time.allocations->bytes)) : QString();
    default:
        return row.code;
    }
}

QVariant SourceModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const bool isFinding = index.column() == Finding && !row.findings.empty();
    switch (role) {
    case Qt::DisplayRole:
        return text(row, index.column());
    case Qt::DecorationRole:
        return isFinding ? QVariant(icon("warning")) : QVariant();
    case Qt::ToolTipRole:
        if (isFinding)
            return row.titles;
        if (index.column() == Allocated && isAllocated(row.time))
            return tr("%1 in %2")
                .arg(formatBytes(static_cast<double>(row.time.allocations->bytes)),
                     formatCounted(row.time.allocations->count, tr("allocation"), tr("allocations")));
        return row.time.samples > 0 && index.column() != Code
                   ? tr("%1 of the sampled time, in %2")
                         .arg(formatShare(m_sampledUs > 0 ? row.time.totalUs / m_sampledUs : 0),
                              formatCounted(row.time.samples, tr("sample"), tr("samples")))
                   : QString();
    case Qt::AccessibleTextRole:
        return isFinding ? row.titles : text(row, index.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((index.column() == Code ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case PartsRole:
        return QVariant::fromValue(static_cast<const void*>(&row.parts));
    case HeatRole:
        return m_sampledUs > 0 ? row.time.selfUs / m_sampledUs : 0.0;
    default:
        return {};
    }
}

QVariant SourceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    const QString names[] = {QString(),   tr("Line"),   tr("Host"),      tr("Self"),
                             tr("Waits"), tr("Device"), tr("Allocated"), tr("Source")};
    const QString tips[] = {tr("Findings on this line"),
                            {},
                            tr("Time of the training thread in this line, including calls"),
                            tr("Time in the line itself, including library code that it calls"),
                            tr("Part of that spent waiting for data or for the GPU"),
                            tr("GPU time of the kernels, copies and memsets that the line launched"),
                            tr("Memory that the line allocated for tensors, including freed memory"),
                            {}};
    if (role == Qt::DisplayRole)
        return names[section];
    if (role == Qt::ToolTipRole)
        return tips[section];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Code ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

SourcePanel::SourcePanel(const FindingServices& services, QWidget* parent)
    : QWidget(parent), m_uses(services), m_pages(new QStackedWidget(this)),
      m_empty(makeEmptyLabel("sourceEmpty", this)), m_model(new SourceModel(this))
{
    setObjectName("sourcePanel");
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(8, 6, 8, 6);
    column->setSpacing(4);
    column->addWidget(makeHead());
    m_problem = makeTextLabel("sourceProblem", page);
    column->addWidget(m_problem);
    m_split = new QSplitter(Qt::Horizontal, page);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(makeTable());
    m_split->addWidget(makeCards());
    m_split->setStretchFactor(0, 1);
    column->addWidget(m_split, 1);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(page);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(m_pages);
    connect(m_files, &QComboBox::currentIndexChanged, this, &SourcePanel::showFile);
    connect(m_uses.document->selection(), &Selection::changed, this, &SourcePanel::takeSelection);
    connect(m_uses.document->selection(), &Selection::sourceRequested, this, &SourcePanel::goTo);
    connect(m_uses.document, &TraceDocument::adviceChanged, this, [this] { showAdvice(m_uses.document->advice()); });
    connect(m_uses.configuration, &ConfigurationModel::changed, this, &SourcePanel::refreshCards);
    connect(m_uses.journal, &JournalStore::changed, this, &SourcePanel::refreshCards);
    connect(m_uses.jobs, &JobGuard::changed, this, &SourcePanel::refreshCards);
    showAdvice(m_uses.document->advice());
}

QWidget* SourcePanel::makeHead()
{
    auto* head = new QWidget(this);
    m_files = new QComboBox(head);
    m_files->setObjectName("sourceFile");
    m_files->setAccessibleName(tr("Source file"));
    m_files->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_edit = makeButton("sourceEdit", "open", tr("Open this line in the editor"), head);
    m_about = new QLabel(head);
    m_about->setObjectName("sourceAbout");
    m_about->setForegroundRole(QPalette::PlaceholderText);
    m_where = new QLabel(head);
    m_where->setObjectName("sourceWhere");
    m_previous = makeButton("sourcePrevious", "previous", tr("Previous occurrence on the timeline"), head);
    m_next = makeButton("sourceNext", "next", tr("Next occurrence on the timeline"), head);
    connect(m_previous, &QToolButton::clicked, this,
            [this] { showRange((m_range + m_ranges.size() - 1) % m_ranges.size()); });
    connect(m_next, &QToolButton::clicked, this, [this] { showRange((m_range + 1) % m_ranges.size()); });
    connect(m_edit, &QToolButton::clicked, this, [this] {
        const int line = std::max(1, m_model->lineOf(m_table->currentIndex().row()));
        if (const QString problem = openInEditor(currentFile(), line); !problem.isEmpty())
            emit m_uses.notices->noticed(problem, {}, true);
    });
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(m_files);
    row->addWidget(m_edit);
    row->addWidget(m_about);
    row->addStretch(1);
    row->addWidget(m_where);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    return head;
}

QWidget* SourcePanel::makeTable()
{
    m_table = new QTableView(this);
    m_table->setObjectName("sourceTable");
    m_table->setAccessibleName(tr("Source lines"));
    m_table->setModel(m_model);
    m_table->setItemDelegate(new LineDelegate(m_table));
    m_table->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setTabKeyNavigation(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setMinimumSectionSize(1); // the style's minimum height is too large here
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().lineSpacing() + 4);
    QHeaderView* header = m_table->horizontalHeader();
    header->setHighlightSections(false);
    header->setSectionsClickable(false);
    header->setFont(font());
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setMinimumSectionSize(20);
    header->setStretchLastSection(true);
    const int number = m_table->fontMetrics().horizontalAdvance("000.0 ms") + 14;
    for (const int section :
         {SourceModel::Host, SourceModel::Self, SourceModel::Wait, SourceModel::Device, SourceModel::Allocated})
        m_table->setColumnWidth(section, std::max(number, header->sectionSizeHint(section)));
    m_table->setColumnWidth(SourceModel::Finding, 34);
    m_table->setColumnWidth(SourceModel::Line, m_table->fontMetrics().horizontalAdvance("00000") + 14);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &SourcePanel::takeRow);
    connect(m_table, &QTableView::activated, m_edit, &QToolButton::click);
    return m_table;
}

QWidget* SourcePanel::makeCards()
{
    m_cardArea = new QScrollArea(this);
    m_cardArea->setObjectName("sourceFindings");
    m_cardArea->setFrameShape(QFrame::NoFrame);
    m_cardArea->setWidgetResizable(true);
    m_cardArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_cardArea->setMinimumWidth(320);
    auto* body = new QWidget(m_cardArea);
    m_cardLayout = new QVBoxLayout(body);
    m_cardLayout->setContentsMargins(8, 0, 0, 0);
    m_cardLayout->addStretch(1);
    m_cardArea->setWidget(body);
    m_cardArea->hide();
    return m_cardArea;
}

QString SourcePanel::currentFile() const
{
    return m_files->currentData().toString();
}

void SourcePanel::showEmpty(const QString& why)
{
    m_empty->setText(why);
    m_pages->setCurrentIndex(0);
}

void SourcePanel::showAdvice(std::shared_ptr<const Advised> advised)
{
    m_advised = std::move(advised);
    const QString file = currentFile();
    const int line = m_model->lineOf(m_table->currentIndex().row());
    {
        const QSignalBlocker quiet(m_files);
        m_files->clear();
        if (m_advised)
            for (const RecordedFile& one : m_advised->files)
                m_files->addItem(QFileInfo(one.path).fileName(), one.path);
        for (int i = 0; i < m_files->count(); ++i)
            m_files->setItemData(i, m_files->itemData(i), Qt::ToolTipRole);
        if (const int at = m_files->findData(file); at >= 0)
            m_files->setCurrentIndex(at);
    }
    if (m_files->count() == 0) {
        m_model->show(nullptr, {}, {});
        showCards(-1);
        showEmpty(m_advised && m_advised->live
                      ? tr("Source lines appear when the recording is done.")
                      : tr("This trace has no source files. Use File › Record program to record a Python program: "
                           "its files appear here with the time of each line."));
        return;
    }
    m_pages->setCurrentIndex(1);
    showFile();
    if (currentFile() == file && m_model->rowOf(line) >= 0)
        selectRow(m_model->rowOf(line));
}

void SourcePanel::showFile()
{
    const RecordedFile* file = m_advised ? findFile(m_advised->files, currentFile()) : nullptr;
    m_model->show(file, m_advised ? m_advised->lines : advisor::SourceLines(),
                  m_advised ? m_advised->rules : std::vector<advisor::RuleAdvice>());
    m_table->setColumnHidden(SourceModel::Device, !m_model->hasDevice());
    m_table->setColumnHidden(SourceModel::Allocated, !m_model->hasAllocations());
    m_files->setToolTip(currentFile());
    const advisor::SourceLines& lines = m_advised->lines;
    m_about->setText(
        lines.problem.empty()
            ? tr("%1 over %2").arg(formatCounted(lines.samples, tr("sample"), tr("samples")), formatUs(lines.sampledUs))
            : QString());
    QStringList problems;
    if (file && !file->problem.isEmpty())
        problems << file->problem;
    if (!lines.problem.empty())
        problems << QString::fromStdString(lines.problem.text);
    m_problem->setText(problems.join('\n'));
    m_problem->setVisible(!problems.isEmpty());
    showCards(-1);
    takeRow();
    center(m_model->hottestRow());
}

/// A table that was never shown has no height, so the row cannot be centred yet; it is scrolled to later.
void SourcePanel::center(int row)
{
    m_toCenter = row;
    if (row < 0)
        return;
    m_table->scrollTo(m_model->index(row, SourceModel::Line), QAbstractItemView::PositionAtCenter);
    if (isVisible())
        centerWhenLaidOut();
}

void SourcePanel::centerWhenLaidOut()
{
    const auto finish = [this] {
        const int row = std::exchange(m_toCenter, -1);
        if (row >= 0 && row < m_model->rowCount())
            m_table->scrollTo(m_model->index(row, SourceModel::Line), QAbstractItemView::PositionAtCenter);
    };
    QMetaObject::invokeMethod(this, finish, Qt::QueuedConnection);
}

void SourcePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    centerWhenLaidOut();
}

void SourcePanel::goTo(const QString& file, int line)
{
    const int at = m_files->findData(file);
    if (at < 0)
        return;
    m_files->setCurrentIndex(at);
    for (QWidget* widget = this; widget; widget = widget->parentWidget())
        if (auto* dock = qobject_cast<QDockWidget*>(widget)) {
            dock->show();
            dock->raise();
        }
    if (const int row = m_model->rowOf(line); row >= 0)
        selectRow(row);
}

/// Does not change the selection on the timeline.
void SourcePanel::selectRow(int row)
{
    m_isFollowing = true;
    const QModelIndex index = m_model->index(row, SourceModel::Line);
    m_table->setCurrentIndex(index);
    center(row);
    m_isFollowing = false;
}

void SourcePanel::takeRow()
{
    const int row = m_table->currentIndex().row();
    const int line = m_model->lineOf(row);
    m_ranges = m_advised && m_advised->times && line > 0 ? m_advised->times->rangesOf(currentFile().toStdString(), line)
                                                         : std::vector<profiler::TimeRange>();
    for (QWidget* widget :
         {static_cast<QWidget*>(m_where), static_cast<QWidget*>(m_previous), static_cast<QWidget*>(m_next)})
        widget->setVisible(!m_ranges.empty());
    showCards(row);
    if (m_ranges.empty())
        return;
    const auto longest = std::max_element(m_ranges.begin(), m_ranges.end(),
                                          [](const auto& a, const auto& b) { return a.duration() < b.duration(); });
    m_range = static_cast<std::size_t>(longest - m_ranges.begin());
    if (m_isFollowing)
        m_where->setText(tr("Line %1: %2")
                             .arg(line)
                             .arg(formatCounted(static_cast<std::int64_t>(m_ranges.size()), tr("time"), tr("times"))));
    else
        showRange(m_range);
}

void SourcePanel::showRange(std::size_t index)
{
    m_range = index;
    const profiler::TimeRange range = m_ranges[index];
    m_where->setText(tr("Line %1: time %2 of %3, %4")
                         .arg(m_model->lineOf(m_table->currentIndex().row()))
                         .arg(index + 1)
                         .arg(m_ranges.size())
                         .arg(formatDuration(range.duration())));
    m_uses.document->selection()->selectRange(range);
    m_uses.document->selection()->show(withSurroundings(range));
}

void SourcePanel::refreshCards()
{
    for (FindingCard* card : m_cards)
        card->refresh();
}

void SourcePanel::takeSelection()
{
    const auto id = m_uses.document->selection()->slice();
    const auto trace = m_uses.document->trace();
    if (!id || !m_advised || !m_advised->times || id->track.value >= trace->tracks().size())
        return;
    const auto place = m_advised->times->placeOf(trace->slice(*id));
    const int at = place ? m_files->findData(QString::fromStdString(place->file)) : -1;
    if (at < 0)
        return;
    m_files->setCurrentIndex(at);
    if (const int row = m_model->rowOf(place->line); row >= 0)
        selectRow(row);
}

void SourcePanel::showCards(int row)
{
    for (FindingCard* card : m_cards) {
        m_cardLayout->removeWidget(card);
        card->hide();
        card->deleteLater();
    }
    m_cards.clear();
    for (const std::size_t index : m_model->findingsOf(row)) {
        auto* card = new FindingCard(m_uses, m_advised->rules[index], m_cardArea->widget());
        card->setAdvice(m_advised->rules[index], static_cast<int>(index) + 1);
        m_cardLayout->insertWidget(static_cast<int>(m_cards.size()), card);
        m_cards.push_back(card);
        card->show();
    }
    m_cardArea->setVisible(!m_cards.empty());
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new SourcePanel({&bench.notices, &bench.document, &bench.configuration, &bench.jobs, &bench.journal,
                            &bench.experiments, &bench.training},
                           parent);
}

} // namespace

View source()
{
    return {QCoreApplication::translate("views", "Source"), ViewArea::Bottom, 7, create};
}

} // namespace app::views
