#pragma once

#include "profiler/monitor/recording_watch.h"

#include <nlohmann/json.hpp>
#include <string>

/// The output of `watch`: for people, for programs, and for Prometheus.
namespace app::terminal {

/// @param now  since 1970
std::string watchTable(const profiler::monitor::RecordingStatus& status, profiler::Nanoseconds now);
/// The slowest values of all ranks in one line, without a line break.
std::string watchLine(const profiler::monitor::RecordingStatus& status, profiler::Nanoseconds now);
nlohmann::ordered_json watchJson(const profiler::monitor::RecordingStatus& status);
/// Prometheus's text format, version 0.0.4: times in seconds, as its conventions require.
std::string prometheusText(const profiler::monitor::RecordingStatus& status);

/// The minutes of an always-on recording, newest last.
std::string historyTable(const std::vector<profiler::monitor::RingMinute>& minutes);
nlohmann::ordered_json historyJson(const std::vector<profiler::monitor::RingMinute>& minutes);

} // namespace app::terminal
