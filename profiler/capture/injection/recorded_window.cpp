#include "profiler/capture/injection/recorded_window.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/os/signals.h"

#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace profiler::capture::injection {

namespace {

TraceTime timeOf(const char* variable, TraceTime other)
{
    const std::string text = setting(variable);
    std::int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return other;
    return traceTime(ns);
}

/// The trace's clock is the steady clock.
void sleepUntil(TraceTime time)
{
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(toNs(time))));
}

} // namespace

RecordedWindow recordedWindow()
{
    return {timeOf(variable::kFrom, {}), timeOf(variable::kUntil, TraceTime::max())};
}

bool callAt(TraceTime time, std::function<void()> then)
{
    const os::BlockedSignals blocked; // signals are meant for the program's own threads
    try {
        std::thread([time, then = std::move(then)] {
            sleepUntil(time);
            stopOnBadAlloc(then);
        }).detach();
    } catch (const std::system_error&) { // thrown by the standard library if no more threads can be created
        return false;
    }
    return true;
}

} // namespace profiler::capture::injection
