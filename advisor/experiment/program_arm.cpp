#include "advisor/experiment/program_arm.h"

#include "advisor/experiment/timing.h"
#include "advisor/runner/child_process.h"
#include "advisor/runner/launch_check.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"
#include "profiler/os/process_tree.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace advisor {

namespace protocol = config::protocol;
namespace os = profiler::os;
using nlohmann::json;
using profiler::Error;
using profiler::Message;
using profiler::message;
using runner::EnvironmentVariables;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = RunLimits::Clock;
using Why = Interruption::Why;

namespace {

// Maximum delay before a cancellation is noticed.
constexpr milliseconds kHeartbeat{50};
// Time for a program to exit and report its status after its training processes have exited.
constexpr seconds kEndPatience{20};
// Maximum wait for the stacks of a program that hangs.
constexpr milliseconds kStackPatience{1500};
constexpr milliseconds kSendPatience{5000};
// A program that is started this often in one experiment takes longer to start than to train.
constexpr std::int64_t kMostRestarts = 40;
// The first steps of a new process are slow; they are not timed if a turn continues in it.
constexpr std::int64_t kRestartDrop = 5;
// Maximum number of consecutive starts in which the program ends before a single unit of the turn was timed. One
// complete run without a validation, or without a second epoch, shows that there will be none.
constexpr int kMostIdleRestarts = 2, kMostIdleRestartsOfOthers = 1;
// A signal that programs do not use: the first real-time signals belong to glibc, and programs usually choose the next
// ones or the last ones.
const int kStackSignal = SIGRTMIN + 7;
constexpr std::size_t kTracebackLines = 20;

std::string_view fileNameOf(std::size_t arm)
{
    return arm == 0 ? kBaselineLog : kChangeLog;
}

Interruption interruption(Why why, Message what, std::string where = {}, std::string hint = {})
{
    const auto code = why == Why::Cancelled ? Error::Code::Cancelled : Error::Code::Unavailable;
    return {why, {code, std::move(what), std::move(where), std::move(hint)}};
}

Message endText(int status)
{
    const os::ExitStatus end = os::exitStatus(status);
    if (end.signal == 0)
        return message<"program.run.status", "The program exited with status {status}">({{"status", end.status}});
    const int number = end.signal;
    return message<"program.run.signal", "The program was killed by signal {signal} ({name}){cause}">(
        {{"signal", number},
         {"name", ::strsignal(number)},
         {"cause", number == SIGKILL ? "; the machine may have run out of memory" : ""}});
}

Message tooShort(std::string_view what)
{
    if (what == "validation")
        return message<"program.run.no_validation", "The program ended without a validation that could be timed">();
    if (what == "epoch")
        return message<"program.run.no_epoch", "The program ended before an epoch could be timed">();
    return message<"program.run.too_short", "The program ends before it can be measured">();
}

/// The time limits of a turn.
struct Patience {
    seconds quiet;                              ///< without a sign of life; after this, the program counts as hanging
    bool outputCounts = false;                  ///< output counts as a sign of life
    std::optional<seconds> most = std::nullopt; ///< total time; no value: no limit
};

/// A connected process of the program.
struct Peer {
    os::LocalPeer end;
    std::string pending;
    bool isOpen = true, isDone = false;
    bool isInTurn = false; ///< false: it ends its first step after the turn began, and waits for the next one
    std::optional<json> hello, turn;
    std::optional<std::int64_t> left; ///< validations of the turn that this rank still has to do, as it asks
};

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(std::move(line));
    if (lines.size() > kTracebackLines)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kTracebackLines));
    return lines;
}

/// The line that names the cause: the last line that mentions a resource that only one of two programs can have (the
/// driver then runs them one at a time), else the last non-blank line. A process that starts other processes ends with
/// its own text.
std::string causeLine(const std::vector<std::string>& traceback)
{
    const auto isBlank = [](const std::string& line) { return line.find_first_not_of(" \t\r") == line.npos; };
    const auto scarce = std::find_if(traceback.rbegin(), traceback.rend(), namesScarceResource);
    const auto found =
        scarce != traceback.rend() ? scarce : std::find_if_not(traceback.rbegin(), traceback.rend(), isBlank);
    return found == traceback.rend() ? std::string() : *found;
}

/// Adds a process's report on its turn.
void addTurn(protocol::TurnResult& result, const json& turn, bool isFirstRank)
{
    result.samples += turn.value("samples", std::int64_t{0});
    result.peakBytes = std::max(result.peakBytes, turn.value("peak_bytes", std::int64_t{0}));
    if (!isFirstRank)
        return;
    for (const json& step : turn.at("ns"))
        result.seconds.push_back(1e-9 * step.get<double>());
    for (const json& loss : turn.at("losses"))
        result.losses.push_back(loss.is_number() ? loss.get<double>() : std::numeric_limits<double>::quiet_NaN());
}

} // namespace

struct ProgramArms::Shared {
    ProgramSetup setup;
    ProgramReport report;
    std::array<std::int64_t, 2> drop{}, batch{};
    std::array<std::int64_t, 2> mostSteps{}; ///< per start
    /// The first known loss of each start: by arm, completed steps before it, and seed.
    std::array<std::map<std::int64_t, std::map<std::size_t, double>>, 2> firstLosses;
    [[nodiscard]] bool haveOtherBatches() const { return batch[0] != batch[1] && batch[0] > 0 && batch[1] > 0; }
    void noteFirstLoss(std::size_t arm, std::size_t seed, std::int64_t steps, double loss);
};

namespace {

/// One start of the program, and further starts if the program ends before its turn does.
class ProgramArm final : public Arm {
public:
    ProgramArm(ProgramArms::Shared& shared, std::size_t arm, std::size_t seed)
        : m_shared(shared), m_arm(arm), m_seed(seed)
    {
    }

    Outcome<void> launch();
    Outcome<protocol::Hello> hello(const RunLimits& limits) override;
    Outcome<protocol::TurnResult> take(const protocol::Turn& turn, const RunLimits& limits, seconds patience) override;
    void finish() override { end(); }
    [[nodiscard]] std::vector<std::int64_t> processes() const override
    {
        return m_tree ? std::vector<std::int64_t>{m_tree->keeper()} : std::vector<std::int64_t>{};
    }

private:
    enum class Event { Reached, ProgramEnded };
    [[nodiscard]] const ProgramVariant& variant() const { return m_shared.setup.arms.at(m_arm); }
    [[nodiscard]] std::string name() const { return m_arm == 0 ? "the baseline" : "the change"; }
    [[nodiscard]] EnvironmentVariables environment() const;
    void end();
    void pump(milliseconds atMost);
    void readPeer(Peer& peer);
    void hear(Peer& peer, const json& record);
    void answerRanks();
    template <class Reached>
    Outcome<Event> waitFor(Reached reached, const RunLimits& limits, const Patience& patience);
    [[nodiscard]] Patience patienceOf(const protocol::Turn& turn, seconds patience) const;
    [[nodiscard]] bool allRanksHere() const;
    [[nodiscard]] bool haveRanksEnded() const;
    [[nodiscard]] bool isInBackground();
    [[nodiscard]] const Peer* timedRank();
    Outcome<void> handleExit(const RunLimits& limits);
    Interruption failed(const Message& how, std::vector<std::string> traceback, std::string hint = {});
    Interruption hung(seconds patience);
    Interruption late(seconds patience);
    [[nodiscard]] std::string outputSince(std::uint64_t begin) const;
    [[nodiscard]] std::uint64_t outputSize() const;
    Outcome<void> relaunch(const RunLimits& limits);
    Outcome<void> checkLosses(protocol::TurnResult& result, std::int64_t stepsBefore);
    Outcome<void> greet(const RunLimits& limits);
    void noteQueue(const json& loader);
    std::vector<Peer*> ranks();

    ProgramArms::Shared& m_shared;
    const std::size_t m_arm, m_seed;
    // The order of these members matters: the program ends before its files are removed.
    std::optional<runner::Workspace> m_workspace;
    std::optional<os::LocalListener> m_listener;
    os::Descriptor m_log;
    std::uint64_t m_logBegin = 0; // position at this start
    std::optional<os::ProcessTree> m_tree;
    std::vector<std::unique_ptr<Peer>> m_peers;
    std::vector<std::string> m_traceback; // as reported by the program
    bool m_hasTorch = false;
    std::int64_t m_steps = 0;     // completed steps of this start, as far as known
    std::int64_t m_mostSteps = 0; // maximum number of steps that it may have completed
    bool m_isRestarted = false;   // the program has begun its training again
    bool m_hasFirstLoss = false;
    Clock::time_point m_heard; // time of its last progress report
};

EnvironmentVariables ProgramArm::environment() const
{
    const ProgramSetup& setup = m_shared.setup;
    EnvironmentVariables environment = runner::currentEnvironment();
    for (const std::string& assignment : setup.environment) {
        const std::size_t equals = assignment.find('=');
        environment[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    runner::keepServicesPrivate(environment);
    // The order of Python sets depends on their hashes.
    environment.emplace("PYTHONHASHSEED", "0");
    runner::addHooks(environment, setup.hooks);
    environment["STEPSCOPE_ARM"] = m_listener->name();
    environment["STEPSCOPE_ARM_STACK_SIGNAL"] = std::to_string(kStackSignal);
    if (setup.seeds)
        environment["STEPSCOPE_ARM_SEED"] = std::to_string(m_seed + 1);
    if (!variant().hookChanges.empty())
        environment["STEPSCOPE_CHANGES"] = variant().hookChanges;
    return environment;
}

Outcome<void> ProgramArm::launch()
{
    const ProgramSetup& setup = m_shared.setup;
    auto workspace = runner::Workspace::make(setup.folder, setup.isolation, variant().files);
    if (!workspace)
        return tl::unexpected(Interruption{Why::Failed, workspace.error()});
    m_workspace.emplace(std::move(*workspace));
    m_listener = os::LocalListener::make();
    if (!m_listener)
        return tl::unexpected(interruption(
            Why::Failed, message<"program.run.no_socket", "No socket could be created">(), std::strerror(errno)));
    const auto log = setup.logs / fileNameOf(m_arm);
    m_log = os::openToAppend(log);
    if (!m_log)
        return tl::unexpected(interruption(Why::Failed, message<"program.run.no_log", "The log cannot be written">(),
                                           log.string(),
                                           "check that the disk has free space and that you can write to the folder"));
    m_logBegin = outputSize();
    os::ProcessSpec spec;
    for (const std::string& word : variant().command)
        spec.words.push_back(m_workspace->inside(word));
    for (const auto& [variable, value] : environment())
        spec.environment.push_back(fmt::format("{}={}", variable, value));
    spec.folder = m_workspace->folder();
    spec.output = m_log.get();
    spec.terminal = setup.terminal;
    spec.view = m_workspace->view();
    os::StartFailure failure;
    m_tree = os::ProcessTree::start(spec, failure);
    if (m_tree)
        return {};
    const std::string why = std::strerror(failure.number);
    switch (failure.stage) {
    case os::StartFailure::Stage::View:
        return tl::unexpected(interruption(
            Why::Failed,
            message<"program.run.no_view", "A private view of the file system could not be created: {why}">(
                {{"why", why}}),
            setup.folder.string(),
            "run the program in a copy of its folder (--isolation copy) or in place (--isolation in-place)"));
    case os::StartFailure::Stage::Folder:
        return tl::unexpected(interruption(
            Why::Failed,
            message<"program.run.no_folder", "The working directory cannot be entered: {why}">({{"why", why}}),
            setup.folder.string(), "choose a folder that you can access"));
    case os::StartFailure::Stage::Program:
        return tl::unexpected(interruption(
            Why::Failed, message<"program.run.not_started", "The command cannot be started: {why}">({{"why", why}}),
            spec.words.front(), "check its name, or start it with an interpreter: python …"));
    case os::StartFailure::Stage::Resources:
        break;
    }
    return tl::unexpected(interruption(
        Why::Failed, message<"program.run.no_process", "No process could be started: {why}">({{"why", why}}),
        spec.words.front(), "close other programs"));
}

void ProgramArm::end()
{
    m_peers.clear(); // processes that are waiting for their turn exit by themselves
    m_tree.reset();
    m_listener.reset();
    m_workspace.reset();
}

void ProgramArm::pump(milliseconds atMost)
{
    std::vector<int> watched = {m_listener->descriptor(), m_tree->status() ? -1 : m_tree->descriptor()};
    for (const auto& peer : m_peers)
        if (peer->isOpen)
            watched.push_back(peer->end.socket.get());
    os::waitForAny(watched, atMost);
    while (auto connected = m_listener->accept()) {
        auto peer = std::make_unique<Peer>();
        peer->end = std::move(*connected);
        m_peers.push_back(std::move(peer));
    }
    for (const auto& peer : m_peers)
        if (peer->isOpen)
            readPeer(*peer);
}

void ProgramArm::readPeer(Peer& peer)
{
    peer.isOpen = os::readAvailable(peer.end.socket.get(), peer.pending);
    for (std::size_t end = 0; (end = peer.pending.find('\n')) != std::string::npos;) {
        const auto record = json::parse(peer.pending.substr(0, end), nullptr, false);
        peer.pending.erase(0, end + 1);
        if (record.is_object())
            hear(peer, record);
    }
}

void ProgramArm::hear(Peer& peer, const json& record)
{
    ProgramReport& report = m_shared.report;
    const std::string type = record.value("type", "");
    if (type == "started") {
        m_hasTorch = true;
        report.pythonVersion = record.value("python", "");
        report.torchVersion = record.value("torch", "");
    } else if (type == "hello") {
        peer.hello = record;
    } else if (type == "progress") {
        m_heard = Clock::now();
        m_mostSteps = std::max(m_mostSteps, record.value("steps", std::int64_t{0}) + 1);
    } else if (type == "left") {
        peer.left = record.value("left", std::int64_t{0});
        answerRanks();
    } else if (type == "turn") {
        peer.turn = record;
    } else if (type == "done") {
        peer.isDone = true;
        if (record.contains("turn") && record["turn"].is_object())
            peer.turn = record["turn"];
    } else if (type == "failed" && m_traceback.empty()) {
        // Keep the first one: ranks fail because another rank did, and launchers fail last.
        m_traceback = record.value("traceback", std::vector<std::string>{});
        m_mostSteps = record.value("steps", m_mostSteps);
    }
}

/// After each step of a turn of validations, the ranks ask whether to stop: when one of them has done all validations,
/// because the others may do none.
void ProgramArm::answerRanks()
{
    const std::vector<Peer*> all = ranks();
    if (!std::ranges::all_of(all, [](const Peer* rank) { return rank->left.has_value(); }))
        return;
    const bool isDone = std::ranges::any_of(all, [](const Peer* rank) { return *rank->left <= 0; });
    for (Peer* rank : all) {
        rank->left.reset();
        os::sendAll(rank->end.socket.get(), json{{"type", isDone ? "stop" : "continue"}}.dump() + '\n', kSendPatience);
    }
}

std::vector<Peer*> ProgramArm::ranks()
{
    std::vector<Peer*> found;
    for (const auto& peer : m_peers)
        if (peer->hello)
            found.push_back(peer.get());
    return found;
}

bool ProgramArm::allRanksHere() const
{
    std::int64_t here = 0, wanted = 1;
    for (const auto& peer : m_peers)
        if (peer->hello) {
            ++here;
            wanted = peer->hello->value("ranks", std::int64_t{1});
        }
    return here >= wanted && here > 0;
}

/// True if every process that trained has exited or closed its connection.
bool ProgramArm::haveRanksEnded() const
{
    bool anyTrained = false;
    for (const auto& peer : m_peers)
        if (peer->hello) {
            anyTrained = true;
            if (peer->isOpen && !peer->isDone)
                return false;
        }
    return anyTrained;
}

/// True if the program's first process has ended without an error and left others behind, like a daemon.
bool ProgramArm::isInBackground()
{
    if (m_tree->status() != 0)
        return false;
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", m_tree->keeper()));
    std::string child;
    return static_cast<bool>(children >> child);
}

/// The rank whose times count: the first one, or the first that has run a validation if only some of them do.
const Peer* ProgramArm::timedRank()
{
    std::vector<Peer*> all = ranks();
    std::ranges::sort(all, {}, [](const Peer* rank) { return rank->hello->value("rank", std::int64_t{0}); });
    const auto found =
        std::ranges::find_if(all, [](const Peer* rank) { return rank->turn && !rank->turn->at("ns").empty(); });
    return found == all.end() ? all.front() : *found;
}

std::uint64_t ProgramArm::outputSize() const
{
    const auto state = os::stateOf(m_log.get());
    return state ? state->bytes : 0;
}

/// The end of the output after `begin`.
std::string ProgramArm::outputSince(std::uint64_t begin) const
{
    constexpr std::uint64_t kMostBytes = 1 << 16;
    std::ifstream file(m_shared.setup.logs / fileNameOf(m_arm), std::ios::binary);
    const std::uint64_t end = outputSize();
    file.seekg(static_cast<std::streamoff>(std::max(begin, end - std::min(end, kMostBytes))));
    OutputTail tail;
    tail.add(std::string(std::istreambuf_iterator<char>(file), {}));
    return tail.lastLines();
}

Interruption ProgramArm::failed(const Message& how, std::vector<std::string> traceback, std::string hint)
{
    if (traceback.empty())
        traceback = linesOf(outputSince(m_logBegin));
    const std::string last = causeLine(traceback);
    const profiler::MessageParameter* const signal = how.find("signal");
    Message what = message<"program.run.failed", "{how}{last}">(
        {{"how", how.text}, {"last", last.empty() ? last : ": " + last}, {"reason", how.id}});
    if (signal)
        what.parameters.push_back(*signal);
    Interruption result = interruption(Why::Failed, std::move(what), name(), std::move(hint));
    m_shared.report.failure = ProgramFailure{m_arm, how.text, std::move(traceback), m_mostSteps, m_seed};
    end();
    return result;
}

Interruption ProgramArm::hung(seconds patience)
{
    const std::uint64_t begin = outputSize();
    for (const auto& peer : m_peers)
        if (peer->isOpen)
            os::sendSignal(peer->end.process, kStackSignal);
    const auto until = Clock::now() + kStackPatience;
    while (Clock::now() < until)
        pump(kHeartbeat);
    return failed(message<"program.run.hung", "The program completed no step for {time}">(
                      {{"time", static_cast<double>(patience.count()) * 1e6, fmt::format("{} s", patience.count())}}),
                  linesOf(outputSince(begin)),
                  "see the stacks of its threads in the log: " + (m_shared.setup.logs / fileNameOf(m_arm)).string());
}

Interruption ProgramArm::late(seconds patience)
{
    return failed(message<"program.run.late", "The program trains, but no validation or epoch ended within {time}">(
                      {{"time", static_cast<double>(patience.count()) * 1e6, fmt::format("{} s", patience.count())}}),
                  {}, "shorten the epochs, and check that the program runs a validation");
}

/// Handles the exit of the program, or of its training processes. Success: it ran to completion; otherwise the reason
/// for the failure.
Outcome<void> ProgramArm::handleExit(const RunLimits& limits)
{
    const auto until = Clock::now() + kEndPatience;
    const auto isClear = [&] {
        const auto trained = ranks();
        const bool allDone =
            !trained.empty() && std::all_of(trained.begin(), trained.end(), [](Peer* peer) { return peer->isDone; });
        return m_tree->status() || allDone;
    };
    while (!isClear() && Clock::now() < until && !limits.stop.stop_requested())
        pump(kHeartbeat);
    pump(milliseconds(0)); // reports that it sent before it exited
    const auto status = m_tree->status();
    if (!m_traceback.empty())
        return tl::unexpected(
            failed(status ? endText(*status) : message<"program.run.exception", "An exception ended the program">(),
                   m_traceback));
    if (status && *status != 0)
        return tl::unexpected(failed(endText(*status), {}));
    if (!ranks().empty())
        return {};
    if (!m_hasTorch)
        return tl::unexpected(failed(
            message<"program.run.no_torch", "The program exited, and none of its Python processes imported torch">(),
            {}, "name a command that trains with PyTorch; do not run Python with -I, -E or -S"));
    return tl::unexpected(failed(message<"program.run.no_step", "The program exited without a training step">(), {},
                                 "mark its steps: with stepscope.step(), from `import stepscope`"));
}

template <class Reached>
Outcome<ProgramArm::Event> ProgramArm::waitFor(Reached reached, const RunLimits& limits, const Patience& patience)
{
    const auto begin = Clock::now();
    m_heard = begin;
    std::uint64_t printed = outputSize();
    for (;;) {
        if (limits.stop.stop_requested())
            return tl::unexpected(
                interruption(Why::Cancelled, message<"program.run.cancelled", "The experiment was cancelled">()));
        const auto now = Clock::now();
        if (now >= limits.deadline)
            return tl::unexpected(
                interruption(Why::OutOfTime, message<"program.run.out_of_time", "Time budget used up">()));
        if (now - m_heard >= patience.quiet)
            return tl::unexpected(hung(patience.quiet));
        if (patience.most && now - begin >= *patience.most)
            return tl::unexpected(late(*patience.most));
        pump(kHeartbeat);
        if (reached())
            return Event::Reached;
        if (!m_traceback.empty() || haveRanksEnded() || (m_tree->status() && ranks().empty() && !isInBackground())) {
            if (auto ended = handleExit(limits); !ended)
                return tl::unexpected(ended.error());
            return Event::ProgramEnded;
        }
        if (const std::uint64_t size = outputSize(); patience.outputCounts && size != printed) {
            printed = size;
            m_heard = Clock::now();
        }
    }
}

Outcome<void> ProgramArm::greet(const RunLimits& limits)
{
    const auto event = waitFor([this] { return allRanksHere(); }, limits, {m_shared.setup.startPatience, true});
    if (!event)
        return tl::unexpected(event.error());
    if (*event == Event::ProgramEnded)
        return tl::unexpected(failed(
            message<"program.run.ranks_missing", "The program exited before all its ranks completed a step">(), {}));
    m_steps = ranks().front()->hello->value("steps", std::int64_t{1});
    m_shared.mostSteps.at(m_arm) = std::max(m_shared.mostSteps.at(m_arm), m_steps);
    return {};
}

/// Number of batches that are ready when a turn begins: the loader's queue and the current batch.
void ProgramArm::noteQueue(const json& loader)
{
    m_shared.drop.at(m_arm) = loader.value("workers", std::int64_t{0}) * loader.value("prefetch", std::int64_t{0}) + 1;
}

Outcome<protocol::Hello> ProgramArm::hello(const RunLimits& limits)
{
    if (const auto greeted = greet(limits); !greeted)
        return tl::unexpected(greeted.error());
    const json& said = *ranks().front()->hello;
    const json loader = said.value("loader", json::object());
    noteQueue(loader);
    m_shared.batch.at(m_arm) = loader.value("batch_size", std::int64_t{0});
    ProgramReport& report = m_shared.report;
    report.device = said.value("device", "");
    report.ranks = said.value("ranks", std::int64_t{1});
    report.seeded = said.value("seeded", std::vector<std::string>{});
    protocol::Hello hello;
    hello.pid = m_tree->program();
    hello.torchVersion = report.torchVersion;
    hello.device = report.device;
    return hello;
}

Outcome<void> ProgramArm::relaunch(const RunLimits& limits)
{
    end();
    m_traceback.clear();
    m_steps = m_mostSteps = 0;
    if (auto started = launch(); !started)
        return started;
    return greet(limits);
}

/// Training continues between validations, and the length of an epoch is unknown; therefore only signs of life count.
Patience ProgramArm::patienceOf(const protocol::Turn& turn, seconds patience) const
{
    if (turn.what == "steps")
        return {patience};
    return {m_shared.setup.startPatience, true, patience};
}

Outcome<protocol::TurnResult> ProgramArm::take(const protocol::Turn& turn, const RunLimits& limits, seconds patience)
{
    const bool isSteps = turn.what == "steps";
    protocol::TurnResult result;
    result.what = turn.what;
    const std::int64_t stepsBefore = m_steps + turn.drop;
    std::int64_t drop = turn.drop, left = turn.count;
    for (int idle = 0; left > 0;) {
        m_mostSteps = m_steps + (isSteps ? drop + left : 1);
        for (Peer* rank : ranks()) {
            rank->turn.reset();
            rank->isInTurn = true;
            const json command = {{"type", "turn"}, {"what", turn.what}, {"drop", drop}, {"count", left}};
            os::sendAll(rank->end.socket.get(), command.dump() + '\n', kSendPatience); // a failure to send means that
                                                                                       // the process exited, which is
                                                                                       // handled below
        }
        // Processes that do not train together (torchrun without a process group) start and end at different times.
        const auto answered = [this] {
            return std::ranges::all_of(
                ranks(), [](Peer* rank) { return rank->turn || !rank->isInTurn || rank->isDone || !rank->isOpen; });
        };
        const auto event = waitFor([&] { return answered() && !haveRanksEnded(); }, limits, patienceOf(turn, patience));
        if (!event)
            return tl::unexpected(event.error());
        const std::size_t before = result.seconds.size();
        const Peer* const timed = timedRank();
        for (Peer* rank : ranks())
            if (rank->turn)
                addTurn(result, *rank->turn, rank == timed);
        // The program may have changed its number of workers.
        if (const auto& first = ranks().front()->turn; first && first->contains("loader"))
            noteQueue(first->at("loader"));
        const auto made = static_cast<std::int64_t>(result.seconds.size() - before);
        left -= made;
        if (isSteps)
            m_steps += drop + made;
        else if (const auto& first = ranks().front()->turn)
            m_steps = first->value("steps", m_steps);
        m_shared.mostSteps.at(m_arm) = std::max(m_shared.mostSteps.at(m_arm), m_steps);
        if (*event == Event::Reached)
            break;
        // The program ran to completion within the turn.
        idle = made > 0 ? 0 : idle + 1;
        std::int64_t& restarts = m_shared.report.restarts.at(m_arm);
        if (m_shared.setup.comparesLearning || restarts >= kMostRestarts ||
            idle > (isSteps ? kMostIdleRestarts : kMostIdleRestartsOfOthers)) {
            m_shared.report.isTooShort = true;
            return tl::unexpected(
                interruption(Why::Failed, tooShort(turn.what), name(), "raise its number of epochs or steps"));
        }
        ++restarts;
        m_isRestarted = true;
        if (auto again = relaunch(limits); !again)
            return tl::unexpected(again.error());
        if (isSteps)
            drop = std::max(turn.drop, kRestartDrop);
    }
    if (auto checked = checkLosses(result, stepsBefore); !checked)
        return tl::unexpected(checked.error());
    result.samples = std::max<std::int64_t>(result.samples, 1);
    return result;
}

/// Removes losses that cannot be compared with those of the other arm.
Outcome<void> ProgramArm::checkLosses(protocol::TurnResult& result, std::int64_t stepsBefore)
{
    if (result.losses.size() != result.seconds.size())
        result.losses.clear();
    if (!result.losses.empty() && !m_hasFirstLoss && !m_isRestarted) {
        m_hasFirstLoss = true;
        m_shared.noteFirstLoss(m_arm, m_seed, stepsBefore, result.losses.front());
    }
    // At equal time, a training that began again within its turn has learned less than the other one.
    if (m_shared.haveOtherBatches() && (m_isRestarted || m_shared.report.sumsLosses))
        result.losses.clear();
    if (!m_shared.setup.comparesLearning || !result.losses.empty() || result.what != "steps")
        return {};
    if (m_shared.report.sumsLosses)
        return tl::unexpected(interruption(
            Why::Failed,
            message<"program.run.sums_losses", "The program's loss grows with its batch, so that losses of different "
                                               "batch sizes cannot be compared">(),
            name(), "average the loss over the batch, which is the default of PyTorch's losses"));
    return tl::unexpected(interruption(
        Why::Failed, message<"program.run.no_losses", "The program's loss is not known in every step">(), name(),
        "start each backward pass from the loss, with loss.backward() or torch.autograd.backward()"));
}

} // namespace

/// A sum over the samples is proportional to the batch size, while means of the same weights are about equal. Nothing
/// is compared if the first losses are closer to the former.
void ProgramArms::Shared::noteFirstLoss(std::size_t arm, std::size_t seed, std::int64_t steps, double loss)
{
    firstLosses.at(arm)[steps][seed] = loss;
    const auto& others = firstLosses.at(1 - arm)[steps];
    const auto other = others.find(seed);
    if (!haveOtherBatches() || other == others.end() || !(loss > 0) || !(other->second > 0))
        return;
    const double ofBatches = std::log(static_cast<double>(batch.at(arm)) / static_cast<double>(batch.at(1 - arm)));
    if (std::log(loss / other->second) / ofBatches > 0.5)
        report.sumsLosses = true;
}

ProgramArms::ProgramArms(ProgramSetup setup) : m(std::make_unique<Shared>())
{
    m->setup = std::move(setup);
}

ProgramArms::~ProgramArms() = default;

std::string ProgramArms::name(std::size_t arm) const
{
    return arm == 0 ? "the baseline" : "the change";
}

std::string ProgramArms::startingText() const
{
    const std::string baseline = runner::programName(m->setup.arms[0].command);
    const std::string change = runner::programName(m->setup.arms[1].command);
    return baseline == change ? fmt::format("starting two copies of {}", baseline)
                              : fmt::format("starting {} and {}", baseline, change);
}

Outcome<std::unique_ptr<Arm>> ProgramArms::start(std::size_t arm, std::size_t seed)
{
    auto program = std::make_unique<ProgramArm>(*m, arm, seed);
    if (auto started = program->launch(); !started)
        return tl::unexpected(started.error());
    return program;
}

std::int64_t ProgramArms::stepsToDrop() const
{
    return std::max({m->drop[0], m->drop[1], std::int64_t{1}});
}

std::int64_t ProgramArms::plannedSteps(std::size_t, const protocol::Hello&) const
{
    return 0;
}

/// The program decides how long it trains; both arms train only the beginning.
Outcome<std::vector<RescaledSetting>> ProgramArms::setLength(std::size_t, std::int64_t, std::int64_t)
{
    return std::vector<RescaledSetting>{};
}

bool ProgramArms::haveOtherBatches() const
{
    return m->haveOtherBatches();
}

bool ProgramArms::seedsVary() const
{
    for (const auto& byStep : m->firstLosses)
        for (const auto& [steps, bySeed] : byStep)
            if (bySeed.size() >= 2 &&
                std::ranges::all_of(bySeed, [&](const auto& start) { return start.second == bySeed.begin()->second; }))
                return false;
    return true;
}

std::vector<std::string> ProgramArms::warmUpCauses(std::size_t) const
{
    return {};
}

const ProgramReport& ProgramArms::report() const
{
    return m->report;
}

bool ProgramArms::baselineGetsAsFar(const RunLimits& limits)
{
    const ProgramFailure failure = *m->report.failure;
    if (m->mostSteps[0] > failure.steps)
        return true;
    auto baseline = start(0, failure.seed);
    const bool isAlive = baseline && (*baseline)->hello(limits);
    // The new process completes at least one step, whatever the number of steps of earlier processes.
    const std::int64_t missing = std::max<std::int64_t>(failure.steps, 1);
    const bool getsThere = isAlive && (*baseline)->take({"steps", 0, missing}, limits, kFirstPatience);
    m->report.failure = failure;
    return getsThere;
}

} // namespace advisor
