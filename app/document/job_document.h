#pragma once

#include "app/services/background.h"
#include "profiler/job/open_job.h"

#include <QObject>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// The open job and its selection, and texts about jobs that several views share.
namespace app {

class Notices;
class TraceDocument;

/// What the timeline shows of a job.
enum class JobTimeline : std::uint8_t {
    OneRank,
    ByRank, ///< a band for each rank, by number
    ByHost,
    ByLateness, ///< the latest first
};

/// The open job: the analysis of the traces of its ranks, and the rank and the step that are selected in it. The traces
/// are read in the background and dropped again; the document of the window shows the trace of one rank at a time, or
/// all ranks as one trace on the job's clock. The job is closed when the document shows a trace that is not one of its
/// ranks. GUI thread.
class JobDocument : public QObject {
    Q_OBJECT
public:
    /// Both must outlive the job.
    JobDocument(Notices* notices, TraceDocument* document);

    /// Opens the traces in folders, files and patterns as one job, selects the rank that delays the others most, and
    /// opens its trace. Files that are no usable trace of the job are named in a notice. If there is no job in the
    /// inputs, a notice says why, and nothing else changes. While files are read, job() is that of the ranks read so
    /// far.
    void open(const std::vector<std::filesystem::path>& inputs);
    /// Shows a job whose traces are on another machine (remote_job.h), as open() does. Its ranks are read and merged
    /// there, see remoteTraceWanted() and remoteRanksWanted().
    /// @param place  "gpu1:/data/run"
    void showRemote(const std::shared_ptr<const profiler::job::Job>& job, const QString& place);
    [[nodiscard]] bool isRemote() const { return m_shown.isRemote; }
    /// A remote job is shown, or will be again if loading is cancelled.
    [[nodiscard]] bool needsConnection() const { return isRemote() || (m_earlier && m_earlier->isRemote); }
    /// The answer to remoteRanksWanted().
    /// @param areShown  the document is about to show them
    void takeRemoteRanks(bool areShown);
    /// Cancels open(); the earlier job stays.
    void cancelLoading();
    [[nodiscard]] bool isLoading() const { return m_loading; }

    /// Null: no job is open.
    [[nodiscard]] const std::shared_ptr<const profiler::job::Job>& job() const { return m_shown.job; }
    [[nodiscard]] bool isOpen() const { return m_shown.job != nullptr; }
    /// Name of the folder.
    [[nodiscard]] const QString& title() const { return m_shown.title; }

    /// The selected rank, as an index into Job::ranks; empty only without a job.
    [[nodiscard]] std::optional<std::size_t> rank() const { return m_shown.rank; }
    /// The selected step, as an index into JobAnalysis::steps; empty if the ranks have no steps in common.
    [[nodiscard]] std::optional<std::size_t> step() const { return m_shown.step; }
    /// @param step  empty: the selected step stays
    void select(std::size_t rank, std::optional<std::size_t> step = {});
    /// Shows the selected step of the selected rank in the document: opens the rank's trace, unless the document shows
    /// all ranks. No effect while files are read.
    void openSelected();

    /// Whether the document shows one rank, or several and in which order.
    [[nodiscard]] JobTimeline timeline() const { return m_shown.timeline; }
    /// Opens the selected rank, or reads the ranks again and shows them together: the latest ones if there are more
    /// than kMostMerged. Until they are read, and if that fails or is cancelled, timeline() stays.
    void setTimeline(JobTimeline timeline);

signals:
    void loading(const QString& what, double share); ///< share 1: finished
    void opened();  ///< another job is shown, perhaps not all of its ranks; changed() came before
    void changed(); ///< job()
    void selectionChanged();
    void timelineChanged(); ///< also when setTimeline() has no effect
    /// Asks for a file of the job, which is on another machine, to be shown in the document.
    /// @param file  index into Job::files
    void remoteTraceWanted(std::size_t file);
    /// Asks for ranks of such a job to be merged on the other machine and shown in the document: takeRemoteRanks().
    /// @param ranks  their numbers, from top to bottom
    /// @param step  number of a step that must be shown if the merged trace cannot contain all of them
    void remoteRanksWanted(const std::vector<std::int64_t>& ranks, std::optional<std::int64_t> step);

private:
    /// A step to show when the trace of its rank has been read and analysed.
    struct Target {
        std::filesystem::path file;
        std::optional<std::int64_t> rank; ///< to choose in a file with several ranks
        std::optional<std::int64_t> step; ///< number
    };

    /// What is on screen.
    struct Shown {
        std::shared_ptr<const profiler::job::Job> job;
        QString title;
        std::filesystem::path folder; ///< stands for the merged ranks
        JobTimeline timeline = JobTimeline::OneRank;
        std::optional<std::size_t> rank, step;
        bool isRemote = false;
    };

    /// Ranks to show together.
    struct Merged {
        JobTimeline timeline = JobTimeline::OneRank;
        std::vector<std::size_t> ranks;
    };

    void fail(const QString& what, const profiler::Error& error);
    void finishLoading();
    void show(const std::shared_ptr<const profiler::job::Job>& job, const std::filesystem::path& folder,
              bool isRemote = false);
    void showPart(const std::shared_ptr<const profiler::job::Job>& part, const std::filesystem::path& folder);
    void showEarlier();
    void take(const std::shared_ptr<const profiler::job::Job>& job, const std::filesystem::path& folder);
    void reportExcluded();
    [[nodiscard]] std::vector<std::size_t> ranksFor(JobTimeline timeline) const;
    void takeMerged(const std::shared_ptr<const profiler::Trace>& trace, Merged merged);
    void followOpened();
    void showMerged();
    void goToTarget();
    void goToRemoteTarget();
    [[nodiscard]] bool isMerged(std::size_t rank) const;
    void goToMerged(bool mayMerge);
    void merge(JobTimeline timeline);
    void mergeThere(JobTimeline timeline);
    void followDocument();
    void close();

    Notices* m_notices;
    TraceDocument* m_document;
    Shown m_shown;
    std::optional<Shown> m_earlier;    ///< before a part of a job was shown
    std::vector<std::size_t> m_merged; ///< the ranks that the document shows, if not one
    std::optional<Merged> m_remote;    ///< asked for by remoteRanksWanted()
    std::optional<Target> m_target;
    bool m_loading = false;
    Background m_work{this};
};

/// The analysed step in which a rank delays the others most, or else takes longest; empty if it recorded none.
std::optional<std::size_t> worstStep(const profiler::analysis::JobRank& rank);

/// "0, 2–7, 9": numbers of ranks or steps, ascending.
/// @param mostParts  further ones are counted: "0, 2–7 and 3 more"
QString formatNumbers(std::span<const std::int64_t> numbers,
                      std::size_t mostParts = std::numeric_limits<std::size_t>::max());
/// "slow loader".
QString causeText(profiler::analysis::StragglerCause cause);
/// "every step", "step 12", "steps 12, 14", "every step, all ranks of node1".
QString scopeText(const profiler::job::Job& job, const profiler::analysis::Straggler& straggler);
/// "data parallel".
QString groupRoleText(profiler::analysis::GroupRole role);
/// "all-reduce".
QString collectiveText(profiler::analysis::CollectiveKind kind);

} // namespace app
