#include "trainer/data/npy_file.h"

#include "profiler/os/files.h"
#include "trainer/data/file_bytes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;
namespace os = profiler::os;

// The header is described in NumPy Enhancement Proposal 1 and numpy.lib.format: magic, version, length, then a Python
// dictionary as text.
constexpr std::array<char, 6> kMagic = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kMostDimensions = 32;

struct TypeName {
    std::string_view descr, text;
    NpyType type;
    std::size_t bytes;
};
constexpr std::array<TypeName, 11> kTypes = {{{"<f2", "float16", NpyType::Float16, 2},
                                              {"<f4", "float32", NpyType::Float32, 4},
                                              {"<f8", "float64", NpyType::Float64, 8},
                                              {"|i1", "int8", NpyType::Int8, 1},
                                              {"<i2", "int16", NpyType::Int16, 2},
                                              {"<i4", "int32", NpyType::Int32, 4},
                                              {"<i8", "int64", NpyType::Int64, 8},
                                              {"|u1", "uint8", NpyType::UInt8, 1},
                                              {"<u2", "uint16", NpyType::UInt16, 2},
                                              {"<u4", "uint32", NpyType::UInt32, 4},
                                              {"|b1", "bool", NpyType::Bool, 1}}};

const TypeName& nameOf(NpyType type)
{
    for (const TypeName& known : kTypes)
        if (known.type == type)
            return known;
    return kTypes[1];
}

/// The text after `key` up to the end of the value in "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
std::optional<std::string_view> valueOf(std::string_view text, std::string_view key)
{
    const auto found = text.find(key);
    if (found == std::string_view::npos)
        return std::nullopt;
    auto rest = text.substr(found + key.size());
    const auto begin = rest.find_first_not_of(" :");
    return begin == std::string_view::npos ? std::nullopt : std::optional(rest.substr(begin));
}

Result<NpyType> typeOf(std::string_view text, const std::string& where)
{
    const auto failed = [&](profiler::Message what, std::string hint) {
        return tl::unexpected(Error{Error::Code::Unsupported, std::move(what), where, std::move(hint)});
    };
    const auto value = valueOf(text, "'descr'");
    if (!value || value->empty() || value->front() != '\'')
        return failed(profiler::message<"data.npy.records", "its elements are records or have an unknown type">(),
                      "save an array of plain numbers");
    const std::string_view descr = value->substr(1, value->find('\'', 1) - 1);
    for (const TypeName& known : kTypes)
        if (known.descr == descr)
            return known.type;
    if (descr.find('O') != std::string_view::npos)
        return failed(profiler::message<"data.npy.objects", "it contains Python objects, which only Python can read">(),
                      "save an array of plain numbers");
    if (descr.starts_with('>'))
        return failed(
            profiler::message<"data.npy.big_endian", "its numbers are big-endian ({type})">({{"type", descr}}),
            "save it with, for example, .astype('<f4')");
    return failed(profiler::message<"data.npy.type", "its element type {type} is not supported">({{"type", descr}}),
                  "save it with .astype('<f4') or '<i8'");
}

Result<std::vector<std::int64_t>> shapeOf(std::string_view text, const std::string& where)
{
    const auto failed = [&](profiler::Message what) {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what), where, "save the array again"});
    };
    const auto value = valueOf(text, "'shape'");
    if (!value || value->empty() || value->front() != '(')
        return failed(profiler::message<"data.npy.no_shape", "the header has no shape">());
    std::vector<std::int64_t> shape;
    std::int64_t elements = 1;
    for (std::string_view rest = value->substr(1); !rest.empty() && rest.front() != ')';) {
        std::int64_t size = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
        if (error != std::errc() || size < 0 || shape.size() == kMostDimensions)
            return failed(profiler::message<"data.npy.bad_shape", "the header's shape cannot be read">());
        if (size > 0 && elements > kMostElements / size)
            return failed(profiler::message<"data.npy.too_many", "the header declares more elements than supported">());
        elements *= size;
        shape.push_back(size);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        rest.remove_prefix(std::min(rest.find_first_not_of("L, "), rest.size()));
    }
    return shape;
}

/// Reads at an offset: everything or an error.
Result<void> readAt(int file, std::span<std::byte> to, std::size_t offset, const std::string& where)
{
    const os::Transfer read = os::readAt(file, offset, to);
    if (read.error != 0)
        return tl::unexpected(fileError(read.error, "the array cannot be read", where));
    if (read.bytes < to.size())
        return profiler::fail<"data.npy.shrunk", "the file was truncated while reading it">(Error::Code::Malformed,
                                                                                            where, "save it again");
    return {};
}

Result<void> checkLength(const NpyHeader& header, std::size_t have, const std::string& where)
{
    const std::size_t wanted = header.dataOffset + header.dataBytes();
    if (have == wanted)
        return {};
    const std::int64_t rows = header.shape.empty() ? 0 : header.shape[0];
    const std::size_t rowBytes = rows > 0 ? header.dataBytes() / static_cast<std::size_t>(rows) : 0;
    const std::string at =
        have < wanted && rowBytes > 0
            ? fmt::format(": it ends in row {} of {}", (have - std::min(have, header.dataOffset)) / rowBytes, rows)
            : "";
    return profiler::fail<"data.npy.length", "the header declares {wanted} bytes, but the file has {have}{where}">(
        Error::Code::Malformed, where, "save or copy the array again",
        {{"wanted", wanted}, {"have", have}, {"where", at}});
}

/// IEEE 754 half precision.
float fromHalf(std::uint16_t half)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16, exponent = (half >> 10) & 0x1fU,
                        fraction = half & 0x3ffU;
    if (exponent == 0) {
        const float small = static_cast<float>(fraction) * 0x1p-24F;
        return sign != 0 ? -small : small;
    }
    return std::bit_cast<float>(sign | (exponent == 31 ? 0x7f800000U : (exponent + 112) << 23) | (fraction << 13));
}

template <class From, class To>
void convert(std::span<const std::byte> from, std::span<To> to)
{
    for (std::size_t i = 0; i < to.size(); ++i) {
        From value;
        std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
        to[i] = static_cast<To>(value); // NOLINT(bugprone-signed-char-misuse): int8 values are numbers
    }
}

template <class To>
void convertInteger(NpyType type, std::span<const std::byte> from, std::span<To> to)
{
    switch (type) {
    case NpyType::Int8:
        return convert<std::int8_t>(from, to);
    case NpyType::Int16:
        return convert<std::int16_t>(from, to);
    case NpyType::Int32:
        return convert<std::int32_t>(from, to);
    case NpyType::Int64:
        return convert<std::int64_t>(from, to);
    case NpyType::UInt16:
        return convert<std::uint16_t>(from, to);
    case NpyType::UInt32:
        return convert<std::uint32_t>(from, to);
    default: // UInt8, Bool
        return convert<std::uint8_t>(from, to);
    }
}

} // namespace

std::size_t sizeOf(NpyType type)
{
    return nameOf(type).bytes;
}

std::string_view toText(NpyType type)
{
    return nameOf(type).text;
}

bool isInteger(NpyType type)
{
    return type != NpyType::Float16 && type != NpyType::Float32 && type != NpyType::Float64;
}

std::int64_t NpyHeader::elements() const
{
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        count *= size;
    return count;
}

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> head, const std::string& where)
{
    const auto broken = [&](profiler::Message what) {
        return tl::unexpected(Error{Error::Code::Malformed, std::move(what), where, "save the array again"});
    };
    if (head.size() < 10 || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0)
        return broken(profiler::message<"data.npy.not_npy", "this is not a .npy file">());
    const auto version = static_cast<unsigned>(head[6]);
    if (version < 1 || version > 3)
        return broken(profiler::message<"data.npy.version", "version {version} of the .npy format is not supported">(
            {{"version", version}}));
    const std::size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes;
    if (head.size() < start)
        return broken(profiler::message<"data.npy.cut_header", "the header of the file is truncated">());
    std::size_t length = 0;
    for (std::size_t i = 0; i < lengthBytes; ++i)
        length |= static_cast<std::size_t>(head[8 + i]) << (8 * i);
    if (length > head.size() - start)
        return broken(head.size() < kNpyHead
                          ? profiler::message<"data.npy.cut_header", "the header of the file is truncated">()
                          : profiler::message<"data.npy.long_header", "the header is too long">());
    const std::string_view text(reinterpret_cast<const char*>(head.data()) + start, length);
    const auto type = typeOf(text, where);
    if (!type)
        return tl::unexpected(type.error());
    auto shape = shapeOf(text, where);
    if (!shape)
        return tl::unexpected(shape.error());
    const auto fortran = valueOf(text, "'fortran_order'");
    if (!fortran || (fortran->starts_with("True") && shape->size() > 1))
        return profiler::fail<"data.npy.fortran_order", "it is stored in column-major order (fortran_order)">(
            Error::Code::Unsupported, where, "save it with numpy.ascontiguousarray");
    NpyHeader header{*type, std::move(*shape), start + length};
    if (header.elements() > std::numeric_limits<std::int64_t>::max() / 16)
        return broken(profiler::message<"data.npy.too_many", "the header declares more elements than supported">());
    return header;
}

Result<NpyArray> NpyArray::open(const std::filesystem::path& path)
{
    auto file = std::make_shared<const os::Descriptor>(os::openToRead(path));
    const auto state = *file ? os::stateOf(file->get()) : std::nullopt;
    if (!state)
        return tl::unexpected(fileError(errno, "the array cannot be read", path));
    NpyArray array;
    array.m_where = path.string();
    array.m_file = std::move(file);
    const std::size_t size = state->bytes;
    std::vector<std::byte> head(std::min(size, kNpyHead));
    if (auto read = readAt(array.m_file->get(), head, 0, array.m_where); !read)
        return tl::unexpected(read.error());
    auto header = parseNpyHeader(head, array.m_where);
    if (!header)
        return tl::unexpected(header.error());
    array.m_header = std::move(*header);
    if (auto whole = checkLength(array.m_header, size, array.m_where); !whole)
        return tl::unexpected(whole.error());
    return array;
}

Result<NpyArray> NpyArray::fromBytes(std::vector<std::byte> bytes, const std::string& where)
{
    auto header = parseNpyHeader(bytes, where);
    if (!header)
        return tl::unexpected(header.error());
    if (auto whole = checkLength(*header, bytes.size(), where); !whole)
        return tl::unexpected(whole.error());
    NpyArray array;
    array.m_where = where;
    array.m_header = std::move(*header);
    array.m_bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return array;
}

std::vector<std::int64_t> NpyArray::sampleShape() const
{
    return m_header.shape.empty() ? m_header.shape : std::vector(m_header.shape.begin() + 1, m_header.shape.end());
}

std::size_t NpyArray::sampleBytes() const
{
    return samples() > 0 ? m_header.dataBytes() / static_cast<std::size_t>(samples()) : 0;
}

Result<std::span<const std::byte>> NpyArray::read(std::int64_t index, std::vector<std::byte>& space) const
{
    const std::size_t bytes = sampleBytes(), offset = m_header.dataOffset + static_cast<std::size_t>(index) * bytes;
    if (m_bytes)
        return std::span(*m_bytes).subspan(offset, bytes);
    space.resize(bytes);
    if (auto got = readAt(m_file->get(), space, offset, m_where); !got)
        return tl::unexpected(got.error());
    return std::span<const std::byte>(space);
}

void toFloat(NpyType type, std::span<const std::byte> from, std::span<float> to)
{
    if (type == NpyType::Float32)
        std::memcpy(to.data(), from.data(), to.size_bytes());
    else if (type == NpyType::Float64)
        convert<double>(from, to);
    else if (type == NpyType::Float16)
        for (std::size_t i = 0; i < to.size(); ++i) {
            std::uint16_t half = 0;
            std::memcpy(&half, from.data() + 2 * i, 2);
            to[i] = fromHalf(half);
        }
    else
        convertInteger(type, from, to);
}

void toInt64(NpyType type, std::span<const std::byte> from, std::span<std::int64_t> to)
{
    convertInteger(type, from, to);
}

Result<void> writeNpy(const std::filesystem::path& path, NpyType type, const std::vector<std::int64_t>& shape,
                      std::span<const std::byte> data)
{
    constexpr std::string_view kCodes = "f2f4f8i1i2i4i8u1u2u4b1";
    const auto code = kCodes.substr(static_cast<std::size_t>(type) * 2, 2);
    std::string header =
        fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", sizeOf(type) == 1 ? '|' : '<',
                    code, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    // The data begin at a multiple of 64 bytes.
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    std::vector<std::uint8_t> bytes(file.begin(), file.end());
    const auto* begin = reinterpret_cast<const std::uint8_t*>(data.data());
    bytes.insert(bytes.end(), begin, begin + data.size());
    return writeFile(path, bytes);
}

} // namespace trainer::data
