#include "tests/fuzz/structured_cases.h"

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/fuzz/open_trace_target.h"
#include "tests/fuzz/packed_reader_target.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/trace_text.h"
#include "trainer/config/training_config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

namespace fuzz {

namespace {

using namespace profiler;

std::string textOf(const Bytes& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes bytesOf(std::string_view text)
{
    const auto raw = std::as_bytes(std::span{text});
    return {raw.begin(), raw.end()};
}

Bytes readFile(const std::filesystem::path& path)
{
    std::ifstream in{path, std::ios::binary};
    return bytesOf(std::string{std::istreambuf_iterator<char>{in}, {}});
}

/// A path for a file of this process, in memory where the system has such a folder: a case takes less time than a disk.
std::filesystem::path temporary(std::string_view name)
{
    static const std::filesystem::path folder =
        access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    return folder / ("stepscope_fuzz." + std::to_string(getpid()) + "." + std::string(name));
}

/// True for one case of so many, which starts from a large input. The others start from a small one: it has the same
/// kinds of records, but fewer of them, and is read in a fraction of the time.
bool startsLarge(Mutator& random, std::size_t oneOf = 20)
{
    return random.below(oneOf) == 0;
}

/// Everything that a reader of the trace sees, as one number.
std::uint64_t digestOf(const Trace& trace)
{
    XXH3_state_t* const state = XXH3_createState();
    XXH3_64bits_reset(state);
    const auto add = [&](const auto& value) { XXH3_64bits_update(state, &value, sizeof value); };
    const auto addText = [&](std::string_view text) { XXH3_64bits_update(state, text.data(), text.size()); };
    for (const Track& track : trace.tracks()) {
        addText(track.name);
        for (const Slice& slice : trace.sorted(track.id)) {
            add(slice.begin);
            add(slice.duration);
            add(slice.kind);
            add(slice.correlation.value);
            addText(trace.name(slice));
        }
        for (const CounterSample& sample : trace.counter(track.id)) {
            add(sample.time);
            add(sample.value);
        }
    }
    for (const auto& [key, value] : trace.metadata()) {
        addText(key);
        addText(value);
    }
    const std::uint64_t digest = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return digest;
}

/// True if the trace reports that something is missing.
bool reportsLoss(const Trace& trace)
{
    const CaptureStats stats = trace.captureStats();
    const Unread unread = trace.unread();
    return stats.dropped > 0 || stats.unmatched > 0 || stats.cut || !stats.notes.empty() || unread.slices > 0 ||
           unread.samples > 0 || !unread.why.empty();
}

[[noreturn]] void silentError(std::string_view what)
{
    std::fprintf(stderr, "unreported damage: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
}

// --- container ------------------------------------------------------------------------------------------------------

struct Part {
    container::FrameType type;
    Bytes raw;
    Bytes section = {}; ///< `raw` with its header, compressed; empty: `raw` has changed since
};

/// The last byte of a case: what was done to the file, and thus what a reader must report.
enum class Damage : unsigned char {
    Sections,   ///< sections were changed and packed again
    LargeFlips, ///< bits of the large file were flipped
    SmallFlips,
    Unknown ///< a whole file
};

/// A trace with every kind of slice, repeated.
std::string textOf(int repeats)
{
    return R"(format stepscope
meta key value
device 0 GPU uuid
main pid=1
 step 0 0 100
repeat )" + std::to_string(repeats) +
           R"( every 100
 main
  op aten::linear 1 40 seq=1 shapes="[[2, 3]]"
  op aten::addmm 2 20 seq=1
  call launch 3 2 corr=1
 stream 0 7
  kernel gemm 10 5 corr=1
  copy HtoD 20 5 bytes=4096
end
counter memory
 sample 1 100
)";
}

/// Provides some details for each slice.
class Places final : public ArgSource {
public:
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        return SliceDetails{{"place", std::to_string(source)}, {"share", "0." + std::to_string(source)}};
    }
};

std::shared_ptr<const Trace> withDetails(std::size_t count)
{
    TraceBuilder builder;
    std::vector<RawSlice> slices(count);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].begin = static_cast<std::int64_t>(i) * 10;
        slices[i].duration = 8;
        slices[i].setSource(i);
    }
    builder.addMany(builder.addTrack({}), std::move(slices), Depth::Inferred);
    builder.setArgSource(std::make_shared<Places>());
    return builder.finish();
}

Bytes packedFileOf(const Trace& trace)
{
    const auto path = temporary("sspack");
    if (!container::writeTrace(trace, path))
        std::abort();
    Bytes bytes = readFile(path);
    std::filesystem::remove(path);
    return bytes;
}

std::vector<Part> partsOf(const Bytes& file)
{
    std::vector<Part> parts;
    for (std::size_t at = sizeof(container::FileHeader); at < file.size();) {
        container::FrameHeader header{};
        std::memcpy(&header, &file[at], sizeof header);
        const auto section = std::span{file}.subspan(at, sizeof header + header.payloadBytes);
        const auto body = section.subspan(sizeof header);
        Part part{
            header.type, Bytes(ZSTD_getFrameContentSize(body.data(), body.size())), {section.begin(), section.end()}};
        if (ZSTD_decompress(part.raw.data(), part.raw.size(), body.data(), body.size()) != part.raw.size())
            std::abort();
        parts.push_back(std::move(part));
        at += section.size();
    }
    return parts;
}

/// Compresses the changed parts again, with correct checksums and lengths.
Bytes assemble(const std::vector<Part>& parts)
{
    Bytes file(sizeof(container::FileHeader));
    container::FileHeader header = container::makeFileHeader(0, 0);
    for (const Part& part : parts) {
        if (part.type == container::FrameType::Overview)
            header.overviewOffset = file.size();
        if (!part.section.empty()) {
            file.insert(file.end(), part.section.begin(), part.section.end());
            continue;
        }
        const auto section = container::packBlock(part.type, part.raw);
        if (!section)
            return {};
        file.insert(file.end(), section->begin(), section->end());
    }
    header.fileBytes = file.size();
    header.checksum = container::headerChecksum(header);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
}

/// Replaces a number by one that breaks sums, lengths or signs.
void changeNumber(Bytes& bytes, Mutator& random)
{
    constexpr std::uint64_t kOdd[] = {0,          1,          0x7f,       0x80,       0xff,       0xffff,
                                      0x7fffffff, 0x80000000, 0xffffffff, ~0ULL >> 1, ~0ULL >> 2, ~0ULL};
    const std::size_t width = std::size_t{1} << random.below(4);
    if (bytes.size() < width)
        return;
    const std::size_t at = random.below((bytes.size() - width) / width + 1) * width;
    std::uint64_t value = kOdd[random.below(std::size(kOdd))];
    if (random.below(3) == 0) { // a little more or less than the current value
        value = 0;
        std::memcpy(&value, &bytes[at], width);
        value += random.below(2) == 0 ? 1 + random.below(16) : ~std::uint64_t{0} - random.below(16);
    }
    std::memcpy(&bytes[at], &value, width);
}

void changeContent(Bytes& bytes, Mutator& random)
{
    if (random.below(2) == 0)
        changeNumber(bytes, random);
    else
        random.change(bytes, 16);
}

// --- live -----------------------------------------------------------------------------------------------------------

/// Numbers the frames and sets correct lengths and checksums.
void repairFrames(Bytes& bytes)
{
    std::uint32_t sequence = 0;
    for (std::size_t at = sizeof(container::FileHeader); at + sizeof(container::FrameHeader) <= bytes.size();) {
        container::FrameHeader header{};
        std::memcpy(&header, &bytes[at], sizeof header);
        const std::size_t there = bytes.size() - at - sizeof header;
        header.magic = container::kFrameMagic;
        header.sequence = sequence++;
        header.payloadBytes = static_cast<std::uint32_t>(std::min<std::size_t>(header.payloadBytes, there));
        header.checksum =
            container::frameChecksum(header, std::span{bytes}.subspan(at + sizeof header, header.payloadBytes));
        std::memcpy(&bytes[at], &header, sizeof header);
        at += sizeof header + header.payloadBytes;
    }
}

/// The ring file of a killed run: two thread buffers, tracks and strings.
/// @param events  records per thread buffer, a power of two
Bytes ringFile(std::uint32_t events)
{
    container::RingHeader header{};
    std::memcpy(header.magic, container::kRingMagic, sizeof container::kRingMagic);
    header.version = container::kRingVersion;
    header.headerBytes = sizeof header;
    header.runId = wire_test::WireFile::kRunId;
    header.maxLanes = 2;
    header.laneEvents = events;
    header.maxTracks = 4;
    header.lanes = header.tracks = 2;
    header.stringCapacity = 256;
    const container::RingLayout layout{header.maxLanes, header.laneEvents, header.maxTracks, header.stringCapacity};
    Bytes bytes(layout.fileBytes());
    const auto put = [&](std::uint64_t at, const auto& value) { std::memcpy(&bytes[at], &value, sizeof value); };
    std::uint64_t used = 0;
    for (const std::string_view text : {"main thread", "step", "relu"}) {
        put(layout.stringsAt() + used,
            container::StringEntry{static_cast<std::uint32_t>(100 + used), static_cast<std::uint32_t>(text.size())});
        std::memcpy(&bytes[layout.stringsAt() + used + sizeof(container::StringEntry)], text.data(), text.size());
        used += sizeof(container::StringEntry) + (text.size() + 3) / 4 * 4;
    }
    header.stringBytes = used;
    put(0, header);
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
        container::TrackEntry track{};
        track.track = lane;
        track.name = 100;
        put(layout.tracksAt() + lane * sizeof track, track);
        container::LaneHeader head{};
        head.written = events + 6;
        head.read = events / 2 + 8;
        head.track = lane;
        put(layout.laneAt(lane), head);
        for (std::uint32_t i = 0; i < events; ++i)
            put(layout.laneAt(lane) + sizeof head + i * sizeof(container::EventRecord),
                wire_test::record(i % 3 == 0 ? container::EventType::Begin : container::EventType::Slice,
                                  ActivityKind::CpuOp, 100, 10 * i, 10 * i + 8));
    }
    return bytes;
}

/// A case of two files: the length of the first in eight bytes, then both files.
Bytes joined(const Bytes& first, const Bytes& second)
{
    const std::uint64_t size = first.size();
    Bytes both(sizeof size);
    std::memcpy(both.data(), &size, sizeof size);
    both.insert(both.end(), first.begin(), first.end());
    both.insert(both.end(), second.begin(), second.end());
    return both;
}

void writeFile(const std::filesystem::path& path, std::span<const std::byte> bytes)
{
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        std::abort();
    close(descriptor);
}

// --- JSON -----------------------------------------------------------------------------------------------------------

std::vector<std::string> jsonSeeds()
{
    std::vector<std::string> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(STEPSCOPE_CORPUS) / "json"))
        if (entry.path().extension() == ".json")
            seeds.push_back(textOf(readFile(entry.path())));
    std::sort(seeds.begin(), seeds.end());
    return seeds;
}

/// True for the characters between the values of a JSON text.
bool isBetweenValues(char c)
{
    switch (c) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
    case '\0':
        return true;
    default:
        return false;
    }
}

/// The positions of the values of a JSON text: strings with their quotes, numbers and literals.
std::vector<std::pair<std::size_t, std::size_t>> valuesOf(const std::string& text)
{
    std::vector<std::pair<std::size_t, std::size_t>> values;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        if (text[at] == '"') {
            while (end < text.size() && text[end] != '"')
                end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
            values.emplace_back(at, end - at);
        } else if (!isBetweenValues(text[at])) {
            while (end < text.size() && !isBetweenValues(text[end]) && text[end] != '"')
                ++end;
            values.emplace_back(at, end - at);
        }
        at = end;
    }
    return values;
}

/// The objects of the text, from the opening to the closing brace.
std::vector<std::pair<std::size_t, std::size_t>> objectsOf(const std::string& text)
{
    std::vector<std::pair<std::size_t, std::size_t>> objects;
    std::vector<std::size_t> open;
    bool inString = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && inString)
            ++at;
        else if (text[at] == '"')
            inString = !inString;
        else if (!inString && text[at] == '{')
            open.push_back(at);
        else if (!inString && text[at] == '}' && !open.empty()) {
            objects.emplace_back(open.back(), at + 1 - open.back());
            open.pop_back();
        }
    }
    return objects;
}

/// A trace in JSON, split at its events.
struct JsonTrace {
    std::string head, tail;
    std::vector<std::string> events;
};

JsonTrace splitAtEvents(const std::string& text)
{
    constexpr std::string_view kKey = "\"traceEvents\"";
    const std::size_t key = text.find(kKey);
    const std::size_t array = text.find('[', key == text.npos ? 0 : key + kKey.size());
    auto objects = objectsOf(text);
    std::sort(objects.begin(), objects.end());
    JsonTrace trace;
    std::size_t end = array + 1;
    for (const auto& [begin, size] : objects)
        if (begin >= end) { // not a part of the event before
            trace.events.push_back(text.substr(begin, size));
            end = begin + size;
        }
    trace.head = text.substr(0, array + 1);
    trace.tail = text.substr(end);
    return trace;
}

/// A trace with a few events of `all`, some of them next to each other in one trace, like a launch and its kernel.
std::string shortTrace(const std::vector<JsonTrace>& all, Mutator& random)
{
    const JsonTrace& frame = all[random.below(all.size())];
    std::string text = frame.head;
    for (std::size_t runs = 1 + random.below(3), i = 0; i < runs; ++i) {
        const std::vector<std::string>& events = all[random.below(all.size())].events;
        std::size_t at = random.below(events.size());
        const std::size_t end = std::min(events.size(), at + 1 + random.below(3));
        for (; at < end; ++at)
            text.append(text.size() == frame.head.size() ? "" : ",\n").append(events[at]);
    }
    return text + frame.tail;
}

enum class JsonChange { Values, Anything };

void changeJson(std::string& text, Mutator& random, JsonChange what = JsonChange::Anything)
{
    constexpr const char* kValues[] = {"0",
                                       "-1",
                                       "1e308",
                                       "-1e308",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551615",
                                       "99999999999999999999999",
                                       "0.0000000001",
                                       "1e-400",
                                       "null",
                                       "true",
                                       "\"\"",
                                       "\"X\"",
                                       "\"B\"",
                                       "\"E\"",
                                       "\"b\"",
                                       "\"M\"",
                                       "\"s\"",
                                       "\"f\"",
                                       "\"C\"",
                                       "\"kernel\"",
                                       "\"cuda_runtime\"",
                                       "\"ts\"",
                                       "\"dur\"",
                                       "\"pid\"",
                                       "\"tid\"",
                                       "\"args\"",
                                       "\"ph\"",
                                       "\"correlation\"",
                                       "\"External id\"",
                                       "\"ProfilerStep#1\"",
                                       "\"\\ud83d\\ude00\"",
                                       "\"\\udc00\"",
                                       "{}",
                                       "[]",
                                       "[[[[[[[[[]]]]]]]]]"};
    const auto values = valuesOf(text);
    if (values.empty())
        return;
    auto value = values[random.below(values.size())];
    const auto isKey = [&] { return text.compare(value.first + value.second, 1, ":") == 0; };
    for (int i = 0; i < 3 && what == JsonChange::Values && isKey(); ++i)
        value = values[random.below(values.size())];
    switch (random.below(what == JsonChange::Values ? 3 : 6)) {
    case 0:
    case 1:
        text.replace(value.first, value.second, kValues[random.below(std::size(kValues))]);
        break;
    case 2: { // the value of another key
        const auto& other = values[random.below(values.size())];
        text.replace(value.first, value.second, text.substr(other.first, other.second));
        break;
    }
    case 3: // a duplicated or misplaced event
        if (const auto objects = objectsOf(text); !objects.empty()) {
            const auto& object = objects[random.below(objects.size())];
            const auto& place = objects[random.below(objects.size())];
            text.insert(place.first, text.substr(object.first, object.second) + ",");
        }
        break;
    case 4: // a removed event
        if (const auto objects = objectsOf(text); !objects.empty()) {
            const auto& object = objects[random.below(objects.size())];
            text.replace(object.first, object.second, random.below(2) == 0 ? "{}" : "null");
        }
        break;
    default:
        if (random.below(8) == 0)
            text.resize(random.below(text.size()));
        else
            text[value.first] = static_cast<char>(random.below(256));
    }
}

Bytes gzipped(const std::string& text)
{
    z_stream stream{};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        std::abort();
    Bytes out(deflateBound(&stream, text.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

Bytes zstandard(const std::string& text)
{
    Bytes out(ZSTD_compressBound(text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
    return out;
}

// --- configuration --------------------------------------------------------------------------------------------------

/// A value of the knob in JSON: the default, a bound or a choice.
std::string valueOf(const config::Knob& knob, Mutator& random)
{
    if (knob.type == config::KnobType::Choice)
        return '"' + std::string(knob.choices[random.below(knob.choices.size())]) + '"';
    if (knob.type == config::KnobType::Integer || knob.type == config::KnobType::Real)
        if (const std::size_t bound = random.below(4); bound < 2)
            return fmt::format("{}", bound == 0 ? knob.min : knob.max);
    const std::string text = config::toText(knob.fallback);
    return std::holds_alternative<std::string>(knob.fallback) ? '"' + text + '"' : text;
}

/// A configuration of a few knobs.
std::string someSettings(Mutator& random)
{
    const auto knobs = config::knobs();
    std::string text = "{";
    for (std::size_t count = 2 + random.below(8); count > 0; --count) {
        const config::Knob& knob = knobs[random.below(knobs.size())];
        text += text.size() > 1 ? ",\n  " : "\n  ";
        std::string_view key = knob.key;
        std::size_t groups = 0;
        for (std::size_t dot = key.find('.'); dot != key.npos; dot = key.find('.'), ++groups) {
            text.append("\"").append(key.substr(0, dot)).append("\": {");
            key.remove_prefix(dot + 1);
        }
        text.append("\"").append(key).append("\": ").append(valueOf(knob, random)).append(groups, '}');
    }
    return text + "\n}\n";
}

// --- nsys -----------------------------------------------------------------------------------------------------------

/// A database in memory, from the bytes of a file.
class Database {
public:
    explicit Database(const Bytes& file)
    {
        sqlite3_open(":memory:", &m_database);
        auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(file.size()));
        std::memcpy(copy, file.data(), file.size());
        sqlite3_deserialize(m_database, "main", copy, static_cast<sqlite3_int64>(file.size()),
                            static_cast<sqlite3_int64>(file.size()),
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    }
    ~Database() { sqlite3_close(m_database); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// True if it succeeds; a mutation that SQLite rejects has no effect.
    bool run(const std::string& sql)
    {
        return sqlite3_exec(m_database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    std::vector<std::string> column(const std::string& sql)
    {
        std::vector<std::string> found;
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(m_database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK)
            while (sqlite3_step(statement) == SQLITE_ROW)
                if (const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)))
                    found.emplace_back(text);
        sqlite3_finalize(statement);
        return found;
    }
    Bytes bytes()
    {
        sqlite3_int64 size = 0;
        unsigned char* const data = sqlite3_serialize(m_database, "main", &size, 0);
        Bytes out(static_cast<std::size_t>(data ? size : 0));
        if (data)
            std::memcpy(out.data(), data, out.size());
        sqlite3_free(data);
        return out;
    }

private:
    sqlite3* m_database = nullptr;
};

std::string quoted(const std::string& name)
{
    return "\"" + name + "\"";
}

void changeDatabase(Database& database, const std::vector<std::string>& tables, Mutator& random)
{
    constexpr const char* kValues[] = {"NULL",
                                       "0",
                                       "-1",
                                       "1",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "4294967295",
                                       "4294967296",
                                       "1e300",
                                       "0.5",
                                       "''",
                                       "'text'",
                                       "x'00ff'",
                                       "'9223372036854775808'",
                                       "abs(random())",
                                       "random()",
                                       "zeroblob(100000)"};
    const std::string& table = tables[random.below(tables.size())];
    const auto columns = database.column("SELECT name FROM pragma_table_info('" + table + "')");
    if (columns.empty())
        return;
    const std::string& column = columns[random.below(columns.size())];
    const std::string row = " WHERE rowid = (SELECT rowid FROM " + quoted(table) + " LIMIT 1 OFFSET " +
                            std::to_string(random.below(6)) + ")";
    switch (random.below(16)) {
    case 0:
        database.run("DROP TABLE " + quoted(table));
        break;
    case 1:
        database.run("ALTER TABLE " + quoted(table) + " RENAME COLUMN " + quoted(column) + " TO other");
        break;
    case 2:
        database.run("DELETE FROM " + quoted(table) + row);
        break;
    case 3:
        database.run("INSERT INTO " + quoted(table) + " SELECT * FROM " + quoted(table));
        break;
    case 4:
        database.run("UPDATE " + quoted(table) + " SET " + quoted(column) + " = " +
                     kValues[random.below(std::size(kValues))]);
        break;
    case 5: // another table under the name of a table
        database.run("DROP TABLE " + quoted(table));
        database.run("CREATE TABLE " + quoted(table) + " (start, end, value)");
        database.run("INSERT INTO " + quoted(table) + " VALUES (1, 2, 'x')");
        break;
    case 6: // a table that never ends
        database.run("DROP TABLE " + quoted(table));
        database.run("CREATE VIEW " + quoted(table) +
                     " AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS start, x AS "
                     "\"end\", x AS id, 'a' AS value FROM n");
        break;
    default:
        database.run("UPDATE " + quoted(table) + " SET " + quoted(column) + " = " +
                     kValues[random.below(std::size(kValues))] + row);
    }
}

/// Tables that are not in all exports.
constexpr const char* kMoreTables = R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER,
        graphId INTEGER, graphExecId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
        globalPid INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (7000, 7900, 0, 3, 4, 1, 7, 11, 281476654432256),
        (8000, 8100, 1, 3, 4, 1, 7, 12, 281476671209472);
    CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,
        address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
    INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, 281476654432256, 0, 1, 1, 1000, 2, 0),
        (20, 281476654432256, 0, 1, 2, 500, 2, 0), (30, 281476654432256, 0, 1, 1, 1000, 2, 1);
    CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER,
        metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (7, 0, 'GPU 0', 1, 'SMs Active [Throughput %]');
    CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER,
        value INTEGER);
    INSERT INTO GPU_METRICS VALUES (1, 100, 7, 1, 50), (1, 110, 7, 1, 60), (1, 110, 8, 2, 5);
)";

/// The tables of each small export in addition to META_DATA_EXPORT and StringIds.
constexpr const char* kSmallExports[] = {
    "'CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_RUNTIME', 'PROCESSES'",
    "'CUPTI_ACTIVITY_KIND_KERNEL', 'TARGET_INFO_GPU', 'TARGET_INFO_CUDA_DEVICE'",
    "'CUPTI_ACTIVITY_KIND_KERNEL', 'DIAGNOSTIC_EVENT', 'ENUM_DIAGNOSTIC_SEVERITY_LEVEL'",
    "'CUPTI_ACTIVITY_KIND_KERNEL', 'TARGET_INFO_SYSTEM_ENV'",
    "'CUPTI_ACTIVITY_KIND_MEMCPY', 'ENUM_CUDA_MEMCPY_OPER', 'ENUM_CUDA_MEM_KIND'",
    "'CUPTI_ACTIVITY_KIND_MEMSET', 'ENUM_CUDA_MEM_KIND'",
    "'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', 'CUPTI_ACTIVITY_KIND_RUNTIME', 'ENUM_CUPTI_SYNC_TYPE'",
    "'CUPTI_ACTIVITY_KIND_RUNTIME', 'ENUM_NSYS_EVENT_CLASS'",
    "'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'",
    "'PROFILER_OVERHEAD', 'ENUM_CUPTI_OVERHEAD_TYPE'",
    "'NVTX_EVENTS', 'ENUM_NSYS_EVENT_TYPE'",
    "'NVTX_EVENTS', 'ThreadNames', 'PROCESSES'",
    "'CUDA_GPU_MEMORY_USAGE_EVENTS', 'ENUM_CUDA_MEM_KIND'",
    "'TARGET_INFO_GPU_METRICS', 'GPU_METRICS'",
};

/// A value in a page of a table.
struct Cell {
    std::size_t type;     ///< position of its type, a byte: 0 null, 1–6 integers, 7 real, 8 and 9 the numbers 0 and 1
    std::size_t at, size; ///< position of the value
};

/// The bytes of an export, and where its values are.
struct Export {
    Bytes file;
    std::vector<std::string> tables;
    std::vector<Cell> cells; ///< of the tables without the schema
};

/// @return the number at `at`, which is then the position after it
std::uint64_t takeVarint(const Bytes& file, std::size_t& at)
{
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        const auto byte = std::to_integer<std::uint64_t>(file[at++]);
        value = value << 7 | (byte & 0x7f);
        if (byte < 0x80)
            return value;
    }
    return value << 8 | std::to_integer<std::uint64_t>(file[at++]);
}

std::size_t sizeOfType(std::uint64_t type)
{
    constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < std::size(kSizes) ? kSizes[type] : (type - 12) / 2;
}

/// The values in the leaf pages of the tables (https://www.sqlite.org/fileformat2.html#b_tree_pages).
std::vector<Cell> cellsOf(const Bytes& file)
{
    constexpr std::byte kLeafOfTable{0x0d};
    const auto number = [&](std::size_t at) {
        return std::to_integer<std::size_t>(file[at]) << 8 | std::to_integer<std::size_t>(file[at + 1]);
    };
    const std::size_t pageBytes = number(16);
    std::vector<Cell> cells;
    for (std::size_t page = pageBytes; page < file.size(); page += pageBytes) {
        if (file[page] != kLeafOfTable)
            continue;
        for (std::size_t i = 0; i < number(page + 3); ++i) {
            std::size_t at = page + number(page + 8 + 2 * i);
            const std::uint64_t payload = takeVarint(file, at);
            takeVarint(file, at); // the row's id
            if (payload > pageBytes - 35)
                continue; // a part of it is in another page
            std::size_t type = at;
            const std::size_t types = at + takeVarint(file, type);
            std::size_t value = types;
            constexpr std::string_view kTable = "table"; // the schema's rows begin with it
            if (std::memcmp(&file[types], kTable.data(), kTable.size()) == 0)
                continue;
            while (type < types) {
                const std::size_t place = type;
                const std::size_t size = sizeOfType(takeVarint(file, type));
                if (type == place + 1)
                    cells.push_back({place, value, size});
                value += size;
            }
        }
    }
    return cells;
}

/// Replaces a value by another one of the same size, which takes a fraction of the time of SQL.
void changeCell(Export& database, Mutator& random)
{
    const Cell& cell = database.cells[random.below(database.cells.size())];
    std::byte& type = database.file[cell.type];
    const auto kind = std::to_integer<unsigned>(type);
    if (cell.size == 0) {
        constexpr unsigned char kEmpty[] = {0, 8, 9, 12, 13}; // null, 0, 1, x'', ''
        type = static_cast<std::byte>(kEmpty[random.below(std::size(kEmpty))]);
        return;
    }
    const auto begin = database.file.begin() + static_cast<std::ptrdiff_t>(cell.at);
    if (random.below(4) == 0) { // the same bytes as another type
        if (cell.size == 8)
            type = static_cast<std::byte>(6 + random.below(2));
        else
            type = static_cast<std::byte>(12 + 2 * cell.size + random.below(2));
        return;
    }
    Bytes value(begin, begin + static_cast<std::ptrdiff_t>(cell.size));
    if (kind < 12)
        std::reverse(value.begin(), value.end()); // numbers are stored with the highest byte first
    changeNumber(value, random);
    if (kind < 12)
        std::reverse(value.begin(), value.end());
    std::copy(value.begin(), value.end(), begin);
}

Export exportOf(Bytes file)
{
    Export made{std::move(file), {}, {}};
    made.tables = Database(made.file).column("SELECT name FROM sqlite_master WHERE type = 'table'");
    made.cells = cellsOf(made.file);
    return made;
}

Bytes wholeExport()
{
    const auto path = temporary("sqlite");
    formats_sqlite_test::writeTwoProcesses(path);
    Database database(readFile(path));
    std::filesystem::remove(path);
    database.run(kMoreTables);
    return database.bytes();
}

/// An export with a few rows of these tables, and with times that need eight bytes, as in real exports.
Bytes smallExport(const Bytes& whole, const std::string& tables)
{
    const auto path = temporary("sqlite");
    writeFile(path, whole);
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    const auto run = [&](const std::string& sql) {
        if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
            std::abort();
    };
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    Database names(whole);
    const std::string all = "SELECT name FROM sqlite_master WHERE type = 'table' AND name";
    for (const std::string& table : names.column(all + " NOT IN ('META_DATA_EXPORT', 'StringIds', " + tables + ")"))
        run("DROP TABLE " + quoted(table));
    for (const std::string& table : names.column(all + " IN (" + tables + ") AND name NOT LIKE 'ENUM%'")) {
        run("DELETE FROM " + quoted(table) + " WHERE rowid NOT IN (SELECT rowid FROM " + quoted(table) +
            " ORDER BY rowid * 5 % 7 LIMIT 4)");
        for (const std::string& column : names.column("SELECT name FROM pragma_table_info('" + table +
                                                      "') WHERE name IN ('start', 'end', 'timestamp')"))
            run("UPDATE " + quoted(table) + " SET " + quoted(column) + " = " + quoted(column) +
                " + 1700000000000000000");
    }
    run("COMMIT; PRAGMA page_size = 512; VACUUM");
    sqlite3_close(database);
    Bytes bytes = readFile(path);
    std::filesystem::remove(path);
    return bytes;
}

} // namespace

Structure containerCases()
{
    struct Seed {
        explicit Seed(bool large)
        {
            const auto trace = test_support::traceFromText(textOf(large ? 30 : 2));
            file = packedFileOf(*trace);
            digest = digestOf(*trace);
            parts[0] = partsOf(file);
            parts[1] = partsOf(packedFileOf(*withDetails(large ? 40 : 4)));
        }
        Bytes file;
        std::uint64_t digest = 0;
        std::vector<Part> parts[2];
    };
    struct Seeds {
        Seed large{true}, small{false};
    };
    const auto seeds = std::make_shared<Seeds>();
    const auto make = [seeds](Mutator& random) {
        const bool large = startsLarge(random);
        const Seed& seed = large ? seeds->large : seeds->small;
        if (random.below(4) == 0) {
            Bytes bytes = seed.file;
            for (std::size_t count = 1 + random.below(4); count > 0; --count)
                bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
            bytes.push_back(static_cast<std::byte>(large ? Damage::LargeFlips : Damage::SmallFlips));
            return bytes;
        }
        std::vector<Part> parts = seed.parts[random.below(2)];
        for (std::size_t count = 1 + random.below(4); count > 0; --count) {
            Part& part = parts[random.below(parts.size())];
            changeContent(part.raw, random);
            part.section.clear();
        }
        if (random.below(8) == 0)
            std::swap(parts[random.below(parts.size())], parts[random.below(parts.size())]);
        if (random.below(8) == 0)
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(random.below(parts.size())));
        Bytes bytes = assemble(parts);
        bytes.push_back(static_cast<std::byte>(Damage::Sections));
        return bytes;
    };
    const auto run = [seeds](const Bytes& bytes) {
        if (bytes.empty())
            return;
        const auto damage = static_cast<Damage>(bytes.back());
        const auto file = std::span{bytes}.first(bytes.size() - 1);
        const bool flipped = damage == Damage::LargeFlips || damage == Damage::SmallFlips;
        // A case is read with its blocks in memory or in the file; a whole file in both ways.
        const bool inMemory = XXH3_64bits(file.data(), file.size()) % 2 == 0;
        for (const bool way : {true, false}) {
            if (way != inMemory && damage != Damage::Unknown)
                continue;
            const auto trace = readAnyPacked(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(),
                                             way ? kDecodesAll : kDecodesOnDemand);
            const std::uint64_t whole = damage == Damage::LargeFlips ? seeds->large.digest : seeds->small.digest;
            if (trace && flipped && digestOf(*trace) != whole && !reportsLoss(*trace))
                silentError("bits of a finished trace were flipped");
        }
    };
    const auto caseOfFile = [](Bytes file) {
        file.push_back(static_cast<std::byte>(Damage::Unknown));
        return file;
    };
    return {"container", make, run, caseOfFile};
}

Structure liveCases()
{
    struct Seeds {
        wire_test::WireFile whole = wire_test::everything();
        Bytes trace = whole.bytes();
        Bytes large = ringFile(64), small = ringFile(16);
        std::uint64_t digest = 0;
    };
    const auto seeds = std::make_shared<Seeds>();
    {
        const wire_test::MemoryFile memory;
        if (const auto trace = container::readTrace(memory.write(seeds->trace)))
            seeds->digest = digestOf(**trace);
    }
    const auto make = [seeds](Mutator& random) {
        const std::uint32_t events = startsLarge(random) ? 64 : 16;
        const bool flipped = random.below(4) == 0;
        Bytes trace = seeds->trace, ring = flipped ? Bytes{} : events == 64 ? seeds->large : seeds->small;
        if (flipped) {
            trace[sizeof(container::FileHeader) + random.below(trace.size() - sizeof(container::FileHeader))] ^=
                static_cast<std::byte>(1U << random.below(8));
        } else {
            // The ring file is only read if the trace has no end.
            const auto& boundaries = seeds->whole.boundaries();
            if (random.below(4) != 0)
                trace.resize(boundaries[boundaries.size() - 2 - random.below(random.below(8) == 0 ? 8 : 2)]);
            for (std::size_t count = random.below(5); count > 0 && trace.size() > 64; --count)
                changeContent(trace, random);
            repairFrames(trace);
            // Most of a ring file is unused, so the damage goes to the used parts.
            const container::RingLayout layout{2, events, 4, 256};
            const std::uint64_t places[] = {0, layout.tracksAt(), layout.laneAt(0), layout.laneAt(1),
                                            layout.stringsAt()};
            for (std::size_t count = random.below(5); count > 0; --count) {
                const std::uint64_t at = places[random.below(std::size(places))];
                const auto begin = ring.begin() + static_cast<std::ptrdiff_t>(at);
                Bytes piece(begin, begin + 256);
                changeNumber(piece, random);
                std::copy(piece.begin(), piece.end(), begin);
            }
            if (random.below(16) == 0)
                ring.resize(random.below(ring.size()));
        }
        Bytes both = joined(trace, ring);
        both.push_back(static_cast<std::byte>(flipped ? 1 : 0));
        return both;
    };
    const auto run = [seeds](const Bytes& both) {
        std::uint64_t size = 0;
        if (both.size() < sizeof size + 1)
            return;
        std::memcpy(&size, both.data(), sizeof size);
        const auto rest = std::span{both}.subspan(sizeof size, both.size() - sizeof size - 1);
        const auto bytes = rest.first(std::min<std::size_t>(size, rest.size()));
        const auto ring = rest.subspan(bytes.size());
        const auto path = temporary("sstrace");
        writeFile(path, bytes);
        if (!ring.empty())
            writeFile(container::ringPath(path), ring);
        const auto trace = container::readTrace(path);
        if (trace) {
            const bool differs = digestOf(**trace) != seeds->digest;
            if (both.back() != std::byte{0} && differs && !reportsLoss(**trace))
                silentError("a bit of a live trace was flipped");
        }
        std::filesystem::remove(container::ringPath(path));
        std::filesystem::remove(path);
    };
    return {"live", make, run, [](const Bytes& trace) { return joined(trace, {}); }};
}

Structure jsonCases()
{
    struct Seeds {
        std::vector<std::string> texts = jsonSeeds();
        std::vector<JsonTrace> traces;
    };
    const auto seeds = std::make_shared<Seeds>();
    for (const std::string& text : seeds->texts)
        seeds->traces.push_back(splitAtEvents(text));
    const auto make = [seeds](Mutator& random) {
        std::string text =
            startsLarge(random) ? seeds->texts[random.below(seeds->texts.size())] : shortTrace(seeds->traces, random);
        for (std::size_t count = 1 + random.below(8); count > 0 && !text.empty(); --count)
            changeJson(text, random);
        switch (random.below(48)) { // a thread decompresses, which takes most of the time of a case
        case 0:
            return gzipped(text);
        case 1:
            return zstandard(text);
        default:
            return bytesOf(text);
        }
    };
    const auto run = [](const Bytes& bytes) {
        openAnything(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    };
    return {"json", make, run};
}

Structure nsysCases()
{
    struct Seeds {
        Export whole;
        std::vector<Export> small;
    };
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // no statistics, which take a lock for each allocation
    const auto seeds = std::make_shared<Seeds>();
    seeds->whole = exportOf(wholeExport());
    for (const char* tables : kSmallExports)
        seeds->small.push_back(exportOf(smallExport(seeds->whole.file, tables)));
    const auto make = [seeds](Mutator& random) {
        Export changed = startsLarge(random, 50) ? seeds->whole : seeds->small[random.below(seeds->small.size())];
        for (std::size_t count = random.below(5); count > 0; --count)
            changeCell(changed, random);
        if (random.below(4) == 0) {
            Database database(changed.file);
            for (std::size_t count = 1 + random.below(4); count > 0; --count)
                changeDatabase(database, changed.tables, random);
            changed.file = database.bytes();
        }
        if (random.below(32) == 0 && !changed.file.empty())
            changed.file.resize(random.below(changed.file.size()));
        return std::move(changed.file);
    };
    const auto run = [](const Bytes& bytes) {
        // SQLite cannot open a MemoryFile: it follows the link to a file without a name.
        const struct File {
            std::filesystem::path path = temporary("sqlite");
            ~File() { unlink(path.c_str()); }
        } file;
        writeFile(file.path, bytes);
        formats::ReadOptions options;
        options.threads = XXH3_64bits(bytes.data(), bytes.size()) % 16 == 0 ? 2 : 1;
        const auto trace = formats::openTrace(file.path, options);
        if (!trace) {
            if (trace.error().message().empty())
                silentError("an error without a message");
            if (trace.error().what.id == "nsys.io") // no damage prevents SQLite from opening a file
                silentError(trace.error().message());
            return;
        }
        static_cast<void>(digestOf(**trace));
        constexpr int kMostAsked = 8; // each one costs SQL
        int asked = 0;
        for (const Track& track : (*trace)->tracks())
            for (const Slice& slice : (*trace)->sorted(track.id)) {
                if (slice.duration.count() < 0)
                    silentError("a slice ends before it starts");
                if (asked++ >= kMostAsked)
                    continue;
                static_cast<void>((*trace)->details(slice.id));
                static_cast<void>((*trace)->flowsOf(slice.id));
            }
    };
    return {"nsys", make, run};
}

Structure configurationCases()
{
    const auto seed = std::make_shared<std::string>(config::TrainingConfig().toJson());
    const auto make = [seed](Mutator& random) {
        std::string text = startsLarge(random) ? *seed : someSettings(random);
        // Most other changes make it invalid JSON, so that no setting is read.
        const JsonChange what = random.below(4) == 0 ? JsonChange::Anything : JsonChange::Values;
        for (std::size_t count = 1 + random.below(4); count > 0 && !text.empty(); --count)
            changeJson(text, random, what);
        return bytesOf(text);
    };
    const auto run = [](const Bytes& bytes) {
        const auto read = config::TrainingConfig::fromJson(textOf(bytes), "run.json");
        if (!read) {
            if (read.error().message().empty())
                silentError("an error without a message");
            return;
        }
        static_cast<void>(read->problems(false));
        // A configuration that was accepted can be written and read again without changes.
        const bool all = bytes.size() % 16 == 0; // not only the settings that differ from the defaults
        const auto again = config::TrainingConfig::fromJson(read->toJson(all), "again.json");
        if (!again || !(*again == *read))
            silentError("a configuration changes when it is saved");
    };
    return {"configuration", make, run};
}

} // namespace fuzz
