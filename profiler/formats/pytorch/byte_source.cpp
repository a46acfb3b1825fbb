#include "profiler/formats/pytorch/byte_source.h"

#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace profiler::formats::json {

namespace {

constexpr std::size_t kInflateBytes = std::size_t{1} << 20;

/// Opens an unnamed file that disappears when it is closed. Without a descriptor if none can be created.
os::Descriptor makeSpill()
{
    const char* wish = std::getenv("TMPDIR");
    // /tmp is often in memory, and the decompressed text is large.
    for (const std::string& folder : {std::string(wish ? wish : ""), std::string("/var/tmp"), std::string("/tmp")})
        if (!folder.empty())
            if (os::Descriptor file = os::openUnnamed(folder))
                return file;
    return {};
}

std::int64_t modifiedNs(int descriptor)
{
    const auto state = os::stateOf(descriptor);
    return state ? state->modified.count() : 0;
}

} // namespace

Result<std::shared_ptr<ByteSource>> ByteSource::open(const std::filesystem::path& path, std::stop_token stop)
{
    auto file = SourceFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    std::array<char, 4> magic{};
    int error = 0;
    const std::size_t bytes = file->read(0, magic, error);
    if (error != 0)
        return tl::unexpected(readError(error, path));
    const Compression compression = compressionOf(std::as_bytes(std::span{magic}.first(bytes)));
    std::shared_ptr<ByteSource> source(new ByteSource(std::move(*file), path));
    source->m_modified = modifiedNs(source->m_file.descriptor());
    if (compression != Compression::None && !source->startInflating(compression, std::move(stop)))
        return fail<"json.no_temporary_file", "cannot create a temporary file for the decompressed trace">(
            Error::Code::Io, path.string(), "set TMPDIR to a folder with enough free space");
    return source;
}

ByteSource::~ByteSource() = default;

bool ByteSource::startInflating(Compression compression, std::stop_token stop)
{
    os::Descriptor spill = makeSpill();
    if (!spill)
        return false;
    m_spill.emplace(spill.release());
    m_inflater = std::jthread(
        [this, compression, stop = std::move(stop)](const std::stop_token& own) { inflate(compression, own, stop); });
    return true;
}

void ByteSource::inflate(Compression compression, const std::stop_token& own, const std::stop_token& stop)
{
    try {
        inflateAll(compression, own, stop);
    } catch (const std::bad_alloc&) {
        const std::scoped_lock lock(m_mutex);
        m_damage = "not enough memory to decompress the trace";
        m_over = true;
        m_grown.notify_all();
    }
}

void ByteSource::inflateAll(Compression compression, const std::stop_token& own, const std::stop_token& stop)
{
    InflateStream stream(m_file, compression);
    const auto buffer = std::make_unique_for_overwrite<char[]>(kInflateBytes);
    const std::span block(buffer.get(), kInflateBytes);
    std::uint64_t offset = 0;
    std::string damage;
    for (bool over = false; !over && !own.stop_requested() && !stop.stop_requested();) {
        const std::size_t bytes = stream.read(block);
        over = bytes < block.size();
        m_taken.store(stream.taken(), std::memory_order_relaxed);
        if (os::writeAllAt(m_spill->descriptor(), offset, std::as_bytes(block.first(bytes))).error != 0) {
            damage = "only " + std::to_string(offset) + " bytes of the decompressed text fit in the temporary folder";
            break;
        }
        offset += bytes;
        const std::scoped_lock lock(m_mutex);
        m_inflated = offset;
        m_grown.notify_all();
    }
    const std::scoped_lock lock(m_mutex);
    m_damage = damage.empty() ? stream.damage() : damage;
    m_trailing = stream.trailing();
    m_over = true;
    m_grown.notify_all();
}

std::uint64_t ByteSource::waitFor(std::uint64_t offset)
{
    std::unique_lock lock(m_mutex);
    m_grown.wait(lock, [&] { return m_over || m_inflated >= offset; });
    return m_inflated;
}

std::size_t ByteSource::read(std::uint64_t offset, std::span<char> out)
{
    int error = 0;
    std::size_t bytes = 0;
    if (m_spill) {
        const std::uint64_t there = waitFor(offset + out.size());
        out = out.first(
            static_cast<std::size_t>(std::min<std::uint64_t>(there > offset ? there - offset : 0, out.size())));
        bytes = m_spill->read(offset, out, error);
    } else {
        bytes = m_file.read(offset, out, error);
    }
    if (error != 0) {
        const std::scoped_lock lock(m_mutex);
        m_damage =
            "cannot read past byte " + std::to_string(offset + bytes) + ": " + std::generic_category().message(error);
    }
    return bytes;
}

bool ByteSource::reaches(std::uint64_t offset)
{
    return m_spill ? waitFor(offset + 1) > offset : offset < m_file.size();
}

std::optional<std::uint64_t> ByteSource::knownSize() const
{
    return m_spill ? std::nullopt : std::optional(m_file.size());
}

double ByteSource::inflatedShare() const
{
    return m_file.size() == 0
               ? 1.0
               : static_cast<double>(m_taken.load(std::memory_order_relaxed)) / static_cast<double>(m_file.size());
}

std::string ByteSource::damage() const
{
    const std::scoped_lock lock(m_mutex);
    return m_damage;
}

std::uint64_t ByteSource::trailing() const
{
    const std::scoped_lock lock(m_mutex);
    return m_trailing;
}

bool ByteSource::unchanged() const
{
    return m_spill.has_value() || modifiedNs(m_file.descriptor()) == m_modified;
}

namespace {

/// A short file needs less than the usual room. A byte more than its size lets the first read find its end.
std::size_t firstRoom(const ByteSource& source)
{
    constexpr std::uint64_t kLeastBytes = 4096, kUsualBytes = std::uint64_t{512} << 10;
    const auto size = source.knownSize();
    return static_cast<std::size_t>(size ? std::clamp(*size + 1, kLeastBytes, kUsualBytes) : kUsualBytes);
}

} // namespace

TextWindow::TextWindow(ByteSource& source)
    : m_source(source), m_room(firstRoom(source)), m_bytes(std::make_unique_for_overwrite<char[]>(m_room + kPadding))
{
    moveTo(0);
}

void TextWindow::moveTo(std::uint64_t offset)
{
    m_offset = offset;
    m_size = 0;
    m_atEnd = false;
    std::memset(m_bytes.get(), 0, kPadding);
}

bool TextWindow::readOn(const char* keepFrom)
{
    const auto dropped = static_cast<std::size_t>(keepFrom - begin());
    const std::size_t kept = m_size - dropped;
    if (kept > m_room / 2) {
        if (2 * m_room > kMostBytes) {
            std::memmove(m_bytes.get(), keepFrom, kept + kPadding);
            m_offset += dropped;
            m_size = kept;
            return false;
        }
        auto larger = std::make_unique_for_overwrite<char[]>(2 * m_room + kPadding);
        std::memcpy(larger.get(), keepFrom, kept);
        m_bytes = std::move(larger);
        m_room *= 2;
    } else {
        std::memmove(m_bytes.get(), keepFrom, kept);
    }
    m_offset += dropped;
    const std::size_t wanted = m_room - kept;
    const std::size_t got = m_source.read(m_offset + kept, {m_bytes.get() + kept, wanted});
    m_size = kept + got;
    m_atEnd = got < wanted;
    std::memset(m_bytes.get() + m_size, 0, kPadding);
    return got > 0;
}

std::optional<std::uint64_t> findText(TextWindow& window, std::string_view needle, std::uint64_t from,
                                      std::uint64_t limit, const std::function<bool(const char*)>& accept,
                                      const std::stop_token& stop)
{
    // The text before the first place matters too.
    const std::uint64_t back = from - std::min<std::uint64_t>(from, kLook);
    if (window.placeOf(back) == window.end()) {
        window.moveTo(back);
        window.readOn(window.begin());
    }
    for (std::uint64_t next = from; !stop.stop_requested();) {
        const char* p = window.placeOf(next);
        const std::string_view rest(p, static_cast<std::size_t>(window.end() - p));
        const std::size_t found = rest.find(needle);
        const bool any = found != rest.npos;
        if (any && next + found >= limit)
            return std::nullopt;
        if (any && (rest.size() - found >= kLook || window.atEnd())) {
            next += found;
            if (accept(p + found))
                return next;
            ++next;
            continue;
        }
        const char* resumeAt = any ? p + found : window.end() - std::min(rest.size(), needle.size() - 1);
        next = window.offsetOf(resumeAt);
        const bool before = resumeAt - window.begin() > static_cast<std::ptrdiff_t>(kLook);
        if (!window.readOn(before ? resumeAt - kLook : window.begin()) && (!any || !window.atEnd()))
            return std::nullopt;
    }
    return std::nullopt;
}

bool skipLongValue(TextWindow& window, const char*& cursor, const std::stop_token& stop)
{
    std::int64_t depth = 0;
    bool inText = false, escaped = false;
    for (const char* p = cursor;; p = window.begin()) {
        for (; p < window.end(); ++p) {
            if (inText) {
                inText = escaped || *p != '"';
                escaped = !escaped && *p == '\\';
            } else {
                inText = *p == '"';
                depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            }
            if (depth == 0 && !inText) {
                cursor = p + 1;
                return true;
            }
        }
        const bool more = !stop.stop_requested() && window.readOn(window.end());
        cursor = window.end();
        if (!more)
            return false;
    }
}

} // namespace profiler::formats::json
