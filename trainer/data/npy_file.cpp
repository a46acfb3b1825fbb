#include "trainer/data/npy_file.h"

#include "profiler/os/files.h"
#include "trainer/data/file_bytes.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;
namespace os = profiler::os;

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
