#include "advisor/experiment/trainer_process.h"
#include "advisor/rule.h"
#include "advisor/tips.h"
#include "app/terminal/commands.h"
#include "app/terminal/output.h"
#include "profiler/model/message.h"
#include "profiler_formats_formats_registry.h"
#include "trainer/config/knob_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using config::protocol::Choice;
using config::protocol::Description;

profiler::Result<Description> askTrainer()
{
    return findTrainer().and_then([](const std::filesystem::path& program) { return describeTrainer(program); });
}

Json choicesJson(const std::vector<Choice>& choices)
{
    Json rows = Json::array();
    for (const Choice& choice : choices)
        rows.push_back({{"id", choice.id}, {"title", choice.title}, {"doc", choice.doc}});
    return rows;
}

/// The same names as in `source.format` of summarize.
std::string formatId(std::string_view stem)
{
    std::string id(stem);
    std::replace(id.begin(), id.end(), '_', '-');
    return id;
}

Json formatsJson()
{
    Json rows = Json::array();
    for (const auto& [stem, format] : profiler::formats::all())
        rows.push_back({{"id", formatId(stem)},
                        {"title", format.title},
                        {"doc", format.doc},
                        {"extension", format.extensions.back()},
                        {"extensions", format.extensions},
                        {"reads", format.read != nullptr},
                        {"writes", format.write != nullptr}});
    return rows;
}

std::string formatsText()
{
    std::string text = "\nFormats\n";
    for (const auto& [stem, format] : profiler::formats::all()) {
        const char* does = format.read ? format.write ? "read, written" : "read" : "written";
        text += fmt::format("  {:<16} {} ({}; {})\n", formatId(stem), format.title, fmt::join(format.extensions, " "),
                            does);
    }
    return text;
}

Json messageTextsJson()
{
    Json rows = Json::array();
    for (const profiler::MessageText& message : profiler::messageTexts())
        rows.push_back({{"id", message.id}, {"text", message.text}});
    return rows;
}

std::string messageTextsText()
{
    std::string text = "\nMessages\n";
    for (const profiler::MessageText& message : profiler::messageTexts())
        text += fmt::format("  {}\n{}", message.id, wrapped(std::string(message.text), 100, 6));
    return text;
}

Json describeJson(const profiler::Result<Description>& trainer)
{
    Json rules = Json::array();
    for (const Rule& rule : allRules())
        rules.push_back({{"id", rule.key}, {"title", rule.title}});
    // Null, not empty: unknown if the trainer is not installed next to this program.
    const auto known = [&](const std::vector<Choice> Description::*list) {
        return trainer ? choicesJson((*trainer).*list) : Json(nullptr);
    };
    Json json = {{"schema", 1}, {"knobs", config::knobsJson()}};
    json["workloads"] = known(&Description::workloads);
    json["optimizers"] = known(&Description::optimizers);
    json["schedules"] = known(&Description::schedules);
    json["datasets"] = known(&Description::datasets);
    json["rules"] = rules;
    json["formats"] = formatsJson();
    json["messages"] = messageTextsJson();
    json["trainer"] = nullptr;
    if (trainer)
        json["trainer"] = {{"torch", trainer->torchVersion},
                           {"gpu_available", trainer->gpuAvailable},
                           {"gpu_reason", trainer->gpuReason},
                           {"gpu_reason_id", trainer->gpuReasonId.empty() ? Json(nullptr) : Json(trainer->gpuReasonId)},
                           {"cores", trainer->cores}};
    else
        json["why_no_trainer"] = trainer.error().message();
    return json;
}

std::string choicesText(std::string_view heading, const std::vector<Choice>& choices)
{
    std::string text = fmt::format("\n{}\n", heading);
    for (const Choice& choice : choices)
        text += fmt::format("  {:<18} {}\n", choice.id, choice.doc);
    return text;
}

std::string describeText(const profiler::Result<Description>& trainer)
{
    std::string text = "Knobs\n";
    for (const config::Knob& knob : config::knobs())
        text += fmt::format("  {} ({}, default {}; {}{})\n{}", knob.key, config::allowedText(knob),
                            config::toText(knob.fallback), knob.where, knob.needsGpu ? "; needs a GPU" : "",
                            wrapped(std::string(knob.doc), 100, 6));
    if (trainer) {
        text += choicesText("Workloads", trainer->workloads) + choicesText("Datasets", trainer->datasets) +
                choicesText("Optimizers", trainer->optimizers) + choicesText("Schedules", trainer->schedules);
        text += fmt::format("\nLibTorch {}, {} cores, {}\n", trainer->torchVersion, trainer->cores,
                            trainer->gpuAvailable ? std::string("a GPU") : "no GPU: " + trainer->gpuReason);
    } else {
        text += "\nWorkloads, datasets, optimizers and schedules are unknown. " + trainer.error().message() + '\n';
    }
    text += "\nRules\n";
    for (const Rule& rule : allRules())
        text += fmt::format("  {:<26} {}\n", rule.key, rule.title);
    return text + formatsText() + messageTextsText();
}

} // namespace

int describe(const DescribeOptions& options, const Streams& streams)
{
    if (options.tips) {
        streams.out << tipTable();
        return kDone;
    }
    const auto trainer = askTrainer();
    if (options.json)
        streams.out << jsonText(describeJson(trainer)) << '\n';
    else
        streams.out << describeText(trainer);
    return kDone;
}

} // namespace app::terminal
