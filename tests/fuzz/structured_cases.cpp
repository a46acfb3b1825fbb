#include "tests/fuzz/structured_cases.h"

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/packed_reader.h"
#include "profiler/formats/container/packed_writer.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/formats/container/ring_file_layout.h"
#include "profiler/formats/container/section.h"
#include "profiler/formats/container/tailing_reader.h"
#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"
#include "tests/formats_sqlite/nsys_file.h"
#include "tests/fuzz/open_trace_target.h"
#include "tests/fuzz/packed_reader_target.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/trace_text.h"
#include "trainer/config/training_config.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <unistd.h>
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

std::filesystem::path temporary(std::string_view name)
{
    return std::filesystem::temp_directory_path() /
           ("stepscope_fuzz." + std::to_string(getpid()) + "." + std::string(name));
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
    packed::SectionType type;
    Bytes raw;
};

constexpr const char* kText = R"(format stepscope
meta key value
device 0 GPU uuid
main pid=1
 step 0 0 100
repeat 30 every 100
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

/// Provides some details for each slice.
class Places final : public ArgSource {
public:
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        return SliceDetails{{"place", std::to_string(source)}, {"share", "0." + std::to_string(source)}};
    }
};

std::shared_ptr<const Trace> withDetails()
{
    TraceBuilder builder;
    std::vector<RawSlice> slices(40);
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
    if (!packed::writePacked(trace, path))
        std::abort();
    Bytes bytes = readFile(path);
    std::filesystem::remove(path);
    return bytes;
}

std::vector<Part> partsOf(const Bytes& file)
{
    std::vector<Part> parts;
    for (std::size_t at = sizeof(packed::FileHeader); at < file.size();) {
        packed::SectionHeader header{};
        std::memcpy(&header, &file[at], sizeof header);
        at += sizeof header;
        Part part{header.type, Bytes(header.rawBytes)};
        if (ZSTD_decompress(part.raw.data(), part.raw.size(), &file[at], header.packedBytes) != header.rawBytes)
            std::abort();
        parts.push_back(std::move(part));
        at += header.packedBytes;
    }
    return parts;
}

/// Compresses the parts again, with correct checksums and lengths.
Bytes assemble(const std::vector<Part>& parts)
{
    Bytes file(sizeof(packed::FileHeader));
    packed::FileHeader header{};
    std::memcpy(header.magic, packed::kMagic, sizeof packed::kMagic);
    header.version = packed::kVersion;
    header.headerBytes = sizeof header;
    for (const Part& part : parts) {
        if (part.type == packed::SectionType::Overview)
            header.overviewOffset = file.size();
        const auto section = packed::packSection(part.type, part.raw);
        if (!section)
            return {};
        file.insert(file.end(), section->begin(), section->end());
    }
    header.fileBytes = file.size();
    header.checksum = packed::headerChecksum(header);
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
    for (std::size_t at = sizeof(wire::FileHeader); at + sizeof(wire::FrameHeader) <= bytes.size();) {
        wire::FrameHeader header{};
        std::memcpy(&header, &bytes[at], sizeof header);
        const std::size_t there = bytes.size() - at - sizeof header;
        header.magic = wire::kFrameMagic;
        header.sequence = sequence++;
        header.payloadBytes = static_cast<std::uint32_t>(std::min<std::size_t>(header.payloadBytes, there));
        header.checksum =
            wire::frameChecksum(header, std::span{bytes}.subspan(at + sizeof header, header.payloadBytes));
        std::memcpy(&bytes[at], &header, sizeof header);
        at += sizeof header + header.payloadBytes;
    }
}

/// The ring file of a killed run: two thread buffers, tracks and strings.
Bytes ringFile()
{
    wire::RingHeader header{};
    std::memcpy(header.magic, wire::kRingMagic, sizeof wire::kRingMagic);
    header.version = wire::kRingVersion;
    header.headerBytes = sizeof header;
    header.runId = wire_test::WireFile::kRunId;
    header.maxLanes = 2;
    header.laneEvents = 64;
    header.maxTracks = 4;
    header.lanes = header.tracks = 2;
    header.stringCapacity = 256;
    const wire::RingLayout layout{header.maxLanes, header.laneEvents, header.maxTracks, header.stringCapacity};
    Bytes bytes(layout.fileBytes());
    const auto put = [&](std::uint64_t at, const auto& value) { std::memcpy(&bytes[at], &value, sizeof value); };
    std::uint64_t used = 0;
    for (const std::string_view text : {"main thread", "step", "relu"}) {
        put(layout.stringsAt() + used,
            wire::StringEntry{static_cast<std::uint32_t>(100 + used), static_cast<std::uint32_t>(text.size())});
        std::memcpy(&bytes[layout.stringsAt() + used + sizeof(wire::StringEntry)], text.data(), text.size());
        used += sizeof(wire::StringEntry) + (text.size() + 3) / 4 * 4;
    }
    header.stringBytes = used;
    put(0, header);
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
        wire::TrackEntry track{};
        track.track = lane;
        track.name = 100;
        put(layout.tracksAt() + lane * sizeof track, track);
        wire::LaneHeader head{};
        head.written = 70;
        head.read = 40;
        head.track = lane;
        put(layout.laneAt(lane), head);
        for (std::uint32_t i = 0; i < 64; ++i)
            put(layout.laneAt(lane) + sizeof head + i * sizeof(wire::EventRecord),
                wire_test::record(i % 3 == 0 ? wire::EventType::Begin : wire::EventType::Slice, ActivityKind::CpuOp,
                                  100, 10 * i, 10 * i + 8));
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
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
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
        } else if (std::strchr("{}[],: \n\r\t", text[at]) == nullptr) {
            while (end < text.size() && std::strchr("{}[],: \n\r\t\"", text[end]) == nullptr)
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

void changeJson(std::string& text, Mutator& random)
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
    const auto objects = objectsOf(text);
    if (values.empty())
        return;
    const auto& value = values[random.below(values.size())];
    switch (random.below(6)) {
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
        if (!objects.empty()) {
            const auto& object = objects[random.below(objects.size())];
            const auto& place = objects[random.below(objects.size())];
            text.insert(place.first, text.substr(object.first, object.second) + ",");
        }
        break;
    case 4: // a removed event
        if (!objects.empty()) {
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

} // namespace

Structure containerCases()
{
    struct Seeds {
        Bytes file = packedFileOf(*test_support::traceFromText(kText));
        std::vector<Part> parts[2] = {partsOf(file), partsOf(packedFileOf(*withDetails()))};
        std::uint64_t digest = digestOf(*test_support::traceFromText(kText));
    };
    const auto seeds = std::make_shared<Seeds>();
    // The last byte of a case says whether bits of it were flipped, in which case the damage must be reported.
    const auto make = [seeds](Mutator& random) {
        if (random.below(4) == 0) {
            Bytes bytes = seeds->file;
            for (std::size_t count = 1 + random.below(4); count > 0; --count)
                bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
            bytes.push_back(std::byte{1});
            return bytes;
        }
        std::vector<Part> parts = seeds->parts[random.below(2)];
        for (std::size_t count = 1 + random.below(4); count > 0; --count)
            changeContent(parts[random.below(parts.size())].raw, random);
        if (random.below(8) == 0)
            std::swap(parts[random.below(parts.size())], parts[random.below(parts.size())]);
        if (random.below(8) == 0)
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(random.below(parts.size())));
        Bytes bytes = assemble(parts);
        bytes.push_back(std::byte{0});
        return bytes;
    };
    const auto run = [seeds](const Bytes& bytes) {
        if (bytes.empty())
            return;
        const auto file = std::span{bytes}.first(bytes.size() - 1);
        readAnyPacked(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
        if (bytes.back() == std::byte{0})
            return;
        const wire_test::MemoryFile memory;
        packed::UnpackOptions options;
        options.threads = 1;
        const auto trace = packed::readPacked(memory.write(file), options);
        if (trace && digestOf(**trace) != seeds->digest && !reportsLoss(**trace))
            silentError("bits of a finished trace were flipped");
    };
    const auto caseOfFile = [](Bytes file) {
        file.push_back(std::byte{0});
        return file;
    };
    return {"container", make, run, caseOfFile};
}

Structure liveCases()
{
    struct Seeds {
        Bytes trace = wire_test::everything().bytes();
        Bytes ring = ringFile();
        std::uint64_t digest = 0;
    };
    const auto seeds = std::make_shared<Seeds>();
    {
        const wire_test::MemoryFile memory;
        if (const auto trace = wire::readTrace(memory.write(seeds->trace)))
            seeds->digest = digestOf(**trace);
    }
    const auto make = [seeds](Mutator& random) {
        Bytes trace = seeds->trace, ring = seeds->ring;
        const bool flipped = random.below(4) == 0;
        if (flipped) {
            trace[sizeof(wire::FileHeader) + random.below(trace.size() - sizeof(wire::FileHeader))] ^=
                static_cast<std::byte>(1U << random.below(8));
            ring.clear();
        } else {
            for (std::size_t count = random.below(5); count > 0 && trace.size() > 64; --count)
                changeContent(trace, random);
            repairFrames(trace);
            // Most of a ring file is unused, so the damage goes to the used parts.
            const wire::RingLayout layout{2, 64, 4, 256};
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
            writeFile(wire::ringPath(path), ring);
        const auto trace = wire::readTrace(path);
        if (trace) {
            const bool differs = digestOf(**trace) != seeds->digest;
            if (both.back() != std::byte{0} && differs && !reportsLoss(**trace))
                silentError("a bit of a live trace was flipped");
        }
        std::filesystem::remove(wire::ringPath(path));
        std::filesystem::remove(path);
    };
    return {"live", make, run, [](const Bytes& trace) { return joined(trace, {}); }};
}

Structure jsonCases()
{
    const auto seeds = std::make_shared<std::vector<std::string>>(jsonSeeds());
    const auto make = [seeds](Mutator& random) {
        std::string text = (*seeds)[random.below(seeds->size())];
        for (std::size_t count = 1 + random.below(8); count > 0 && !text.empty(); --count)
            changeJson(text, random);
        switch (random.below(6)) {
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
        Bytes file;
        std::vector<std::string> tables;
    };
    const auto seeds = std::make_shared<Seeds>();
    const auto path = temporary("sqlite");
    formats_sqlite_test::writeTwoProcesses(path);
    seeds->file = readFile(path);
    std::filesystem::remove(path);
    seeds->tables = Database(seeds->file).column("SELECT name FROM sqlite_master WHERE type = 'table'");
    const auto make = [seeds](Mutator& random) {
        Database database(seeds->file);
        for (std::size_t count = 1 + random.below(4); count > 0; --count)
            changeDatabase(database, seeds->tables, random);
        return database.bytes();
    };
    const auto run = [](const Bytes& bytes) {
        const wire_test::MemoryFile memory;
        const auto trace = formats::openTrace(memory.write(bytes));
        if (!trace) {
            if (trace.error().message().empty())
                silentError("an error without a message");
            return;
        }
        static_cast<void>(digestOf(**trace));
        for (const Track& track : (*trace)->tracks())
            for (const Slice& slice : (*trace)->sorted(track.id)) {
                if (slice.duration.count() < 0)
                    silentError("a slice ends before it starts");
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
        std::string text = *seed;
        for (std::size_t count = 1 + random.below(6); count > 0 && !text.empty(); --count)
            changeJson(text, random);
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
        const auto again = config::TrainingConfig::fromJson(read->toJson(), "again.json");
        if (!again || !(*again == *read))
            silentError("a configuration changes when it is saved");
    };
    return {"configuration", make, run};
}

} // namespace fuzz
