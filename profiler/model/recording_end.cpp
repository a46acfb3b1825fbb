#include "profiler/model/recording_end.h"

#include <cstring>
#include <string_view>

namespace profiler {

namespace {

// Readers show every metadata entry whose key ends with ".note" among the notes of the trace.
constexpr std::string_view kNote = "record.ended.note";

// A shell reports a child killed by a signal with this status plus the signal's number.
constexpr int kKilledStatus = 128, kMostSignals = 64;

} // namespace

std::string signalName(int signal)
{
    const char* name = sigabbrev_np(signal);
    return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::optional<Message> recordingEndMessage(const RecordingEnd& end)
{
    if (end.recorderSignal != 0 && end.terminal)
        return message<"record.ended.terminal", "Recording ended: {signal} from the terminal.">(
            {{"signal", signalName(end.recorderSignal)}});
    if (end.recorderSignal != 0 && !end.sender.empty())
        return message<"record.ended.recorder_signal_from",
                       "Recording ended: stepscope-cli received {signal} from {sender}.">(
            {{"signal", signalName(end.recorderSignal)}, {"sender", end.sender}});
    if (end.recorderSignal != 0)
        return message<"record.ended.recorder_signal", "Recording ended: stepscope-cli received {signal}.">(
            {{"signal", signalName(end.recorderSignal)}});
    if (end.programSignal != 0)
        return message<"record.ended.program_killed", "Recording ended: the program was killed by {signal}.">(
            {{"signal", signalName(end.programSignal)}});
    if (const int signal = end.programStatus - kKilledStatus; signal > 0 && signal <= kMostSignals)
        return message<"record.ended.program_status",
                       "Recording ended: the program exited with status {status}, which means {signal}.">(
            {{"status", end.programStatus}, {"signal", signalName(signal)}});
    return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> recordingEndMetadata(const RecordingEnd& end)
{
    const auto sentence = recordingEndMessage(end);
    if (!sentence)
        return {};
    return {{std::string(kNote), messageLine(*sentence)}};
}

} // namespace profiler
