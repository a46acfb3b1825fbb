#include "profiler/formats/pytorch/shared_build.h"
#include "profiler/formats/pytorch/json_text.h"

#include <charconv>
#include <optional>
#include <xxhash.h>

namespace profiler::formats::json {

namespace {

/// The number at the end of a text: 7 for "stream 7".
std::optional<std::int64_t> trailingNumber(std::string_view text)
{
    const auto last = text.find_last_not_of("0123456789");
    const std::string_view digits = text.substr(last == text.npos ? 0 : last + 1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && !digits.empty() ? std::optional(value) : std::nullopt;
}

void setIdent(const Ident& ident, std::int64_t& number, bool& isText)
{
    isText = ident.text.data() != nullptr;
    number = isText ? static_cast<std::int64_t>(XXH3_64bits(ident.text.data(), ident.text.size())) : ident.number;
}

std::int64_t numberOf(const Ident& ident)
{
    return ident.text.data() ? trailingNumber(ident.text).value_or(0) : ident.number;
}

} // namespace

RowKey rowKey(const Event& event, RowKind rowKind)
{
    RowKey key;
    key.kind = rowKind;
    setIdent(event.pid, key.process, key.processIsText);
    if (rowKind == RowKind::Host) {
        setIdent(event.tid, key.thread, key.threadIsText);
        return key;
    }
    if (event.pid.text == kCudaFunctions) {
        key.device = numberOf(event.tid);
        key.stream = 0;
        return key;
    }
    // Our writer gives streams with equal numbers, of two processes or contexts, different made-up thread ids.
    if (!event.tid.text.data() && event.tid.number >= kMadeUpIds)
        key.thread = event.tid.number;
    key.device = event.has(Event::kDevice) ? event.device : numberOf(event.pid);
    key.stream = event.has(Event::kStream) ? event.stream : numberOf(event.tid);
    return key;
}

std::uint32_t SharedBuild::internName(std::string_view text)
{
    const std::scoped_lock lock(m_mutex);
    return builder.intern(text).value;
}

std::vector<std::uint32_t> SharedBuild::internLaunched(std::span<const LaunchedArgs> launched)
{
    std::vector<std::uint32_t> ids;
    ids.reserve(launched.size());
    const std::scoped_lock lock(m_mutex);
    for (const auto& [launch, others] : launched) {
        SliceArgs args = others;
        args.launch = builder.internLaunch(launch);
        ids.push_back(builder.internArgs(args));
    }
    return ids;
}

std::uint32_t SharedBuild::internArgs(const SliceArgs& args)
{
    const std::scoped_lock lock(m_mutex);
    return builder.internArgs(args);
}

void SharedBuild::addMany(std::uint32_t rowId, std::vector<RawSlice>&& slices)
{
    const std::scoped_lock lock(m_mutex);
    std::optional<TrackId>& track = rowInfos[rowId].track;
    if (!track)
        track = builder.addTrack({});
    builder.addMany(*track, std::move(slices), Depth::BySource);
}

std::uint32_t SharedBuild::rowId(const RowKey& key, const Event& event)
{
    const std::scoped_lock lock(m_mutex);
    const auto [place, isNew] = m_ids.try_emplace(key);
    if (isNew) {
        place->second = static_cast<std::uint32_t>(rowInfos.size());
        rowInfos.push_back({.key = key,
                            .processText = key.processIsText ? unescaped(event.pid.text) : std::string{},
                            .threadText = key.threadIsText ? unescaped(event.tid.text) : std::string{},
                            .track = {},
                            .device = {}});
    }
    return place->second;
}

namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

NameUse useOf(std::string_view name)
{
    if (name.starts_with(kStepMark))
        return NameUse::Step;
    if (name == "[memory]")
        return NameUse::Memory;
    if (name == "Stream Wait Event")
        return NameUse::StreamWait;
    return name.starts_with("Iteration Start:") || name == "Record Window End" ? NameUse::WindowMark : NameUse::Plain;
}

} // namespace

std::size_t Names::Hash::operator()(std::string_view text) const
{
    return XXH3_64bits(text.data(), text.size());
}

const Name& Names::find(std::string_view raw, bool odd)
{
    if (const auto known = m_names.find(raw); known != m_names.end())
        return known->second;
    const std::string text = odd ? unescaped(raw) : std::string(raw);
    Name name{.id = m_shared.internName(text), .use = useOf(text), .copy = copyFromName(text)};
    if (name.use == NameUse::Step)
        std::from_chars(text.data() + kStepMark.size(), text.data() + text.size(), name.number);
    return m_names.emplace(raw, name).first->second;
}

} // namespace profiler::formats::json
