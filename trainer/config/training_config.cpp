#include "trainer/config/training_config.h"

#include "profiler/os/edit_distance.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace config {

namespace {

template <class Number>
std::optional<Number> parseNumber(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

// Length of a well-formed sequence by its first byte; 0 for a byte that cannot start one.
std::size_t utf8Length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The second byte of some sequences has a narrower range: no overlong forms, no surrogates, nothing above U+10FFFF.
bool isSecondByte(unsigned char first, unsigned char second)
{
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

// JSON contains only valid UTF-8, and a path cannot contain a NUL byte.
bool isText(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first == 0 ? 0 : utf8Length(first);
        if (length == 0 || at + length > text.size())
            return false;
        if (length > 1 && !isSecondByte(first, static_cast<unsigned char>(text[at + 1])))
            return false;
        for (std::size_t i = 2; i < length; ++i)
            if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80)
                return false;
        at += length;
    }
    return true;
}

std::optional<Value> parseByType(const Knob& knob, std::string_view text)
{
    switch (knob.type) {
    case KnobType::Flag:
        return text == "true"    ? std::optional<Value>(true)
               : text == "false" ? std::optional<Value>(false)
                                 : std::nullopt;
    case KnobType::Integer:
        if (const auto number = parseNumber<std::int64_t>(text))
            return *number;
        return std::nullopt;
    case KnobType::Real:
        if (const auto number = parseNumber<double>(text))
            return *number;
        return std::nullopt;
    case KnobType::Choice:
        return std::string(!text.empty() && text == knob.formerFirst ? knob.choices.front() : text);
    case KnobType::Path:
    case KnobType::Text:
        return std::string(text);
    }
    return std::nullopt;
}

// A key without its group ("workers"), or only the group ("loader"), counts as a typo of two letters.
std::size_t keyDistance(std::string_view wrong, std::string_view key)
{
    const bool isPart = !wrong.empty() && key.find(wrong) != std::string_view::npos;
    return std::min(profiler::os::editDistance(wrong, key), isPart ? std::size_t{2} : std::size_t{1000});
}

std::string bound(double value, KnobType type)
{
    return type == KnobType::Integer ? toText(static_cast<std::int64_t>(value)) : toText(value);
}

} // namespace

std::string toText(const Value& value)
{
    if (const bool* flag = std::get_if<bool>(&value))
        return *flag ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    std::array<char, 32> buffer{}; // the shortest text that reads back as the same double has at most 24 characters
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::get<double>(value)).ptr;
    return {buffer.data(), end};
}

bool isAllowed(const Knob& knob, const Value& value)
{
    const auto inRange = [&](double number) { return number >= knob.min && number <= knob.max; };
    switch (knob.type) {
    case KnobType::Flag:
        return true;
    case KnobType::Integer:
        return inRange(static_cast<double>(std::get<std::int64_t>(value)));
    case KnobType::Real:
        return std::isfinite(std::get<double>(value)) && inRange(std::get<double>(value));
    case KnobType::Choice:
        return std::find(knob.choices.begin(), knob.choices.end(), std::get<std::string>(value)) != knob.choices.end();
    case KnobType::Path:
    case KnobType::Text:
        return isText(std::get<std::string>(value));
    }
    return false;
}

std::optional<Value> parseValue(const Knob& knob, std::string_view text)
{
    auto value = parseByType(knob, text);
    return value && isAllowed(knob, *value) ? value : std::nullopt;
}

std::string nearestKeys(std::string_view key)
{
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const Knob& knob : knobs())
        near.emplace_back(keyDistance(key, knob.key), knob.key);
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    // Keys far worse than the best match would only distract.
    const std::size_t worst = std::max<std::size_t>(near.front().first * 2, 2);
    std::vector<std::string_view> names;
    for (const auto& [distance, name] : near)
        if (names.size() < 3 && distance <= worst)
            names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string allowedText(const Knob& knob)
{
    switch (knob.type) {
    case KnobType::Flag:
        return "true or false";
    case KnobType::Integer:
        return fmt::format("an integer from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Real:
        return fmt::format("a number from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Choice:
        return fmt::format("one of {}", fmt::join(knob.choices, ", "));
    case KnobType::Path:
        return "a UTF-8 path";
    case KnobType::Text:
        return "a UTF-8 text";
    }
    return {};
}

std::string ConfigError::message() const
{
    const std::string place = where.empty() ? "" : where + ": ";
    if (key.empty())
        return fmt::format("{}{}; {}", place, value, allowed);
    if (!findKnob(key))
        return fmt::format("{}{}: unknown setting; must be {}", place, key, allowed);
    return fmt::format("{}{} = {}: must be {}", place, key, value.empty() ? "''" : value, allowed);
}

TrainingConfig::TrainingConfig()
{
    for (const Knob& knob : knobs())
        m_values.emplace(knob.key, knob.fallback);
}

const Value& TrainingConfig::value(std::string_view key) const
{
    const auto found = m_values.find(key);
    assert(found != m_values.end());
    return found->second;
}

Result<void> TrainingConfig::set(std::string_view key, std::string_view text)
{
    const Knob* knob = findKnob(key);
    if (!knob)
        return tl::unexpected(ConfigError{
            "config.unknown_key", std::string(key), std::string(text), "one of the nearest: " + nearestKeys(key), {}});
    auto parsed = parseValue(*knob, text);
    if (!parsed)
        return tl::unexpected(
            ConfigError{"config.not_allowed", std::string(key), std::string(text), allowedText(*knob), {}});
    m_values.find(key)->second = std::move(*parsed);
    return {};
}

Result<void> TrainingConfig::setAssignment(std::string_view assignment)
{
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return tl::unexpected(ConfigError{"config.no_assignment",
                                          {},
                                          fmt::format("'{}' does not set anything", assignment),
                                          "write key=value, for example loader.workers=2",
                                          {}});
    return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

namespace {

// Knobs that only work on a GPU, if there is none or it is not used.
void findGpuProblems(const TrainingConfig& config, bool gpuAvailable, std::vector<ConfigError>& found)
{
    const std::string device = config[key::device];
    if (!gpuAvailable && device == "cuda")
        found.push_back({"config.no_gpu",
                         std::string(key::device.name),
                         device,
                         "cpu or auto: this machine has no usable GPU",
                         {}});
    if (gpuAvailable && device != "cpu")
        return;
    const std::string why = gpuAvailable ? " when the device is cpu: it only works on a GPU"
                                         : ": it needs a GPU, and this machine has no usable one";
    for (const Knob& knob : knobs())
        if (knob.needsGpu && config.value(knob.key) != knob.fallback)
            found.push_back(
                {"config.needs_gpu", std::string(knob.key), config.text(knob.key), toText(knob.fallback) + why, {}});
}

void findRunProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    if (config[key::checkpointEvery] > 0 && config[key::checkpointPath].empty())
        found.push_back({"config.checkpoint_folder",
                         std::string(key::checkpointPath.name),
                         "",
                         "a folder when run.checkpoint_every is set",
                         {}});
    if (config[key::compile] && (config[key::parallel] != "none" || config[key::accumulation] > 1))
        found.push_back({"config.compile_with_several_passes",
                         std::string(key::compile.name),
                         "true",
                         "false with parallel.kind or gradient.accumulation: a CUDA graph contains a single pass",
                         {}});
    if (config[key::compile] && (config[key::gradcheck] || config[key::gradgradcheck]))
        found.push_back({"config.compile_with_gradcheck",
                         std::string(key::compile.name),
                         "true",
                         "false with debug.gradcheck and debug.gradgradcheck: they move the parameters in memory, but "
                         "a CUDA graph keeps using the old addresses",
                         {}});
    if (config[key::compile] && config[key::checkpointing] != "off")
        found.push_back(
            {"config.compile_with_checkpointing",
             std::string(key::compile.name),
             "true",
             "false with checkpointing: recomputation needs the states of the random generators, which a CUDA graph "
             "does not provide",
             {}});
    if (config[key::compile] && config[key::anomaly])
        found.push_back({"config.compile_with_anomaly",
                         std::string(key::compile.name),
                         "true",
                         "false with debug.anomaly: checking each gradient waits for the device, which a CUDA graph "
                         "cannot do",
                         {}});
    if (config[key::parallel] == "dp" && config[key::checkpointing] == "cheap")
        found.push_back({"config.checkpointing_of_copies",
                         std::string(key::checkpointing.name),
                         "cheap",
                         "off or all with parallel.kind dp: the copies would choose different blocks",
                         {}});
}

void findDataProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    const std::string kind = config[key::dataset];
    if (kind == "image_folder" && config[key::datasetPath].empty())
        found.push_back({"config.dataset_folder",
                         std::string(key::datasetPath.name),
                         "",
                         fmt::format("the data folder when dataset.kind is {}", kind),
                         {}});
    if (kind == "generated_images" && config[key::datasetSamples] < config[key::datasetClasses])
        found.push_back(
            {"config.fewer_samples_than_classes",
             std::string(key::datasetSamples.name),
             config.text(key::datasetSamples.name),
             fmt::format("at least dataset.classes, {}: one image for each class", config[key::datasetClasses]),
             {}});
}

void findOptimizerProblems(const TrainingConfig& config, std::vector<ConfigError>& found)
{
    const std::string kind = config[key::optimizer];
    if (config[key::implementation] == "fused" && kind != "sgd" && kind != "adam" && kind != "adamw")
        found.push_back(
            {"config.no_fused_kernel",
             std::string(key::implementation.name),
             "fused",
             fmt::format("for-loop or foreach with optimizer.kind {}: LibTorch has no fused kernel for it", kind),
             {}});
    if (config[key::schedule] == "range_test" && config[key::rangeLowest] >= config[key::learningRate])
        found.push_back({"config.empty_range_test",
                         std::string(key::rangeLowest.name),
                         config.text(key::rangeLowest.name),
                         "below optimizer.learning_rate, the end of the range test",
                         {}});
}

} // namespace

std::vector<ConfigError> TrainingConfig::problems(bool gpuAvailable) const
{
    std::vector<ConfigError> found;
    findGpuProblems(*this, gpuAvailable, found);
    findDataProblems(*this, found);
    findOptimizerProblems(*this, found);
    findRunProblems(*this, found);
    return found;
}

const Condition* TrainingConfig::unmetCondition(const Knob& knob) const
{
    for (const Condition& condition : knob.enabledIf) {
        const std::string now = text(condition.on);
        const bool isOne = std::find(condition.values.begin(), condition.values.end(), now) != condition.values.end();
        if (isOne != condition.isOneOf)
            return &condition;
    }
    return nullptr;
}

std::vector<Difference> difference(const TrainingConfig& a, const TrainingConfig& b)
{
    std::vector<Difference> found;
    for (const Knob& knob : knobs())
        if (a.value(knob.key) != b.value(knob.key))
            found.push_back({std::string(knob.key), a.text(knob.key), b.text(knob.key)});
    return found;
}

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
    } catch (const Json::out_of_range&) { // a number outside the range of double
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
