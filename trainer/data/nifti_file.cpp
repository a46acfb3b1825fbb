#include "trainer/data/nifti_file.h"

#include "trainer/data/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <zlib.h>

// The data formats NIfTI-1 and NIfTI-2 (nifti.nimh.nih.gov); see nifti1.h and nifti2.h for the positions of the fields.
// niftilib is not used: it allocates the memory that a header declares before it looks at the file.
namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;

constexpr std::size_t kHeader1 = 348, kHeader2 = 540, kDataOffset1 = 352;
constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr int kGzip = 15 + 16; // window bits: with gzip header

struct Fields {
    std::array<std::int64_t, 8> dim{};
    int type = 0;
    double offset = 0, slope = 0, intercept = 0;
};

template <class T>
T fieldAt(std::span<const std::uint8_t> bytes, std::size_t offset)
{
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

Error broken(profiler::Message what, const std::string& where)
{
    return {Error::Code::Malformed, std::move(what), where, "copy or export the volume again"};
}

Result<Fields> fieldsOf(std::span<const std::uint8_t> bytes, const std::string& where)
{
    if (bytes.size() < 4)
        return tl::unexpected(broken(profiler::message<"data.nifti.not_nifti", "this is not a NIfTI file">(), where));
    Fields fields;
    const auto size = fieldAt<std::uint32_t>(bytes, 0);
    if (size == __builtin_bswap32(kHeader1) || size == __builtin_bswap32(kHeader2))
        return profiler::fail<"data.nifti.big_endian", "its numbers are big-endian">(
            Error::Code::Unsupported, where, "convert it with nifti_tool or nibabel");
    if (size != kHeader1 && size != kHeader2)
        return tl::unexpected(broken(profiler::message<"data.nifti.not_nifti", "this is not a NIfTI file">(), where));
    if (bytes.size() < size)
        return tl::unexpected(
            broken(profiler::message<"data.nifti.cut_header", "the header of the file is truncated">(), where));
    if (size == kHeader1) {
        for (std::size_t i = 0; i < 8; ++i)
            fields.dim[i] = fieldAt<std::int16_t>(bytes, 40 + 2 * i);
        fields.type = fieldAt<std::int16_t>(bytes, 70);
        fields.offset = fieldAt<float>(bytes, 108);
        fields.slope = fieldAt<float>(bytes, 112);
        fields.intercept = fieldAt<float>(bytes, 116);
    } else {
        for (std::size_t i = 0; i < 8; ++i)
            fields.dim[i] = fieldAt<std::int64_t>(bytes, 16 + 8 * i);
        fields.type = fieldAt<std::int16_t>(bytes, 12);
        fields.offset = static_cast<double>(fieldAt<std::int64_t>(bytes, 168));
        fields.slope = fieldAt<double>(bytes, 176);
        fields.intercept = fieldAt<double>(bytes, 184);
    }
    return fields;
}

template <class From>
void convert(std::span<const std::uint8_t> from, std::span<float> to)
{
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(fieldAt<From>(from, i * sizeof(From)));
}

struct Type {
    int code;
    std::size_t bytes;
    void (*convert)(std::span<const std::uint8_t>, std::span<float>);
};
constexpr std::array<Type, 10> kTypes = {{{2, 1, convert<std::uint8_t>},
                                          {4, 2, convert<std::int16_t>},
                                          {8, 4, convert<std::int32_t>},
                                          {16, 4, convert<float>},
                                          {64, 8, convert<double>},
                                          {256, 1, convert<std::int8_t>},
                                          {512, 2, convert<std::uint16_t>},
                                          {768, 4, convert<std::uint32_t>},
                                          {1024, 8, convert<std::int64_t>},
                                          {1280, 8, convert<std::uint64_t>}}};

Result<void> takeShape(const Fields& fields, const std::string& where, Volume& out)
{
    const std::int64_t dimensions = fields.dim[0];
    if (dimensions < 3 || dimensions > 7)
        return tl::unexpected(
            broken(profiler::message<"data.nifti.dimensions", "it has {dimensions} dimensions, not 3 or 4">(
                       {{"dimensions", dimensions}}),
                   where));
    std::int64_t values = 1;
    for (std::int64_t i = 1; i <= dimensions; ++i) {
        const std::int64_t size = fields.dim[static_cast<std::size_t>(i)];
        if (size < 1 || size > kMostVoxels / values || (i > 4 && size != 1))
            return tl::unexpected(
                broken(profiler::message<"data.nifti.size", "its dimension {dimension} is {size}, {problem}">(
                           {{"dimension", i},
                            {"size", size},
                            {"problem", size < 1 ? "but must be at least 1"
                                        : i > 4  ? "but only the first four are read"
                                                 : "more than a volume can have"}}),
                       where));
        values *= size;
    }
    out.size = {fields.dim[3], fields.dim[2], fields.dim[1]};
    out.channels = values / out.voxels();
    return {};
}

} // namespace

Result<std::span<const std::uint8_t>> inflated(std::span<const std::uint8_t> file, std::vector<std::uint8_t>& space,
                                               std::size_t most, const std::string& where)
{
    if (file.size() < 2 || file[0] != 0x1f || file[1] != 0x8b)
        return file;
    z_stream stream{};
    if (inflateInit2(&stream, kGzip) != Z_OK)
        return profiler::fail<"data.nifti.memory", "out of memory while decompressing it">(Error::Code::Io, where);
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    stream.next_in = const_cast<Bytef*>(file.data());
    stream.avail_in = static_cast<uInt>(file.size());
    space.clear();
    for (int status = Z_OK; status != Z_STREAM_END;) {
        const std::size_t have = space.size();
        if (have > most)
            return tl::unexpected(broken(profiler::message<"data.nifti.unpacked", "it decompresses to more than "
                                                                                  "{most} MB">({{"most", most >> 20}}),
                                         where));
        space.resize(have + kChunk);
        stream.next_out = space.data() + have;
        stream.avail_out = static_cast<uInt>(kChunk);
        status = inflate(&stream, Z_NO_FLUSH);
        space.resize(have + kChunk - stream.avail_out);
        if (status != Z_OK && status != Z_STREAM_END)
            return tl::unexpected(broken(
                stream.avail_in == 0 ? profiler::message<"data.nifti.cut_gzip", "the compressed file is truncated">()
                                     : profiler::message<"data.nifti.unpack", "it cannot be decompressed">(),
                where));
    }
    return std::span<const std::uint8_t>(space);
}

Result<void> parseNifti(std::span<const std::uint8_t> bytes, const std::string& where, Volume& out)
{
    const auto fields = fieldsOf(bytes, where);
    if (!fields)
        return tl::unexpected(fields.error());
    if (auto shape = takeShape(*fields, where, out); !shape)
        return shape;
    const auto type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& known) { return known.code == fields->type; });
    if (type == kTypes.end())
        return profiler::fail<"data.nifti.type", "its element type {type} is not supported">(
            Error::Code::Unsupported, where, "export it as float32 or int16", {{"type", fields->type}});
    const auto values = static_cast<std::size_t>(out.voxels() * out.channels);
    if (!(fields->offset >= 0) || fields->offset > static_cast<double>(bytes.size()))
        return tl::unexpected(
            broken(profiler::message<"data.nifti.offset", "its voxels start after the end of the file">(), where));
    const auto data = bytes.subspan(static_cast<std::size_t>(fields->offset));
    if (data.size() < values * type->bytes)
        return tl::unexpected(broken(
            profiler::message<"data.nifti.length", "the header declares {wanted} voxels, but the file contains "
                                                   "{have}">({{"wanted", values}, {"have", data.size() / type->bytes}}),
            where));
    out.values.resize(values);
    type->convert(data, out.values);
    // A slope of 0 means that values are not scaled.
    if (fields->slope != 0 && std::isfinite(fields->slope) && std::isfinite(fields->intercept))
        for (float& value : out.values)
            value = static_cast<float>(value * fields->slope + fields->intercept);
    return {};
}

Result<void> writeNifti(const std::filesystem::path& path, const Volume& volume, bool labels)
{
    std::vector<std::uint8_t> bytes(kDataOffset1);
    const auto put = [&](std::size_t offset, auto value) { std::memcpy(bytes.data() + offset, &value, sizeof(value)); };
    put(0, std::int32_t{kHeader1});
    const std::array<std::int64_t, 5> dim = {volume.channels > 1 ? 4 : 3, volume.size[2], volume.size[1],
                                             volume.size[0], volume.channels};
    for (std::size_t i = 0; i < 8; ++i)
        put(40 + 2 * i, static_cast<std::int16_t>(i < dim.size() ? dim[i] : 1));
    put(70, static_cast<std::int16_t>(labels ? 2 : 16));
    put(72, static_cast<std::int16_t>(labels ? 8 : 32));
    for (std::size_t i = 0; i < 4; ++i)
        put(76 + 4 * i, 1.0F);
    put(108, static_cast<float>(kDataOffset1));
    put(112, 1.0F);
    std::memcpy(bytes.data() + 344, "n+1", 4);
    const std::size_t data = bytes.size();
    bytes.resize(data + volume.values.size() * (labels ? 1 : sizeof(float)));
    if (labels)
        for (std::size_t i = 0; i < volume.values.size(); ++i)
            bytes[data + i] = static_cast<std::uint8_t>(volume.values[i]);
    else
        std::memcpy(bytes.data() + data, volume.values.data(), volume.values.size() * sizeof(float));
    if (path.extension() != ".gz")
        return writeFile(path, bytes);
    const std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file(gzopen(path.c_str(), "wbe1"), gzclose);
    if (!file || gzwrite(file.get(), bytes.data(), static_cast<unsigned>(bytes.size())) != std::ssize(bytes))
        return tl::unexpected(fileError(errno, "the volume cannot be written", path));
    return {};
}

} // namespace trainer::data
