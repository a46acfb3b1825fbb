#include "app/views/flame/call_table_model.h"

#include "app/look/number_format.h"
#include "app/look/swatch.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QPixmap>
#include <algorithm>
#include <cmath>

namespace app {

CallTableModel::CallTableModel(QObject* parent)
    : QAbstractItemModel(parent), m_frames(std::make_shared<const CallFrames>())
{
    listChildren();
}

void CallTableModel::setFrames(std::shared_ptr<const CallFrames> frames)
{
    beginResetModel();
    m_frames = std::move(frames);
    listChildren();
    endResetModel();
}

double CallTableModel::key(std::uint32_t index, int column) const
{
    const CallFrame& frame = m_frames->frames[index];
    if (m_frames->isDifference)
        return column == Total   ? frame.totalOther
               : column == Share ? frame.total
               : column == Self  ? frame.total - frame.totalOther
                                 : frame.calls;
    return column == Self ? frame.self : column == Calls ? frame.calls : frame.total;
}

void CallTableModel::listChildren()
{
    const auto& frames = m_frames->frames;
    m_first.assign(frames.size() + 1, 0);
    m_children.assign(frames.size() - 1, 0);
    m_row.assign(frames.size(), 0);
    for (std::size_t i = 1; i < frames.size(); ++i)
        ++m_first[frames[i].parent + 1];
    for (std::size_t i = 0; i < frames.size(); ++i)
        m_first[i + 1] += m_first[i];
    std::vector<std::uint32_t> at(m_first);
    for (std::uint32_t i = 1; i < frames.size(); ++i)
        m_children[at[frames[i].parent]++] = i;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto begin = m_children.begin() + m_first[i], end = m_children.begin() + m_first[i + 1];
        if (m_sorted == Name)
            std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
                const int compared =
                    m_frames->label(frames[a]).compare(m_frames->label(frames[b]), Qt::CaseInsensitive);
                return m_order == Qt::AscendingOrder ? compared < 0 : compared > 0;
            });
        else if (m_sorted >= 0)
            std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
                return m_order == Qt::AscendingOrder ? key(a, m_sorted) < key(b, m_sorted)
                                                     : key(a, m_sorted) > key(b, m_sorted);
            });
        for (auto child = begin; child != end; ++child)
            m_row[*child] = static_cast<int>(child - begin);
    }
}

void CallTableModel::sort(int column, Qt::SortOrder order)
{
    emit layoutAboutToBeChanged();
    const QModelIndexList before = persistentIndexList();
    m_sorted = column;
    m_order = order;
    listChildren();
    QModelIndexList after;
    for (const QModelIndex& index : before)
        after << createIndex(m_row[frameOf(index)], index.column(), index.internalId());
    changePersistentIndexList(before, after);
    emit layoutChanged();
}

QModelIndex CallTableModel::indexOf(std::uint32_t frame) const
{
    return frame == 0 || frame >= m_row.size() ? QModelIndex() : createIndex(m_row[frame], 0, quintptr{frame});
}

QModelIndex CallTableModel::index(int row, int column, const QModelIndex& parent) const
{
    if (row < 0 || row >= rowCount(parent) || column < 0 || column >= kColumns)
        return {};
    return createIndex(row, column, quintptr{m_children[m_first[frameOf(parent)] + static_cast<std::uint32_t>(row)]});
}

QModelIndex CallTableModel::parent(const QModelIndex& child) const
{
    return child.isValid() ? indexOf(m_frames->frames[frameOf(child)].parent) : QModelIndex();
}

int CallTableModel::rowCount(const QModelIndex& parent) const
{
    if (parent.column() > 0)
        return 0;
    const std::uint32_t frame = frameOf(parent);
    return static_cast<int>(m_first[frame + 1] - m_first[frame]);
}

int CallTableModel::columnCount(const QModelIndex&) const
{
    return kColumns;
}

QString CallTableModel::text(const CallFrame& frame, int column) const
{
    const auto time = [](double ns) { return ns > 0 ? formatUs(ns / 1000) : QStringLiteral("–"); };
    if (column == Name)
        return m_frames->label(frame);
    if (column == Calls)
        return m_frames->isDifference
                   ? QStringLiteral("%1 → %2").arg(callCountText(frame.callsOther), callCountText(frame.calls))
               : frame.calls > 0 ? formatCount(static_cast<std::int64_t>(frame.calls))
                                 : QStringLiteral("–");
    if (!m_frames->isDifference)
        return column == Total  ? time(frame.total)
               : column == Self ? time(frame.self)
                                : formatShare(m_frames->share(frame));
    if (column == Total)
        return time(frame.totalOther);
    if (column == Share)
        return time(frame.total);
    const double change = frame.total - frame.totalOther;
    return (change < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) + formatUs(std::abs(change) / 1000);
}

QVariant CallTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const CallFrame& frame = m_frames->frames[frameOf(index)];
    const bool dark = isDark(QApplication::palette());
    switch (role) {
    case Qt::DisplayRole:
        return text(frame, index.column());
    case Qt::ToolTipRole:
        return index.column() == Name ? m_frames->name(frame) : QVariant();
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (index.column() == Name ? Qt::AlignLeft : Qt::AlignRight));
    case Qt::DecorationRole: {
        if (index.column() != Name)
            return {};
        if (!m_frames->isDifference)
            return swatch(frame.color, dark);
        QPixmap pixmap(12, 12);
        pixmap.fill(changeColor(changeOf(frame), dark));
        return pixmap;
    }
    default:
        return {};
    }
}

QVariant CallTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter | (section == Name ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole)
        return {};
    const bool difference = m_frames->isDifference;
    switch (section) {
    case Name:
        return tr("Call");
    case Total:
        return difference ? tr("Other") : tr("Total");
    case Share:
        return difference ? tr("Here") : tr("Share");
    case Self:
        return difference ? tr("Change") : tr("Self");
    default:
        return tr("Calls");
    }
}

} // namespace app
