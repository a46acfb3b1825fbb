#include "profiler/formats/container/section.h"

#include "profiler/formats/container/file_error.h"
#include "profiler/model/number_text.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fmt/core.h>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <xxhash.h>
#include <zstd.h>

namespace profiler::packed {
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

std::uint64_t sectionChecksum(const SectionHeader& header, std::span<const std::byte> packed)
{
    const std::uint64_t seed = XXH3_64bits(&header, offsetof(SectionHeader, checksum));
    return XXH3_64bits_withSeed(packed.data(), packed.size(), seed);
}

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<Error> damaged(const std::filesystem::path& path, std::uint64_t offset)
{
    return fail<Id, Text>(Error::Code::Malformed, fmt::format("{}, byte {}", path.string(), offset));
}

std::uint64_t mostRawBytes(SectionType type)
{
    switch (type) {
    case SectionType::Block:
    case SectionType::Samples:
        return kMaxBlockBytes;
    case SectionType::Details:
        return kMaxDetailsBytes;
    default:
        return kMaxRawBytes;
    }
}

bool isPlausible(const SectionHeader& header, std::uint64_t rest)
{
    return header.packedBytes <= rest && header.rawBytes <= mostRawBytes(header.type) &&
           header.rawBytes / kMaxRatio <= header.packedBytes;
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

} // namespace

std::uint64_t headerChecksum(const FileHeader& header)
{
    return XXH3_64bits(&header, offsetof(FileHeader, checksum));
}

Result<Bytes> packSection(SectionType type, std::span<const std::byte> raw)
{
    thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
    if (raw.size() > mostRawBytes(type))
        return fail<"save.too_large",
                    "a part of the trace takes {bytes} bytes, more than the {most} bytes that a section "
                    "of a packed file can hold">(Error::Code::Invalid, {},
                                                 "save the trace in another format, or save only a part of it",
                                                 {{"bytes", raw.size(), countText(raw.size())},
                                                  {"most", mostRawBytes(type), countText(mostRawBytes(type))}});
    const auto noMemory =
        makeError<"save.no_memory", "not enough memory to compress a part of the trace">(Error::Code::NoSpace);
    if (!context)
        return tl::unexpected(noMemory);
    SectionHeader header{kSectionMagic, type, 0, raw.size(), 0};
    Bytes section(sizeof header + ZSTD_compressBound(raw.size()));
    const auto body = std::span{section}.subspan(sizeof header);
    const std::size_t packed =
        ZSTD_compressCCtx(context.get(), body.data(), body.size(), raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(packed) != 0)
        return tl::unexpected(noMemory);
    header.packedBytes = packed;
    header.checksum = sectionChecksum(header, body.first(packed));
    std::memcpy(section.data(), &header, sizeof header);
    section.resize(sizeof header + packed);
    return section;
}

SectionFile::SectionFile(int descriptor, std::filesystem::path name, bool owns)
    : m_owned(owns ? descriptor : -1), m_descriptor(descriptor), m_path(std::move(name))
{
    if (const auto state = os::stateOf(m_descriptor))
        m_size = state->bytes;
}

Result<SectionFile> SectionFile::open(const std::filesystem::path& path)
{
    os::Descriptor descriptor = os::openToRead(path);
    if (!descriptor)
        return tl::unexpected(wire::fileError<"trace.open", "cannot open the trace: {why}">(errno, path));
    const auto state = os::stateOf(descriptor.get());
    if (!state || state->kind != os::FileState::Kind::Regular)
        return fail<"file.irregular", "this is not a regular file">(Error::Code::Invalid, path.string());
    return SectionFile{descriptor.release(), path};
}

Result<void> SectionFile::readAt(std::uint64_t offset, std::span<std::byte> into) const
{
    const os::Transfer read = os::readAt(m_descriptor, offset, into);
    if (read.error != 0)
        return tl::unexpected(wire::fileError<"trace.read", "cannot read the trace: {why}">(read.error, m_path));
    if (read.bytes < into.size())
        return damaged<"trace.ends_early", "the file is truncated">(m_path, offset + read.bytes);
    return {};
}

Result<SectionHeader> SectionFile::headerAt(std::uint64_t offset) const
{
    SectionHeader header{};
    if (offset > m_size || m_size - offset < sizeof header)
        return damaged<"trace.ends_early", "the file is truncated">(m_path, offset);
    if (auto read = readAt(offset, std::as_writable_bytes(std::span{&header, 1})); !read)
        return tl::unexpected(std::move(read.error()));
    if (header.magic != kSectionMagic || !isPlausible(header, m_size - offset - sizeof header))
        return damaged<"trace.no_part", "no part of the trace starts here">(m_path, offset);
    return header;
}

Result<Bytes> SectionFile::readPacked(std::uint64_t offset, SectionType type, SectionHeader& header) const
{
    auto found = headerAt(offset);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    header = *found;
    if (header.type != type)
        return damaged<"trace.other_part", "a different part of the trace was found here">(m_path, offset);
    Bytes packed(header.packedBytes);
    if (auto read = readAt(offset + sizeof header, packed); !read)
        return tl::unexpected(std::move(read.error()));
    if (sectionChecksum(header, packed) != header.checksum)
        return damaged<"trace.checksum", "the checksum of a part does not match">(m_path, offset);
    return packed;
}

Result<void> SectionFile::check(std::uint64_t offset, SectionType type) const
{
    SectionHeader header{};
    if (auto packed = readPacked(offset, type, header); !packed)
        return tl::unexpected(std::move(packed.error()));
    return {};
}

Result<Bytes> SectionFile::read(std::uint64_t offset, SectionType type) const
{
    thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context{ZSTD_createDCtx()};
    SectionHeader header{};
    auto packed = readPacked(offset, type, header);
    if (!packed)
        return packed;
    auto raw = context ? decompressed(*context, *packed, header.rawBytes) : std::nullopt;
    if (!raw)
        return damaged<"trace.not_inflated", "a part of the trace cannot be decompressed">(m_path, offset);
    return std::move(*raw);
}

} // namespace profiler::packed
