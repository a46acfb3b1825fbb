#include "app/terminal/json_text.h"

namespace app::terminal {

using namespace advisor;

std::string jsonText(const nlohmann::ordered_json& json, bool inOneLine)
{
    return json.dump(inOneLine ? -1 : 2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json parametersJson(const profiler::Message& message)
{
    auto json = nlohmann::ordered_json::object();
    for (const profiler::MessageParameter& parameter : message.parameters)
        std::visit([&](const auto& value) { json[parameter.name] = value; }, parameter.value);
    return json;
}

nlohmann::ordered_json messageJson(const profiler::Message& message)
{
    if (message.empty())
        return nullptr;
    return {{"id", message.id.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(message.id)},
            {"parameters", parametersJson(message)},
            {"text", message.text}};
}

nlohmann::ordered_json messagesJson(const std::vector<profiler::Message>& messages)
{
    auto json = nlohmann::ordered_json::array();
    for (const profiler::Message& message : messages)
        json.push_back(messageJson(message));
    return json;
}

nlohmann::ordered_json textsJson(const std::vector<profiler::Message>& messages)
{
    auto json = nlohmann::ordered_json::array();
    for (const profiler::Message& message : messages)
        json.push_back(message.text);
    return json;
}

nlohmann::ordered_json errorJson(const profiler::Error& error)
{
    return {{"id", error.what.id},
            {"parameters", parametersJson(error.what)},
            {"what", error.what.text},
            {"where", error.where},
            {"mend", error.hint}};
}

} // namespace app::terminal
