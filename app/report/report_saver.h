#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/tuner/tuner.h"
#include "app/services/background.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

class QWidget;

/// Reports for others to read: where to save them, and the work of writing them.
namespace app {

class JournalStore;
class Notices;
class TraceDocument;
class TuningService;
struct Analysed;
struct ProgramTuned;

/// Asks where to save a report, as a web page or PDF. A name without an extension gets that of the chosen format.
/// Empty: cancelled.
QString askForReportFile(QWidget* parent, const QString& title, const QString& suggested);

/// The content of a report, as values that outlive their sources.
struct ReportContents {
    QString title;
    std::shared_ptr<const profiler::Trace> trace; ///< null: none
    std::shared_ptr<const Analysed> analysed;     ///< steps shown to the user; null: the steps marked in the trace
    std::optional<config::TrainingConfig> configuration;
    std::vector<advisor::ExperimentResult> experiments;
    std::optional<advisor::TuneResult> tuning;
    std::shared_ptr<const ProgramTuned> program; ///< tuning of a program; null: none
};

/// Writes reports on a document with its measured changes and its tuning, in the background: as PDF if the name ends
/// with .pdf, otherwise as HTML. Reports a notice when done. A newer report waits for the one being written. GUI
/// thread.
class ReportSaver : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the saver.
    ReportSaver(Notices* notices, const TraceDocument* document, const JournalStore* journal,
                const TuningService* tuning);
    /// Waits until all reports are written.
    ~ReportSaver() override;

    /// On the trace of the document.
    void saveReport(const std::filesystem::path& path);
    /// On the last tuning: the tried changes, and the trace of the document if it has the same model. Requires a tuning
    /// result.
    void saveTuneReport(const std::filesystem::path& path);

private:
    [[nodiscard]] ReportContents contentsOfTrace() const;
    void addMeasured(ReportContents& to, const config::TrainingConfig& of) const;
    void save(ReportContents contents, const std::filesystem::path& path);
    void reportFailure(const profiler::Error& error);
    void startNext();

    struct Wanted {
        ReportContents contents;
        std::filesystem::path path;
    };
    Notices* m_notices;
    const TraceDocument* m_document;
    const JournalStore* m_journal;
    const TuningService* m_tuning;
    std::deque<Wanted> m_wanted; ///< not started yet
    bool m_busy = false;
    Background m_thread{this};
};

} // namespace app
