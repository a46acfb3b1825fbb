#pragma once

#include <chrono>
#include <ctime>
#include <string>

/// This machine: its clocks, name and processor. The trainer writes the latter two into its traces, and experiments
/// into their results, so that results from different machines can be told apart.
namespace profiler::os {

// Reading the first two clocks takes no system call (vDSO); they cannot fail. They are defined here, so that hot paths
// read them without another function call.

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

/// The name of this machine; empty if the kernel does not provide it.
std::string hostName();

/// The processor's model, from /proc/cpuinfo: "AMD EPYC 9654 96-Core Processor"; empty if the kernel does not report
/// it.
std::string processorName();
/// Names of the instruction sets as listed by the kernel: "… avx512f … avx512_bf16 …"; empty if they are not listed.
std::string processorFlags();

} // namespace profiler::os
