#pragma once

#include "profiler/model/trace.h"

#include <QFrame>
#include <QPointer>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

class QLineEdit;
class QListView;

/// The command palette, and the names of slices that it finds.
namespace app {

/// A command that the palette offers.
struct PaletteEntry {
    QString title;
    QString context;  ///< where it belongs: "View › Theme"
    QString shortcut; ///< in the desktop's notation; empty: none
    bool enabled = true;
    bool checked = false;
    int rank = 0; ///< of two equally good matches, the one with the lower rank comes first
    std::function<void()> run;
};

/// How well a typed pattern matches a text: higher is better, none if it does not match. The words of the pattern may
/// match in any order; the letters of a word must appear in the text in their order. Case is ignored. A word that
/// appears as a whole is better than scattered letters, and one at the start of a word is better than one inside.
/// O(words × length of the text).
[[nodiscard]] std::optional<int> matchScore(QStringView pattern, QStringView text);

/// Indexes of the best entries for a pattern, best first. An empty pattern keeps the order of the entries.
/// @param within  the entries to look at; null: all
/// @param matching  receives the indexes of all entries that match; may be null
[[nodiscard]] std::vector<std::size_t> bestEntries(const std::vector<PaletteEntry>& entries, QStringView pattern,
                                                   std::size_t most, const std::vector<std::size_t>* within = nullptr,
                                                   std::vector<std::size_t>* matching = nullptr);

/// A search field over a list of commands, in front of the window. Enter runs the current command, the arrow keys move,
/// Esc closes. The focus returns to where it was before the command runs. GUI thread.
class CommandPalette : public QFrame {
    Q_OBJECT
public:
    /// @param window  the palette is centred at its top
    explicit CommandPalette(QWidget* window);

    /// Shows these entries, with an empty pattern.
    void open(std::vector<PaletteEntry> entries);
    /// Adds entries to the open palette; the typed pattern stays.
    void add(std::vector<PaletteEntry> entries);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    class Model;

    void filter();
    void place();
    void moveCurrent(int by);
    void runCurrent();
    void leave(bool returnFocus);

    std::vector<PaletteEntry> m_entries;
    std::vector<std::size_t> m_matching; ///< entries that match m_pattern
    QString m_pattern;
    QLineEdit* m_text;
    QListView* m_list;
    Model* m_model;
    QPointer<QWidget> m_before; ///< it had the focus
};

/// A name in the string pool of a trace that slices have.
struct SliceName {
    profiler::StringId name;
    std::uint64_t slices = 0;
};

/// The most frequent names of slices, at most `most`, most frequent first. Reads one column of every slice: call it on
/// a worker thread. Empty when it was stopped.
[[nodiscard]] std::vector<SliceName> sliceNames(const profiler::Trace& trace, std::size_t most,
                                                const std::stop_token& stop);

} // namespace app
