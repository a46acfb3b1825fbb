#include "profiler/formats/container/packed_details.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace profiler::packed {
namespace {

bool holds(const DecodedDetails& section, std::uint64_t source)
{
    return source >= section.first && source - section.first < section.slices.size();
}

} // namespace

Bytes encodeDetailsIndex(const DetailsIndex& index)
{
    ByteWriter writer;
    writer.put(static_cast<std::uint32_t>(index.entries.size()));
    for (const DetailsEntry& entry : index.entries) {
        writer.put(entry.first);
        writer.put(entry.offset);
    }
    writer.put(index.unread);
    writer.putText(index.whyUnread);
    return std::move(writer.bytes());
}

std::optional<DetailsIndex> decodeDetailsIndex(std::span<const std::byte> raw)
{
    ByteReader reader{raw};
    DetailsIndex index;
    index.entries.resize(reader.takeCount(2 * sizeof(std::uint64_t)));
    DetailsEntry last;
    for (DetailsEntry& entry : index.entries) {
        entry.first = reader.take<std::uint64_t>();
        entry.offset = reader.take<std::uint64_t>();
        if (entry.first <= last.first || entry.offset <= last.offset)
            return std::nullopt;
        last = entry;
    }
    index.unread = reader.take<std::uint64_t>();
    index.whyUnread = reader.takeText();
    return reader.failed() || !reader.atEnd() ? std::nullopt : std::optional{std::move(index)};
}

Result<PackedDetails::Section> PackedDetails::sectionOf(std::uint64_t source) const
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_last && holds(*m_last, source))
            return m_last;
    }
    const auto after = std::upper_bound(m_entries.begin(), m_entries.end(), source,
                                        [](std::uint64_t number, const DetailsEntry& e) { return number < e.first; });
    if (after == m_entries.begin())
        return Section{};
    const DetailsEntry& entry = *std::prev(after);
    const auto raw = m_file->read(entry.offset, SectionType::Details);
    if (!raw)
        return tl::unexpected(raw.error());
    auto decoded = decodeDetails(*raw);
    if (!decoded || decoded->first != entry.first)
        return fail<"trace.bad_details", "the details of these slices are damaged">(
            Error::Code::Malformed, fmt::format("{}, byte {}", m_file->path().string(), entry.offset));
    auto section = std::make_shared<const DecodedDetails>(std::move(*decoded));
    const std::scoped_lock lock(m_mutex);
    m_last = section;
    return section;
}

Result<SliceDetails> PackedDetails::readFrom(const Result<Section>& section, std::uint64_t source)
{
    if (!section)
        return tl::unexpected(section.error());
    if (!*section || !holds(**section, source))
        return SliceDetails{};
    return (*section)->slices[source - (*section)->first];
}

Result<SliceDetails> PackedDetails::read(std::uint64_t source) const
{
    return readFrom(sectionOf(source), source);
}

void PackedDetails::readMany(std::span<const std::uint64_t> sources,
                             const std::function<bool(Result<SliceDetails>)>& take) const
{
    Result<Section> section = Section{}; // each caller iterates over its own sections
    for (const std::uint64_t source : sources) {
        if (!section || !*section || !holds(**section, source))
            section = sectionOf(source);
        if (!take(readFrom(section, source)))
            return;
    }
}

} // namespace profiler::packed
