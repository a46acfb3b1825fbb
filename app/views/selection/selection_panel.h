#pragma once

#include "app/models/range_sums.h"
#include "app/models/slice_details.h"
#include "app/session/background.h"
#include "app/session/selection.h"
#include "app/widgets/evidence_table.h"

#include <QWidget>
#include <memory>

class QFormLayout;
class QLabel;
class QScrollArea;
class QStackedWidget;

namespace app {

/// What is selected: all that is known of a slice with the slices that belong to it, or what happened within a range.
class SelectionPanel : public QWidget {
    Q_OBJECT
public:
    explicit SelectionPanel(Selection* selection, QWidget* parent = nullptr);

    void setTrace(std::shared_ptr<const profiler::Trace> trace);

private:
    enum Page { Empty, OneSlice, Range };
    QWidget* makeSlicePage();
    QWidget* makeRangePage();
    void takeSelection();
    void showSlice(profiler::SliceId id);
    QWidget* makeDetails(const std::vector<SliceDetail>& details);
    void sumRange(profiler::TimeRange range);
    void showSums(const RangeSums& sums);
    void follow(const Evidence& evidence);

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    QStackedWidget* m_pages;
    QLabel* m_title;
    std::vector<SliceDetail> m_shown; ///< facts and links on the slice's page
    QScrollArea* m_details;
    QLabel* m_rangeTitle;
    EvidenceTable *m_byClass, *m_byName;
    std::optional<profiler::TimeRange> m_summed; ///< what the tables show or will show
    Background m_summing{this};
};

} // namespace app
