#include "advisor/runner/child_process.h"
#include "app/terminal/commands.h"
#include "app/terminal/output.h"
#include "profiler/model/message.h"
#include "profiler/model/version.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process_tree.h"
#include "profiler/os/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <vector>

// The Model Context Protocol (https://modelcontextprotocol.io/specification) over standard input and output:
// JSON-RPC 2.0, one message per line. Each call of a tool runs this program as a child process, so a trace that needs
// too much memory ends the call and not the server, and what a recorded program prints does not reach the protocol.
namespace app::terminal {

using namespace advisor;

namespace {

// The tools that are offered. A tool is a command of this program with --json: its arguments are checked against the
// table below, and become the command's arguments.
namespace mcp {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using profiler::message;
using Words = std::vector<std::string>;

struct Parameter {
    enum class Type { Text, Texts, Number, Flag };
    const char* name;
    Type type;
    const char* description;
    bool isRequired = false;
    double least = 0, most = 0; ///< of a Number
};

/// The call of a tool, as a command of this program.
struct Call {
    std::vector<std::string> words; ///< arguments of stepscope-cli
    std::filesystem::path folder;   ///< working directory; empty: that of this process
};

struct Tool {
    const char* name;
    const char* description;
    std::vector<Parameter> parameters;
    bool runsPrograms; ///< only with --allow-run
    /// @param scratch  a folder for files that the command needs, which is deleted after the call
    Call (*call)(const nlohmann::json& arguments, const std::filesystem::path& scratch);
    /// Name in `scratch` of the file that contains the result; nullptr: the command prints it.
    const char* resultFile = nullptr;
};

using Type = Parameter::Type;

constexpr const char* kTrace =
    "Path of a trace: Stepscope (.sstrace), PyTorch profiler JSON (.json, .json.gz), Nsight Systems (.sqlite)";
constexpr const char* kCommand = R"(The program and its arguments, one word per element: ["python", "train.py"])";
constexpr const char* kFolder = "Working directory of the program (default: that of the server)";
// Rows of a query: with more, an assistant should aggregate in SQL.
constexpr double kMostRows = 1000;

/// A path as a positional argument that cannot be mistaken for an option.
std::string path(const Json& arguments, const char* name)
{
    const auto text = arguments.at(name).get<std::string>();
    return text.starts_with('-') ? "./" + text : text;
}

void addOption(Words& words, const Json& arguments, const char* name, const char* option)
{
    if (!arguments.contains(name))
        return;
    const Json& value = arguments[name];
    if (value.is_boolean()) {
        if (value.get<bool>())
            words.emplace_back(option);
    } else if (value.is_array()) {
        for (const Json& element : value)
            words.push_back(fmt::format("{}={}", option, element.get<std::string>()));
    } else {
        words.push_back(fmt::format("{}={}", option, value.is_string() ? value.get<std::string>() : value.dump()));
    }
}

void addCommand(Words& words, const Json& arguments)
{
    words.emplace_back("--");
    for (const Json& word : arguments.at("command"))
        words.push_back(word.get<std::string>());
}

Call summarize(const Json& arguments, const std::filesystem::path&)
{
    Words words{"summarize", "--json"};
    addOption(words, arguments, "detailed", "--detailed");
    addOption(words, arguments, "why_step", "--why-step");
    words.push_back(path(arguments, "trace"));
    return {words, {}};
}

Call advise(const Json& arguments, const std::filesystem::path&)
{
    Words words{"advise", "--json"};
    addOption(words, arguments, "rank", "--rank");
    words.push_back(path(arguments, "trace"));
    return {words, {}};
}

Call query(const Json& arguments, const std::filesystem::path&)
{
    Words words{"query", "--json"};
    if (arguments.value("tables", false)) {
        words.emplace_back("--tables");
        return {words, {}};
    }
    words.push_back(fmt::format("--limit={}", static_cast<int>(arguments.value("limit", 100.0))));
    words.emplace_back("--");
    for (const char* name : {"trace", "sql"})
        if (arguments.contains(name))
            words.push_back(arguments[name].get<std::string>());
    return {words, {}};
}

Call diff(const Json& arguments, const std::filesystem::path&)
{
    return {{"diff", "--json", path(arguments, "before"), path(arguments, "after")}, {}};
}

Call lines(const Json& arguments, const std::filesystem::path&)
{
    Words words{"lines", "--json", path(arguments, "trace")};
    if (arguments.contains("file"))
        words.push_back(path(arguments, "file"));
    return {words, {}};
}

Call patch(const Json& arguments, const std::filesystem::path&)
{
    Words words{"patch", "--json"};
    addOption(words, arguments, "set", "--set");
    words.push_back(path(arguments, "trace"));
    return {words, {}};
}

constexpr const char* kRecordResult = "record.json";

Call record(const Json& arguments, const std::filesystem::path& scratch)
{
    Words words{"record", "--report=" + (scratch / kRecordResult).string()};
    addOption(words, arguments, "output", "--output");
    addOption(words, arguments, "operators", "--ops");
    addOption(words, arguments, "after", "--after");
    addOption(words, arguments, "seconds", "--for");
    addOption(words, arguments, "patience", "--patience");
    addCommand(words, arguments);
    return {words, arguments.value("folder", "")};
}

Call experiment(const Json& arguments, const std::filesystem::path& scratch)
{
    Words words{"experiment", "--json"};
    addOption(words, arguments, "set", "--set");
    addOption(words, arguments, "against", "--against");
    addOption(words, arguments, "trace", "--trace");
    addOption(words, arguments, "budget", "--budget");
    addOption(words, arguments, "isolation", "--isolation");
    if (arguments.contains("patch")) {
        const auto file = scratch / "change.diff";
        std::ofstream(file) << arguments["patch"].get<std::string>();
        words.push_back("--patch=" + file.string());
    }
    addCommand(words, arguments);
    return {words, arguments.value("folder", "")};
}

const char* typeName(Type type)
{
    switch (type) {
    case Type::Text:
        return "string";
    case Type::Texts:
        return "array";
    case Type::Number:
        return "number";
    case Type::Flag:
        return "boolean";
    }
    return "string";
}

bool isOfType(const Json& value, const Parameter& parameter)
{
    switch (parameter.type) {
    case Type::Text:
        return value.is_string() && !value.get_ref<const std::string&>().empty();
    case Type::Texts:
        return value.is_array() && !value.empty() &&
               std::all_of(value.begin(), value.end(), [](const Json& element) { return element.is_string(); });
    case Type::Number:
        return value.is_number() && value.get<double>() >= parameter.least && value.get<double>() <= parameter.most;
    case Type::Flag:
        return value.is_boolean();
    }
    return false;
}

std::string expectation(const Parameter& parameter)
{
    switch (parameter.type) {
    case Type::Text:
        return "a string that is not empty";
    case Type::Texts:
        return "a list of strings that is not empty";
    case Type::Number:
        return fmt::format("a number from {} to {}", parameter.least, parameter.most);
    case Type::Flag:
        return "true or false";
    }
    return {};
}

std::vector<Tool> allTools()
{
    constexpr double kDay = 86400, kMany = 1e9;
    const Parameter trace{"trace", Type::Text, kTrace, true};
    const Parameter command{"command", Type::Texts, kCommand, true};
    const Parameter folder{"folder", Type::Text, kFolder};
    return {
        {"summarize",
         "What a trace contains and where the time of a training step goes: steps, phases, GPU use, waits, memory.",
         {trace,
          {"detailed", Type::Flag,
           "Also launch queue, critical path, copies, synchronization, loader workers; takes longer than the rest"},
          {"why_step", Type::Number, "Explain why the step with this index takes longer than the median", false, 0,
           kMany}},
         false,
         summarize},
        {"advise",
         "Findings on a trace, ordered by what they could save, with evidence, estimates, caveats, source lines and "
         "the "
         "change that each proposes. Times are in µs.",
         {trace, {"rank", Type::Number, "Rank of a trace with several (default: the slowest)", false, 0, kMany}},
         false,
         advise},
        {"query",
         "SQL (one SELECT statement of SQLite) over the tables of a trace: slice, kernel, memcpy, step, op and others. "
         "Times are in nanoseconds. Call it with tables: true to list the columns.",
         {{"trace", Type::Text, kTrace},
          {"sql", Type::Text, "SELECT name, SUM(dur) FROM kernel GROUP BY name ORDER BY 2 DESC"},
          {"limit", Type::Number, "Most rows of the result (default: 100)", false, 1, kMostRows},
          {"tables", Type::Flag, "List the tables and columns instead"}},
         false,
         query},
        {"diff",
         "What changed between two traces: whether they can be compared, step times, phases, operators, kernels.",
         {{"before", Type::Text, kTrace, true}, {"after", Type::Text, kTrace, true}},
         false,
         diff},
        {"lines",
         "The source lines of a recorded Python program with their time, waits, allocations and findings.",
         {trace, {"file", Type::Text, "Only this file: its path or the end of it"}},
         false,
         lines},
        {"patch",
         "The diff that makes a proposed change in the user's files. It changes no file.",
         {trace, {"set", Type::Texts, "Changes as key=value, from advise: [\"loader.workers=4\"]", true}},
         false,
         patch},
        {"record",
         "Runs a program and records it. The result names the trace, for the other tools.",
         {command,
          {"output", Type::Text, "Trace file to write (default: the program's name with .sstrace)"},
          {"operators", Type::Flag, "Also record PyTorch's operators"},
          {"after", Type::Number, "Seconds from the start until recording begins", false, 0, kDay},
          {"seconds", Type::Number, "Seconds to record (default: until the program ends)", false, 0.1, kDay},
          {"patience", Type::Number, "Stop a program that completes no step for so many seconds", false, 1, kDay},
          folder},
         true,
         record,
         kRecordResult},
        {"experiment",
         "Measures a change: two copies of the program, one of them with the change, take turns, in a private view of "
         "the file system. The result has a verdict and a confidence interval. Give one of set, patch and against.",
         {command,
          {"set", Type::Texts, "Changes as key=value, from advise"},
          {"patch", Type::Text, "Text of a unified diff of the program's files"},
          {"against", Type::Text, "Another command line to compare with"},
          {"trace", Type::Text, "Recording of the program (default: a new one is made)"},
          {"budget", Type::Number, "Time limit in seconds", false, 1, kDay},
          {"isolation", Type::Text, "overlay (default), copy, or in-place"},
          folder},
         true,
         experiment},
    };
}

std::span<const Tool> tools()
{
    static const std::vector<Tool> all = allTools();
    return all;
}

/// Its entry in the answer to tools/list.
OrderedJson toolJson(const Tool& tool)
{
    OrderedJson properties = OrderedJson::object(), required = OrderedJson::array();
    for (const Parameter& parameter : tool.parameters) {
        OrderedJson property{{"type", typeName(parameter.type)}, {"description", parameter.description}};
        if (parameter.type == Type::Texts)
            property["items"] = {{"type", "string"}};
        if (parameter.type == Type::Number) {
            property["minimum"] = parameter.least;
            property["maximum"] = parameter.most;
        }
        properties[parameter.name] = std::move(property);
        if (parameter.isRequired)
            required.push_back(parameter.name);
    }
    return {{"name", tool.name},
            {"description", tool.description},
            {"inputSchema",
             {{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}}},
            {"annotations", {{"readOnlyHint", !tool.runsPrograms}, {"openWorldHint", false}}}};
}

/// What is wrong with the arguments of a call; nullopt: nothing.
std::optional<profiler::Message> checkArguments(const Tool& tool, const Json& arguments)
{
    if (!arguments.is_object())
        return message<"mcp.arguments", "The arguments of {tool} must be an object">({{"tool", tool.name}});
    for (const auto& [name, value] : arguments.items()) {
        const auto parameter = std::find_if(tool.parameters.begin(), tool.parameters.end(),
                                            [&name = name](const Parameter& known) { return name == known.name; });
        if (parameter == tool.parameters.end())
            return message<"mcp.argument.unknown", "{tool} has no argument {argument}">(
                {{"tool", tool.name}, {"argument", name}});
        if (!isOfType(value, *parameter))
            return message<"mcp.argument.type", "The argument {argument} of {tool} must be {expected}">(
                {{"tool", tool.name}, {"argument", name}, {"expected", expectation(*parameter)}});
    }
    for (const Parameter& parameter : tool.parameters)
        if (parameter.isRequired && !arguments.contains(parameter.name))
            return message<"mcp.argument.missing", "{tool} needs the argument {argument}: {description}">(
                {{"tool", tool.name}, {"argument", parameter.name}, {"description", parameter.description}});
    return std::nullopt;
}

} // namespace mcp

namespace fs = std::filesystem;
namespace os = profiler::os;
using Json = nlohmann::ordered_json;
using profiler::Message;
using profiler::message;

// Newest first. The messages used here are the same in all of them.
constexpr std::array<std::string_view, 3> kProtocols = {"2025-06-18", "2025-03-26", "2024-11-05"};
enum class RpcError {
    Parse = -32700,
    InvalidRequest = -32600,
    UnknownMethod = -32601,
    InvalidParameters = -32602,
    Busy = -32000
};

// About 13,000 tokens: assistants limit a result to 25,000 by default.
constexpr std::size_t kMostResultBytes = 40'000;
constexpr std::size_t kMostErrorBytes = 4'000;
// Far above any result of a command; protects the server's memory.
constexpr std::size_t kMostOutputBytes = std::size_t{256} << 20;
constexpr std::size_t kMostLineBytes = std::size_t{4} << 20;
constexpr std::size_t kMostWaiting = 8;

constexpr const char* kInstructions =
    "Stepscope says where the time of a PyTorch training step goes, what to change, and measures whether a change "
    "pays. "
    "Record a program (or take an existing trace), call advise, make a change with patch or by editing, and measure it "
    "with experiment before you recommend it.";

/// The end of a text, from the start of a line if possible.
std::string tail(const std::string& text, std::size_t most)
{
    if (text.size() <= most)
        return text;
    const std::size_t from = text.size() - most, line = text.find('\n', from);
    return "…" + text.substr(line == text.npos ? from : line + 1);
}

/// A call of a tool that has not been answered.
struct Request {
    Json id;
    const mcp::Tool* tool = nullptr;
    nlohmann::json arguments;
    Json progressToken; ///< null: the client wants no progress
};

/// The child process of a request.
class RunningCall {
public:
    explicit RunningCall(Request request) : m_request(std::move(request)) {}

    /// @return why the process could not be started; nullopt: it runs
    std::optional<Message> start()
    {
        auto out = os::makePipe(), errors = os::makePipe();
        if (m_scratch.path().empty() || !out || !errors)
            return message<"mcp.no_process", "The command could not be started: {why}">(
                {{"why", std::generic_category().message(errno)}});
        const mcp::Call call = m_request.tool->call(m_request.arguments, m_scratch.path());
        std::error_code failed;
        os::ProcessSpec spec;
        spec.words = {fs::read_symlink("/proc/self/exe", failed).string()};
        spec.words.insert(spec.words.end(), call.words.begin(), call.words.end());
        spec.environment = os::environment();
        spec.folder = call.folder;
        spec.output = out->writing.get();
        spec.errors = errors->writing.get();
        os::StartFailure failure;
        m_tree = os::ProcessTree::start(spec, failure);
        if (!m_tree)
            return message<"mcp.no_process", "The command could not be started: {why}">(
                {{"why", std::generic_category().message(failure.number)}});
        m_out = std::move(out->reading);
        m_errors = std::move(errors->reading);
        os::setNonBlocking(m_out.get());
        os::setNonBlocking(m_errors.get());
        return std::nullopt;
    }

    [[nodiscard]] const Request& request() const { return m_request; }
    [[nodiscard]] std::array<int, 3> descriptors() const { return {m_out.get(), m_errors.get(), m_tree->descriptor()}; }

    /// Reads what the command has written. @return whether it has ended
    bool advance()
    {
        const bool hasEnded = m_tree->status().has_value(); // before reading, so that nothing of it is missed
        if (m_out && !os::readAvailable(m_out.get(), m_outText))
            m_out.reset();
        if (m_errors && !os::readAvailable(m_errors.get(), m_errorText))
            m_errors.reset();
        if (m_outText.size() + m_errorText.size() > kMostOutputBytes)
            m_tree->kill();
        return hasEnded;
    }

    /// The next whole line of the command's standard error that was not returned before.
    std::optional<std::string> nextLine()
    {
        const std::size_t end = m_errorText.find('\n', m_reported);
        if (end == m_errorText.npos)
            return std::nullopt;
        std::string line = m_errorText.substr(m_reported, end - m_reported);
        m_reported = end + 1;
        return line;
    }

    /// The answer, after the command has ended.
    Json result()
    {
        const auto end = os::exitStatus(*m_tree->status());
        m_tree->end();
        std::string text = m_outText;
        if (m_request.tool->resultFile)
            text = os::readFile(m_scratch.path() / m_request.tool->resultFile).value_or(std::string());
        Json json = Json::parse(text, nullptr, false);
        if (!json.is_object())
            return content(end.isSuccess() ? "the command printed no result" : tail(m_errorText, kMostErrorBytes),
                           true);
        if (m_request.tool->resultFile)
            json["output"] = tail(m_outText + m_errorText, kMostErrorBytes);
        else if (!end.isSuccess())
            return content(tail(m_errorText, kMostErrorBytes), true);
        const bool isError = json.contains("error") && !json["error"].is_null();
        if (!shorten(json, kMostResultBytes))
            return content("the result is too long: ask for less", true);
        return content(jsonText(json, true), isError);
    }

private:
    static Json content(std::string text, bool isError)
    {
        Json part{{"type", "text"}, {"text", std::move(text)}};
        return {{"content", Json::array({std::move(part)})}, {"isError", isError}};
    }

    Request m_request;
    os::TemporaryFolder m_scratch{os::temporaryPath("stepscope-mcp-")};
    std::optional<os::ProcessTree> m_tree;
    os::Descriptor m_out, m_errors;
    std::string m_outText, m_errorText;
    std::size_t m_reported = 0; ///< bytes of m_errorText that nextLine() has returned
};

class Server {
public:
    Server(const McpOptions& options, std::ostream& out) : m_options(options), m_out(out) {}

    /// Until the client closes our standard input and its calls are answered, or until a signal arrives. Calls that run
    /// programs are stopped in both cases.
    void run()
    {
        constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
        const os::SignalWatch signals(kSignals, os::SignalWatch::Ignored::Keep);
        std::string input;
        bool hasInput = true;
        while (m_out && (hasInput || m_running)) {
            std::array<os::Awaited, 5> awaited{{{hasInput ? kInput : -1}, {signals.descriptor()}, {}, {}, {}}};
            if (m_running)
                for (std::size_t i = 0; i < 3; ++i)
                    awaited[i + 2].descriptor = m_running->descriptors()[i];
            os::waitForAny(awaited, std::nullopt);
            if (signals.take())
                return;
            if (m_running)
                followCall();
            if (awaited[0].isReady && !os::readNext(kInput, input)) {
                hasInput = false;
                stopPrograms();
            }
            takeLines(input);
        }
    }

private:
    static constexpr int kInput = 0;

    void stopPrograms()
    {
        std::erase_if(m_waiting, [](const Request& request) { return request.tool->runsPrograms; });
        if (m_running && m_running->request().tool->runsPrograms)
            m_running.reset();
        startNext();
    }

    void takeLines(std::string& input)
    {
        std::size_t from = 0;
        for (std::size_t end = 0; (end = input.find('\n', from)) != input.npos; from = end + 1)
            if (std::exchange(m_isSkipping, false))
                continue;
            else if (const std::string line = input.substr(from, end - from);
                     line.find_first_not_of(" \t\r") != line.npos)
                takeLine(line);
        input.erase(0, from);
        if (input.size() > kMostLineBytes) {
            if (!m_isSkipping)
                fail(nullptr, RpcError::InvalidRequest,
                     message<"mcp.line", "A message is longer than {limit}">({{"limit", kMostLineBytes, "4 MiB"}}));
            m_isSkipping = true;
            input.clear();
        }
    }

    void takeLine(const std::string& line)
    {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (json.is_discarded())
            return fail(nullptr, RpcError::Parse, message<"mcp.parse", "A message is not JSON">());
        const bool isCall = json.is_object() && json.value("jsonrpc", nlohmann::json()) == "2.0";
        const nlohmann::json id = isCall ? json.value("id", nlohmann::json()) : nlohmann::json();
        if (isCall && !json.contains("method") && (json.contains("result") || json.contains("error")))
            return; // an answer; this server asks nothing
        if (!isCall || !json.contains("method") || !json["method"].is_string() ||
            (json.contains("id") && !id.is_string() && !id.is_number_integer()))
            return fail(nullptr, RpcError::InvalidRequest,
                        message<"mcp.request", "A message is not a JSON-RPC 2.0 request: batches are not supported">());
        const nlohmann::json parameters = json.value("params", nlohmann::json::object());
        if (!parameters.is_object())
            return fail(id, RpcError::InvalidParameters, message<"mcp.params", "params must be an object">());
        const auto method = json["method"].get<std::string>();
        if (!json.contains("id"))
            takeNotification(method, parameters);
        else
            takeRequest(id, method, parameters);
    }

    void takeNotification(const std::string& method, const nlohmann::json& parameters)
    {
        if (method != "notifications/cancelled")
            return;
        const Json id = parameters.value("requestId", nlohmann::json());
        std::erase_if(m_waiting, [&](const Request& request) { return request.id == id; });
        if (m_running && m_running->request().id == id) {
            m_running.reset(); // stops its processes; a cancelled request gets no answer
            startNext();
        }
    }

    void takeRequest(const Json& id, const std::string& method, const nlohmann::json& parameters)
    {
        if (method == "initialize")
            answer(id, greeting(parameters));
        else if (method == "ping")
            answer(id, Json::object());
        else if (method == "tools/list")
            answer(id, {{"tools", toolsJson()}});
        else if (method == "tools/call")
            callTool(id, parameters);
        else
            fail(id, RpcError::UnknownMethod,
                 message<"mcp.method", "There is no method {method}">({{"method", method}}));
    }

    static Json greeting(const nlohmann::json& parameters)
    {
        const auto wanted = parameters.value("protocolVersion", nlohmann::json());
        const bool isKnown = wanted.is_string() && std::find(kProtocols.begin(), kProtocols.end(),
                                                             wanted.get<std::string>()) != kProtocols.end();
        return {{"protocolVersion", isKnown ? wanted.get<std::string>() : std::string(kProtocols.front())},
                {"capabilities", {{"tools", Json::object()}}},
                {"serverInfo", {{"name", "stepscope"}, {"title", "Stepscope"}, {"version", profiler::version()}}},
                {"instructions", kInstructions}};
    }

    [[nodiscard]] Json toolsJson() const
    {
        Json rows = Json::array();
        for (const mcp::Tool& tool : mcp::tools())
            if (!tool.runsPrograms || m_options.allowRun)
                rows.push_back(toolJson(tool));
        return rows;
    }

    void callTool(const Json& id, const nlohmann::json& parameters)
    {
        const auto name = parameters.value("name", nlohmann::json());
        const auto known = mcp::tools();
        const auto tool = std::find_if(known.begin(), known.end(), [&](const mcp::Tool& t) { return name == t.name; });
        if (tool == known.end())
            return fail(id, RpcError::InvalidParameters,
                        message<"mcp.tool.unknown", "There is no tool {tool}">({{"tool", name.dump()}}));
        if (tool->runsPrograms && !m_options.allowRun)
            return fail(id, RpcError::InvalidParameters,
                        message<"mcp.tool.not_allowed",
                                "{tool} runs programs: the user must start the server with --allow-run to allow this">(
                            {{"tool", tool->name}}));
        const nlohmann::json arguments = parameters.value("arguments", nlohmann::json::object());
        if (const auto wrong = checkArguments(*tool, arguments))
            return fail(id, RpcError::InvalidParameters, *wrong);
        if (m_waiting.size() >= kMostWaiting)
            return fail(
                id, RpcError::Busy,
                message<"mcp.busy", "{count} calls are waiting already; try again later">({{"count", kMostWaiting}}));
        Json token;
        if (const auto meta = parameters.find("_meta"); meta != parameters.end() && meta->is_object())
            token = meta->value("progressToken", nlohmann::json());
        m_waiting.push_back({id, &*tool, arguments, std::move(token)});
        startNext();
    }

    /// One call at a time: a second one would disturb a measurement.
    void startNext()
    {
        while (!m_running && !m_waiting.empty()) {
            m_running.emplace(std::move(m_waiting.front()));
            m_waiting.pop_front();
            if (const auto why = m_running->start()) {
                const Json id = m_running->request().id;
                m_running.reset();
                fail(id, RpcError::Busy, *why);
            }
        }
    }

    void followCall()
    {
        const bool hasEnded = m_running->advance();
        const Request& request = m_running->request();
        while (const auto line = m_running->nextLine())
            if (!request.progressToken.is_null())
                send({{"method", "notifications/progress"},
                      {"params",
                       {{"progressToken", request.progressToken}, {"progress", ++m_progress}, {"message", *line}}}});
        if (!hasEnded)
            return;
        answer(request.id, m_running->result());
        m_running.reset();
        startNext();
    }

    void answer(const Json& id, Json result) { send({{"id", id}, {"result", std::move(result)}}); }

    void fail(const Json& id, RpcError code, const Message& why)
    {
        send({{"id", id},
              {"error", {{"code", static_cast<int>(code)}, {"message", why.text}, {"data", messageJson(why)}}}});
    }

    void send(const Json& contents)
    {
        Json json{{"jsonrpc", "2.0"}};
        json.update(contents);
        m_out << jsonText(json, true) << std::endl;
    }

    const McpOptions& m_options;
    std::ostream& m_out;
    std::deque<Request> m_waiting;
    std::optional<RunningCall> m_running;
    std::int64_t m_progress = 0; ///< must increase with each report of a call
    bool m_isSkipping = false;   ///< the rest of a line that is too long
};

} // namespace

int serveMcp(const McpOptions& options, const Streams& streams)
{
    Server(options, streams.out).run();
    return kDone;
}

} // namespace app::terminal
