#include "profiler/formats/container/slice_details.h"

#include "profiler/formats/container/block_file.h"

#include <algorithm>
#include <cstdint>
#include <fmt/core.h>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace profiler::container {

namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 20; ///< values per block

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
            // A name is stored once per block, but used once per slice.
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

namespace {

enum class Coding : std::uint8_t {
    Numbers, ///< a column of mantissas, and a column with their numbers of decimal places
    Steps,   ///< as Numbers, but with differences between consecutive mantissas
    Texts,   ///< the distinct texts, and a column of indexes
};

constexpr std::size_t kMostDigits = 17; ///< always fits in 64 bits

/// 12.50 is stored as 1250 with two decimal places.
struct Number {
    std::int64_t mantissa = 0;
    std::int64_t digits = 0;
};

std::string textOf(Number number)
{
    std::string text = std::to_string(number.mantissa);
    if (number.digits == 0)
        return text;
    const std::size_t sign = number.mantissa < 0 ? 1 : 0;
    const auto digits = static_cast<std::size_t>(number.digits);
    if (text.size() - sign <= digits)
        text.insert(sign, digits + 1 + sign - text.size(), '0');
    text.insert(text.size() - digits, 1, '.');
    return text;
}

/// Empty if the number would not convert back to the same text: a plus sign, a leading zero, an exponent, or too many
/// digits.
std::optional<Number> numberOf(std::string_view text)
{
    const bool negative = text.starts_with('-');
    text.remove_prefix(negative ? 1 : 0);
    const std::size_t point = text.find('.');
    const std::size_t whole = std::min(point, text.size());
    Number number;
    number.digits = point == text.npos ? 0 : static_cast<std::int64_t>(text.size() - point - 1);
    const bool needlessZero = whole > 1 && text.front() == '0';
    const bool endsWithPoint = point != text.npos && number.digits == 0;
    if (whole == 0 || needlessZero || endsWithPoint || text.size() > kMostDigits + 1)
        return std::nullopt;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == point)
            continue;
        if (text[i] < '0' || text[i] > '9')
            return std::nullopt;
        number.mantissa = number.mantissa * 10 + (text[i] - '0');
    }
    if (negative && number.mantissa == 0)
        return std::nullopt;
    number.mantissa = negative ? -number.mantissa : number.mantissa;
    return number;
}

bool putNumbers(ByteWriter& writer, std::span<const std::string_view> values)
{
    std::vector<std::int64_t> mantissas, digits, steps;
    std::int64_t last = 0;
    for (const std::string_view value : values) {
        const auto number = numberOf(value);
        if (!number)
            return false;
        // Differences wrap around, and so do the sums when reading.
        const auto step = static_cast<std::uint64_t>(number->mantissa) - static_cast<std::uint64_t>(last);
        steps.push_back(mantissas.empty() ? 0 : static_cast<std::int64_t>(step));
        last = number->mantissa;
        mantissas.push_back(last);
        digits.push_back(number->digits);
    }
    const auto spread = [](const std::vector<std::int64_t>& column) {
        const auto [low, high] = std::minmax_element(column.begin(), column.end());
        return static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    };
    const bool stepped = !values.empty() && spread(steps) < spread(mantissas);
    writer.put(stepped ? Coding::Steps : Coding::Numbers);
    if (stepped)
        writer.put(mantissas.front());
    writer.putColumn(stepped ? steps : mantissas);
    writer.putColumn(digits);
    return true;
}

void putTexts(ByteWriter& writer, std::span<const std::string_view> values)
{
    std::unordered_map<std::string_view, std::int64_t> numbers;
    std::vector<std::string_view> texts;
    std::vector<std::int64_t> which;
    for (const std::string_view value : values) {
        const auto [place, isNew] = numbers.try_emplace(value, static_cast<std::int64_t>(texts.size()));
        if (isNew)
            texts.push_back(value);
        which.push_back(place->second);
    }
    writer.put(Coding::Texts);
    writer.put(static_cast<std::uint32_t>(texts.size()));
    for (const std::string_view text : texts)
        writer.putText(text);
    writer.putColumn(which);
}

std::optional<std::vector<std::string>> takeNumbers(ByteReader& reader, std::size_t count, bool stepped)
{
    std::vector<std::int64_t> mantissas(count), digits(count);
    const std::int64_t first = stepped ? reader.take<std::int64_t>() : 0;
    reader.takeColumn(mantissas);
    reader.takeColumn(digits);
    if (reader.failed())
        return std::nullopt;
    std::vector<std::string> texts;
    texts.reserve(count);
    auto last = static_cast<std::uint64_t>(first);
    for (std::size_t i = 0; i < count; ++i) {
        last = (stepped ? last : 0) + static_cast<std::uint64_t>(mantissas[i]);
        if (digits[i] < 0 || digits[i] > static_cast<std::int64_t>(kMostDigits) + 1)
            return std::nullopt;
        texts.push_back(textOf({static_cast<std::int64_t>(last), digits[i]}));
    }
    return texts;
}

std::optional<std::vector<std::string>> takeTexts(ByteReader& reader, std::size_t count, std::size_t& room)
{
    std::vector<std::string_view> texts;
    for (std::uint32_t different = reader.takeCount(sizeof different); different > 0 && !reader.failed(); --different)
        texts.push_back(reader.takeText());
    std::vector<std::int64_t> which(count);
    reader.takeColumn(which);
    if (reader.failed())
        return std::nullopt;
    std::vector<std::string> all;
    all.reserve(count);
    for (const std::int64_t number : which) {
        if (number < 0 || static_cast<std::size_t>(number) >= texts.size())
            return std::nullopt;
        const std::string_view text = texts[static_cast<std::size_t>(number)];
        if (text.size() > room) // a text that is repeated a thousand times needs more than its size in the block
            return std::nullopt;
        room -= text.size();
        all.emplace_back(text);
    }
    return all;
}

} // namespace

void putValues(ByteWriter& writer, std::span<const std::string_view> values)
{
    if (!putNumbers(writer, values))
        putTexts(writer, values);
}

std::optional<std::vector<std::string>> takeValues(ByteReader& reader, std::size_t count, std::size_t& room)
{
    switch (reader.take<Coding>()) {
    case Coding::Numbers:
        return takeNumbers(reader, count, false);
    case Coding::Steps:
        return takeNumbers(reader, count, true);
    case Coding::Texts:
        return takeTexts(reader, count, room);
    }
    return std::nullopt;
}

namespace {

/// Collects the details of consecutive slices until they fill a block.
class DetailsBlocks {
public:
    DetailsBlocks(DetailsOfBlock& made, std::uint64_t first) : m_made(made), m_first(first) {}

    Result<void> add(SliceDetails details)
    {
        limitDetails(details);
        m_any = m_any || !details.empty();
        m_bytes += sizeOf(details);
        m_slices.push_back(std::move(details));
        return m_slices.size() >= details_limit::kSlices || m_bytes > details_limit::kBytes ? close() : Result<void>{};
    }

    Result<void> close()
    {
        const std::uint64_t first = std::exchange(m_first, m_first + m_slices.size());
        const std::vector<SliceDetails> slices = std::exchange(m_slices, {});
        m_bytes = 0;
        if (!std::exchange(m_any, false))
            return {};
        return packBlock(FrameType::Details, encodeDetails(first, slices)).map([&](Bytes&& bytes) {
            m_made.blocks.push_back({first, std::move(bytes)});
        });
    }

private:
    DetailsOfBlock& m_made;
    std::uint64_t m_first;
    std::vector<SliceDetails> m_slices;
    std::size_t m_bytes = 0;
    bool m_any = false; ///< at least one slice has details
};

} // namespace

Result<DetailsOfBlock> packDetails(const ArgSource* source, std::span<RawSlice> slices, std::uint64_t first,
                                   const std::stop_token& stop)
{
    DetailsOfBlock made;
    std::vector<std::uint64_t> places;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (source && slices[i].source() != 0) {
            places.push_back(slices[i].source());
            which.push_back(i);
        }
        slices[i].setSource(0);
    }
    DetailsBlocks blocks(made, first);
    Result<void> done;
    std::size_t next = 0, at = 0;
    const auto take = [&](Result<SliceDetails> details) {
        const std::size_t slice = which[at++];
        for (; next < slice && done; ++next)
            done = blocks.add({});
        if (!details) {
            if (made.unread++ == 0)
                made.whyUnread = details.error().message();
            details = SliceDetails{};
        }
        if (!details->empty())
            slices[slice].setSource(first + slice);
        if (done)
            done = blocks.add(std::move(*details));
        ++next;
        if (stop.stop_requested())
            done = fail<"save.trace_cancelled", "saving the trace was cancelled">(Error::Code::Cancelled);
        return done.has_value();
    };
    if (!places.empty())
        source->readMany(places, take);
    if (done)
        done = blocks.close();
    if (!done)
        return tl::unexpected(done.error());
    return made;
}

namespace {

bool holds(const DecodedDetails& block, std::uint64_t source)
{
    return source >= block.first && source - block.first < block.slices.size();
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

Result<SealedDetails::Block> SealedDetails::blockOf(std::uint64_t source) const
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_last && holds(*m_last, source))
            return m_last;
    }
    const auto after = std::upper_bound(m_entries.begin(), m_entries.end(), source,
                                        [](std::uint64_t number, const DetailsEntry& e) { return number < e.first; });
    if (after == m_entries.begin())
        return Block{};
    const DetailsEntry& entry = *std::prev(after);
    const auto raw = m_file->read(entry.offset, FrameType::Details);
    if (!raw)
        return tl::unexpected(raw.error());
    auto decoded = decodeDetails(*raw);
    if (!decoded || decoded->first != entry.first)
        return fail<"trace.bad_details", "the details of these slices are damaged">(
            Error::Code::Malformed, fmt::format("{}, byte {}", m_file->path().string(), entry.offset));
    auto block = std::make_shared<const DecodedDetails>(std::move(*decoded));
    const std::scoped_lock lock(m_mutex);
    m_last = block;
    return block;
}

Result<SliceDetails> SealedDetails::readFrom(const Result<Block>& block, std::uint64_t source)
{
    if (!block)
        return tl::unexpected(block.error());
    if (!*block || !holds(**block, source))
        return SliceDetails{};
    return (*block)->slices[source - (*block)->first];
}

Result<SliceDetails> SealedDetails::read(std::uint64_t source) const
{
    return readFrom(blockOf(source), source);
}

void SealedDetails::readMany(std::span<const std::uint64_t> sources,
                             const std::function<bool(Result<SliceDetails>)>& take) const
{
    Result<Block> block = Block{}; // each caller iterates over its own blocks
    for (const std::uint64_t source : sources) {
        if (!block || !*block || !holds(**block, source))
            block = blockOf(source);
        if (!take(readFrom(block, source)))
            return;
    }
}

} // namespace profiler::container
