// The overhead of recording: two trainings of the same model in one process, one untraced and one traced, take turns,
// A B B A, for each recording level. In separate processes they would differ by more than the overhead, because each
// process lays out its memory differently.
#include <ATen/ATen.h> // before the trainer's headers, which take operators from a precompiled header

#include "trainer/session/training.h"
#include "trainer_data_datasets_registry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Short turns, because other load of the machine changes every second. Five turns are a period of the default windows,
// so pairs come in fives.
constexpr int kStepsATurn = 10, kTurnsAPeriod = 5, kLeastPairs = 4 * kTurnsAPeriod;

struct Level {
    const char* name;
    std::vector<const char*> settings;
};

class Silent final : public trainer::Progress {
public:
    void report(const config::protocol::Progress&) override {}
};

[[noreturn]] void fail(const std::string& message)
{
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

config::TrainingConfig configure(const fs::path& folder, const Level& level)
{
    config::TrainingConfig config;
    const std::string path = "dataset.path=" + (folder / "images").string();
    std::vector<const char*> settings = {path.c_str(), "dataset.validation_share=0", "run.threads=1"};
    settings.insert(settings.end(), level.settings.begin(), level.settings.end());
    for (const char* setting : settings)
        if (auto done = config.setAssignment(setting); !done)
            fail(done.error().message());
    return config;
}

std::shared_ptr<const trainer::data::Dataset> openImages(const config::TrainingConfig& config)
{
    for (const auto& [stem, kind] : trainer::datasets::all())
        if (stem == config[config::key::dataset]) {
            auto opened = kind.open(config, {}, {});
            if (!opened)
                fail(opened.error().message());
            return *opened;
        }
    fail("no such dataset");
}

std::unique_ptr<trainer::Recording> record(const fs::path& path)
{
    auto started = trainer::Recording::start(path, true);
    if (!started)
        fail(started.error().message());
    (*started)->sampleSystem(false); // as the trainer does
    return std::move(*started);
}

double threadSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Cost {
    double wall = 0, processor = 0; ///< seconds per step; of the training thread
};

Cost turn(trainer::Training& training)
{
    training.unpark();
    const double before = threadSeconds();
    Cost cost;
    for (int step = 0; step < kStepsATurn; ++step) {
        if (training.epochFinished())
            training.beginEpoch();
        cost.wall += training.step().seconds / kStepsATurn;
    }
    cost.processor = (threadSeconds() - before) / kStepsATurn;
    training.park();
    return cost;
}

/// Mean of log ratios as a ratio, with two standard errors.
void print(const char* what, const std::vector<double>& logs)
{
    const auto count = static_cast<double>(logs.size());
    const double mean = std::reduce(logs.begin(), logs.end()) / count;
    double squares = 0;
    for (const double value : logs)
        squares += (value - mean) * (value - mean);
    std::printf("  %s × %.4f ± %.4f", what, std::exp(mean), 2 * std::sqrt(squares / (count - 1) / count));
}

void measure(const fs::path& folder, const Level& level, double seconds)
{
    const auto config = configure(folder, level);
    const auto images = openImages(config);
    Silent silent;
    trainer::Recording none;
    const auto recording =
        config[config::key::captureEnabled] ? record(folder / "run.sstrace") : std::make_unique<trainer::Recording>();
    std::vector<double> wall, processor, untraced;
    {
        trainer::Training plain(config, images, at::kCPU, nullptr, none, silent);
        trainer::Training traced(config, images, at::kCPU, nullptr, *recording, silent);
        for (int warm = 0; warm < kTurnsAPeriod; ++warm) {
            turn(plain);
            turn(traced);
        }
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        for (int pair = 0; pair % kTurnsAPeriod != 0 || pair < kLeastPairs || std::chrono::steady_clock::now() < until;
             ++pair) {
            const bool plainFirst = pair % 2 == 0;
            const Cost first = turn(plainFirst ? plain : traced), second = turn(plainFirst ? traced : plain);
            const Cost& a = plainFirst ? first : second;
            const Cost& b = plainFirst ? second : first;
            wall.push_back(std::log(b.wall / a.wall));
            processor.push_back(std::log(b.processor / a.processor));
            untraced.push_back(a.wall);
        }
    }
    recording->finish();
    std::ranges::sort(untraced);
    std::printf("%-34s %7.0f µs untraced;", level.name, untraced[untraced.size() / 2] * 1e6);
    print("time", wall);
    print(";  processor", processor);
    std::printf(";  %zu pairs\n", wall.size());
    std::fflush(stdout);
}

/// Two extreme workloads: operators so small that recording costs most, and convolutions.
struct Workload {
    const char* name;
    std::vector<const char*> settings;
};
const Workload kWorkloads[] = {
    {"tiny mlp",
     {"workload=mlp", "model.width=64", "model.depth=8", "batch.size=16", "dataset.samples=2000",
      "dataset.source_size=16", "dataset.image_size=16"}},
    {"convnet",
     {"model.width=16", "batch.size=32", "dataset.samples=2000", "dataset.source_size=32", "dataset.image_size=32"}}};
const Level kLevels[] = {{"against itself", {"capture.enabled=false"}},
                         {"always", {"capture.level=always"}},
                         {"standard", {"capture.level=standard"}},
                         {"standard, every step", {"capture.level=standard", "capture.ops_every=1"}},
                         {"full", {"capture.level=full"}},
                         {"full, every step", {"capture.level=full", "capture.ops_every=1"}}};

} // namespace

// overhead_bench [SECONDS]: total time, default 150, divided evenly.
int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::max(std::atof(argv[1]), 1.0) : 150;
    std::string pattern = fs::temp_directory_path() / "stepscope-overhead-XXXXXX";
    if (!::mkdtemp(pattern.data()))
        fail("no temporary folder");
    const fs::path folder = pattern;
    std::printf("traced / untraced, alternating, with two standard errors\n");
    for (const Workload& workload : kWorkloads)
        for (const Level& level : kLevels) {
            const std::string name = std::string(workload.name) + ", " + level.name;
            Level both{name.c_str(), workload.settings};
            both.settings.insert(both.settings.end(), level.settings.begin(), level.settings.end());
            fs::create_directories(folder / workload.name);
            measure(folder / workload.name, both, seconds / (std::size(kWorkloads) * std::size(kLevels)));
        }
    fs::remove_all(folder);
}
