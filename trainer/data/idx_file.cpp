#include "trainer/data/idx_file.h"

#include "trainer/data/file_bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <zlib.h>

namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;

constexpr std::int64_t kMostValues = std::int64_t{1} << 33;
constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::uint8_t kUnsignedByte = 0x08;

/// zlib also reads uncompressed files.
class Reader {
public:
    explicit Reader(const std::filesystem::path& path) : m_path(path), m_file(gzopen(path.c_str(), "rbe"), gzclose)
    {
        if (!m_file)
            m_errno = errno;
    }

    [[nodiscard]] bool isOpen() const { return m_file != nullptr; }
    [[nodiscard]] Error openError() const { return fileError(m_errno, "the file cannot be read", m_path); }
    /// Returns the number of bytes read: fewer than requested at the end of the file.
    Result<std::size_t> read(std::span<std::uint8_t> to)
    {
        const int got = gzread(m_file.get(), to.data(), static_cast<unsigned>(to.size()));
        int status = Z_OK;
        const char* what = gzerror(m_file.get(), &status);
        // A truncated compressed file gives Z_BUF_ERROR; the check of the length reports it.
        if (got < 0 || (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR))
            return tl::unexpected(
                error(profiler::message<"data.idx.unpack", "the file cannot be decompressed: {why}">({{"why", what}})));
        return static_cast<std::size_t>(got);
    }
    [[nodiscard]] Error error(profiler::Message what) const
    {
        return {Error::Code::Malformed, std::move(what), m_path.string(), "download or unpack the file again"};
    }

private:
    std::filesystem::path m_path;
    std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> m_file;
    int m_errno = 0;
};

std::uint32_t bigEndian(const std::uint8_t* bytes)
{
    return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) | (std::uint32_t{bytes[2]} << 8) |
           bytes[3];
}

Result<std::vector<std::int64_t>> readHeader(Reader& reader, std::size_t dimensions)
{
    std::array<std::uint8_t, 4 + 4 * 4> header{};
    const std::span<std::uint8_t> wanted(header.data(), 4 + 4 * dimensions);
    const auto got = reader.read(wanted);
    if (!got)
        return tl::unexpected(got.error());
    if (*got < 4 || header[0] != 0 || header[1] != 0 || header[2] != kUnsignedByte || header[3] != dimensions)
        return tl::unexpected(reader.error(
            profiler::message<
                "data.idx.not_idx",
                "not an IDX file of bytes with {dimensions} dimensions: it starts with {found} instead of {wanted}">(
                {{"dimensions", dimensions},
                 {"found", fmt::format("{:#010x}", bigEndian(header.data()))},
                 {"wanted", fmt::format("{:#010x}", (std::uint32_t{kUnsignedByte} << 8) | dimensions)}})));
    if (*got < wanted.size())
        return tl::unexpected(reader.error(profiler::message<"data.idx.cut_header", "the header is truncated">()));
    std::vector<std::int64_t> sizes;
    std::int64_t values = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
        sizes.push_back(bigEndian(header.data() + 4 + 4 * i));
        if (sizes.back() > 0 && values > kMostValues / sizes.back())
            return tl::unexpected(
                reader.error(profiler::message<"data.idx.too_large", "the header declares more than 8 GB">()));
        values *= sizes.back();
    }
    return sizes;
}

} // namespace

Result<IdxArray> readIdx(const std::filesystem::path& path, std::size_t dimensions)
{
    Reader reader(path);
    if (!reader.isOpen())
        return tl::unexpected(reader.openError());
    auto sizes = readHeader(reader, dimensions);
    if (!sizes)
        return tl::unexpected(sizes.error());
    IdxArray array{.dimensions = std::move(*sizes), .values = {}};
    std::size_t wanted = 1;
    for (const std::int64_t size : array.dimensions)
        wanted *= static_cast<std::size_t>(size);
    // Reads one byte more than expected, so that a file that is too long is detected as well.
    while (array.values.size() <= wanted) {
        const std::size_t have = array.values.size();
        array.values.resize(have + std::min(kChunk, wanted + 1 - have));
        const auto got = reader.read(std::span(array.values).subspan(have));
        if (!got)
            return tl::unexpected(got.error());
        array.values.resize(have + *got);
        if (*got == 0)
            break;
    }
    if (array.values.size() != wanted)
        return tl::unexpected(reader.error(
            profiler::message<"data.idx.length", "the header declares {wanted} values, but the file contains "
                                                 "{comparison}{have}">(
                {{"wanted", wanted},
                 {"comparison", array.values.size() > wanted ? "more" : "only "},
                 {"have", array.values.size() > wanted ? "" : std::to_string(array.values.size())}})));
    return array;
}

Result<void> writeIdx(const std::filesystem::path& path, const IdxArray& array)
{
    std::vector<std::uint8_t> bytes = {0, 0, kUnsignedByte, static_cast<std::uint8_t>(array.dimensions.size())};
    for (const std::int64_t size : array.dimensions)
        for (const int shift : {24, 16, 8, 0})
            bytes.push_back(static_cast<std::uint8_t>(size >> shift));
    bytes.insert(bytes.end(), array.values.begin(), array.values.end());
    return writeFile(path, bytes);
}

} // namespace trainer::data
