#pragma once

#include "profiler/formats/format.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

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

} // namespace app::terminal
