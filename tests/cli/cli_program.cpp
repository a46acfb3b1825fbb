#include "tests/cli/cli_program.h"

#include "tests/support/trace_text.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli_test {

namespace {

constexpr int kLongestWaitMs = 100000;

struct Pipe {
    Pipe()
    {
        if (::pipe(ends.data()) != 0)
            std::abort();
    }
    std::array<int, 2> ends{};
};

pid_t start(const std::vector<std::string>& arguments, const std::string& trainer, const Pipe& out, const Pipe& err)
{
    const std::string environment = "STEPSCOPE_TRAINER=" + trainer;
    std::vector<char*> words{const_cast<char*>(STEPSCOPE_CLI)};
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0)
        return pid;
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    for (const Pipe* pipe : {&out, &err})
        for (const int end : pipe->ends)
            ::close(end);
    ::putenv(const_cast<char*>(environment.c_str()));
    ::execv(STEPSCOPE_CLI, words.data());
    ::_exit(127);
}

/// Reads the available output; false at the end.
bool take(int descriptor, std::string& text)
{
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
}

} // namespace

Folder::Folder()
{
    std::string name = (std::filesystem::temp_directory_path() / "stepscope-cli-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        std::abort();
    m_path = name;
}

Folder::~Folder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::filesystem::path Folder::write(std::string_view name, std::string_view text) const
{
    std::ofstream(m_path / name) << text;
    return m_path / name;
}

std::filesystem::path Folder::trace(std::string_view name, std::string_view text) const
{
    writeTrace(m_path / name, *test_support::traceFromText(text));
    return m_path / name;
}

Ended run(const std::vector<std::string>& arguments, const std::string& trainer, std::string_view interruptAfter)
{
    const Pipe out, err;
    const pid_t pid = start(arguments, trainer, out, err);
    ::close(out.ends[1]);
    ::close(err.ends[1]);
    Ended ended;
    std::array<pollfd, 2> watched = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    const std::array<std::string*, 2> texts = {&ended.out, &ended.err};
    bool interrupted = interruptAfter.empty();
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        if (::poll(watched.data(), watched.size(), kLongestWaitMs) <= 0) {
            ::kill(pid, SIGKILL);
            break;
        }
        for (std::size_t i = 0; i < watched.size(); ++i)
            if (watched[i].revents != 0 && !take(watched[i].fd, *texts[i]))
                watched[i].fd = -1;
        if (!interrupted && (ended.out + ended.err).find(interruptAfter) != std::string::npos) {
            interrupted = true;
            ::kill(pid, SIGINT);
        }
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ::close(out.ends[0]);
    ::close(err.ends[0]);
    return ended;
}

} // namespace cli_test
