#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <array>
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
        "profiler/os/", "profiler/model/", "profiler/formats/", "profiler/analysis/", "advisor/", "trainer/config/",
        "app/"};
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
        {"profiler/analysis/communication/", kAnalysisMayInclude},
        {"profiler/analysis/device/", kAnalysisMayInclude},
        {"profiler/analysis/loader/", kAnalysisMayInclude},
        {"profiler/analysis/memory/", kAnalysisMayInclude},
        {"profiler/analysis/operators/", kAnalysisMayInclude},
        {"profiler/analysis/replay/", kAnalysisMayInclude},
        {"profiler/analysis/steps/", kAnalysisMayInclude},
        {"advisor/", kAdvisorMayInclude},
        {"advisor/evidence/", kAdvisorMayInclude, kBehindRules},
        {"advisor/prediction/", kAdvisorMayInclude, kBehindRules},
        {"advisor/rules/", kAdvisorMayInclude, {"advisor/experiment/", "advisor/tuner/", "advisor/report/"}},
        {"advisor/experiment/", kAdvisorMayInclude},
        {"advisor/runner/", kAdvisorMayInclude},
        {"advisor/change/", kAdvisorMayInclude, {"advisor/tuner/", "advisor/report/"}},
        {"advisor/tuner/", kAdvisorMayInclude},
        {"advisor/report/", kAdvisorMayInclude},
        {"trainer/config/", {"trainer/config/"}},
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
        {"trainer/schedules/parts/", kTrainerMayInclude},
        {"trainer/session/", kTrainerMayInclude},
        {"trainer/step/", kTrainerMayInclude},
        {"trainer/workloads/", kTrainerMayInclude},
        {"trainer/workloads/parts/", kTrainerMayInclude},
        {"app/", kAppMayInclude, kNotFromApp},
        {"app/charts/", {"profiler/model/", "profiler/analysis/", "app/look/", "app/document/", "app/charts/"}},
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

/// A view is given {trace, selection, session}, never another view.
void checkViews(const SourceFile& file, std::vector<std::string>& found)
{
    constexpr std::string_view kViews = "app/views/";
    if (!file.path.starts_with(kViews))
        return;
    const auto own = file.path.substr(0, file.path.find('/', kViews.size()) + 1);
    for (const std::string& include : file.includes)
        if (include.starts_with(kViews) && include != "app/views/view.h" && !include.starts_with(own))
            found.push_back(file.path + " includes " + include + ": a view does not know another view");
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
    SourceFile file{.path = std::move(path), .includes = {}};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (std::smatch match; line.find('#') != std::string::npos && std::regex_search(line, match, pattern))
            file.includes.push_back(match[1]);
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
        checkModule(file, found);
        checkViews(file, found);
    }
    return found;
}

} // namespace architecture
