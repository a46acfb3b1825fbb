#pragma once

#include "profiler/model/message.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profiler {

/// What ended the recording before the program ended by itself: a signal to the recorder or to the program. It is
/// stored in the trace's metadata as a note that every reader shows.
struct RecordingEnd {
    int recorderSignal = 0; ///< the first signal that the recorder received and forwarded to the program; 0 for none
    bool terminal = false;  ///< the recorder's signal came from the terminal (Ctrl+C)
    std::string sender;     ///< process that sent the recorder's signal: "timeout (4711)"; empty if unknown
    int programSignal = 0;  ///< signal that killed the program; 0 if it exited
    int programStatus = 0;  ///< exit status of the program
};

/// Metadata for a trace whose recording ended this way; empty if the program ended by itself.
std::vector<std::pair<std::string, std::string>> recordingEndMetadata(const RecordingEnd& end);

/// The message for readers; nullopt if the program ended by itself. If both the recorder and the program received a
/// signal, the message names the recorder's.
std::optional<Message> recordingEndMessage(const RecordingEnd& end);

/// "SIGTERM"; "signal 34" if the signal has no name.
std::string signalName(int signal);

} // namespace profiler
