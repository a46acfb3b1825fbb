#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <regex>
#include <span>
#include <sstream>
#include <string_view>

namespace architecture {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 5> kFolders = {"app", "profiler", "advisor", "trainer", "tests"};

/// A folder of the product and what its files may include of the project's other folders. The longest prefix that
/// matches a file is its module.
struct Module {
    std::string_view prefix;
    std::vector<std::string_view> mayInclude;
    std::vector<std::string_view> mayNotInclude = {}; ///< exceptions from mayInclude
    bool hasSubfolders = false;                       ///< any folder directly below belongs to the module
};

const std::vector<Module>& modules()
{
    static const std::vector<std::string_view> kAdvisorMayInclude = {
        "profiler/os/", "profiler/model/", "profiler/analysis/", "advisor/", "trainer/config/"};
    static const std::vector<std::string_view> kBehindRules = {"advisor/rules/", "advisor/experiment/",
                                                               "advisor/tuner/", "advisor/report/"};
    static const std::vector<std::string_view> kTrainerMayInclude = {
        "profiler/os/", "profiler/model/", "profiler/formats/container/", "profiler/capture/", "trainer/"};
    static const std::vector<std::string_view> kAppMayInclude = {
        "profiler/os/",       "profiler/model/", "profiler/formats/",
        "profiler/analysis/", "profiler/job/",   "profiler/query/",
        "advisor/",           "trainer/config/", "app/"};
    static const std::vector<std::string_view> kNotFromApp = {"app/terminal/"};
    static const std::vector<std::string_view> kAboveWidgets = {"app/terminal/", "app/views/", "app/window/"};
    static const std::vector<std::string_view> kNoWidgets = {"app/terminal/", "app/views/",  "app/window/",
                                                             "app/findings/", "app/charts/", "app/timeline/"};
    static const std::vector<std::string_view> kContainerMayInclude = {"profiler/os/", "profiler/model/",
                                                                       "profiler/formats/container/"};
    static const std::vector<std::string_view> kFormatsMayInclude = {"profiler/os/", "profiler/model/",
                                                                     "profiler/formats/"};
    static const std::vector<std::string_view> kCaptureMayInclude = {
        "profiler/os/", "profiler/model/", "profiler/formats/container/", "profiler/capture/"};
    static const std::vector<std::string_view> kAnalysisMayInclude = {"profiler/model/", "profiler/analysis/"};
    static const std::vector<Module> all = {
        {"profiler/os/", {"profiler/os/"}},
        {"profiler/model/", {"profiler/os/", "profiler/model/"}},
        {"profiler/formats/", kFormatsMayInclude},
        {"profiler/formats/container/", kContainerMayInclude},
        {"profiler/formats/csv/", kFormatsMayInclude},
        {"profiler/formats/nsys/", kFormatsMayInclude},
        {"profiler/formats/open/", kFormatsMayInclude},
        {"profiler/formats/output/", kFormatsMayInclude},
        {"profiler/formats/perfetto/", kFormatsMayInclude},
        {"profiler/formats/pytorch/", kFormatsMayInclude},
        {"profiler/capture/", kCaptureMayInclude},
        {"profiler/capture/cupti/", kCaptureMayInclude},
        {"profiler/capture/injection/", kCaptureMayInclude},
        {"profiler/analysis/", kAnalysisMayInclude},
        {"profiler/analysis/call_tree/", kAnalysisMayInclude},
        {"profiler/analysis/communication/", kAnalysisMayInclude},
        {"profiler/analysis/device/", kAnalysisMayInclude},
        {"profiler/analysis/difference/", kAnalysisMayInclude},
        {"profiler/analysis/job/", kAnalysisMayInclude},
        {"profiler/analysis/loader/", kAnalysisMayInclude},
        {"profiler/analysis/memory/", kAnalysisMayInclude},
        {"profiler/analysis/operators/", kAnalysisMayInclude},
        {"profiler/analysis/replay/", kAnalysisMayInclude},
        {"profiler/analysis/steps/", kAnalysisMayInclude},
        {"profiler/job/",
         {"profiler/os/", "profiler/model/", "profiler/formats/", "profiler/analysis/", "profiler/job/"}},
        {"profiler/monitor/",
         {"profiler/os/", "profiler/model/", "profiler/formats/container/", "profiler/analysis/", "profiler/monitor/"}},
        {"profiler/query/", {"profiler/os/", "profiler/model/", "profiler/analysis/", "profiler/query/"}},
        {"advisor/", kAdvisorMayInclude},
        {"advisor/evidence/", kAdvisorMayInclude, kBehindRules},
        {"advisor/prediction/", kAdvisorMayInclude, kBehindRules},
        {"advisor/rules/", kAdvisorMayInclude, {"advisor/experiment/", "advisor/tuner/", "advisor/report/"}},
        {"advisor/experiment/", kAdvisorMayInclude},
        {"advisor/runner/", kAdvisorMayInclude},
        {"advisor/change/", kAdvisorMayInclude, {"advisor/tuner/", "advisor/report/"}},
        {"advisor/tuner/", kAdvisorMayInclude},
        {"advisor/report/", kAdvisorMayInclude},
        {"trainer/config/", {"trainer/config/", "profiler/os/"}},
        {"trainer/cuda/", kTrainerMayInclude},
        {"trainer/data/", kTrainerMayInclude},
        {"trainer/datasets/", kTrainerMayInclude},
        {"trainer/hooks/", kTrainerMayInclude},
        {"trainer/memory/", kTrainerMayInclude},
        {"trainer/optimizers/", kTrainerMayInclude},
        {"trainer/optimizers/parts/", kTrainerMayInclude},
        {"trainer/parallel/", kTrainerMayInclude},
        {"trainer/plugin/", kTrainerMayInclude},
        {"trainer/precision/", kTrainerMayInclude},
        {"trainer/schedules/", kTrainerMayInclude},
        {"trainer/session/", kTrainerMayInclude},
        {"trainer/step/", kTrainerMayInclude},
        {"trainer/workloads/", kTrainerMayInclude},
        {"trainer/workloads/parts/", kTrainerMayInclude},
        {"app/", kAppMayInclude, kNotFromApp},
        {"app/charts/",
         {"profiler/model/", "profiler/analysis/", "profiler/formats/csv/", "app/look/", "app/document/",
          "app/charts/"}},
        {"app/configuration/", kAppMayInclude, kNoWidgets},
        {"app/document/", kAppMayInclude, kAboveWidgets},
        {"app/findings/", kAppMayInclude, kNotFromApp},
        {"app/look/", {"profiler/model/", "profiler/analysis/", "app/look/"}},
        {"app/record/", kAppMayInclude, kAboveWidgets},
        {"app/report/", kAppMayInclude, kAboveWidgets},
        {"app/services/", kAppMayInclude, kNoWidgets},
        {"app/tables/", kAppMayInclude, kNoWidgets},
        {"app/terminal/", {"profiler/", "advisor/", "trainer/config/", "app/terminal/"}},
        {"app/timeline/",
         {"profiler/model/", "profiler/analysis/", "trainer/config/", "app/look/", "app/document/", "app/tables/",
          "app/charts/", "app/timeline/"}},
        {"app/timeline_tools/", kAppMayInclude, kAboveWidgets},
        {"app/views/", kAppMayInclude, kNotFromApp, true},
        {"app/window/", kAppMayInclude, kNotFromApp},
        {"tests/", {"profiler/", "advisor/", "trainer/", "app/", "tests/"}, {}, true},
        {"tests/data/fixtures/", {"profiler/", "advisor/", "trainer/", "app/", "tests/"}},
    };
    return all;
}

bool startsWithAny(std::string_view text, std::span<const std::string_view> prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

bool isOurs(std::string_view include)
{
    return std::any_of(kFolders.begin(), kFolders.end(),
                       [&](std::string_view folder) { return include.starts_with(std::string(folder) + "/"); });
}

bool isQt(std::string_view include)
{
    static const std::regex pattern("^(Q[A-Z][A-Za-z0-9]*|Qt[A-Z][A-Za-z]*/.*|q[a-z]+\\.h)$");
    return std::regex_match(std::string(include), pattern);
}

bool isTorch(std::string_view include)
{
    constexpr std::array<std::string_view, 4> kTorch = {"torch/", "ATen/", "c10/", "caffe2/"};
    return startsWithAny(include, kTorch);
}

bool isTestOrBenchOf(std::string_view path, std::initializer_list<std::string_view> areas)
{
    return path.starts_with("tests/") && std::any_of(areas.begin(), areas.end(), [&](std::string_view area) {
               return path.substr(6).starts_with(area);
           });
}

void checkForeign(const SourceFile& file, std::vector<std::string>& found)
{
    const std::string& path = file.path;
    for (const std::string& include : file.includes) {
        if (isQt(include) && (!path.starts_with("app/") || path.starts_with("app/terminal/")) &&
            !isTestOrBenchOf(path, {"app", "e2e", "ui", "bench", "support"}))
            found.push_back(path + " includes " + include + ": Qt belongs in app, outside app/terminal");
        if (isTorch(include) &&
            ((!path.starts_with("trainer/") && !isTestOrBenchOf(path, {"trainer", "bench", "gpu"})) ||
             path.starts_with("trainer/config/") || path.starts_with("trainer/data/") ||
             path.starts_with("trainer/datasets/")))
            found.push_back(path + " includes " + include +
                            ": LibTorch belongs in the trainer, outside its configuration and data");
        if (include.starts_with("cupti") && !path.starts_with("profiler/capture/") &&
            !isTestOrBenchOf(path, {"capture", "bench", "gpu"}))
            found.push_back(path + " includes " + include + ": CUPTI belongs in profiler/capture");
    }
}

/// A product file outside profiler/os that may make system calls.
struct SystemCallException {
    std::string_view path, reason;
};

constexpr SystemCallException kSystemCallExceptions[] = {
    {"profiler/capture/injection/preload.cpp", "is loaded into every process of a recorded command, so its library "
                                               "links nothing, not even the C++ library"},
    {"profiler/capture/injection/python_frames.h", "is shared with trainer/hooks/python_allocations.cpp"},
    {"trainer/hooks/python_allocations.cpp",
     "is a library of its own in the user's Python, which links only the LibTorch "
     "of that process"},
};

/// Headers of the kernel and of POSIX. <csignal> is not one of them: it names the signals, too.
bool isSystemHeader(std::string_view include)
{
    constexpr std::array<std::string_view, 7> kSystemFolders = {"sys/",  "linux/", "asm/", "netinet/",
                                                                "arpa/", "net/",   "bits/"};
    constexpr std::array<std::string_view, 30> kHeaders = {
        "aio.h",      "dirent.h", "dlfcn.h",     "execinfo.h", "fcntl.h", "ftw.h",     "glob.h",    "grp.h",
        "ifaddrs.h",  "link.h",   "mntent.h",    "mqueue.h",   "netdb.h", "poll.h",    "pthread.h", "pty.h",
        "pwd.h",      "sched.h",  "semaphore.h", "signal.h",   "spawn.h", "syscall.h", "syslog.h",  "termios.h",
        "ucontext.h", "unistd.h", "utime.h",     "utmp.h",     "wait.h",  "wordexp.h"};
    return startsWithAny(include, kSystemFolders) ||
           std::find(kHeaders.begin(), kHeaders.end(), include) != kHeaders.end();
}

/// profiler/os makes all system calls of the product: there, they continue after interrupting signals, close their
/// descriptors and report errors in one way.
void checkSystemCalls(const SourceFile& file, std::vector<std::string>& found)
{
    const bool isException =
        std::any_of(std::begin(kSystemCallExceptions), std::end(kSystemCallExceptions),
                    [&](const SystemCallException& exception) { return file.path == exception.path; });
    if (file.path.starts_with("profiler/os/") || file.path.starts_with("tests/") || isException)
        return;
    for (const std::string& include : file.includes)
        if (isSystemHeader(include))
            found.push_back(file.path + " includes " + include + ": system headers belong in profiler/os");
    for (const std::string& call : file.systemCalls)
        found.push_back(file.path + " calls " + call + ": system calls belong in profiler/os");
}

/// The folder of a path, with its trailing '/'.
std::string_view folderOf(std::string_view path)
{
    return path.substr(0, path.rfind('/') + 1);
}

const Module* moduleOf(std::string_view path)
{
    const Module* found = nullptr;
    for (const Module& candidate : modules())
        if (path.starts_with(candidate.prefix) && (!found || candidate.prefix.size() > found->prefix.size()))
            found = &candidate;
    return found;
}

void checkModule(const SourceFile& file, std::vector<std::string>& found)
{
    const Module* module = moduleOf(file.path);
    const std::string_view folder = folderOf(file.path);
    const std::string_view below = module ? folder.substr(module->prefix.size()) : folder;
    const bool isKnown = module && (below.empty() || (module->hasSubfolders && below.find('/') == below.size() - 1));
    if (!isKnown) {
        found.push_back(file.path + ": unknown folder " + std::string(folder) +
                        "; architecture.md names the modules, tests/architecture/source_tree.cpp lists them");
        return;
    }
    for (const std::string& include : file.includes)
        if (isOurs(include) &&
            (!startsWithAny(include, module->mayInclude) || startsWithAny(include, module->mayNotInclude)))
            found.push_back(file.path + " includes " + include + ", which " + std::string(module->prefix) +
                            " must not depend on");
}

/// A view is given the documents and services that it uses, never another view. Only its registration, which picks
/// them, knows the workbench that has all of them.
void checkViews(const SourceFile& file, std::vector<std::string>& found)
{
    constexpr std::string_view kViews = "app/views/";
    if (!file.path.starts_with(kViews))
        return;
    const std::string_view own = std::string_view(file.path).substr(0, file.path.find('/', kViews.size()) + 1);
    for (const std::string& include : file.includes)
        if (include.starts_with(kViews) && include != "app/views/view.h" && !include.starts_with(own))
            found.push_back(file.path + " includes " + include + ": a view does not know another view");
    const std::string_view name = own.substr(std::min(own.size(), kViews.size()));
    const std::string registration = std::string(own) + std::string(name.substr(0, name.find('/'))) + ".cpp";
    for (const std::string& include : file.includes)
        if (include == "app/window/workbench.h" && file.path != registration)
            found.push_back(file.path + " includes " + include +
                            ": only the registration of a view knows the workbench");
}

bool isNameCharacter(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether the function of this name enters the kernel. A name of the global namespace (`::read`) is a function of the
/// C library; a few of these make no system call. Without `::`, only names that no function of ours has.
bool isSystemCall(std::string_view name, bool isGlobal)
{
    constexpr std::array<std::string_view, 3> kHarmless = {"setenv", "unsetenv", "strsignal"};
    if (isGlobal)
        return std::find(kHarmless.begin(), kHarmless.end(), name) == kHarmless.end();
    constexpr std::array<std::string_view, 47> kNames = {
        "clock_gettime", "dladdr",    "dlclose", "dlerror",   "dlopen",    "dlsym",     "dup2",       "eventfd",
        "execv",         "execve",    "execvp",  "fallocate", "fchmod",    "fcntl",     "fork",       "fstat",
        "fsync",         "ftruncate", "getpid",  "getppid",   "getrlimit", "getrusage", "gettid",     "ioctl",
        "isatty",        "madvise",   "mkdtemp", "mkostemp",  "mkstemp",   "mmap",      "munmap",     "pipe2",
        "prctl",         "pread",     "pwrite",  "setrlimit", "setsid",    "sigaction", "sigfillset", "sigprocmask",
        "sigwaitinfo",   "syscall",   "sysconf", "unlink",    "usleep",    "waitpid",   "writev"};
    return name.starts_with("pthread_") || name.starts_with("sched_") ||
           std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Appends the system calls in a line of code.
void addSystemCalls(std::string_view line, std::vector<std::string>& calls)
{
    for (std::size_t at = line.find('('); at != std::string_view::npos; at = line.find('(', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && isNameCharacter(line[begin - 1]))
            --begin;
        const std::string_view name = line.substr(begin, at - begin);
        const std::string_view before = line.substr(0, begin);
        const bool isScoped = before.ends_with("::");
        const char scope = isScoped && before.size() > 2 ? before[before.size() - 3] : ' ';
        const bool isGlobal = isScoped && !isNameCharacter(scope) && scope != '>'; // not of a class or a template
        const bool isQualified = isScoped || before.ends_with(".") || before.ends_with("->");
        if (!name.empty() && (isGlobal || !isQualified) && isSystemCall(name, isGlobal))
            calls.emplace_back(name);
    }
}

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

SourceFile parse(std::string path, const std::string& text)
{
    static const std::regex pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    SourceFile file{.path = std::move(path), .includes = {}, .systemCalls = {}};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (std::smatch match; line.find('#') != std::string::npos && std::regex_search(line, match, pattern))
            file.includes.push_back(match[1]);
        addSystemCalls(line.substr(0, line.find("//")), file.systemCalls);
    }
    return file;
}

std::vector<SourceFile> readTree(const fs::path& root)
{
    std::vector<SourceFile> files;
    for (std::string_view folder : kFolders)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto extension = entry.path().extension();
            if (entry.is_regular_file() && (extension == ".cpp" || extension == ".h"))
                files.push_back(parse(fs::relative(entry.path(), root).generic_string(), readFile(entry.path())));
        }
    return files;
}

std::vector<std::string> violations(const std::vector<SourceFile>& files)
{
    std::vector<std::string> found;
    for (const SourceFile& file : files) {
        checkForeign(file, found);
        checkSystemCalls(file, found);
        checkModule(file, found);
        checkViews(file, found);
    }
    return found;
}

} // namespace architecture
