#pragma once

#include "app/views/flame/call_frames.h"

#include <QAbstractItemModel>
#include <memory>
#include <vector>

namespace app {

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
