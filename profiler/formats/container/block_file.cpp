#include "profiler/formats/container/block_file.h"

#include "profiler/formats/container/frame.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <fmt/core.h>
#include <limits>
#include <memory>
#include <utility>
#include <xxhash.h>
#include <zstd.h>

namespace profiler::container {

namespace {

/// With columns split into byte planes, level 3 compresses as well as higher levels.
constexpr int kLevel = 3;
constexpr std::uint64_t kMaxRawBytes = std::uint64_t{1} << 31;
constexpr std::uint64_t kMaxBlockBytes = 8U << 20;
constexpr std::uint64_t kMaxDetailsBytes = 32U << 20;
constexpr std::uint64_t kMaxRatio = 1U << 15; ///< zstd's ratio for zeros

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

constexpr std::uint32_t kOldMagic = 0x54435353; // "SSCT"
constexpr FrameType kOldTypes[] = {FrameType::Meta,    FrameType::Slices,       FrameType::Overview,
                                   FrameType::Details, FrameType::DetailsIndex, FrameType::Samples};

bool hasRightChecksum(const BlockPlace& place, std::span<const std::byte> packed)
{
    if (!place.old)
        return frameChecksum(place.header, packed) == place.header.checksum;
    const std::uint64_t seed = XXH3_64bits(&*place.old, offsetof(OldBlockHeader, checksum));
    return XXH3_64bits_withSeed(packed.data(), packed.size(), seed) == place.old->checksum;
}

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset)
{
    return fail<Id, Text>(Error::Code::Malformed, fmt::format("{}, byte {}", path.string(), offset));
}

std::uint64_t mostRawBytes(FrameType type)
{
    switch (type) {
    case FrameType::Slices:
    case FrameType::Samples:
        return kMaxBlockBytes;
    case FrameType::Details:
        return kMaxDetailsBytes;
    default:
        return kMaxRawBytes;
    }
}

bool isPlausible(FrameType type, std::uint64_t packedBytes, std::uint64_t rawBytes)
{
    return rawBytes <= mostRawBytes(type) && rawBytes / kMaxRatio <= packedBytes;
}

/// Decompresses a zstd frame, which must contain `size` bytes. Above the size limit of a block, memory grows with the
/// data that is actually present, so a header that claims gigabytes cannot allocate them.
std::optional<Bytes> decompressed(ZSTD_DCtx& context, const Bytes& packed, std::uint64_t size)
{
    constexpr std::uint64_t kAtOnce = kMaxDetailsBytes;
    if (size <= kAtOnce) {
        Bytes raw(size);
        const std::size_t got = ZSTD_decompressDCtx(&context, raw.data(), raw.size(), packed.data(), packed.size());
        return ZSTD_isError(got) == 0 && got == size ? std::optional(std::move(raw)) : std::nullopt;
    }
    ZSTD_DCtx_reset(&context, ZSTD_reset_session_only);
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    Bytes raw;
    for (std::size_t done = 0;;) {
        if (done == raw.size())
            raw.resize(std::min<std::uint64_t>(size, std::max<std::uint64_t>(kAtOnce, 2 * raw.size())));
        ZSTD_outBuffer out{raw.data(), raw.size(), done};
        const std::size_t left = ZSTD_decompressStream(&context, &out, &in);
        if (ZSTD_isError(left) != 0)
            return std::nullopt;
        const bool progressed = out.pos != done;
        done = out.pos;
        if (left == 0)
            return done == size && in.pos == in.size ? std::optional(std::move(raw)) : std::nullopt;
        if (done == size || (!progressed && in.pos == in.size))
            return std::nullopt; // more than the header says, or truncated
    }
}

constexpr std::uint64_t kWindow = 1U << 20;

} // namespace

Result<Bytes> packBlock(FrameType type, std::span<const std::byte> raw)
{
    thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
    if (raw.size() > mostRawBytes(type))
        return fail<"save.too_large",
                    "a part of the trace takes {bytes} bytes, more than the {most} bytes that a block of a trace file "
                    "can hold">(Error::Code::Invalid, {}, "save the trace in another format, or save only a part of it",
                                {{"bytes", raw.size(), countText(raw.size())},
                                 {"most", mostRawBytes(type), countText(mostRawBytes(type))}});
    const auto noMemory =
        makeError<"save.no_memory", "not enough memory to compress a part of the trace">(Error::Code::NoSpace);
    if (!context)
        return tl::unexpected(noMemory);
    Bytes block(sizeof(FrameHeader) + ZSTD_compressBound(raw.size()));
    const auto body = std::span{block}.subspan(sizeof(FrameHeader));
    const std::size_t packed =
        ZSTD_compressCCtx(context.get(), body.data(), body.size(), raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(packed) != 0)
        return tl::unexpected(noMemory);
    static_assert(kMaxRawBytes + kMaxRawBytes / 128 <= std::numeric_limits<std::uint32_t>::max()); // ZSTD_compressBound
    const FrameHeader header = makeFrameHeader(type, 0, body.first(packed));
    std::memcpy(block.data(), &header, sizeof header);
    block.resize(sizeof header + packed);
    return block;
}

BlockFile::BlockFile(InputFile file, bool areOld) : m_file(std::move(file)), m_areOld(areOld)
{
    m_size = m_file.size().value_or(0);
}

std::uint32_t BlockFile::magic() const
{
    return m_areOld ? kOldMagic : kFrameMagic;
}

Result<void> BlockFile::readAt(std::uint64_t offset, std::span<std::byte> into) const
{
    const auto read = m_file.read(offset, into);
    if (!read)
        return tl::unexpected(read.error());
    if (*read < into.size())
        return damaged<"trace.ends_early", "the file is truncated">(path(), offset + *read);
    return {};
}

Result<BlockPlace> BlockFile::placeAt(std::uint64_t offset) const
{
    BlockPlace place;
    const auto take = [&](auto& header) -> Result<void> {
        if (offset > m_size || m_size - offset < sizeof header)
            return damaged<"trace.ends_early", "the file is truncated">(path(), offset);
        place.payloadAt = offset + sizeof header;
        return readAt(offset, std::as_writable_bytes(std::span{&header, 1}));
    };
    bool good = false;
    if (m_areOld) {
        OldBlockHeader& header = place.old.emplace();
        if (auto read = take(header); !read)
            return tl::unexpected(std::move(read.error()));
        good = header.magic == kOldMagic && header.type >= 1 && header.type <= std::size(kOldTypes);
        place.type = good ? kOldTypes[header.type - 1] : FrameType{};
        place.payloadBytes = header.packedBytes;
        good = good && isPlausible(place.type, header.packedBytes, header.rawBytes);
    } else {
        if (auto read = take(place.header); !read)
            return tl::unexpected(std::move(read.error()));
        place.type = place.header.type;
        place.payloadBytes = place.header.payloadBytes;
        good = place.header.magic == kFrameMagic;
    }
    if (!good || place.payloadBytes > m_size - place.payloadAt)
        return damaged<"trace.no_part", "no part of the trace starts here">(path(), offset);
    return place;
}

Result<Bytes> BlockFile::readPacked(std::uint64_t offset, FrameType type, BlockPlace& place) const
{
    auto found = placeAt(offset);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    place = *found;
    if (place.type != type)
        return damaged<"trace.other_part", "a different part of the trace was found here">(path(), offset);
    Bytes packed(place.payloadBytes);
    if (auto read = readAt(place.payloadAt, packed); !read)
        return tl::unexpected(std::move(read.error()));
    if (!hasRightChecksum(place, packed))
        return damaged<"trace.checksum", "the checksum of a part does not match">(path(), offset);
    return packed;
}

Result<void> BlockFile::check(std::uint64_t offset, FrameType type) const
{
    BlockPlace place;
    if (auto packed = readPacked(offset, type, place); !packed)
        return tl::unexpected(std::move(packed.error()));
    return {};
}

Result<Bytes> BlockFile::read(std::uint64_t offset, FrameType type) const
{
    thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context{ZSTD_createDCtx()};
    BlockPlace place;
    auto packed = readPacked(offset, type, place);
    if (!packed)
        return packed;
    // Unknown sizes and errors are larger than any block.
    const std::uint64_t size =
        place.old ? place.old->rawBytes : ZSTD_getFrameContentSize(packed->data(), packed->size());
    auto raw =
        context && isPlausible(type, packed->size(), size) ? decompressed(*context, *packed, size) : std::nullopt;
    if (!raw)
        return damaged<"trace.not_inflated", "a part of the trace cannot be decompressed">(path(), offset);
    return std::move(*raw);
}

std::uint64_t BlockSearch::next(std::uint64_t offset)
{
    const std::uint32_t magic = m_file.magic();
    constexpr std::uint64_t kMagicBytes = sizeof magic;
    for (;;) {
        if (offset < m_begin || m_begin + m_window.size() < offset + kMagicBytes) {
            const std::uint64_t left = m_file.size() - std::min(m_file.size(), offset);
            m_begin = offset;
            m_window.resize(std::min(left, kWindow));
            if (left < kMagicBytes || !m_file.readAt(offset, m_window)) {
                m_window.clear();
                return m_file.size();
            }
        }
        const std::byte* from = m_window.data() + (offset - m_begin);
        const std::byte* end = m_window.data() + m_window.size();
        const void* found = memmem(from, static_cast<std::size_t>(end - from), &magic, kMagicBytes);
        if (found)
            return m_begin + static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - m_window.data());
        offset = m_begin + m_window.size() - (kMagicBytes - 1); // a magic number may span the window's end
    }
}

std::uint64_t findBlock(const BlockFile& file, std::uint64_t offset, FrameType type, const std::stop_token& stop)
{
    BlockSearch search(file);
    // Data that only resembles blocks must not cause the file to be read again and again.
    std::uint64_t mayRead = 4 * file.size();
    while (offset < file.size() && !stop.stop_requested()) {
        const auto place = file.placeAt(offset);
        const bool candidate = place && place->type == type && place->payloadBytes <= mayRead;
        if (candidate) {
            mayRead -= place->payloadBytes;
            if (file.check(offset, type))
                return offset;
        }
        // The length of a damaged block may be damaged too.
        offset = place && !candidate ? place->end() : search.next(offset + 1);
    }
    return file.size();
}

void ByteWriter::putText(std::string_view text)
{
    put(static_cast<std::uint32_t>(text.size()));
    const auto raw = std::as_bytes(std::span{text.data(), text.size()});
    m_bytes.insert(m_bytes.end(), raw.begin(), raw.end());
}

void ByteWriter::putColumn(std::span<const std::int64_t> values)
{
    std::int64_t least = 0;
    std::int64_t largest = 0;
    if (!values.empty()) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        least = *low;
        largest = *high;
    }
    const auto base = static_cast<std::uint64_t>(least);
    const int width = (std::bit_width(static_cast<std::uint64_t>(largest) - base) + 7) / 8;
    put(least);
    put(static_cast<std::uint8_t>(width));
    std::size_t at = m_bytes.size();
    m_bytes.resize(at + values.size() * static_cast<std::size_t>(width));
    for (int plane = 0; plane < width; ++plane) {
        for (const std::int64_t value : values)
            m_bytes[at++] = static_cast<std::byte>((static_cast<std::uint64_t>(value) - base) >> 8 * plane);
    }
}

std::span<const std::byte> ByteReader::takeBytes(std::size_t count)
{
    if (m_failed || count > m_bytes.size()) {
        m_failed = true;
        return {};
    }
    const auto taken = m_bytes.first(count);
    m_bytes = m_bytes.subspan(count);
    return taken;
}

std::string_view ByteReader::takeText()
{
    const auto raw = takeBytes(take<std::uint32_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

void ByteReader::takeColumn(std::span<std::int64_t> values)
{
    const auto base = static_cast<std::uint64_t>(take<std::int64_t>());
    const auto width = take<std::uint8_t>();
    if (width > sizeof base)
        m_failed = true;
    const auto planes = takeBytes(m_failed ? 0 : values.size() * width);
    if (m_failed)
        return;
    const std::byte* const from = planes.data();
    const std::size_t size = values.size();
    // Processes a few thousand numbers at a time, so that they stay in the cache while the planes are appended.
    constexpr std::size_t kRun = 2048;
    for (std::size_t first = 0; first < size; first += kRun) {
        const std::size_t last = std::min(first + kRun, size);
        for (std::size_t i = first; i < last; ++i)
            values[i] = static_cast<std::int64_t>(base);
        for (std::size_t plane = 0; plane < width; ++plane) {
            for (std::size_t i = first; i < last; ++i)
                values[i] =
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) +
                                              (std::to_integer<std::uint64_t>(from[plane * size + i]) << 8 * plane));
        }
    }
}

std::uint32_t ByteReader::takeCount(std::size_t least)
{
    const auto count = take<std::uint32_t>();
    if (m_failed || count > m_bytes.size() / least) {
        m_failed = true;
        return 0;
    }
    return count;
}

} // namespace profiler::container
