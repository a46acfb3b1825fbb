#pragma once

#include "app/models/range_sums.h"
#include "app/models/slice_details.h"
#include "app/session/background.h"
#include "app/session/selection.h"
#include "app/widgets/evidence_table.h"

#include <QWidget>
#include <memory>

class QLabel;
class QScrollArea;
class QStackedWidget;

namespace app {

struct Advised;

/// What is known of a slice, in three columns.
struct SlicePage {
    std::vector<SliceDetail> facts, links;
    std::vector<SliceDetail> recorded; ///< all arguments as the file has them, in its own words
    QString problem;                   ///< why they cannot be read
    friend bool operator==(const SlicePage&, const SlicePage&) = default;
};

/// What is selected: all that is known of a slice with the slices that belong to it, or what happened within a range.
class SelectionPanel : public QWidget {
    Q_OBJECT
public:
    explicit SelectionPanel(Selection* selection, QWidget* parent = nullptr);

    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Steps of the trace on screen, for saying in which one a slice is; null: none known.
    void setSteps(std::shared_ptr<const std::vector<profiler::analysis::Step>> steps);
    /// Knows the lines of the program at which slices began; null: nothing was analysed yet.
    void setAdvice(std::shared_ptr<const Advised> advised);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Page { Empty, OneSlice, Range };
    QWidget* makeSlicePage();
    QWidget* makeRangePage();
    void takeSelection();
    void showSlice(profiler::SliceId id);
    [[nodiscard]] std::optional<SliceDetail> sourceOf(const profiler::Slice& slice) const;
    void readMore(const profiler::Slice& slice);
    void showPage();
    QWidget* makePage(const SlicePage& page);
    QWidget* makeColumn(const QString& heading, const std::vector<SliceDetail>& details, QWidget* parent);
    void sumRange(profiler::TimeRange range);
    void showSums(const RangeSums& sums);
    void follow(const Evidence& evidence);

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    QStackedWidget* m_pages;
    QLabel* m_title;
    SlicePage m_page, m_shown;                ///< what there is to show, and what is shown
    std::optional<profiler::Slice> m_readFor; ///< the slice of which more was asked for
    std::shared_ptr<const std::vector<profiler::analysis::Step>> m_steps;
    std::shared_ptr<const Advised> m_advised;
    QScrollArea* m_details;
    int m_columns = 3; ///< that its page was made with
    QLabel* m_rangeTitle;
    EvidenceTable *m_byClass, *m_byName;
    std::optional<profiler::TimeRange> m_summed; ///< what the tables show or will show
    Background m_summing{this}, m_reading{this};
};

} // namespace app
