#pragma once

#include "app/services/panel_work.h"
#include "app/views/flame/call_frames.h"

#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QSplitter;
class QTreeView;

namespace app {

class CallTableModel;
class FlameGraph;
class TraceDocument;

/// The call tree of the trace on screen as a flame graph and a table, top-down, bottom-up, or as the callers and
/// callees of one name; or its difference to another step, to another time range, or to the trace of Compare. Computed
/// in the background while the panel is in front.
class FlamePanel : public QWidget {
    Q_OBJECT
public:
    enum class Scope { WholeTrace, AllSteps, SelectedStep, Selection, RangeB };
    enum class Order { TopDown, BottomUp, Sandwich };
    enum class Other { None, FastestStep, MedianStep, SlowestStep, ChosenStep, RangeA, ComparedTrace };

    FlamePanel(const TraceDocument* document, QWidget* parent);

    /// Keeps the selected slice or range of the timeline, to show the difference of two ranges: B − A. Until B is kept,
    /// it is the selection. Without a selection, a notice says what to do.
    void useSelectionAsA();
    void useSelectionAsB();

    [[nodiscard]] FlameGraph* graph() const { return m_graph; }
    /// The view matches the choices and the trace, or there is nothing to compute.
    [[nodiscard]] bool isUpToDate() const { return m_work.isUpToDate(); }

signals:
    /// A notice for the user.
    void noticed(const QString& what, const QString& detail, bool isError);

private:
    /// What a request computes: trees are kept, so that another order costs less.
    struct Trees;
    struct Plan;

    QWidget* makeHeader();
    QWidget* makePage();
    void connectDocument();
    void addActions();
    void listOthers();
    void chooseOther();
    [[nodiscard]] std::optional<profiler::TimeRange> selectedRange() const;
    [[nodiscard]] std::optional<profiler::TimeRange> rangeToUse();
    [[nodiscard]] QString rangeText(profiler::TimeRange range) const;
    void forgetRanges();
    void selectionChanged();
    void start();
    /// @return what to compute, or empty and the text for the empty view
    [[nodiscard]] std::optional<Plan> plan(QString& whyNot) const;
    void take(const std::shared_ptr<const Trees>& trees);
    void fail(const profiler::Error& error);
    bool eventFilter(QObject* watched, QEvent* event) override;
    void fitColumns();
    void showSearch();
    void choose(std::uint32_t frame);
    void chooseRow();
    void selectLongest(const CallFrame& frame);
    void showMenu(const CallFrames& frames, std::uint32_t frame, QPoint global);
    void showSandwich(const QString& name);
    void copyText() const;
    void saveImage();
    [[nodiscard]] std::optional<std::size_t> selectedStep() const;

    const TraceDocument* m_document;
    PanelWork m_work;
    QTimer m_later;          ///< a selection that changes often is used when it rests
    bool m_choosing = false; ///< the selection changes because of this panel
    std::int64_t m_otherStep = 0;
    QString m_name;                                        ///< of the sandwich
    std::optional<profiler::TimeRange> m_rangeA, m_rangeB; ///< kept selections
    std::shared_ptr<const Trees> m_trees;

    QComboBox *m_scope = nullptr, *m_grouping = nullptr, *m_time = nullptr, *m_order = nullptr, *m_other = nullptr;
    QLineEdit* m_search = nullptr;
    QLabel* m_found = nullptr;
    FlameGraph *m_graph = nullptr, *m_callers = nullptr;
    QTreeView* m_table = nullptr;
    CallTableModel* m_model = nullptr;
};

} // namespace app
