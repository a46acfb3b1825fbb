#pragma once

#include "app/document/selection.h"
#include "app/services/background.h"
#include "app/tables/evidence_table.h"
#include "app/tables/range_sums.h"
#include "app/tables/slice_details.h"

#include <QStringList>
#include <QWidget>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

class QLabel;
class QScrollArea;
class QStackedWidget;

namespace app {

struct Advised;

/// How a slice compares with all others of its name.
struct Occurrences {
    std::vector<SliceDetail> details;
    std::vector<std::int64_t> bins; ///< numbers of slices by duration
    std::size_t bin = 0;            ///< the bin of this slice
    QStringList tips;               ///< per bin
    friend bool operator==(const Occurrences&, const Occurrences&) = default;
};

/// The details of a slice, in up to four columns.
struct SlicePage {
    std::vector<SliceDetail> facts, links;
    std::vector<SliceDetail> stack;    ///< its call stack, innermost first
    std::vector<SliceDetail> launch;   ///< of a kernel; above the links
    Occurrences occurrences; ///< empty: not computed yet, or the only one
    std::vector<SliceDetail> recorded; ///< all arguments as written in the file
    QString problem;                   ///< why they cannot be read
    friend bool operator==(const SlicePage&, const SlicePage&) = default;
};

/// The current selection: the details of a slice with its related slices, or a summary of a time range or of several
/// slices.
class SelectionPanel : public QWidget {
    Q_OBJECT
public:
    explicit SelectionPanel(Selection* selection, QWidget* parent = nullptr);

    /// @param file  of the trace, near which source files are looked for; empty: none
    void setTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file = {});
    /// Steps of the trace on screen, to name the step of a slice; null: unknown.
    void setSteps(std::shared_ptr<const std::vector<profiler::analysis::Step>> steps);
    /// Provides the source lines at which slices started; null: not analysed yet.
    void setAdvice(std::shared_ptr<const Advised> advised);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Page { Empty, OneSlice, Range };
    QWidget* makeSlicePage();
    QWidget* makeRangePage();
    void comeToTheFront();
    void takeSelection();
    void showSlice(profiler::SliceId id);
    [[nodiscard]] std::optional<SliceDetail> sourceOf(const profiler::Slice& slice) const;
    void openSource(const advisor::SourcePlace& place);
    void readMore(const profiler::Slice& slice);
    void showPage();
    QWidget* makePage(const SlicePage& page);
    QWidget* makeOccurrences(const Occurrences& same, QWidget* parent);
    QWidget* makeColumn(const QString& heading, const std::vector<SliceDetail>& details, QWidget* parent);
    void sumRange(profiler::TimeRange range);
    void sumSlices(std::vector<profiler::SliceId> slices);
    void sum(const QString& title, std::function<RangeSums(const profiler::Trace&, const std::stop_token&)> work);
    void showSums(const RangeSums& sums);
    void follow(const Evidence& evidence);

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    std::filesystem::path m_file;
    QStackedWidget* m_pages;
    QLabel* m_title;
    SlicePage m_page, m_shown;                ///< current input and what is displayed
    std::optional<profiler::Slice> m_readFor; ///< the slice whose details were requested
    std::shared_ptr<const std::vector<profiler::analysis::Step>> m_steps;
    std::shared_ptr<const Advised> m_advised;
    QScrollArea* m_details;
    int m_columns = 3; ///< state for which its page was created
    QLabel* m_rangeTitle;
    EvidenceTable *m_byClass, *m_byName, *m_byTrack;
    std::optional<profiler::TimeRange> m_summed;   ///< input of the tables, or
    std::vector<profiler::SliceId> m_summedSlices; ///< these slices
    Background m_summing{this}, m_reading{this};
};

} // namespace app
