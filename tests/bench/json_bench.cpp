#include "profiler/formats/format.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/resource.h>

// json_bench TRACE [THREADS]: opens a trace once in a fresh process and prints one JSON line: seconds, counts of
// its contents, and the peak memory of the process. tests/bench/json_bench.sh runs it together with the peers.
namespace {

double peakMb()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Current anonymous memory in bytes.
double anonymousMb()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kb = 0; word == "RssAnon:" && status >> kb)
            return kb / 1024.0;
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fputs("usage: json_bench TRACE [THREADS]\n", stderr);
        return 2;
    }
    profiler::formats::ReadOptions options;
    options.threads = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : 0;
    double scanned = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    options.progress = [&](double share) {
        if (share < 1)
            scanned = seconds();
    };
    const auto trace = profiler::formats::openTrace(argv[1], options);
    const double total = seconds();
    if (!trace) {
        std::fprintf(stderr, "%s\n", trace.error().message().c_str());
        return 1;
    }
    const auto events = (*trace)->metadata().find("source.events");
    std::printf(R"({"program":"stepscope","load_s":%.4f,"scan_s":%.4f,"events":%s,"slices":%zu,"tracks":%zu,)"
                R"("trace_mb":%.1f,"anonymous_mb":%.1f,"peak_mb":%.1f})"
                "\n",
                total, scanned, events == (*trace)->metadata().end() ? "null" : events->second.c_str(),
                (*trace)->sliceCount(), (*trace)->tracks().size(), static_cast<double>((*trace)->memoryBytes()) / 1e6,
                anonymousMb(), peakMb());
    for (const profiler::Message& note : (*trace)->captureStats().notes)
        std::fprintf(stderr, "%s\n", note.text.c_str());
    return 0;
}
