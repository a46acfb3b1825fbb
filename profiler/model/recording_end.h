#pragma once

#include "profiler/model/message.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace profiler {

/// What ended the recording of a program before the program did by itself: a signal to the recorder, or to the program.
/// It is kept in the trace's metadata, as a note that every reader shows.
struct RecordingEnd {
    int recorderSignal = 0; ///< the first that the recorder received and passed on to the program; 0: none
    bool terminal = false;  ///< the recorder's signal came from the terminal: Ctrl+C
    std::string sender;     ///< who sent the recorder's signal: "timeout (4711)"; empty where unknown
    int programSignal = 0;  ///< that killed the program; 0: it exited
    int programStatus = 0;  ///< exit status of the program
};

/// Metadata of a trace whose recording ended like this; none where the program ended by itself.
std::vector<std::pair<std::string, std::string>> recordingEndMetadata(const RecordingEnd& end);

/// The sentence for readers; nothing where the program ended by itself. Where both the recorder and the program
/// received a signal, the recorder's is named.
std::optional<Message> recordingEndMessage(const RecordingEnd& end);

/// "SIGTERM"; "signal 34" where there is no name.
std::string signalName(int signal);

} // namespace profiler
