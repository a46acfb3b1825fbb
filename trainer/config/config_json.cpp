#include "profiler/os/replacement_file.h"
#include "trainer/config/training_config.h"
#include "trainer/config/value_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace config {

namespace {

using Json = nlohmann::ordered_json;

ConfigError fileError(std::string_view id, std::string what, std::string hint, std::string_view where)
{
    return {std::string(id), {}, std::move(what), std::move(hint), std::string(where)};
}

Result<Json> parseJson(std::string_view text, std::string_view where)
{
    // nlohmann::json reports the position of an error only in its exception, which does not leave this function.
    try {
        Json json = Json::parse(text);
        if (!json.is_object())
            return tl::unexpected(fileError("config.no_json_object", "is not a JSON object",
                                            R"(write {"loader": {"workers": 2}})", where));
        return json;
    } catch (const Json::parse_error& error) {
        // error.byte counts from 1 and includes the faulty byte itself.
        const std::size_t before = std::min(error.byte, text.size() + 1) - std::min<std::size_t>(error.byte, 1);
        const std::string at =
            fmt::format("byte {} (line {})", error.byte, 1 + std::ranges::count(text.substr(0, before), '\n'));
        return tl::unexpected(fileError("config.bad_json", "is not valid JSON",
                                        "check for a missing comma, quote or brace just before it",
                                        where.empty() ? at : fmt::format("{}, {}", where, at)));
    } catch (const Json::out_of_range&) { // a number that no double can hold
        return tl::unexpected(fileError("config.number_too_large", "contains a number above 1.8e308",
                                        "check the exponents of its numbers", where));
    }
}

// The JSON type must match the knob's type: "2" is not an integer, 1 is not a flag. An integer is a valid number.
bool hasKnobsType(const Knob& knob, const Json& json)
{
    switch (knob.type) {
    case KnobType::Flag:
        return json.is_boolean();
    case KnobType::Integer:
        return json.is_number_integer();
    case KnobType::Real:
        return json.is_number();
    default:
        return json.is_string();
    }
}

std::string asText(const Json& json)
{
    if (json.is_string())
        return json.get<std::string>();
    if (json.is_number_float())
        return toText(json.get<double>());
    // Not dumped: dumping a deeply nested value would recurse just as deep.
    if (json.is_structured())
        return json.is_array() ? "[…]" : "{…}";
    return json.dump();
}

Result<void> readValue(TrainingConfig& config, const std::string& key, const Json& json, std::string_view where)
{
    const Knob* knob = findKnob(key);
    auto done = knob && !hasKnobsType(*knob, json)
                    ? tl::unexpected(
                          ConfigError{"config.not_allowed",
                                      key,
                                      json.is_string() ? fmt::format("\"{}\"", json.get<std::string>()) : asText(json),
                                      allowedText(*knob),
                                      {}})
                    : config.set(key, asText(json));
    if (done)
        return {};
    ConfigError error = std::move(done.error());
    error.where = where;
    return tl::unexpected(std::move(error));
}

// "loader" of "loader.workers". Limits the recursion below to the table's depth, however deeply the file nests.
bool isGroup(std::string_view name)
{
    return std::ranges::any_of(knobs(), [&](const Knob& knob) {
        return knob.key.size() > name.size() && knob.key.starts_with(name) && knob.key[name.size()] == '.';
    });
}

Result<void> readObject(TrainingConfig& config, const std::string& prefix, const Json& object, std::string_view where)
{
    for (const auto& [name, value] : object.items()) {
        const std::string key = prefix.empty() ? name : prefix + "." + name;
        auto done = value.is_object() && isGroup(key) ? readObject(config, key, value, where)
                                                      : readValue(config, key, value, where);
        if (!done)
            return done;
    }
    return {};
}

Json toJsonValue(const Value& value)
{
    return std::visit([](const auto& held) { return Json(held); }, value);
}

Json& slot(Json& root, std::string_view key)
{
    Json* at = &root;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
        at = &(*at)[std::string(key.substr(0, dot))];
        key.remove_prefix(dot + 1);
    }
    return (*at)[std::string(key)];
}

} // namespace

Result<TrainingConfig> TrainingConfig::fromJson(std::string_view text, std::string_view where)
{
    auto json = parseJson(text, where);
    if (!json)
        return tl::unexpected(json.error());
    TrainingConfig config;
    if (auto done = readObject(config, {}, *json, where); !done)
        return tl::unexpected(done.error());
    return config;
}

Result<TrainingConfig> TrainingConfig::load(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return tl::unexpected(
            fileError("config.is_folder", "is a folder", "choose a configuration file (JSON)", path.string()));
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        const std::string reason = errno != 0 ? std::strerror(errno) : "the file is empty";
        return tl::unexpected(fileError("config.unreadable", fmt::format("cannot be read: {}", reason),
                                        "choose a configuration file (JSON)", path.string()));
    }
    return fromJson(text.str(), path.string());
}

std::string TrainingConfig::toJson(bool all) const
{
    Json root = Json::object();
    for (const Knob& knob : knobs())
        if (all || value(knob.key) != knob.fallback)
            slot(root, knob.key) = toJsonValue(value(knob.key));
    return root.dump(2) + "\n";
}

Result<void> TrainingConfig::save(const std::filesystem::path& path) const
{
    const auto failed = [&](const char* what, int number) {
        return tl::unexpected(fileError("config.unwritable", fmt::format("{}: {}", what, std::strerror(number)),
                                        "choose a writable folder with free space", path.string()));
    };
    auto file = profiler::os::ReplacementFile::create(path);
    if (!file)
        return failed("cannot be written", errno);
    if (const int number = file->write(toJson()))
        return failed("cannot be written", number);
    if (const int number = file->commit())
        return failed("cannot be replaced", number);
    return {};
}

} // namespace config
