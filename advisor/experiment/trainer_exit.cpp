#include "advisor/experiment/trainer_process.h"

#include <csignal>
#include <cstring>
#include <fmt/format.h>

namespace advisor {

namespace {

std::string signalText(int signal)
{
    switch (signal) {
    case SIGKILL:
        return "The trainer was killed (signal 9) by another process or because the machine ran out of memory; a "
               "smaller batch or fewer loader workers need less memory";
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
        return fmt::format("The trainer was asked to exit by another process (signal {})", signal);
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return fmt::format("The trainer crashed (signal {}, {})", signal, ::strsignal(signal));
    default:
        return fmt::format("The trainer was killed by signal {} ({})", signal, ::strsignal(signal));
    }
}

std::string statusText(int status)
{
    using config::protocol::Exit;
    switch (static_cast<Exit>(status)) {
    case Exit::Done:
        return "The trainer ended";
    case Exit::BadInput:
        return "The trainer cannot use this configuration or its data";
    case Exit::WrongUsage:
        return "The trainer rejected its command line; it may be of another version";
    case Exit::Failed:
        return "The training failed";
    }
    return fmt::format("The trainer exited with status {}", status);
}

} // namespace

std::string TrainerExit::message() const
{
    const std::string how = signal != 0 ? signalText(signal) : statusText(status);
    if (!lastError.empty())
        return how + ". " + lastError;
    if (status != 0 || signal != 0)
        if (!lastOutput.empty())
            return how + ". Its last output: " + lastOutput.substr(lastOutput.rfind('\n') + 1);
    return how + ".";
}

profiler::Message TrainerExit::asMessage() const
{
    return profiler::message<"trainer.ended", "{how}">(
        {{"how", message()}, {"status", status}, {"signal", signal}, {"error", lastErrorId}});
}

profiler::Message noAnswer(std::chrono::seconds patience)
{
    return profiler::message<"trainer.no_answer", "The trainer did not answer for {time}">(
        {{"time", static_cast<double>(patience.count()) * 1e6, std::to_string(patience.count()) + " s"}});
}

} // namespace advisor
