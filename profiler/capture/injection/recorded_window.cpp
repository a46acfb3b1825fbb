#include "profiler/capture/injection/recorded_window.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
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

void sleepUntil(TraceTime time)
{
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec at{.tv_sec = toNs(time) / kSecond, .tv_nsec = toNs(time) % kSecond};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR)
        continue;
}

} // namespace

RecordedWindow recordedWindow()
{
    return {timeOf(variable::kFrom, {}), timeOf(variable::kUntil, TraceTime::max())};
}

bool callAt(TraceTime time, std::function<void()> then)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = true;
    try {
        std::thread([time, then = std::move(then)] {
            sleepUntil(time);
            stopOnBadAlloc(then);
        }).detach();
    } catch (const std::system_error&) { // thrown by the standard library if no more threads can be created
        made = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
}

} // namespace profiler::capture::injection
