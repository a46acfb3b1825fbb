#include "trainer/config/protocol.h"

#include "trainer/config/knob_json.h"

#include <cmath>
#include <concepts>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace config::protocol {

namespace {

using Json = nlohmann::ordered_json;

// Every record lists its fields once; both writing and reading use this list.
template <class Record, class T>
concept Is = std::same_as<std::remove_const_t<Record>, T>;

void fields(Is<Hello> auto& r, auto&& field)
{
    field("pid", r.pid);
    field("torch", r.torchVersion);
    field("device", r.device);
    field("parameters", r.parameters);
    field("train_samples", r.trainSamples);
    field("validation_samples", r.validationSamples);
    field("steps_per_epoch", r.stepsPerEpoch);
    field("total_steps", r.totalSteps);
}
void fields(Is<Preparing> auto& r, auto&& field)
{
    field("what", r.what);
    field("done", r.done);
    field("total", r.total);
}
void fields(Is<StepProgress> auto& r, auto&& field)
{
    field("step", r.step);
    field("epoch", r.epoch);
    field("steps", r.steps);
    field("step_seconds", r.stepSeconds);
    field("samples_per_second", r.samplesPerSecond);
    field("loss", r.loss);
    field("dropped", r.dropped);
    field("samples", r.samples);
    field("seconds", r.seconds);
    field("learning_rate", r.learningRate);
    field("skipped", r.skipped);
}
void fields(Is<EpochProgress> auto& r, auto&& field)
{
    field("epoch", r.epoch);
    field("train_loss", r.trainLoss);
    field("validation_loss", r.validationLoss);
    field("train_accuracy", r.trainAccuracy);
    field("validation_accuracy", r.validationAccuracy);
    field("epoch_seconds", r.epochSeconds);
    field("validation_seconds", r.validationSeconds);
    field("samples", r.samples);
    field("seconds", r.seconds);
    field("metric", r.metric);
}
void fields(Is<TurnResult> auto& r, auto&& field)
{
    field("what", r.what);
    field("seconds", r.seconds);
    field("losses", r.losses);
    field("samples", r.samples);
    field("peak_bytes", r.peakBytes);
}
void fields(Is<Notice> auto& r, auto&& field)
{
    field("severity", r.severity);
    field("what", r.what);
    field("where", r.where);
    field("hint", r.hint);
    field("count", r.count);
    field("id", r.id);
    field("parameters", r.parameters);
}
void fields(Is<NoticeValue> auto& r, auto&& field)
{
    field("name", r.name);
    field("value", r.value);
    field("text", r.text);
}
void fields(Is<Done> auto& r, auto&& field)
{
    field("steps", r.steps);
    field("seconds", r.seconds);
    field("samples_per_second", r.samplesPerSecond);
    field("peak_bytes", r.peakBytes);
    field("peak_of", r.peakOf);
    field("stopped", r.stopped);
    field("final_loss", r.finalLoss);
    field("validation_accuracy", r.validationAccuracy);
    field("samples", r.samples);
    field("skipped", r.skipped);
    field("metric", r.metric);
}
void fields(Is<Pause> auto&, auto&&) {}
void fields(Is<Resume> auto&, auto&&) {}
void fields(Is<Stop> auto&, auto&&) {}
void fields(Is<Record> auto& r, auto&& field)
{
    field("steps", r.steps);
}
void fields(Is<Turn> auto& r, auto&& field)
{
    field("what", r.what);
    field("drop", r.drop);
    field("count", r.count);
}
void fields(Is<Choice> auto& r, auto&& field)
{
    field("id", r.id);
    field("title", r.title);
    field("doc", r.doc);
}
void fields(Is<Description> auto& r, auto&& field)
{
    field("workloads", r.workloads);
    field("datasets", r.datasets);
    field("optimizers", r.optimizers);
    field("schedules", r.schedules);
    field("gpu_available", r.gpuAvailable);
    field("gpu_reason", r.gpuReason);
    field("gpu_reason_id", r.gpuReasonId);
    field("torch", r.torchVersion);
    field("cores", r.cores);
}

// "type" of each record, in the order of the variants' alternatives.
constexpr std::string_view kProgressTypes[] = {"hello", "preparing", "step", "epoch", "turn_result", "notice", "done"};
constexpr std::string_view kCommandTypes[] = {"pause", "resume", "stop", "record", "turn"};
constexpr std::string_view kSeverities[] = {"info", "warning", "error"};
static_assert(std::size(kProgressTypes) == std::variant_size_v<Progress>);
static_assert(std::size(kCommandTypes) == std::variant_size_v<Command>);

Json write(bool value)
{
    return value;
}
Json write(int value)
{
    return value;
}
Json write(std::int64_t value)
{
    return value;
}
Json write(std::uint64_t value)
{
    return value;
}
Json write(const std::string& value)
{
    return value;
}
Json write(Notice::Severity value)
{
    return kSeverities[static_cast<int>(value)];
}
// A loss may be infinite or NaN, which JSON cannot represent as a number.
Json write(double value)
{
    return std::isfinite(value) ? Json(value) : Json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}
Json write(const std::optional<double>& value)
{
    return value ? write(*value) : Json(nullptr);
}
Json write(const std::variant<std::int64_t, double, std::string>& value)
{
    return std::visit([](const auto& one) { return write(one); }, value);
}
Json write(const Choice& choice);
Json write(const NoticeValue& value);
template <class T>
Json write(const std::vector<T>& values)
{
    Json array = Json::array();
    for (const T& value : values)
        array.push_back(write(value));
    return array;
}
template <class Record>
void writeFields(Json& json, const Record& record)
{
    fields(record, [&](const char* name, const auto& value) { json[name] = write(value); });
}
Json write(const Choice& choice)
{
    Json json;
    writeFields(json, choice);
    return json;
}
Json write(const NoticeValue& value)
{
    Json json;
    writeFields(json, value);
    return json;
}

bool read(const Json& json, bool& value)
{
    return json.is_boolean() && (json.get_to(value), true);
}
bool read(const Json& json, std::string& value)
{
    return json.is_string() && (json.get_to(value), true);
}
bool read(const Json& json, std::int64_t& value)
{
    const bool tooLarge =
        json.is_number_unsigned() &&
        json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return json.is_number_integer() && !tooLarge && (json.get_to(value), true);
}
bool read(const Json& json, int& value)
{
    std::int64_t wide = 0;
    if (!read(json, wide) || wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
        return false;
    value = static_cast<int>(wide);
    return true;
}
bool read(const Json& json, std::uint64_t& value)
{
    return json.is_number_unsigned() && (json.get_to(value), true);
}
bool read(const Json& json, double& value)
{
    if (json.is_number())
        return (json.get_to(value), true);
    if (json == "nan")
        value = std::numeric_limits<double>::quiet_NaN();
    else if (json == "inf" || json == "-inf")
        value = json == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    else
        return false;
    return true;
}
bool read(const Json& json, std::optional<double>& value)
{
    if (json.is_null())
        return (value.reset(), true);
    return read(json, value.emplace());
}
bool read(const Json& json, Notice::Severity& value)
{
    for (int i = 0; i < static_cast<int>(std::size(kSeverities)); ++i)
        if (json == kSeverities[i])
            return (value = static_cast<Notice::Severity>(i), true);
    return false;
}
bool read(const Json& json, std::variant<std::int64_t, double, std::string>& value)
{
    if (json.is_string())
        return read(json, value.emplace<std::string>());
    return json.is_number_float() ? read(json, value.emplace<double>()) : read(json, value.emplace<std::int64_t>());
}
bool read(const Json& json, Choice& choice);
bool read(const Json& json, NoticeValue& value);
template <class T>
bool read(const Json& json, std::vector<T>& values)
{
    values.clear();
    if (!json.is_array())
        return false;
    for (const Json& element : json)
        if (!read(element, values.emplace_back()))
            return false;
    return true;
}
/// @return the name of the first field that is missing or has the wrong type; empty if all fields are valid
template <class Record>
std::string readFields(const Json& json, Record& record, bool mayLack)
{
    std::string bad;
    fields(record, [&](const char* name, auto& value) {
        const auto found = json.find(name);
        if (bad.empty() && (found == json.end() ? !mayLack : !read(*found, value)))
            bad = name;
    });
    return bad;
}
bool read(const Json& json, Choice& choice)
{
    return json.is_object() && readFields(json, choice, false).empty();
}
bool read(const Json& json, NoticeValue& value)
{
    return json.is_object() && readFields(json, value, false).empty();
}

std::string beginning(std::string_view line)
{
    constexpr std::size_t kShown = 60;
    return line.size() <= kShown ? std::string(line) : std::string(line.substr(0, kShown)) + "…";
}

tl::unexpected<std::string> cannotRead(std::string_view what, std::string_view line)
{
    return tl::unexpected(fmt::format("{} in the line '{}'", what, beginning(line)));
}

template <class Variant, std::size_t I = 0>
Variant alternative(std::size_t index)
{
    if constexpr (I + 1 < std::variant_size_v<Variant>)
        if (index != I)
            return alternative<Variant, I + 1>(index);
    return Variant(std::in_place_index<I>);
}

template <class Variant, std::size_t N>
tl::expected<Variant, std::string> parseRecord(const std::string_view (&types)[N], std::string_view line, bool mayLack)
{
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
        return cannotRead("not a JSON object", line);
    const auto type = json.find("type");
    for (std::size_t i = 0; i < N && type != json.end(); ++i) {
        if (*type != types[i])
            continue;
        auto record = alternative<Variant>(i);
        const std::string bad = std::visit([&](auto& held) { return readFields(json, held, mayLack); }, record);
        if (!bad.empty())
            return cannotRead(fmt::format("'{}' is missing or has the wrong type", bad), line);
        return record;
    }
    return cannotRead("missing or unknown 'type'", line);
}

template <class Variant, std::size_t N>
std::string lineOf(const std::string_view (&types)[N], const Variant& record)
{
    Json json;
    json["type"] = types[record.index()];
    std::visit([&](const auto& held) { writeFields(json, held); }, record);
    // File names may be invalid UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string commandProblem(const Command& command)
{
    if (const auto* record = std::get_if<Record>(&command); record && record->steps < 1)
        return "'steps' must be at least 1";
    const auto* turn = std::get_if<Turn>(&command);
    if (!turn)
        return {};
    if (turn->what != "steps" && turn->what != "epoch" && turn->what != "validation")
        return "'what' must be steps, epoch or validation";
    return turn->drop < 0 || turn->count < 1 ? "'drop' must be at least 0 and 'count' at least 1" : "";
}

} // namespace

std::string metricText(std::string_view metric, double value)
{
    if (metric == "accuracy" || metric == "dice")
        return fmt::format("{} {:.1f} %", metric, value * 100);
    return fmt::format("{} {:.4g}", metric, value);
}

std::string toLine(const Progress& progress)
{
    return lineOf(kProgressTypes, progress);
}
std::string toLine(const Command& command)
{
    return lineOf(kCommandTypes, command);
}

tl::expected<Progress, std::string> parseProgress(std::string_view line)
{
    return parseRecord<Progress>(kProgressTypes, line, false);
}

tl::expected<Command, std::string> parseCommand(std::string_view line)
{
    auto command = parseRecord<Command>(kCommandTypes, line, true);
    if (command)
        if (const std::string problem = commandProblem(*command); !problem.empty())
            return cannotRead(problem, line);
    return command;
}

std::string toJson(const Description& description)
{
    Json json;
    json["schema"] = 1;
    writeFields(json, description);
    // For programs that were built without the table.
    json["knobs"] = knobsJson();
    return json.dump(2) + "\n";
}

tl::expected<Description, std::string> parseDescription(std::string_view text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return cannotRead("not a JSON object", text);
    Description description;
    if (const std::string bad = readFields(json, description, false); !bad.empty())
        return cannotRead(fmt::format("'{}' is missing or has the wrong type", bad), text);
    return description;
}

} // namespace config::protocol
