#include "app/views/source/source_model.h"

#include "app/look/icon.h"
#include "app/look/number_format.h"

#include <algorithm>

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
        return QVariant((index.column() == Code ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
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
        return QVariant((section == Code ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

} // namespace app
