#include "advisor/runner/remote_host.h"

#include "advisor/runner/shell_words.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/signals.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;
using profiler::Result;

namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kToStop{5}; ///< for a client that was asked to end
constexpr std::size_t kMostErrors = 8192;

Result<RemoteLink> startClient(const std::vector<std::string>& words)
{
    auto input = os::makePipe(), output = os::makePipe(), errors = os::makePipe();
    if (!input || !output || !errors)
        return profiler::fail<"remote.resources", "no pipe can be created: {why}">(
            Error::Code::Unavailable, {}, "close other programs", {{"why", std::generic_category().message(errno)}});
    // Ctrl-C is meant for this program, which stops the recording over the connection: the client must survive it.
    const std::array kInterrupt{SIGINT};
    const os::BlockedSignals blocked(kInterrupt);
    const auto process = os::startChild({.program = words.front(),
                                         .words = words,
                                         .input = input->reading.get(),
                                         .output = output->writing.get(),
                                         .errors = errors->writing.get()});
    if (!process)
        return profiler::fail<"remote.no_client", "the client cannot be started: {why}">(
            Error::Code::NotFound, words.front(),
            words.front() == "ssh" ? "install OpenSSH's client (openssh-client)" : "check the command's name",
            {{"why", std::generic_category().message(errno)}});
    os::setNonBlocking(input->writing.get());
    os::setNonBlocking(output->reading.get());
    os::setNonBlocking(errors->reading.get());
    return RemoteLink{std::move(input->writing), std::move(output->reading), std::move(errors->reading), *process};
}

/// Writes what the client takes now. @return false if nothing is left to write
bool feed(os::Descriptor& to, std::string_view& rest)
{
    const os::Transfer written = os::writeAll(to.get(), rest);
    rest.remove_prefix(written.bytes);
    return !rest.empty() && (written.error == 0 || written.error == EAGAIN);
}

} // namespace

Result<RemoteHost> RemoteHost::overSsh(const std::string& name)
{
    if (name.empty() || name.front() == '-' || name.find_first_of(" \t\n'\"\\$`;&|<>()") != std::string::npos)
        return profiler::fail<"remote.name", "this is not a host name">(
            Error::Code::Invalid, name, "use HOST, USER@HOST, or a name in ~/.ssh/config");
    RemoteHost host;
    host.m_name = name;
    host.m_isShell = true;
    host.m_words = {"ssh", "-T",
                    "-o",  "ServerAliveInterval=10",
                    "-o",  "ServerAliveCountMax=3",
                    "-o",  "ClearAllForwardings=yes",
                    "-o",  "RemoteCommand=none"};
    // One connection for all scripts, so that a password or a token is asked for once. The path of a socket has at most
    // 107 characters.
    std::error_code failed;
    if (auto folder = os::createTemporaryFolder(os::temporaryPath("stepscope-ssh-"))) {
        host.m_control = *folder;
        for (const std::string& option : {std::string("ControlMaster=auto"), std::string("ControlPersist=60"),
                                          "ControlPath=" + (*folder / "%C").string()})
            host.m_words.insert(host.m_words.end(), {"-o", option});
    }
    host.m_words.insert(host.m_words.end(), {"--", name});
    return host;
}

Result<RemoteHost> RemoteHost::through(const std::string& command)
{
    const auto words = shellWords(command);
    if (!words)
        return tl::unexpected(words.error());
    if (words->empty())
        return profiler::fail<"remote.through.empty", "--through has no command">(
            Error::Code::Invalid, {}, "for example: --through 'docker exec -i NAME'");
    RemoteHost host;
    host.m_name = command;
    host.m_words = *words;
    return host;
}

RemoteHost::RemoteHost(RemoteHost&& other) noexcept
    : m_name(std::move(other.m_name)), m_words(std::move(other.m_words)), m_isShell(other.m_isShell),
      m_control(std::exchange(other.m_control, {}))
{
}

RemoteHost::~RemoteHost()
{
    if (m_control.empty())
        return;
    std::vector<std::string> words = m_words;
    words.insert(words.begin() + 1, {"-O", "exit"});
    if (auto client = startClient(words)) {
        client->input.reset();
        static_cast<void>(os::waitForChild(client->process)); // without a connection, there is nothing to close
    }
    std::error_code ignored;
    fs::remove_all(m_control, ignored);
}

Result<RemoteLink> RemoteHost::start(const std::string& script) const
{
    std::vector<std::string> words = m_words;
    if (m_isShell)
        words.push_back(commandLine({"sh", "-c", script}));
    else
        words.insert(words.end(), {"sh", "-c", script});
    return startClient(words);
}

Result<RemoteHost::Ran> RemoteHost::run(const std::string& script, std::string_view input, const Take& take,
                                        const GoesOn& goesOn, bool keepsInput) const
{
    auto client = start(script);
    if (!client)
        return tl::unexpected(client.error());
    Ran ran;
    std::string output;
    bool isOpen = true;
    std::chrono::steady_clock::time_point stopped;
    const auto stop = [&] {
        ran.stopped = true;
        stopped = std::chrono::steady_clock::now();
        client->input.reset();
        os::sendSignal(client->process, SIGTERM);
    };
    std::optional<os::ExitStatus> ended;
    while (!ended || isOpen) {
        const bool isFed = client->input && !feed(client->input, input);
        if (isFed && !(keepsInput && input.empty()))
            client->input.reset();
        // While there is input, the wait is short: the client may take more of it.
        const std::array waited{isOpen ? client->output.get() : -1, client->errors.get()};
        os::waitForAny(waited, client->input && !input.empty() ? std::chrono::milliseconds(5) : kLook);
        // A shared connection keeps standard error open, so the client's end counts, not that of its pipes.
        ended = ended ? ended : os::reapChild(client->process);
        output.clear();
        isOpen = os::readAvailable(client->output.get(), output) && !ended;
        if (!output.empty() && !ran.stopped && !take(output))
            stop();
        os::readAvailable(client->errors.get(), ran.errors);
        if (ran.errors.size() > kMostErrors)
            ran.errors.erase(0, ran.errors.size() - kMostErrors);
        if (!ended && !ran.stopped && !goesOn())
            stop();
        if (!ended && ran.stopped && std::chrono::steady_clock::now() - stopped > kToStop)
            os::sendSignal(client->process, SIGKILL);
    }
    ran.end = *ended;
    return ran;
}

} // namespace advisor::runner
