#include "advisor/experiment/trainer_process.h"

#include <csignal>
#include <cstring>

namespace advisor {

namespace {

using profiler::message;
using profiler::MessageParameter;

/// Each text ends with {said}: what the trainer itself reported, or nothing.
profiler::Message ofSignal(int signal, const MessageParameter& said)
{
    const MessageParameter number("signal", signal), name("name", ::strsignal(signal));
    switch (signal) {
    case SIGKILL:
        return message<"trainer.killed",
                       "The trainer was killed (signal {signal}), by another process or because the machine ran out of "
                       "memory. A smaller batch or fewer loader workers need less memory.{said}">({number, said});
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
        return message<"trainer.terminated", "Another process asked the trainer to exit (signal {signal}).{said}">(
            {number, said});
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
        return message<"trainer.crashed", "The trainer crashed (signal {signal}, {name}).{said}">({number, name, said});
    default:
        return message<"trainer.signal", "The trainer was killed by signal {signal} ({name}).{said}">(
            {number, name, said});
    }
}

profiler::Message ofStatus(int status, const MessageParameter& said)
{
    using config::protocol::Exit;
    switch (static_cast<Exit>(status)) {
    case Exit::Done:
        return message<"trainer.done", "The trainer ended.{said}">({said});
    case Exit::BadInput:
        return message<"trainer.bad_input", "The trainer cannot use this configuration or its data.{said}">({said});
    case Exit::WrongUsage:
        return message<"trainer.wrong_usage",
                       "The trainer rejected its command line; it may be of another version.{said}">({said});
    case Exit::Failed:
        return message<"trainer.failed", "The training failed.{said}">({said});
    }
    return message<"trainer.ended", "The trainer exited with status {status}.{said}">({{"status", status}, said});
}

} // namespace

std::string TrainerExit::message() const
{
    return asMessage().text;
}

profiler::Message TrainerExit::asMessage() const
{
    std::string said;
    if (!lastError.empty())
        said = ' ' + lastError;
    else if ((status != 0 || signal != 0) && !lastOutput.empty())
        said = " Its last output: " + lastOutput.substr(lastOutput.rfind('\n') + 1);
    profiler::Message how = signal != 0 ? ofSignal(signal, {"said", said}) : ofStatus(status, {"said", said});
    for (const MessageParameter& parameter : {MessageParameter("status", status), MessageParameter("signal", signal),
                                              MessageParameter("error", lastErrorId)})
        if (!how.find(parameter.name))
            how.parameters.push_back(parameter);
    return how;
}

profiler::Message noAnswer(std::chrono::seconds patience)
{
    return profiler::message<"trainer.no_answer", "The trainer did not answer for {time}">(
        {{"time", static_cast<double>(patience.count()) * 1e6, std::to_string(patience.count()) + " s"}});
}

} // namespace advisor
