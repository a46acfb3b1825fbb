#include "trainer/data/npy_file.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

// Parses the header described in NumPy Enhancement Proposal 1 and numpy.lib.format: magic, version, length, then a
// Python dictionary as text.
namespace trainer::data {

namespace {

using profiler::Error;
using profiler::Result;

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

} // namespace trainer::data
