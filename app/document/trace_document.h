#pragma once

#include "app/document/analyser.h"
#include "app/document/selection.h"
#include "app/document/trace_files.h"
#include "app/document/trace_follower.h"
#include "app/services/origin.h"
#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace app {

class Notices;
class RunStore;

/// Another trace that the one on screen is compared with, with steps of the same kind. Immutable.
struct ComparedTrace {
    std::shared_ptr<const profiler::Trace> trace;
    std::vector<profiler::analysis::Step> steps;
    QString name; ///< display name
};

/// One open trace: its analysis, its advice and the selection in it. It is read from a file, or followed while a
/// training or a recording writes it. Documents do not know each other: several can be open side by side. GUI thread;
/// long work runs on other threads and reports back through signals.
class TraceDocument : public QObject {
    Q_OBJECT
public:
    /// Both must outlive the document.
    /// @param runs  the kept runs, which give their traces a title
    TraceDocument(Notices* notices, const RunStore* runs);
    ~TraceDocument() override;

    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace() const { return m_trace; } ///< never null
    [[nodiscard]] std::shared_ptr<const Analysed> analysed() const { return m_analysed; }  ///< null until computed
    /// Advice for the trace, updated every second while it grows; null until computed. See analyser.h.
    [[nodiscard]] std::shared_ptr<const Advised> advice() const { return m_advice; }
    /// Why the trace could not be analysed; empty if it was, or its analysis is running.
    [[nodiscard]] const QString& whyNotAnalysed() const { return m_whyNotAnalysed; }
    /// The selection in this trace, shared by its views. A slice stays selected when a complete trace replaces its
    /// preview.
    [[nodiscard]] Selection* selection() const { return &m_selection; }
    [[nodiscard]] const QString& title() const
    {
        return m_title;
    } ///< "resnet18 · 3 changes" or a file name; empty: none
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Configuration of the trace; none if it does not contain one.
    [[nodiscard]] const std::optional<config::TrainingConfig>& configuration() const { return m_configuration; }
    /// The recorded program of the trace, with which changes can be measured; without an id: none.
    [[nodiscard]] Origin program() const;
    /// Whether measurements on this machine may belong to the trace; see isMachineOf(). Without a trace: whether the
    /// machine is this one.
    [[nodiscard]] bool isMachine(const advisor::Machine& machine) const;

    /// The trace chosen in Compare, once it has been read; null: none. It stays when another trace is opened.
    [[nodiscard]] const std::shared_ptr<const ComparedTrace>& compared() const { return m_compared; }
    void setCompared(std::shared_ptr<const ComparedTrace> compared);

    /// Analyses the trace again, with steps inferred from repetition or from its marks; reports a notice if nothing
    /// repeats. Not saved: the next trace starts with its marks.
    void setStepsByRepetition(bool on);
    /// The same, with ranges of this name as steps.
    void setStepRange(const QString& name);
    /// Analyses another rank of a trace that contains several; empty: the slowest. Not saved either.
    void setRank(std::optional<std::int64_t> number);

    /// Opens a trace of any format, recognized by its content. Shows a preview while a large file loads.
    /// @param isRecent  it will be listed among the recent traces; not so the ranks of a job
    void openTrace(const std::filesystem::path& path, bool isRecent = true);
    /// The same, or reads the configuration in the file; see configurationRead().
    void openFile(const std::filesystem::path& path);
    /// Shows a complete trace that is in memory: the merged ranks of a job.
    /// @param path  of what it was made of
    void showTrace(const std::shared_ptr<const profiler::Trace>& trace, const QString& title,
                   const std::filesystem::path& path);
    /// Shows a trace whose parts are on another machine and come when they are looked at. It is not analysed here,
    /// since that reads all of it; see analyseHere() and setAdvice().
    /// @param place  "gpu1:/data/run.sstrace"
    /// @param whyNotAnalysed  for the views that show analyses
    /// @param title  empty: that of a file
    void showRemote(const std::shared_ptr<const profiler::Trace>& trace, const QString& place,
                    const QString& whyNotAnalysed, const QString& title = {});
    /// Reads and analyses a remote trace here.
    void analyseHere();
    /// Advice for the trace from the other machine.
    void setAdvice(std::shared_ptr<const Advised> advice);
    /// Exports the trace in the format of the extension.
    void exportTrace(const std::filesystem::path& path);
    /// Metadata to add to an exported copy of the trace in our own format, until another trace is opened. An empty text
    /// removes the key from the copy.
    void keepWithTrace(const std::string& key, const std::string& text);
    /// Cancels the operation that loading() reports: opening or exporting.
    void cancelLoading();
    [[nodiscard]] bool isExporting() const { return m_saver.isRunning(); }
    [[nodiscard]] bool isLoading() const { return m_loader.isRunning(); } ///< a file is being read
    /// Only part of the file is shown because it is still loading or loading ended early.
    [[nodiscard]] bool isPartial() const { return m_previewing || m_isPart; }

    /// Stops loading, because a training is about to start whose trace will be shown.
    void stopLoading();
    /// That training did not start: a trace that was loaded in part stays, and is analysed.
    void settlePart();
    /// Shows the trace that a training writes, until another one is opened.
    void followRun(const std::filesystem::path& trace, const config::TrainingConfig& configuration);
    /// The training has exited; followed() comes when the end of its trace has been read.
    void finishRun();
    [[nodiscard]] bool isTraining() const { return m_training; } ///< a training is writing the trace
    /// The trace of a training is still being written or read: followed() comes.
    [[nodiscard]] bool isFollowingRun() const { return m_training || m_following; }
    /// The trace is from a training that was followed to its end.
    [[nodiscard]] bool isOwnRun() const { return m_ownRun; }

    /// Shows the recording so far, until leaveRecording(); see RecordingFollower.
    /// @param title  title of the program
    void followRecording(const std::filesystem::path& trace, std::int64_t recorder, const QString& title);
    /// The recording has ended. Its trace replaces its preview, if any.
    void leaveRecording();

signals:
    void traceChanged();  ///< also for each new snapshot of a live trace
    void traceReplaced(); ///< a different trace: reset zoom; the selection is cleared
    void traceOpened();   ///< a file has been read completely
    void morePartsHere(); ///< parts of a remote trace, which could not be read before
    void analysedChanged();
    void adviceChanged();
    void comparedChanged();
    void loading(const QString& what, double share); ///< share 1: finished
    /// The trace of a training is completely read, could not be read, or was replaced by another trace.
    void followed();
    /// A trace with a configuration was opened. Its advice is about this training, so changes are measured with it.
    void configurationFound(const config::TrainingConfig& configuration, const QString& undoText);
    /// openFile() has read a file with a configuration.
    void configurationRead(const std::filesystem::path& path, const config::TrainingConfig& configuration);
    void configurationRefused(const QString& why);
    /// A patch was applied to files of the recorded program, or reverted.
    void programFilesChanged();

private:
    void connectFollowers();
    void connectLoader();
    void connectSaver();
    void connectAnalyser();
    void load(const std::filesystem::path& path, TraceLoader::Expect expect);
    void analyse();
    void take(std::shared_ptr<const profiler::Trace> trace);
    void replaceTrace(std::shared_ptr<const profiler::Trace> trace, const QString& title,
                      const std::filesystem::path& path);
    void showPreview(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void showLoaded(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace);
    void showRecording(const std::shared_ptr<const profiler::Trace>& part);
    void leaveRun(const profiler::Trace& trace);
    void leaveFor(const profiler::Trace& trace);
    void keepSelection();
    [[nodiscard]] QString titleOf(const std::filesystem::path& path) const;

    Notices* m_notices;
    const RunStore* m_runs;
    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const Analysed> m_analysed;
    std::shared_ptr<const Advised> m_advice;
    std::shared_ptr<const ComparedTrace> m_compared;
    QString m_whyNotAnalysed;
    std::optional<config::TrainingConfig> m_configuration;
    QString m_title;
    std::filesystem::path m_path;
    std::map<std::string, std::string> m_addedMetadata; ///< metadata of exported copies, see keepWithTrace()
    bool m_training = false;                            ///< a training is writing the trace
    bool m_following = false;                           ///< its trace is still being written or read
    bool m_ownRun = false;                              ///< see isOwnRun()
    QString m_recordingTitle;                           ///< of the recorded program
    bool m_showingRecording = false;                    ///< the trace is a preview of the recording
    bool m_previewing = false;                          ///< the trace is a preview of the file being read
    bool m_isRecent = true;                             ///< openTrace()
    bool m_isPart = false;                              ///< only part of the file was read, and reading has ended
    mutable Selection m_selection;
    std::optional<profiler::Slice> m_selected; ///< the selected slice at the time of selection
    std::string m_selectedName;                ///< its name, because name ids differ between traces
    TraceFollower m_follower;
    RecordingFollower m_recordingFollower;
    TraceLoader m_loader;
    TraceSaver m_saver;
    Analyser m_analyser;
};

} // namespace app
