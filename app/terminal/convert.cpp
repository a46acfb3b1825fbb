#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"

#include <fmt/format.h>

namespace app::terminal {

namespace {

int failed(const profiler::Error& error, const Streams& streams)
{
    streams.err << error.message() << '\n';
    return error.code == profiler::Error::Code::Cancelled ? kInterrupted : kBadInput;
}

} // namespace

int convert(const ConvertOptions& options, const Streams& streams)
{
    catchInterrupts();
    std::error_code none;
    if (std::filesystem::equivalent(options.in, options.out, none)) {
        streams.err << "the result would overwrite its source (" << options.out.string() << "): choose another name\n";
        return kBadInput;
    }
    const auto trace = openTrace(options.in);
    if (!trace)
        return failed(trace.error(), streams);
    profiler::Result<void> written;
    {
        ProgressLine line("Writing " + options.out.filename().string());
        profiler::formats::WriteOptions how;
        how.progress = [&](double share) { line.show(share); };
        how.stop = line.stop();
        written = profiler::formats::saveTrace(**trace, options.out, how);
    }
    if (!written)
        return failed(written.error(), streams);
    for (const profiler::Message& note : (*trace)->captureStats().notes)
        streams.err << note.text << '\n';
    streams.out << fmt::format("{} slices, {} bytes: {}\n", (*trace)->sliceCount(),
                               std::filesystem::file_size(options.out, none), options.out.string());
    return kDone;
}

} // namespace app::terminal
