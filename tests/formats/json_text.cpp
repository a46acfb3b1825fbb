#include "tests/formats/json_text.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <zlib.h>
#include <zstd.h>

namespace json_test {

using namespace profiler;

TextFile::TextFile(std::string_view bytes, std::string_view name)
{
    std::string pattern = (std::filesystem::temp_directory_path() / "stepscope-json-XXXXXX").string();
    m_folder = ::mkdtemp(pattern.data());
    m_path = m_folder / name;
    std::ofstream(m_path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TextFile::~TextFile()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

Result<std::shared_ptr<const Trace>> tryOpen(std::string_view bytes, unsigned threads)
{
    const TextFile file(bytes);
    formats::ReadOptions options;
    options.threads = threads;
    return formats::openTrace(file.path(), options);
}

std::shared_ptr<const Trace> open(std::string_view bytes, unsigned threads)
{
    auto trace = tryOpen(bytes, threads);
    if (!trace) {
        ADD_FAILURE() << trace.error().message();
        return std::make_shared<const Trace>();
    }
    return *trace;
}

std::string object(std::string_view events)
{
    return "{\"schemaVersion\": 1, \"traceEvents\": [" + std::string(events) + "]}";
}

const Track* track(const Trace& trace, std::string_view name)
{
    for (const Track& row : trace.tracks())
        if (row.name == name)
            return &row;
    return nullptr;
}

std::vector<Slice> slices(const Trace& trace, std::string_view name)
{
    const Track* row = track(trace, name);
    return row ? trace.sorted(row->id) : std::vector<Slice>{};
}

Slice only(const Trace& trace)
{
    EXPECT_EQ(trace.sliceCount(), 1U);
    for (const Track& row : trace.tracks())
        if (trace.sliceCount(row.id) > 0)
            return trace.sorted(row.id).front();
    return {};
}

std::string dump(const Trace& trace)
{
    std::map<std::string, std::string> rows; // sorted, because the order of tracks depends on the threads
    for (const Track& row : trace.tracks()) {
        std::ostringstream out;
        for (const Slice& s : trace.sorted(row.id))
            out << "  " << toNs(s.begin) << '+' << s.duration.count() << ' ' << activityName(s.kind) << ' '
                << trace.name(s) << " depth " << int{s.depth} << " flags " << int{s.flags} << " corr "
                << s.correlation.value << " seq " << s.sequence << " ext " << s.externalId << " src " << s.source
                << " bytes " << s.args.bytes << " value " << s.args.value << ' ' << trace.string(s.args.shapes)
                << trace.string(s.args.types) << '\n';
        for (const CounterSample& sample : trace.counter(row.id))
            out << "  " << toNs(sample.time) << " = " << sample.value << '\n';
        rows[row.processName + "/" + row.name + "/" + std::to_string(row.pid) + " at " +
             std::to_string(row.processSortIndex) + "/" + std::to_string(row.sortIndex)] += out.str();
    }
    std::string text;
    for (const auto& [name, slices] : rows)
        text += name + "\n" + slices;
    for (const Message& note : trace.captureStats().notes)
        text += messageLine(note) + "\n";
    return text;
}

std::string gzip(std::string_view text)
{
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string zstd(std::string_view text)
{
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

} // namespace json_test
