#include "profiler/formats/container/details_codec.h"

#include "profiler/formats/container/details_values.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace profiler::packed {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 20; ///< values per section

using Keys = std::vector<std::uint32_t>; ///< indexes of the names of a slice's details, in order

/// The detail names that some slices have in common.
struct Shape {
    Keys keys;
    std::vector<std::uint32_t> slices; ///< the slices with this shape
};

std::vector<Shape> shapesOf(std::span<const SliceDetails> all, std::vector<std::string_view>& names,
                            std::vector<std::int64_t>& shapeOf)
{
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    std::map<Keys, std::uint32_t> known;
    std::vector<Shape> shapes;
    Keys keys;
    for (std::uint32_t slice = 0; slice < all.size(); ++slice) {
        keys.clear();
        for (const auto& [name, value] : all[slice]) {
            const auto [place, isNew] = numbers.try_emplace(name, static_cast<std::uint32_t>(names.size()));
            if (isNew)
                names.push_back(name);
            keys.push_back(place->second);
        }
        const auto [place, isNew] = known.try_emplace(keys, static_cast<std::uint32_t>(shapes.size()));
        if (isNew)
            shapes.push_back({keys, {}});
        shapes[place->second].slices.push_back(slice);
        shapeOf.push_back(place->second);
    }
    return shapes;
}

/// Reads the names of details and the shapes that use them.
bool takeShapes(ByteReader& reader, std::vector<std::string>& names, std::vector<Shape>& shapes)
{
    std::uint32_t count = reader.takeCount(sizeof count);
    if (count > kMostCells)
        return false;
    for (; count > 0 && !reader.failed(); --count)
        names.emplace_back(reader.takeText());
    count = reader.takeCount(sizeof count);
    if (count > details_limit::kSlices) // every shape belongs to at least one slice
        return false;
    for (; count > 0 && !reader.failed(); --count) {
        Shape shape;
        shape.keys.resize(reader.takeCount(sizeof(std::uint32_t)));
        if (shape.keys.size() > details_limit::kEntries)
            return false;
        for (std::uint32_t& key : shape.keys) {
            key = reader.take<std::uint32_t>();
            if (key >= names.size())
                return false;
        }
        shapes.push_back(std::move(shape));
    }
    return !reader.failed();
}

/// Reads the shape of each slice; false if the data is invalid.
bool takeShapesOfSlices(ByteReader& reader, std::size_t count, std::vector<Shape>& shapes)
{
    std::vector<std::int64_t> shapeOf(count);
    reader.takeColumn(shapeOf);
    std::size_t cells = 0;
    for (std::uint32_t slice = 0; slice < count; ++slice) {
        const std::int64_t shape = shapeOf[slice];
        if (reader.failed() || shape < 0 || static_cast<std::size_t>(shape) >= shapes.size())
            return false;
        shapes[static_cast<std::size_t>(shape)].slices.push_back(slice);
        cells += shapes[static_cast<std::size_t>(shape)].keys.size();
    }
    return cells <= kMostCells;
}

std::size_t sizeOfEntry(const std::pair<std::string, std::string>& entry)
{
    return entry.first.size() + entry.second.size() + sizeof(std::uint64_t);
}

} // namespace

std::size_t sizeOf(const SliceDetails& details)
{
    std::size_t size = 0;
    for (const auto& entry : details)
        size += sizeOfEntry(entry);
    return size;
}

void limitDetails(SliceDetails& details)
{
    std::size_t size = 0, kept = 0;
    for (; kept < details.size() && kept + 1 < details_limit::kEntries; ++kept) {
        size += sizeOfEntry(details[kept]);
        if (size > details_limit::kOfSlice)
            break;
    }
    if (kept == details.size())
        return;
    const std::size_t left = details.size() - kept;
    details.resize(kept);
    details.emplace_back("…", std::to_string(left) + " more are too long for this copy");
}

Bytes encodeDetails(std::uint64_t first, std::span<const SliceDetails> all)
{
    std::vector<std::string_view> names;
    std::vector<std::int64_t> shapeOf;
    const std::vector<Shape> shapes = shapesOf(all, names, shapeOf);
    ByteWriter writer;
    writer.put(DetailsHead{first, static_cast<std::uint32_t>(all.size()), 0});
    writer.put(static_cast<std::uint32_t>(names.size()));
    for (const std::string_view name : names)
        writer.putText(name);
    writer.put(static_cast<std::uint32_t>(shapes.size()));
    for (const Shape& shape : shapes) {
        writer.put(static_cast<std::uint32_t>(shape.keys.size()));
        for (const std::uint32_t key : shape.keys)
            writer.put(key);
    }
    writer.putColumn(shapeOf);
    std::vector<std::string_view> values;
    for (const Shape& shape : shapes) {
        for (std::size_t i = 0; i < shape.keys.size(); ++i) {
            values.clear();
            for (const std::uint32_t slice : shape.slices)
                values.push_back(all[slice][i].second);
            putValues(writer, values);
        }
    }
    return std::move(writer.bytes());
}

std::optional<DetailsHead> headOfDetails(std::span<const std::byte> raw)
{
    ByteReader reader{raw};
    const auto head = reader.take<DetailsHead>();
    return reader.failed() ? std::nullopt : std::optional{head};
}

std::optional<DecodedDetails> decodeDetails(std::span<const std::byte> raw)
{
    ByteReader reader{raw};
    const auto head = reader.take<DetailsHead>();
    if (reader.failed() || head.count > details_limit::kSlices)
        return std::nullopt;
    std::vector<std::string> names;
    std::vector<Shape> shapes;
    if (!takeShapes(reader, names, shapes) || !takeShapesOfSlices(reader, head.count, shapes))
        return std::nullopt;
    DecodedDetails decoded{head.first, {}};
    decoded.slices.resize(head.count);
    std::size_t room = 2 * (details_limit::kBytes + details_limit::kOfSlice);
    for (const Shape& shape : shapes) {
        for (const std::uint32_t key : shape.keys) {
            // A name is stored once per section, but used once per slice.
            if (!shape.slices.empty() && names[key].size() > room / shape.slices.size())
                return std::nullopt;
            room -= names[key].size() * shape.slices.size();
            auto values = takeValues(reader, shape.slices.size(), room);
            if (!values)
                return std::nullopt;
            for (std::size_t i = 0; i < shape.slices.size(); ++i)
                decoded.slices[shape.slices[i]].emplace_back(names[key], std::move((*values)[i]));
        }
    }
    return reader.failed() || !reader.atEnd() ? std::nullopt : std::optional{std::move(decoded)};
}

} // namespace profiler::packed
