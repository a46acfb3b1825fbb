#pragma once

#include "app/services/background.h"
#include "profiler/job/open_job.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace app {

class Notices;
class TraceDocument;

/// The open job: the analysis of the traces of its ranks, and the rank and the step that are selected in it. The traces
/// are read in the background and dropped again; the trace of one rank at a time is opened as the document of the
/// window. The job is closed when the document shows a trace that is not one of its ranks. GUI thread.
class JobDocument : public QObject {
    Q_OBJECT
public:
    /// Both must outlive the job.
    JobDocument(Notices* notices, TraceDocument* document);

    /// Opens the traces in folders, files and patterns as one job, selects the rank that delays the others most, and
    /// opens its trace. Files that are no usable trace of the job are named in a notice. If there is no job in the
    /// inputs, a notice says why, and nothing else changes.
    void open(const std::vector<std::filesystem::path>& inputs);
    /// Cancels open(); the earlier job stays.
    void cancelLoading();
    [[nodiscard]] bool isLoading() const { return m_loading; }

    /// Null: no job is open.
    [[nodiscard]] const std::shared_ptr<const profiler::job::Job>& job() const { return m_job; }
    [[nodiscard]] bool isOpen() const { return m_job != nullptr; }
    /// Name of the folder.
    [[nodiscard]] const QString& title() const { return m_title; }

    /// The selected rank, as an index into Job::ranks; empty only without a job.
    [[nodiscard]] std::optional<std::size_t> rank() const { return m_rank; }
    /// The selected step, as an index into JobAnalysis::steps; empty if the ranks have no steps in common.
    [[nodiscard]] std::optional<std::size_t> step() const { return m_step; }
    /// @param step  empty: the selected step stays
    void select(std::size_t rank, std::optional<std::size_t> step = {});
    /// Opens the trace of the selected rank and shows the selected step there.
    void openSelected();

signals:
    void loading(const QString& what, double share); ///< share 1: finished
    void opened();                                   ///< another job was opened; changed() came before
    void changed();                                  ///< a job was opened or closed
    void selectionChanged();

private:
    /// A step to show when the trace of its rank has been read and analysed.
    struct Target {
        std::filesystem::path file;
        std::optional<std::int64_t> rank; ///< to choose in a file with several ranks
        std::optional<std::int64_t> step; ///< number
    };

    void fail(const profiler::Error& error);
    void finishLoading();
    void take(const std::shared_ptr<const profiler::job::Job>& job, const QString& title);
    void reportExcluded();
    void goToTarget();
    void followDocument();
    void close();

    Notices* m_notices;
    TraceDocument* m_document;
    std::shared_ptr<const profiler::job::Job> m_job;
    QString m_title;
    std::optional<std::size_t> m_rank, m_step;
    std::optional<Target> m_target;
    bool m_loading = false;
    Background m_work{this};
};

/// The analysed step in which a rank delays the others most, or else takes longest; empty if it recorded none.
std::optional<std::size_t> worstStep(const profiler::analysis::JobRank& rank);

} // namespace app
