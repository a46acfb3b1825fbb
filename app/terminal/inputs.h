#pragma once

#include "app/terminal/commands.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/formats/format.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// What the commands read: traces, with progress and the steps that the user chose, and configurations.
namespace app::terminal {

/// A progress line on the terminal's standard error; cleared at its end. Silent if standard error is not a terminal.
/// Requests the stop after Ctrl-C, if that is caught.
class ProgressLine {
public:
    explicit ProgressLine(std::string what);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    void show(double share);
    [[nodiscard]] std::stop_token stop() const { return m_stop.get_token(); }

private:
    using Clock = std::chrono::steady_clock;
    std::string m_what;
    Clock::time_point m_begin, m_last;
    std::stop_source m_stop;
    bool m_shown = false;
};

/// Opens a trace of any format and shows progress.
profiler::Result<std::shared_ptr<const profiler::Trace>> openTrace(const std::filesystem::path& path);

/// Recordings are written in our own format, whatever the file is called: the extension of another format is an error.
profiler::Result<void> checkTraceName(const std::filesystem::path& path, std::string_view command);

/// Loads a configuration; if this fails, reports the reason on `err` and returns the exit status.
tl::expected<config::TrainingConfig, int> loadConfiguration(const std::filesystem::path& file, const Streams& streams);
/// Applies "key=value" assignments; an invalid one counts as wrong usage.
tl::expected<config::TrainingConfig, int>
withAssignments(config::TrainingConfig config, const std::vector<std::string>& assignments, const Streams& streams);

/// Fails if the trace lacks the chosen range, or if repetition was requested but nothing repeats. Otherwise, a trace
/// without marks and without repetition has no steps.
/// @param file for the message
profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file);

} // namespace app::terminal
