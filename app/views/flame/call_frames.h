#pragma once

#include "app/look/kind_palette.h"
#include "profiler/analysis/call_tree/call_views.h"

#include <QAbstractItemModel>
#include <QColor>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

// The calls that the flame graph and its table show, and the model of the table.
namespace app {

/// A call as the flame graph and its table show it; see analysis::CallNode and analysis::CallChange.
struct CallFrame {
    std::uint32_t parent = 0, end = 1, name = 0;
    std::uint32_t depth = 0;               ///< 0: the root
    double begin = 0, weight = 0;          ///< place and width in the graph; children are inside their parent
    double inner = 0;                      ///< sum of the children's weights
    double self = 0, total = 0, calls = 0; ///< ns; of the trace on screen
    double totalOther = 0, callsOther = 0; ///< only with a difference: of the other side
    SliceClass color = SliceClass::Other;
    std::optional<profiler::SliceId> longest; ///< in the trace on screen
};

/// The calls of one view, in preorder; frames[0] is the root.
struct CallFrames {
    std::vector<QString> names = {QString()};  ///< full names
    std::vector<QString> labels = {QString()}; ///< their informative part
    std::vector<CallFrame> frames = std::vector<CallFrame>(1);
    bool isDifference = false;
    bool perStep = false;  ///< times and calls of a difference are per step
    std::size_t steps = 0; ///< number of steps of the trace on screen; 0: not steps
    /// Of calls that were sampled, whose number is unknown: the usual time between two samples; 0: they were recorded.
    profiler::Nanoseconds sampledEvery{};

    [[nodiscard]] const QString& name(const CallFrame& frame) const { return names[frame.name]; }
    [[nodiscard]] const QString& label(const CallFrame& frame) const { return labels[frame.name]; }
    [[nodiscard]] bool empty() const { return frames.size() == 1; }
    /// The share of the trace on screen, [0, 1].
    [[nodiscard]] double share(const CallFrame& frame) const
    {
        return frames.front().total > 0 ? frame.total / frames.front().total : 0;
    }
};

CallFrames framesOf(const profiler::analysis::CallTree& tree);
CallFrames framesOf(const profiler::analysis::CallDifference& difference);
/// One frame for each name, by self time: for the list of names.
CallFrames framesOf(const std::vector<profiler::analysis::CallTotal>& totals, const profiler::analysis::CallTree& tree);

/// A number of calls, which may be a mean per step.
QString callCountText(double calls);

/// The colour of a change: blue for less time, orange for more; the stronger, the larger the change is relative to
/// the larger of both times. Both ends differ in lightness from the middle, also for the colour-blind.
/// @param change  [−1, 1]
QColor changeColor(double change, bool dark);
/// The change of a frame for changeColor(), [−1, 1].
double changeOf(const CallFrame& frame);

/// The calls as indented lines with total, share, self time and number of calls, without those below half a percent.
QString asText(const CallFrames& frames);

/// Calls as a tree for a view: name, total, share, self, calls; with a difference: both totals and the change.
class CallTableModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Total, Share, Self, Calls, kColumns }; ///< with a difference: Name, Other, Now, Change, Calls

    explicit CallTableModel(QObject* parent);
    void setFrames(std::shared_ptr<const CallFrames> frames);
    [[nodiscard]] std::uint32_t frameOf(const QModelIndex& index) const
    {
        return index.isValid() ? static_cast<std::uint32_t>(index.internalId()) : 0;
    }
    [[nodiscard]] QModelIndex indexOf(std::uint32_t frame) const;

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Sorts the children of each call.
    void sort(int column, Qt::SortOrder order) override;

private:
    void listChildren();
    [[nodiscard]] double key(std::uint32_t frame, int column) const;
    [[nodiscard]] QString text(const CallFrame& frame, int column) const;

    std::shared_ptr<const CallFrames> m_frames;
    std::vector<std::uint32_t> m_first;    ///< by frame: its first child in m_children; one more at the end
    std::vector<std::uint32_t> m_children; ///< grouped by parent
    std::vector<int> m_row;                ///< by frame: its row below its parent
    int m_sorted = -1;                     ///< column; −1: as the frames are
    Qt::SortOrder m_order = Qt::DescendingOrder;
};

} // namespace app
