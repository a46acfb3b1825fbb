#include "profiler/io/formats/json/event_details.h"

#include "profiler/io/formats/json/text_window.h"
#include "profiler/io/formats/json/texts.h"

#include "profiler/io/formats/json/values.h"

namespace profiler::formats::json {

namespace {

/// The entries of an object whose grammar is sound.
void addEntries(std::string_view object, Values& reader, SliceDetails& details, bool outermost)
{
    const char* p = skipSpace(object.data() + 1);
    while (*p != '}') {
        const char* after = reader.text(p);
        const std::string key = unescaped({p + 1, static_cast<std::size_t>(after - p - 2)});
        p = skipSpace(skipSpace(after) + 1);
        after = reader.any(p);
        const std::string_view raw(p, static_cast<std::size_t>(after - p));
        if (outermost && key == "args" && raw.front() == '{')
            addEntries(raw, reader, details, false);
        else if (raw.front() == '"')
            details.emplace_back(key, unescaped(raw.substr(1, raw.size() - 2)));
        else
            details.emplace_back(key, raw.front() == '[' ? plainArray(raw) : std::string(raw));
        p = skipSpace(after);
        if (*p == ',')
            p = skipSpace(p + 1);
    }
}

class EventDetails final : public ArgSource {
public:
    explicit EventDetails(std::shared_ptr<ByteSource> source) : m_source(std::move(source)) {}

    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        const std::string where = m_source->path().string() + ", byte " + std::to_string(source);
        if (!m_source->unchanged())
            return tl::unexpected(
                Error{Error::Code::Invalid, "the file has changed since it was opened", where, "open it again"});
        TextWindow window(*m_source);
        window.moveTo(source);
        Values reader;
        do {
            if (!window.readOn(window.begin()))
                break;
            reader.end = window.end();
            if (*window.begin() != '{')
                break;
            if (const char* after = reader.any(window.begin())) {
                SliceDetails details;
                addEntries({window.begin(), static_cast<std::size_t>(after - window.begin())}, reader, details, true);
                return details;
            }
        } while (reader.problem >= window.end());
        return tl::unexpected(
            Error{Error::Code::Malformed, "the event can no longer be read", where, "open the file again"});
    }

private:
    std::shared_ptr<ByteSource> m_source;
};

} // namespace

std::shared_ptr<const ArgSource> eventDetails(std::shared_ptr<ByteSource> source)
{
    return std::make_shared<EventDetails>(std::move(source));
}

} // namespace profiler::formats::json
