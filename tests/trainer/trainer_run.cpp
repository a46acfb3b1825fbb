#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_reader.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace trainer_test {

namespace fs = std::filesystem;

namespace {

// The descriptor that the trainer finds its progress pipe at.
constexpr int kProgress = 3;

std::string contents(const fs::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::string sha256Of(const fs::path& path)
{
    const std::filesystem::path answer = path.string() + ".sha256";
    if (std::system(("sha256sum '" + path.string() + "' > '" + answer.string() + "'").c_str()) != 0)
        return {};
    std::string hash;
    std::ifstream(answer) >> hash;
    return hash;
}

TrainerRun::TrainerRun(const std::vector<std::string>& arguments, const std::function<void()>& beforeExec)
{
    int input[2], progress[2];
    std::string output = fs::temp_directory_path() / "stepscope-train-output-XXXXXX";
    const int outputFile = ::mkstemp(output.data());
    m_output = output;
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(progress, O_CLOEXEC) != 0 || outputFile < 0)
        throw std::runtime_error("no pipes");
    std::vector<std::string> words = {STEPSCOPE_TRAIN, "--progress-fd", std::to_string(kProgress)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    m_pid = ::fork();
    if (m_pid == 0) {
        ::dup2(input[0], STDIN_FILENO);
        ::dup2(outputFile, STDOUT_FILENO);
        ::dup2(outputFile, STDERR_FILENO);
        if (progress[1] == kProgress)
            ::fcntl(kProgress, F_SETFD, 0);
        else
            ::dup2(progress[1], kProgress);
        if (beforeExec)
            beforeExec();
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(input[0]);
    ::close(progress[1]);
    ::close(outputFile);
    m_input = input[1];
    m_progress = progress[0];
    std::signal(SIGPIPE, SIG_IGN);
}

TrainerRun::~TrainerRun()
{
    if (m_pid > 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    closeInput();
    ::close(m_progress);
    fs::remove(m_output);
}

std::optional<protocol::Progress> TrainerRun::next()
{
    for (;;) {
        if (const auto end = m_pending.find('\n'); end != std::string::npos) {
            auto record = protocol::parseProgress(std::string_view(m_pending).substr(0, end));
            if (!record)
                throw std::runtime_error(record.error());
            m_pending.erase(0, end + 1);
            m_records.push_back(*record);
            return *record;
        }
        pollfd watched{m_progress, POLLIN, 0};
        char buffer[4096];
        if (::poll(&watched, 1, 60000) <= 0)
            return std::nullopt;
        const ssize_t got = ::read(m_progress, buffer, sizeof(buffer));
        if (got <= 0)
            return std::nullopt;
        m_pending.append(buffer, static_cast<std::size_t>(got));
    }
}

void TrainerRun::sendLine(const std::string& line)
{
    if (::write(m_input, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error("the trainer takes no commands");
}

void TrainerRun::closeInput()
{
    if (m_input >= 0)
        ::close(m_input);
    m_input = -1;
}

void TrainerRun::signal(int number) const
{
    ::kill(m_pid, number);
}

Ended TrainerRun::end()
{
    while (next()) {
    }
    int state = 0;
    ::waitpid(m_pid, &state, 0);
    m_pid = -1;
    Ended ended;
    if (WIFEXITED(state))
        ended.status = WEXITSTATUS(state);
    else
        ended.signal = WTERMSIG(state);
    ended.output = contents(m_output);
    return ended;
}

std::vector<std::string> smallTraining(const fs::path& folder, const std::vector<std::string>& assignments)
{
    std::vector<std::string> arguments;
    const std::vector<std::string> base = {
        "device=cpu",
        "dataset.path=" + (folder / "images").string(),
        "dataset.samples=100",
        "dataset.classes=4",
        "dataset.source_size=32",
        "dataset.image_size=16",
        "batch.size=16",
        "model.width=4",
        "run.threads=1",
        "run.epochs=1",
    };
    for (const auto* list : {&base, &assignments})
        for (const std::string& assignment : *list) {
            arguments.push_back("--set");
            arguments.push_back(assignment);
        }
    return arguments;
}

Finished train(const fs::path& folder, const std::vector<std::string>& assignments)
{
    auto arguments = smallTraining(folder, assignments);
    const fs::path path = folder / "run.sstrace";
    arguments.insert(arguments.end(), {"--trace", path.string()});
    TrainerRun run(arguments);
    Finished finished;
    finished.ended = run.end();
    finished.records = run.records();
    if (auto trace = profiler::container::readTrace(path))
        finished.trace = *trace;
    return finished;
}

std::vector<double> losses(const fs::path& folder, const std::vector<std::string>& assignments, int count)
{
    auto arguments = smallTraining(folder, assignments);
    arguments.emplace_back("--turns");
    TrainerRun run(arguments);
    run.send(protocol::Turn{"steps", 0, count});
    const auto result = run.await<protocol::TurnResult>();
    run.send(protocol::Stop{});
    run.end();
    if (!result || std::ssize(result->losses) != count)
        throw std::runtime_error("the turn of " + std::to_string(count) + " steps did not give so many losses");
    return result->losses;
}

} // namespace trainer_test
