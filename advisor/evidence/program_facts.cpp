#include "advisor/evidence/program_facts.h"

#include "advisor/evidence/run_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace advisor {
namespace {

using Json = nlohmann::json;

// The hooks write less than 1 MB and use only a few levels of nesting.
constexpr std::size_t kMostBytes = 8u << 20;
constexpr int kMostDepth = 24;
constexpr std::size_t kMostEntries = 10'000; ///< in a list
constexpr std::size_t kMostText = 4096;      ///< bytes in a text
constexpr int kMostLine = 100'000'000;

/// The text, truncated if it is too long; empty if the value is not a string.
std::string text(const Json& json, const char* key)
{
    const auto entry = json.find(key);
    if (entry == json.end() || !entry->is_string())
        return {};
    const auto& value = entry->get_ref<const std::string&>();
    if (value.size() <= kMostText)
        return value;
    std::size_t size = kMostText;
    while (size > 0 && (static_cast<unsigned char>(value[size]) & 0xC0U) == 0x80U) // do not cut within a UTF-8
                                                                                   // character
        --size;
    return value.substr(0, size);
}

std::optional<double> numberOf(const Json& value)
{
    if (!value.is_number())
        return std::nullopt;
    const double number = value.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::int64_t integer(const Json& json, const char* key, std::int64_t most = std::int64_t{1} << 52)
{
    const auto entry = json.find(key);
    const auto number = entry == json.end() ? std::nullopt : numberOf(*entry);
    return number ? static_cast<std::int64_t>(std::clamp(*number, 0.0, static_cast<double>(most))) : 0;
}

bool isTrue(const Json& json, const char* key)
{
    const auto entry = json.find(key);
    return entry != json.end() && entry->is_boolean() && entry->get<bool>();
}

/// The value of that key and type in the document; an empty list or object if there is none.
const Json& part(const Json& json, const char* key, Json::value_t type)
{
    static const Json s_list = Json::array(), s_object = Json::object();
    const auto entry = json.find(key);
    return entry != json.end() && entry->type() == type ? *entry : type == Json::value_t::array ? s_list : s_object;
}

/// Calls `take` with each entry of a list that is an object, at most kMostEntries times.
template <class Take>
void eachObject(const Json& json, const char* key, Take&& take)
{
    std::size_t count = 0;
    for (const Json& entry : part(json, key, Json::value_t::array)) {
        if (++count > kMostEntries)
            return;
        if (entry.is_object())
            take(entry);
    }
}

std::optional<SourcePlace> place(const Json& json)
{
    if (!json.is_object())
        return std::nullopt;
    SourcePlace found;
    found.file = text(json, "file");
    found.line = static_cast<int>(integer(json, "line", kMostLine));
    found.endLine = std::max(found.line, static_cast<int>(integer(json, "end_line", kMostLine)));
    found.column = static_cast<int>(integer(json, "column", kMostLine));
    found.endColumn = static_cast<int>(integer(json, "end_column", kMostLine));
    found.function = text(json, "function");
    if (found.file.empty() || found.line == 0)
        return std::nullopt;
    return found;
}

std::optional<SourcePlace> placeOf(const Json& json)
{
    const auto entry = json.find("site");
    return entry == json.end() ? std::nullopt : place(*entry);
}

/// The place in a configuration file from which a setting comes.
std::optional<SourcePlace> configurationOf(const Json& setting)
{
    const auto entry = setting.find("configuration");
    auto found = entry == setting.end() ? std::nullopt : place(*entry);
    if (found)
        found->what = text(*entry, "key");
    return found;
}

ProgramObject objectOf(const Json& json)
{
    ProgramObject object;
    object.id = text(json, "id");
    object.kind = text(json, "kind");
    object.className = text(json, "class");
    object.framework = text(json, "framework");
    object.role = text(json, "role");
    object.site = placeOf(json);
    eachObject(json, "chain", [&](const Json& entry) {
        if (auto found = place(entry))
            object.chain.push_back(*std::move(found));
    });
    for (const auto& [name, entry] : part(json, "settings", Json::value_t::object).items()) {
        if (object.settings.size() >= kMostEntries || !entry.is_object() || name.size() > kMostText)
            continue;
        object.settings.push_back({.name = name,
                                   .value = entry.contains("value") ? entry.at("value") : Json(),
                                   .given = isTrue(entry, "given"),
                                   .argument = text(entry, "argument"),
                                   .configuration = configurationOf(entry)});
    }
    object.count = integer(json, "count");
    object.fields = json;
    constexpr std::array<const char*, 9> kTaken = {"id",   "kind",  "class",    "framework", "role",
                                                   "site", "chain", "settings", "count"};
    for (const char* key : kTaken)
        object.fields.erase(key);
    if (object.site)
        object.site->what = object.role.empty() ? std::string(object.shortName())
                                                : fmt::format("{} ({})", object.shortName(), object.role);
    return object;
}

ProgramModule moduleOf(const Json& json)
{
    return {.model = text(json, "model"),
            .name = text(json, "name"),
            .className = text(json, "class"),
            .parameters = integer(json, "parameters"),
            .dtype = text(json, "dtype"),
            .memoryFormat = text(json, "memory_format"),
            .bias = isTrue(json, "bias")};
}

std::vector<std::string> texts(const Json& json, const char* key)
{
    std::vector<std::string> found;
    for (const Json& entry : part(json, key, Json::value_t::array))
        if (entry.is_string() && found.size() < kMostEntries)
            found.push_back(entry.get<std::string>().substr(0, kMostText));
    return found;
}

ProgramFacts factsOf(const Json& json)
{
    ProgramFacts facts;
    facts.script = text(json, "script");
    facts.module = text(json, "module");
    facts.workingDirectory = text(json, "cwd");
    facts.python = text(json, "python");
    facts.torch = text(json, "torch");
    facts.command = texts(json, "argv");
    eachObject(json, "objects", [&](const Json& entry) { facts.objects.push_back(objectOf(entry)); });
    eachObject(json, "modules", [&](const Json& entry) { facts.modules.push_back(moduleOf(entry)); });
    eachObject(json, "arguments", [&](const Json& entry) {
        facts.arguments.push_back({.dest = text(entry, "dest"),
                                   .options = texts(entry, "options"),
                                   .value = entry.contains("value") ? entry.at("value") : Json(),
                                   .given = isTrue(entry, "given")});
    });
    eachObject(json, "conv_bn", [&](const Json& entry) {
        facts.convolutionsBeforeNorm.push_back({.convolution = text(entry, "conv"),
                                                .norm = text(entry, "bn"),
                                                .bias = isTrue(entry, "bias"),
                                                .site = placeOf(entry)});
    });
    eachObject(json, "attention", [&](const Json& entry) {
        facts.attention.push_back(
            {.fused = text(entry, "kind") == "fused", .count = integer(entry, "count"), .site = placeOf(entry)});
    });
    eachObject(json, "forward_lines", [&](const Json& entry) {
        facts.repeatingLines.push_back({.function = text(entry, "function"),
                                        .repeats = integer(entry, "repeats"),
                                        .count = integer(entry, "count"),
                                        .site = placeOf(entry)});
    });
    facts.countedLines = json.contains("forward_lines");
    facts.environment = part(json, "environment", Json::value_t::object);
    facts.precision = part(json, "precision", Json::value_t::object);
    facts.loss = part(json, "loss", Json::value_t::object);
    facts.memory = part(json, "memory", Json::value_t::object);
    facts.seeds = part(json, "seeds", Json::value_t::array);
    facts.followedForward = isTrue(json, "forward_order");
    return facts;
}

struct Parsed {
    Json document;
    profiler::Message problem;
};

Parsed parse(std::string_view document)
{
    if (document.size() > kMostBytes)
        return {.document = {},
                .problem = profiler::message<
                    "program.too_large",
                    "The facts about the program have {size} bytes, more than the hooks write, and were ignored.">(
                    {{"size", document.size()}})};
    bool tooDeep = false;
    const auto keep = [&](int depth, Json::parse_event_t, Json&) {
        tooDeep = tooDeep || depth > kMostDepth;
        return depth <= kMostDepth;
    };
    Json json = Json::parse(document.begin(), document.end(), keep, false);
    if (json.is_discarded() || !json.is_object() || tooDeep)
        return {
            .document = {},
            .problem =
                profiler::message<"program.unreadable", "The facts about the program are damaged and were ignored.">()};
    if (integer(json, "schema") != 1)
        return {.document = {},
                .problem = profiler::message<
                    "program.other_version",
                    "The facts about the program were written by another version of Stepscope and were ignored.">()};
    return {.document = std::move(json), .problem = {}};
}

template <class Better>
const ProgramObject* best(const std::vector<const ProgramObject*>& objects, Better&& better)
{
    const auto found = std::max_element(objects.begin(), objects.end(), better);
    return found == objects.end() ? nullptr : *found;
}

} // namespace

const ProgramSetting* ProgramObject::setting(std::string_view name) const
{
    const auto found = std::ranges::find(settings, name, &ProgramSetting::name);
    return found == settings.end() ? nullptr : &*found;
}

std::optional<double> ProgramObject::number(std::string_view name) const
{
    if (const ProgramSetting* found = setting(name))
        return numberOf(found->value);
    const auto field = fields.find(std::string(name));
    return field == fields.end() ? std::nullopt : numberOf(*field);
}

std::optional<bool> ProgramObject::flag(std::string_view name) const
{
    const ProgramSetting* found = setting(name);
    const auto field = fields.find(std::string(name));
    const Json* value = found ? &found->value : field == fields.end() ? nullptr : &*field;
    return value && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

std::string_view ProgramObject::shortName() const
{
    const std::string_view name = className;
    return name.substr(name.rfind('.') + 1);
}

std::vector<const ProgramObject*> ProgramFacts::ofKind(std::string_view kind) const
{
    std::vector<const ProgramObject*> found;
    for (const ProgramObject& object : objects)
        if (object.kind == kind)
            found.push_back(&object);
    return found;
}

const ProgramObject* ProgramFacts::trainingLoader() const
{
    std::vector<const ProgramObject*> loaders = ofKind("loader");
    std::erase_if(loaders, [](const ProgramObject* loader) { return loader->role != "training"; });
    return best(loaders, [](const auto* a, const auto* b) { return a->count < b->count; });
}

const ProgramObject* ProgramFacts::mainOptimizer() const
{
    std::vector<const ProgramObject*> optimizers = ofKind("optimizer");
    std::erase_if(optimizers, [](const ProgramObject* optimizer) { return optimizer->count == 0; });
    return best(optimizers, [](const auto* a, const auto* b) { return a->count < b->count; });
}

Json ProgramFacts::precisionOf(std::string_view key) const
{
    const auto found = precision.find(std::string(key));
    return found == precision.end() ? Json() : *found;
}

ProgramDocument readProgram(std::string_view document)
{
    Parsed parsed = parse(document);
    if (!parsed.problem.empty())
        return {.facts = std::nullopt, .problem = std::move(parsed.problem)};
    return {.facts = factsOf(parsed.document), .problem = {}};
}

ProgramDocument programOf(const profiler::Trace& trace)
{
    const std::string_view document = metadata(trace, "program");
    return document.empty() ? ProgramDocument() : readProgram(document);
}

Json programJson(const profiler::Trace& trace)
{
    const std::string_view document = metadata(trace, "program");
    if (document.empty())
        return nullptr;
    Parsed parsed = parse(document);
    return parsed.problem.empty() ? std::move(parsed.document) : Json();
}

std::string settingText(const Json& value)
{
    if (value.is_null())
        return "none";
    if (value.is_string())
        return value.get<std::string>();
    // Numbers are written as in Python; lists are kept. Invalid UTF-8 is replaced.
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace advisor
