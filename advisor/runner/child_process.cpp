#include "advisor/runner/child_process.h"

#include "profiler/os/pipes.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace advisor {

using profiler::Error;
using profiler::Result;
namespace os = profiler::os;

namespace {

/// The child's ends of the pipes. This process closes them after the program has started.
struct ChildEnds {
    Descriptor input, output, extra, file;
};

/// @tparam Text ends with the reason: "No pipe could be created: {why}"
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error systemError(int number, std::string where = {})
{
    const auto code = number == ENOENT   ? Error::Code::NotFound
                      : number == EACCES ? Error::Code::Permission
                                         : Error::Code::Unavailable;
    return profiler::makeError<Id, Text>(code, std::move(where), {}, {{"why", std::strerror(number)}});
}

bool makeInput(Descriptor& ours, Descriptor& theirs)
{
    // A socket, because writing to a pipe without a reader raises SIGPIPE for the whole process.
    auto ends = os::makeSocketPair();
    if (!ends)
        return false;
    ours = std::move(ends->first);
    theirs = std::move(ends->second);
    return true;
}

bool makeOutput(Descriptor& ours, Descriptor& theirs)
{
    auto pipe = os::makePipe();
    if (!pipe)
        return false;
    os::setNonBlocking(pipe->reading.get());
    ours = std::move(pipe->reading);
    theirs = std::move(pipe->writing);
    return true;
}

os::ProcessSpec specOf(const ChildCommand& command, const ChildEnds& child)
{
    os::ProcessSpec spec;
    spec.words = {command.program.string()};
    spec.words.insert(spec.words.end(), command.arguments.begin(), command.arguments.end());
    spec.environment = os::environment();
    spec.input = child.input.get();
    spec.output = child.output.get();
    if (!command.joinErrors)
        spec.errors = -1;
    if (child.file) {
        spec.words.insert(spec.words.end(), {command.fileOption, fmt::format("/dev/fd/{}", child.file.get())});
        spec.inherited.push_back(child.file.get());
    }
    if (child.extra) {
        spec.words.insert(spec.words.end(), {command.extraOption, std::to_string(child.extra.get())});
        spec.inherited.push_back(child.extra.get());
    }
    return spec;
}

} // namespace

Result<ChildProcess> ChildProcess::start(const ChildCommand& command)
{
    ChildProcess process;
    ChildEnds child;
    const bool ready = makeInput(process.m_input, child.input) && makeOutput(process.m_output, child.output) &&
                       (command.extraOption.empty() || makeOutput(process.m_extra, child.extra)) &&
                       (command.fileOption.empty() || (child.file = os::makeMemoryFile(command.file)));
    if (!ready)
        return tl::unexpected(systemError<"process.no_pipe", "No pipe could be created: {why}">(errno));
    os::StartFailure failure;
    process.m_tree = os::ProcessTree::start(specOf(command, child), failure);
    if (!process.m_tree && failure.stage == os::StartFailure::Stage::Program)
        return tl::unexpected(systemError<"process.not_started", "The program cannot be started: {why}">(
            failure.number, command.program.string()));
    if (!process.m_tree)
        return tl::unexpected(systemError<"process.no_process", "No process could be started: {why}">(failure.number));
    return process;
}

void ChildProcess::kill()
{
    if (m_tree)
        m_tree->kill();
}

} // namespace advisor
