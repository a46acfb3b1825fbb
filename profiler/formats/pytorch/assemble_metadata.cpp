#include "profiler/formats/pytorch/assemble.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/own_keys.h"

#include <algorithm>
#include <set>
#include <simdjson.h>

// What the trace says about itself outside its events: devices, versions, ranks.
namespace profiler::formats::json {

namespace {

using simdjson::SUCCESS;

/// 12040 → "12.4", following CUDA's version numbering.
std::string cudaVersion(std::int64_t number)
{
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

int small(simdjson::dom::element object, std::string_view key)
{
    std::int64_t number = 0;
    return object[key].get(number) == SUCCESS && number >= 0 && number < 1000 ? static_cast<int>(number) : 0;
}

/// A figure of a multiprocessor; 0 if it is missing or impossible.
int figure(simdjson::dom::element object, std::string_view key)
{
    std::int64_t number = 0;
    constexpr std::int64_t kMost = 1 << 30;
    return object[key].get(number) == SUCCESS && number > 0 && number < kMost ? static_cast<int>(number) : 0;
}

void addDevices(TraceBuilder& builder, std::string_view json, std::set<std::uint32_t>& known)
{
    simdjson::dom::parser parser;
    simdjson::dom::array devices;
    if (parser.parse(simdjson::padded_string(json)).get(devices) != SUCCESS)
        return;
    for (const simdjson::dom::element element : devices) {
        std::int64_t id = 0;
        std::string_view name, uuid;
        if (element["id"].get(id) != SUCCESS || id < 0 || id > 0xffff ||
            !known.insert(static_cast<std::uint32_t>(id)).second)
            continue;
        Device device{.id = DeviceId{static_cast<std::uint32_t>(id)}, .name = {}, .uuid = {}};
        if (element["name"].get(name) == SUCCESS)
            device.name = name;
        if (element["uuid"].get(uuid) == SUCCESS)
            device.uuid = uuid;
        device.computeMajor = small(element, "computeMajor");
        device.computeMinor = small(element, "computeMinor");
        std::int64_t bytes = 0;
        if (element["totalGlobalMem"].get(bytes) == SUCCESS)
            device.memoryBytes = bytes;
        device.multiprocessors = figure(element, "numSms");
        device.limits = {figure(element, "maxThreadsPerMultiprocessor"), figure(element, kBlocksPerSmKey),
                         figure(element, "regsPerMultiprocessor"), figure(element, "sharedMemPerMultiprocessor")};
        builder.addDevice(std::move(device));
    }
}

void addDistributed(TraceBuilder& builder, std::string_view json)
{
    simdjson::dom::parser parser;
    simdjson::dom::element info;
    if (parser.parse(simdjson::padded_string(json)).get(info) != SUCCESS)
        return;
    std::int64_t number = 0;
    std::string_view text;
    for (const std::string_view key : {"rank", "world_size"})
        if (info[key].get(number) == SUCCESS)
            builder.setMetadata(std::string(key), std::to_string(number));
    if (info["backend"].get(text) == SUCCESS)
        builder.setMetadata("distributed.backend", std::string(text));
    if (info["nccl_version"].get(text) == SUCCESS)
        builder.setMetadata("versions.nccl", std::string(text));
}

constexpr std::string_view kOfCopy = "In the original trace: ";

/// The note without its byte position, which differs between a file and its copy.
std::string_view withoutPlace(std::string_view note)
{
    note = note.substr(0, std::min(note.rfind(" (byte "), note.rfind(" (the first at byte ")));
    while (note.ends_with('.'))
        note.remove_suffix(1);
    return note;
}

/// A note about the original trace. If that was a copy itself, the note is not prefixed twice.
Message copiedNote(std::string_view note, std::string_view id)
{
    note.remove_prefix(note.starts_with(kOfCopy) ? kOfCopy.size() : 0);
    return message<"json.copied_note", "In the original trace: {note}">({{"note", note}, {"note_id", id}});
}

/// Adds the losses of the original trace.
void addCapture(CaptureStats& stats, std::string_view json)
{
    simdjson::dom::parser parser;
    simdjson::dom::element capture;
    if (parser.parse(simdjson::padded_string(json)).get(capture) != SUCCESS)
        return;
    std::uint64_t dropped = 0;
    if (capture["dropped"].get(dropped) == SUCCESS)
        stats.dropped += dropped;
    bool cut = false;
    stats.cut = (capture["cut"].get(cut) == SUCCESS && cut) || stats.cut;
    simdjson::dom::array notes;
    if (capture["notes"].get(notes) != SUCCESS)
        return;
    simdjson::dom::array ids;
    const bool haveIds = capture["note_ids"].get(ids) == SUCCESS && ids.size() == notes.size();
    for (std::size_t i = 0; i < notes.size(); ++i) {
        std::string_view note, id;
        if (haveIds && ids.at(i).get(id) != SUCCESS)
            id = {};
        if (notes.at(i).get(note) == SUCCESS)
            stats.notes.push_back(copiedNote(note, id));
    }
}

void addVersion(TraceBuilder& builder, const std::string& key, std::string_view raw)
{
    constexpr std::pair<std::string_view, std::string_view> kVersions[] = {
        {"cuda_runtime_version", "versions.cuda_runtime"},
        {"cuda_driver_version", "versions.cuda_driver"},
        {"hip_runtime_version", "versions.hip_runtime"},
        {"hip_driver_version", "versions.hip_driver"},
        {"cupti_version", "versions.cupti"},
        {"cudnn_version", "versions.cudnn"},
        {"nccl_version", "versions.nccl"},
        {"pytorch_version", "versions.torch"},
        {"torch_version", "versions.torch"},
        {"python_version", "versions.python"},
    };
    for (const auto& [name, ours] : kVersions) {
        if (key != name)
            continue;
        const std::string text = plainValue(raw);
        const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos && text.size() < 10;
        builder.setMetadata(std::string(ours),
                            number && key.starts_with("cuda_") ? cudaVersion(std::stol(text)) : text);
    }
}

} // namespace

std::map<std::string, std::string> counterUnits(const std::map<std::string, std::string>& values)
{
    std::map<std::string, std::string> units;
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    const auto raw = values.find(std::string(kUnitsKey));
    if (raw == values.end() || parser.parse(simdjson::padded_string(raw->second)).get(object) != SUCCESS)
        return units;
    for (const auto& [name, value] : object)
        if (std::string_view unit; value.get(unit) == SUCCESS)
            units.emplace(name, unit);
    return units;
}

void dropDuplicateNotes(std::vector<Message>& notes)
{
    std::set<std::string, std::less<>> own;
    for (const Message& note : notes)
        if (!note.text.starts_with(kOfCopy))
            own.emplace(withoutPlace(note.text));
    std::erase_if(notes, [&](const Message& note) {
        const std::string_view text = note.text;
        return text.starts_with(kOfCopy) && own.contains(withoutPlace(text.substr(kOfCopy.size())));
    });
}

void assembleMetadata(SharedBuild& shared, const ScanResult& whole, const std::map<std::string, std::string>& values)
{
    TraceBuilder& builder = shared.builder;
    std::set<std::uint32_t> devices;
    for (const auto& [key, raw] : values) {
        if (key == kUnitsKey)
            continue;
        if (key == kCaptureKey) {
            addCapture(builder.captureStats(), raw);
            continue;
        }
        const bool ours = key.starts_with(kMetadataPrefix);
        builder.setMetadata(ours ? key.substr(kMetadataPrefix.size()) : "pytorch." + key, plainValue(raw));
        addVersion(builder, key, raw);
        if (key == "deviceProperties")
            addDevices(builder, raw, devices);
        else if (key == "distributedInfo")
            addDistributed(builder, raw);
    }
    for (const RowInfo& row : shared.rowInfos) {
        const std::int64_t number = row.device.value_or(row.key.device);
        if (row.track && row.key.kind == RowKind::Device && number >= 0 && number < 0x10000 &&
            devices.insert(static_cast<std::uint32_t>(number)).second)
            builder.addDevice({.id = DeviceId{static_cast<std::uint32_t>(number)}, .name = {}, .uuid = {}});
    }
    for (const MetaEvent& event : whole.metadata)
        if (event.name == "Record Window End")
            builder.setMetadata("record.end_ns", event.args);
        else if (event.name.starts_with("Iteration Start:"))
            builder.setMetadata("record.begin_ns", event.args);
    builder.setMetadata("source.events", std::to_string(whole.events));
    builder.setMetadata("source.marked_ops", std::to_string(whole.markedOps));
}

} // namespace profiler::formats::json
