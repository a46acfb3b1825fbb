#include "app/terminal/mcp_tools.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

namespace app::terminal::mcp {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using profiler::message;
using Type = Parameter::Type;
using Words = std::vector<std::string>;

constexpr const char* kTrace =
    "Path of a trace: Stepscope (.sstrace), PyTorch profiler JSON (.json, .json.gz), Nsight Systems (.sqlite)";
constexpr const char* kCommand = "The program and its arguments, one word per element: [\"python\", \"train.py\"]";
constexpr const char* kFolder = "Working directory of the program (default: that of the server)";
// Rows of a query: with more, an assistant should aggregate in SQL.
constexpr double kMostRows = 1000;

/// A path as a positional argument that cannot be taken for an option.
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

} // namespace

std::span<const Tool> tools()
{
    static const std::vector<Tool> all = allTools();
    return all;
}

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

} // namespace app::terminal::mcp
