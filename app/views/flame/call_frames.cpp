#include "app/views/flame/call_frames.h"

#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QCoreApplication>
#include <QPixmap>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr double kLeastTextShare = 0.005;

QString tr(const char* text)
{
    return QCoreApplication::translate("CallFrames", text);
}

void setNames(CallFrames& frames, const std::vector<std::string>& names)
{
    if (names.empty())
        return;
    frames.names.clear();
    frames.labels.clear();
    for (const std::string& name : names) {
        frames.names.push_back(asQString(name));
        frames.labels.push_back(shortName(name));
    }
}

/// Places the frames next to each other, children inside their parents, and counts depths.
void place(CallFrames& frames)
{
    for (std::size_t i = 1; i < frames.frames.size(); ++i) {
        CallFrame& frame = frames.frames[i];
        CallFrame& parent = frames.frames[frame.parent];
        frame.depth = parent.depth + 1;
        frame.begin = parent.begin + parent.inner;
        parent.inner += frame.weight;
    }
    frames.labels[frames.frames.front().name] = frames.names[frames.frames.front().name] =
        frames.sampledEvery.count() > 0
            ? tr("All calls, sampled every %1").arg(formatUs(analysis::toUs(frames.sampledEvery)))
            : tr("All calls");
}

} // namespace

CallFrames framesOf(const analysis::CallTree& tree)
{
    CallFrames frames;
    setNames(frames, tree.names);
    frames.steps = tree.steps;
    frames.sampledEvery = tree.sampledEvery;
    frames.frames.clear();
    for (const analysis::CallNode& node : tree.nodes) {
        CallFrame frame;
        frame.parent = node.parent;
        frame.end = node.end;
        frame.name = node.name;
        frame.self = static_cast<double>(node.self.count());
        frame.total = frame.weight = static_cast<double>(node.total.count());
        frame.calls = static_cast<double>(node.calls);
        if (!tree.names.empty())
            frame.color = classify(node.kind, tree.name(node));
        if (node.longestTime.count() >= 0)
            frame.longest = node.longest;
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

CallFrames framesOf(const analysis::CallDifference& difference)
{
    CallFrames frames;
    setNames(frames, difference.names);
    frames.isDifference = true;
    frames.perStep = difference.perStep;
    frames.frames.clear();
    for (const analysis::CallChange& node : difference.nodes) {
        CallFrame frame;
        frame.parent = node.parent;
        frame.end = node.end;
        frame.name = node.name;
        frame.weight = node.weight();
        frame.self = node.selfB;
        frame.total = node.totalB;
        frame.totalOther = node.totalA;
        frame.calls = node.callsB;
        frame.callsOther = node.callsA;
        if (node.longestTimeB.count() >= 0)
            frame.longest = node.longestB;
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

CallFrames framesOf(const std::vector<analysis::CallTotal>& totals, const analysis::CallTree& tree)
{
    CallFrames frames;
    setNames(frames, {std::string()});
    frames.steps = tree.steps;
    frames.sampledEvery = tree.sampledEvery;
    frames.frames.front().total = static_cast<double>(tree.total().count());
    frames.frames.front().end = static_cast<std::uint32_t>(totals.size() + 1);
    for (const analysis::CallTotal& total : totals) {
        CallFrame frame;
        frame.end = static_cast<std::uint32_t>(frames.frames.size() + 1);
        frame.name = static_cast<std::uint32_t>(frames.names.size());
        frame.self = static_cast<double>(total.self.count());
        frame.total = static_cast<double>(total.total.count());
        frame.calls = static_cast<double>(total.calls);
        frame.color = classify(total.kind, total.name);
        if (total.longestTime.count() >= 0)
            frame.longest = total.longest;
        frames.names.push_back(asQString(total.name));
        frames.labels.push_back(shortName(total.name));
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

QString callCountText(double calls)
{
    const double whole = std::round(calls);
    return std::abs(calls - whole) < 1e-6 ? formatCount(static_cast<std::int64_t>(whole)) : formatSignificant(calls);
}

double changeOf(const CallFrame& frame)
{
    const double most = std::max(frame.total, frame.totalOther);
    return most > 0 ? (frame.total - frame.totalOther) / most : 0;
}

QColor changeColor(double change, bool dark)
{
    // Okabe and Ito's blue and vermilion, around a neutral grey.
    const QColor middle = dark ? QColor(0x4A, 0x4D, 0x52) : QColor(0xE4, 0xE4, 0xE2);
    const QColor end = change < 0 ? (dark ? QColor(0x56, 0xB4, 0xE9) : QColor(0x00, 0x72, 0xB2))
                                  : (dark ? QColor(0xF0, 0x8A, 0x3C) : QColor(0xD5, 0x5E, 0x00));
    return blend(middle, end, std::clamp(std::abs(change) * 1.6, 0.0, 1.0)); // half as long again is almost at the end
}

QString asText(const CallFrames& frames)
{
    QStringList lines;
    const double all = std::max(frames.frames.front().total, frames.frames.front().totalOther);
    for (std::size_t i = 1; i < frames.frames.size(); ++i) {
        const CallFrame& frame = frames.frames[i];
        if (std::max(frame.total, frame.totalOther) < kLeastTextShare * all)
            continue;
        QString line = QString(2 * static_cast<qsizetype>(frame.depth - 1), ' ') + frames.name(frame);
        if (frames.isDifference)
            line += QStringLiteral("\t%1\t%2").arg(formatUs(frame.totalOther / 1000), formatUs(frame.total / 1000));
        else
            line += QStringLiteral("\t%1\t%2\t%3\t%4")
                        .arg(formatUs(frame.total / 1000), formatShare(frames.share(frame)),
                             formatUs(frame.self / 1000), formatCount(static_cast<std::int64_t>(frame.calls)));
        lines << line;
    }
    return lines.join('\n') + '\n';
}

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
