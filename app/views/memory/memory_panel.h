#pragma once

#include "app/services/panel_work.h"
#include "app/views/memory/memory_look.h"

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QStackedWidget;
class QTabBar;
class QToolButton;

namespace app {

class EvidenceTable;
class MemoryChart;
class MemoryTreemap;
class SegmentMap;
class TraceDocument;

/// The memory of a device by category over time; what held it at the peak or when it ran out, as a table and as a
/// treemap; the segments of the allocator; and how each category is known. Computed in the background while the panel
/// is in front.
class MemoryPanel : public QWidget {
    Q_OBJECT
public:
    enum Page { Holders, Treemap, Segments, Categories };

    MemoryPanel(const TraceDocument* document, QWidget* parent);

    [[nodiscard]] MemoryChart* chart() const { return m_chart; }
    [[nodiscard]] MemoryTreemap* treemap() const { return m_treemap; }
    [[nodiscard]] SegmentMap* segments() const { return m_segments; }
    [[nodiscard]] EvidenceTable* table() const { return m_table; }
    void setPage(Page page);
    [[nodiscard]] bool hasPage(Page page) const;
    /// The view matches the trace, or there is nothing to compute.
    [[nodiscard]] bool isUpToDate() const { return m_work.isUpToDate(); }

signals:
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    using Devices = std::vector<profiler::analysis::DeviceMemory>;

    QWidget* makeHeader();
    QWidget* makePage();
    QWidget* makeCategories();
    void connectDocument();
    void start();
    void take(const std::shared_ptr<const Devices>& devices);
    void fail(const profiler::Error& error);
    void showDevice();
    void showMoment();
    void showHolders();
    void showCategories();
    [[nodiscard]] const profiler::analysis::DeviceMemory* device() const;
    [[nodiscard]] const profiler::analysis::MemoryState* moment() const;
    [[nodiscard]] QString momentText(const profiler::analysis::MemoryState& moment) const;
    void choose(std::size_t holder);
    void open(std::size_t holder);
    void openLine(const profiler::analysis::SourceLine& place);
    void showAllocation(std::optional<profiler::SliceId> slice);
    void showTime(profiler::TraceTime time);
    void showMenu(std::size_t holder, QPoint global);
    [[nodiscard]] QString holdersCsv() const;
    void copyImage();
    void save();

    const TraceDocument* m_document;
    PanelWork m_work;
    std::shared_ptr<const profiler::Trace> m_trace; ///< of m_devices
    std::shared_ptr<const Devices> m_devices;       ///< null: not computed

    QComboBox *m_device = nullptr, *m_moment = nullptr;
    QLabel *m_noHolders = nullptr, *m_source = nullptr, *m_segmentsSummary = nullptr;
    QToolButton* m_save = nullptr;
    QStackedWidget* m_holderPages = nullptr;
    QTabBar* m_tabs = nullptr;
    QStackedWidget* m_parts = nullptr; ///< by Page
    MemoryChart* m_chart = nullptr;
    MemoryTreemap* m_treemap = nullptr;
    SegmentMap* m_segments = nullptr;
    EvidenceTable* m_table = nullptr;
    QWidget* m_categories = nullptr;
    QGridLayout* m_grid = nullptr;
};

} // namespace app
