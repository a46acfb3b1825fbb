#include "advisor/runner/child_process.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

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

// The program receives some of these descriptors under the same numbers, and its standard streams as 0, 1 and 2.
bool adopt(Descriptor& place, int descriptor)
{
    if (descriptor >= 0 && descriptor <= 2) {
        const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        ::close(descriptor);
        descriptor = higher;
    }
    place = Descriptor(descriptor);
    return static_cast<bool>(place);
}

bool makePipe(Descriptor& reading, Descriptor& writing)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return false;
    const bool first = adopt(reading, ends[0]);
    return adopt(writing, ends[1]) && first;
}

bool makeInput(Descriptor& ours, Descriptor& theirs)
{
    // A socket, because writing to a pipe without a reader raises SIGPIPE for the whole process.
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return false;
    const bool first = adopt(ours, ends[0]);
    return adopt(theirs, ends[1]) && first;
}

// In memory, so that nothing remains, however either program ends.
bool makeFile(Descriptor& place, const std::string& text)
{
    if (!adopt(place, ::memfd_create("stepscope", MFD_CLOEXEC)))
        return false;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(place.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
    return true;
}

void neverBlock(const Descriptor& descriptor)
{
    if (descriptor)
        ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

os::ProcessSpec specOf(const ChildCommand& command, const ChildEnds& child)
{
    os::ProcessSpec spec;
    spec.words = {command.program.string()};
    spec.words.insert(spec.words.end(), command.arguments.begin(), command.arguments.end());
    for (char** variable = environ; *variable; ++variable)
        spec.environment.emplace_back(*variable);
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
    const bool ready = makeInput(process.m_input, child.input) && makePipe(process.m_output, child.output) &&
                       (command.extraOption.empty() || makePipe(process.m_extra, child.extra)) &&
                       (command.fileOption.empty() || makeFile(child.file, command.file));
    if (!ready)
        return tl::unexpected(systemError<"process.no_pipe", "No pipe could be created: {why}">(errno));
    os::StartFailure failure;
    process.m_tree = os::ProcessTree::start(specOf(command, child), failure);
    if (!process.m_tree && failure.stage == os::StartFailure::Stage::Program)
        return tl::unexpected(systemError<"process.not_started", "The program cannot be started: {why}">(
            failure.number, command.program.string()));
    if (!process.m_tree)
        return tl::unexpected(systemError<"process.no_process", "No process could be started: {why}">(failure.number));
    neverBlock(process.m_output);
    neverBlock(process.m_extra);
    return process;
}

void ChildProcess::kill()
{
    if (m_tree)
        m_tree->kill();
}

} // namespace advisor
