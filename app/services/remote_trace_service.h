#pragma once

#include "advisor/runner/remote_ranks.h"
#include "advisor/runner/remote_trace.h"
#include "app/document/remote_job.h"
#include "app/services/background.h"
#include "app/services/remote_places.h"
#include "profiler/job/open_job.h"
#include "profiler/model/trace.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QTimer>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace app {

class Notices;
class TraceDocument;

/// A trace on another machine, shown in the document: opens it, reports how much of it has come here, and connects
/// again after the connection was lost. A small trace is transferred and analysed here at once; the findings of a large
/// one come from the other machine. A folder of ranks opens as a job; the timeline shows one of its ranks, or several
/// that were merged there. GUI thread, which never waits for the connection.
class RemoteTraceService : public QObject {
    Q_OBJECT
public:
    /// Bytes of a trace that is analysed here without asking: seconds over the internet, and little disk space.
    static constexpr quint64 kMostAutomatic = 20'000'000;
    enum class State { None, Connected, Lost, Reconnecting };

    /// Both must outlive the service.
    RemoteTraceService(Notices* notices, TraceDocument* document, QObject* parent = nullptr);
    ~RemoteTraceService() override;

    /// Shows the trace once it is open there, or reports jobOpened() for a folder or a pattern. A newer call supersedes
    /// a running one.
    void open(const RemotePlace& place);
    /// Shows a trace of the job that was opened last, over the same connection.
    /// @param file  index into Job::files
    void openRank(std::size_t file);
    /// Merges ranks of the job there, and shows them as one trace, which comes here like any other. Reports
    /// ranksOpened().
    void openRanks(const advisor::runner::RanksToMerge& ranks);
    /// The job is no longer shown: closes its connection, unless the document shows one of its ranks, and opens no
    /// other one.
    void leaveJob();
    [[nodiscard]] bool isOpening() const { return m_isOpening; }
    void cancelOpening();
    void reconnect();
    /// Reads all of the trace for the analyses.
    void analyseHere();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] const RemotePlace& place() const { return m_place; }
    [[nodiscard]] QString whyLost() const { return m_whyLost; }
    [[nodiscard]] quint64 fetched() const { return m_fetched; } ///< bytes
    [[nodiscard]] quint64 size() const;                         ///< bytes of the whole trace
    [[nodiscard]] bool isAnalysedHere() const { return m_isAnalysedHere; }
    /// It was small enough to be analysed here without asking.
    [[nodiscard]] bool isAutomatic() const { return m_isAutomatic; }
    /// Time to transfer what is missing, at the speed that was measured when the trace was opened, in s; 0: unknown.
    [[nodiscard]] double secondsToTransfer() const;
    /// The largest trace that is analysed here without asking, in bytes; 0: none.
    void setMostAutomatic(quint64 bytes) { m_mostAutomatic = bytes; }
    /// The rules run on the other machine.
    [[nodiscard]] bool isAdvising() const { return m_isAdvising; }

signals:
    void progressed(const QString& what, double share); ///< of opening; share 1: finished
    void changed();                                     ///< state, bytes, or what is analysed
    /// The place is a folder or a pattern. openRank() opens its traces.
    void jobOpened(const std::shared_ptr<const profiler::job::Job>& job, const QString& place);
    /// The document is about to show the ranks of openRanks(), or they cannot be shown, or something else was opened.
    void ranksOpened(bool areShown);

private:
    using Remote = std::shared_ptr<advisor::runner::RemoteTrace>;
    using Host = std::shared_ptr<const advisor::runner::RemoteHost>;
    using Failed = std::function<void(const profiler::Error&)>;
    /// What to open.
    struct Wanted {
        RemotePlace place; ///< to show
        std::string path;  ///< there, as the machine has it
        Host host;
        bool isRank = false;                                   ///< of the job
        std::optional<advisor::runner::RanksToMerge> merged{}; ///< `path` is the job's: these of its ranks
    };
    /// A trace whose overview has been read.
    struct Opened {
        Wanted wanted;
        Remote remote;
        std::shared_ptr<const profiler::Trace> trace;
        double bytesPerSecond = 0; ///< 0: nothing was transferred
    };
    [[nodiscard]] bool mayOpen();
    void start(const Wanted& wanted);
    void finishOpening(bool areRanksShown = false);
    void openJob(const Wanted& wanted, const std::stop_token& stop, const Background::Post& post, const Failed& failed);
    void takeJob(const Wanted& wanted, const std::shared_ptr<const RemoteJob>& job);
    void show(const Opened& opened);
    void look();
    void advise();
    void leave();
    void setState(State state);

    Notices* m_notices;
    TraceDocument* m_document;
    State m_state = State::None;
    RemotePlace m_place;
    std::string m_path; ///< of the trace there
    QString m_whyLost;
    quint64 m_fetched = 0, m_mostAutomatic = kMostAutomatic;
    double m_bytesPerSecond = 0;
    bool m_isOpening = false, m_isOpeningRank = false, m_isOpeningRanks = false, m_isAnalysedHere = false,
         m_isAutomatic = false, m_isAdvising = false, m_isShowing = false;
    Remote m_remote;                        ///< null: the document shows no remote trace
    Wanted m_folder;                        ///< of the job
    std::shared_ptr<const RemoteJob> m_job; ///< null: no job
    QTimer m_look;                          ///< notices what has come
    Background m_opening{this}, m_reconnecting{this}, m_advising{this};
};

} // namespace app
