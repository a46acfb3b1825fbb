// Runs structure-aware cases in separate processes, so that a crash, a hang or a memory leak affects only one case:
//   structured_fuzz NAME|all [--cases N] [--seed S] [--keep DIR]
//   structured_fuzz NAME --file CASE, or --whole FILE
// NAME: container, live, json, nsys, configuration. Case i of seed S always has the same bytes. A failing case is
// written to DIR/NAME-S-i. The exit status is 0 if all cases of all names passed.
#include "tests/fuzz/structured_cases.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// Read by the address sanitizer, which otherwise keeps more freed memory than fits in the cache, and long call stacks
/// of all allocations. To see these for a kept case, run it with ASAN_OPTIONS=malloc_context_size=30.
extern "C" const char* __asan_default_options() // NOLINT(bugprone-reserved-identifier): its name is the sanitizer's
{
    return "quarantine_size_mb=8:thread_local_quarantine_size_kb=256:malloc_context_size=2";
}

namespace {

using Clock = std::chrono::steady_clock;

// The limits that the readers guarantee: no crash, at most 10 s, at most 2 GiB.
constexpr auto kLongest = std::chrono::seconds(10);
constexpr long kMostKiB = 2L << 20;
// A process is replaced after this many cases, so that its peak memory is meaningful for them.
constexpr std::uint64_t kCasesPerProcess = 10'000;

/// State that the process that runs cases shares with its supervisor.
struct Progress {
    std::atomic<std::uint64_t> running; ///< the current case
    std::atomic<std::int64_t> since;    ///< start time of the case, ns
};

std::int64_t now()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

fuzz::Bytes bytesOf(const fuzz::Structure& structure, std::uint64_t seed, std::uint64_t index)
{
    fuzz::Mutator random(static_cast<unsigned>(seed * 1'000'003 + index));
    return structure.make(random);
}

[[noreturn]] void runCases(const fuzz::Structure& structure, std::uint64_t seed, std::uint64_t first, std::uint64_t end,
                           Progress& progress)
{
    for (std::uint64_t i = first; i < end; ++i) {
        const fuzz::Bytes bytes = bytesOf(structure, seed, i);
        progress.since = now();
        progress.running = i;
        structure.run(bytes);
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        if (used.ru_maxrss > kMostKiB) {
            std::fprintf(stderr, "case %llu: %ld MiB of memory\n", static_cast<unsigned long long>(i),
                         used.ru_maxrss >> 10);
            _exit(3);
        }
    }
    progress.running = end;
    _exit(0);
}

struct Options {
    std::uint64_t cases = 1000, seed = 1;
    std::filesystem::path keep = ".";
};

/// @return the number of failed cases
std::uint64_t fuzzAll(const fuzz::Structure& structure, const Options& options, Progress& progress)
{
    const std::string name(structure.name);
    const auto begin = Clock::now();
    std::uint64_t failed = 0;
    long peak = 0;
    for (std::uint64_t next = 0; next < options.cases;) {
        const std::uint64_t end = std::min(options.cases, next + kCasesPerProcess);
        progress.running = next;
        progress.since = now();
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0)
            runCases(structure, options.seed, next, end, progress);
        int status = 0;
        rusage used{};
        bool hung = false;
        while (wait4(child, &status, WNOHANG, &used) == 0) {
            if (now() - progress.since > std::chrono::nanoseconds(kLongest).count()) {
                hung = true;
                kill(child, SIGKILL);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        peak = std::max(peak, used.ru_maxrss);
        next = end;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        const std::uint64_t culprit = progress.running;
        const auto path = options.keep / (name + "-" + std::to_string(options.seed) + "-" + std::to_string(culprit));
        const fuzz::Bytes bytes = bytesOf(structure, options.seed, culprit);
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        std::printf("%s: case %llu %s; kept as %s\n", name.c_str(), static_cast<unsigned long long>(culprit),
                    hung                                            ? "ran for more than 10 s"
                    : WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "took more than 2 GiB"
                                                                    : "crashed",
                    path.c_str());
        ++failed;
        next = culprit + 1;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%s: %llu cases of seed %llu in %.0f s, %llu failed, at most %ld MiB\n", name.c_str(),
                static_cast<unsigned long long>(options.cases), static_cast<unsigned long long>(options.seed), seconds,
                static_cast<unsigned long long>(failed), peak >> 10);
    std::fflush(stdout);
    return failed;
}

int usage()
{
    std::fputs("structured_fuzz container|live|json|nsys|configuration|all [--cases N] [--seed S] [--keep DIR]\n"
               "structured_fuzz NAME --file FILE: one saved case\n"
               "structured_fuzz NAME --whole FILE: an unmodified file\n",
               stderr);
    return 2;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2 || argc % 2 != 0)
        return usage();
    Options options;
    std::filesystem::path file;
    bool isWhole = false;
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--cases")
            options.cases = std::strtoull(argv[i + 1], nullptr, 10);
        else if (option == "--seed")
            options.seed = std::strtoull(argv[i + 1], nullptr, 10);
        else if (option == "--keep")
            options.keep = argv[i + 1];
        else if (option == "--file" || option == "--whole") {
            file = argv[i + 1];
            isWhole = option == "--whole";
        } else
            return usage();
    }
    void* const shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    auto& progress = *new (shared) Progress;
    // The readers keep what does not fit in memory in temporary files.
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    std::uint64_t failed = 0;
    const auto structures = fuzz::structures(argv[1]);
    for (const fuzz::Structure& structure : structures) {
        if (file.empty()) {
            failed += fuzzAll(structure, options, progress);
            continue;
        }
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            std::fprintf(stderr, "cannot read %s\n", file.c_str());
            return 1;
        }
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        const auto raw = std::as_bytes(std::span{text});
        const fuzz::Bytes bytes(raw.begin(), raw.end());
        structure.run(isWhole ? structure.caseOfFile(bytes) : bytes);
    }
    return structures.empty() ? usage() : failed == 0 ? 0 : 1;
}
