#pragma once

#include <chrono>
#include <ctime>

/// The kernel's clocks. Reading the first two takes no system call (vDSO); they cannot fail. Defined here, so that hot
/// paths read them without another function call.
namespace profiler::os {

namespace detail {
inline std::chrono::nanoseconds read(clockid_t clock) noexcept
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
} // namespace detail

/// Time since the machine started, without the time in which it was suspended. The same clock in all processes.
inline std::chrono::nanoseconds monotonicTime() noexcept
{
    return detail::read(CLOCK_MONOTONIC);
}

/// Time since 1970; may be set at any moment.
inline std::chrono::nanoseconds realTime() noexcept
{
    return detail::read(CLOCK_REALTIME);
}

/// CPU time that the calling thread has used.
inline std::chrono::nanoseconds threadCpuTime() noexcept
{
    return detail::read(CLOCK_THREAD_CPUTIME_ID);
}

} // namespace profiler::os
