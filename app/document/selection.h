#pragma once

#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// Slices and times that a view marks on the timeline in addition to the selection, such as the rows of a query.
struct MarkedItems {
    std::vector<profiler::Slice> slices;
    std::vector<profiler::TimeRange> ranges; ///< times without a slice
};

/// The selection shared by all views: one slice, several slices, a time range, or nothing. GUI thread.
class Selection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// The only selected slice.
    [[nodiscard]] std::optional<profiler::SliceId> slice() const
    {
        return m_slices.size() == 1 ? std::optional(m_slices.front()) : std::nullopt;
    }
    /// All selected slices, in the order in which they were added.
    [[nodiscard]] const std::vector<profiler::SliceId>& slices() const { return m_slices; }
    [[nodiscard]] std::optional<profiler::TimeRange> range() const { return m_range; }

    void selectSlice(profiler::SliceId slice);
    /// Selects these slices, each once; clears the selection if there are none.
    void selectSlices(std::vector<profiler::SliceId> slices);
    /// Adds a slice to the selected ones, or removes it.
    void toggleSlice(profiler::SliceId slice);
    void selectRange(profiler::TimeRange range);
    void clear();
    /// Asks the timeline to bring a time range (and a track) into view; the selection does not change.
    void show(profiler::TimeRange range, std::optional<profiler::TrackId> track = {});
    /// Asks the Selection view to come to the front, because the user pointed at what is selected.
    void showDetails() { emit detailsRequested(); }
    /// Marks these items until others are marked; null: none. They belong to the trace on screen.
    void mark(std::shared_ptr<const MarkedItems> items);
    [[nodiscard]] const std::shared_ptr<const MarkedItems>& marked() const { return m_marked; }
    /// Asks the Source view to come to the front with this source line; the selection does not change.
    void showSource(const QString& file, int line);
    /// Asks for the user's editor with a line of a file that the trace names; the selection does not change.
    void openInEditor(const QString& file, int line) { emit editorRequested(file, line); }
    /// Asks the Steps view to explain why the step with this slice takes longer than usual; the selection does not
    /// change.
    void explainStep(profiler::SliceId step);

signals:
    void changed();
    void markedChanged();
    void showRequested(profiler::TimeRange range, std::optional<profiler::TrackId> track);
    void detailsRequested();
    void sourceRequested(const QString& file, int line);
    void editorRequested(const QString& file, int line);
    void explanationRequested(profiler::SliceId step);

private:
    std::vector<profiler::SliceId> m_slices;
    std::optional<profiler::TimeRange> m_range;
    std::shared_ptr<const MarkedItems> m_marked;
};

} // namespace app
