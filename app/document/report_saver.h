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

namespace app {

struct Analysed;
struct ProgramTuned;

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

/// Writes a report in the background: as PDF if the name ends with .pdf, otherwise as HTML.
class ReportSaver : public QObject {
    Q_OBJECT
public:
    explicit ReportSaver(QObject* parent = nullptr) : QObject(parent), m_thread(this) {}
    ~ReportSaver() override;

    /// A newer report waits for the one being written; the destructor waits until all are written.
    void save(ReportContents contents, const std::filesystem::path& path);

signals:
    void saved(const std::filesystem::path& path);
    void failed(const profiler::Error& error);

private:
    void startNext();

    struct Wanted {
        ReportContents contents;
        std::filesystem::path path;
    };
    std::deque<Wanted> m_wanted; ///< not started yet
    bool m_busy = false;
    Background m_thread;
};

} // namespace app
