#pragma once

#include "profiler/model/message.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

/// The tools that `stepscope-cli mcp` offers to assistants. A tool is a command of this program with --json: its
/// arguments are checked against the table below, and become the command's arguments.
namespace app::terminal::mcp {

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

std::span<const Tool> tools();

/// Its entry in the answer to tools/list.
nlohmann::ordered_json toolJson(const Tool& tool);

/// What is wrong with the arguments of a call; nullopt: nothing.
std::optional<profiler::Message> checkArguments(const Tool& tool, const nlohmann::json& arguments);

} // namespace app::terminal::mcp
