#include "profiler/formats/pytorch/event_details.h"
#include "profiler/formats/pytorch/values.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace profiler::formats::json {

namespace {

/// Adds the entries of a valid object.
void addEntries(std::string_view object, Values& reader, SliceDetails& details, bool outermost)
{
    forEachEntry(object, reader, [&](std::string_view rawKey, std::string_view value) {
        std::string key = unescaped(rawKey);
        if (outermost && key == "args" && value.front() == '{')
            addEntries(value, reader, details, false);
        else
            details.emplace_back(std::move(key), value.front() == '[' ? plainArray(value) : plainValue(value));
    });
}

/// Approximate bytes of memory.
std::size_t sizeOf(const SliceDetails& details)
{
    std::size_t size = 0;
    for (const auto& entry : details)
        size += sizeof entry + entry.first.size() + entry.second.size();
    return size;
}

class EventDetails final : public ArgSource {
public:
    explicit EventDetails(std::shared_ptr<ByteSource> source) : m_source(std::move(source)) {}

    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        if (!m_source->unchanged())
            return tl::unexpected(changed(source));
        TextWindow window(*m_source);
        return readAt(window, source);
    }

    void readMany(std::span<const std::uint64_t> sources,
                  const std::function<bool(Result<SliceDetails>)>& take) const override
    {
        const bool unchanged = m_source->unchanged();
        TextWindow window(*m_source);
        // Neighbours on a track are near each other in the file, but not in order. Reads them in file order and
        // delivers them in the requested order.
        std::size_t together = kMostTogether;
        std::vector<Result<SliceDetails>> read;
        while (!sources.empty()) {
            const auto some = sources.first(std::min(together, sources.size()));
            const std::size_t held = readInOrder(window, some, unchanged, read);
            if (held > kMostHeld && some.size() > 1) {
                together = some.size() / 2;
                continue;
            }
            if (held < kMostHeld / 4)
                together = std::min(kMostTogether, 2 * together);
            for (Result<SliceDetails>& details : read)
                if (!take(std::move(details)))
                    return;
            sources = sources.subspan(some.size());
        }
    }

private:
    static constexpr std::size_t kMostTogether = 4096;              ///< events that are read in file order at a time
    static constexpr std::size_t kMostHeld = std::size_t{16} << 20; ///< limit of their details in bytes

    /// @param read  parallel to `sources`; entries are empty if kMostHeld was exceeded before they were read
    /// @return bytes of memory that the details take
    [[nodiscard]] std::size_t readInOrder(TextWindow& window, std::span<const std::uint64_t> sources, bool unchanged,
                                          std::vector<Result<SliceDetails>>& read) const
    {
        std::vector<std::uint32_t> order(sources.size());
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return sources[a] < sources[b]; });
        read.assign(sources.size(), SliceDetails{});
        std::size_t held = 0;
        for (const std::uint32_t i : order) {
            if (held > kMostHeld)
                break;
            read[i] = unchanged ? readAt(window, sources[i]) : tl::unexpected(changed(sources[i]));
            if (read[i])
                held += sizeOf(*read[i]);
        }
        return held;
    }

    [[nodiscard]] std::string placeOf(std::uint64_t source) const
    {
        return m_source->path().string() + ", byte " + std::to_string(source);
    }
    [[nodiscard]] Error changed(std::uint64_t source) const
    {
        return makeError<"file.changed", "the file has changed since it was opened">(
            Error::Code::Invalid, placeOf(source), "open the file again");
    }

    /// Reads the event from the window if the window contains it completely.
    [[nodiscard]] Result<SliceDetails> readAt(TextWindow& window, std::uint64_t source) const
    {
        Values reader;
        bool fresh = false;
        for (;;) {
            const char* event = window.placeOf(source);
            reader.end = window.end();
            if (event != window.end() && *event != '{')
                break;
            if (const char* after = event == window.end() ? nullptr : reader.any(event)) {
                SliceDetails details;
                addEntries({event, static_cast<std::size_t>(after - event)}, reader, details, true);
                return details;
            }
            if (event != window.end() && reader.problem < window.end())
                break;
            if (!fresh)
                window.moveTo(source);
            fresh = true;
            if (!window.readOn(window.begin()))
                break;
        }
        return fail<"json.event_gone", "the event can no longer be read from the file">(
            Error::Code::Malformed, placeOf(source), "open the file again");
    }

    std::shared_ptr<ByteSource> m_source;
};

} // namespace

std::shared_ptr<const ArgSource> eventDetails(std::shared_ptr<ByteSource> source)
{
    return std::make_shared<EventDetails>(std::move(source));
}

} // namespace profiler::formats::json
