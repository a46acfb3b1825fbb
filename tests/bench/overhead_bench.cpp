// What recording costs: an untraced and a traced training take turns, A B B A, in one run, for each level of recording.
#include "tests/trainer/trainer_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

using namespace trainer_test;

namespace {

// A whole period of the default windows, so that each turn holds its share of recorded operators.
constexpr int kStepsATurn = 50;

struct Level {
    const char* name;
    std::vector<std::string> settings;
};

class Arm {
public:
    Arm(const TestFolder& folder, const std::string& name, const std::vector<std::string>& settings, bool traced)
        : m_run(arguments(folder, name, settings, traced))
    {
    }
    ~Arm()
    {
        m_run.send(protocol::Stop{});
        m_run.end();
    }
    struct Cost {
        double wallUs = 0, cpuUs = 0; ///< a step; the processor's time of all threads, the trace's writer included
    };
    Cost turn()
    {
        const double before = cpuUs();
        m_run.send(protocol::Turn{"steps", 0, kStepsATurn});
        const auto result = m_run.await<protocol::TurnResult>();
        if (!result || result->seconds.empty())
            std::exit((std::fputs("the trainer ended\n", stderr), 1));
        return {std::reduce(result->seconds.begin(), result->seconds.end()) / kStepsATurn * 1e6,
                (cpuUs() - before) / kStepsATurn};
    }

private:
    static std::vector<std::string> arguments(const TestFolder& folder, const std::string& name,
                                              const std::vector<std::string>& settings, bool traced)
    {
        std::vector<std::string> all = {"dataset.samples=2000", "dataset.classes=10", "dataset.image_size=32",
                                        "batch.size=32",        "model.width=16",     "dataset.validation_share=0"};
        all.insert(all.end(), settings.begin(), settings.end());
        auto words = smallTraining(folder.path(), all);
        words.emplace_back("--turns");
        if (traced)
            words.insert(words.end(), {"--trace", (folder.path() / (name + ".sstrace")).string()});
        return words;
    }
    // Threads that ended are not counted, so the loader's must persist.
    [[nodiscard]] double cpuUs() const
    {
        double sum = 0;
        for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(m_run.pid()) + "/task")) {
            double nanoseconds = 0;
            std::ifstream(task.path() / "schedstat") >> nanoseconds;
            sum += nanoseconds / 1000;
        }
        return sum;
    }

    TrainerRun m_run;
};

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// Mean of log ratios as a ratio, with two standard errors.
void print(const char* what, const std::vector<double>& logs)
{
    const auto count = static_cast<double>(logs.size());
    const double mean = std::reduce(logs.begin(), logs.end()) / count;
    double squares = 0;
    for (const double value : logs)
        squares += (value - mean) * (value - mean);
    const double error = std::sqrt(squares / (count - 1) / count);
    std::printf("  %s × %.4f ± %.4f (median %.4f)", what, std::exp(mean), 2 * error, std::exp(median(logs)));
}

void measure(const TestFolder& folder, const Level& level, int pairs)
{
    Arm plain(folder, "plain", level.settings, false);
    Arm traced(folder, level.name, level.settings, true);
    for (Arm* arm : {&plain, &traced})
        for (int warm = 0; warm < 2; ++warm)
            arm->turn();
    std::vector<double> wall, cpu, untraced;
    for (int pair = 0; pair < pairs; ++pair) {
        Arm::Cost a, b;
        if (pair % 2 == 0)
            a = plain.turn(), b = traced.turn();
        else
            b = traced.turn(), a = plain.turn();
        wall.push_back(std::log(b.wallUs / a.wallUs));
        cpu.push_back(std::log(b.cpuUs / a.cpuUs));
        untraced.push_back(a.wallUs);
    }
    std::printf("%-24s %7.0f µs untraced;", level.name, median(untraced));
    print("time", wall);
    print(";  processor", cpu);
    std::printf(";  %d pairs\n", pairs);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    const int pairs = argc > 1 ? std::max(std::atoi(argv[1]), 2) : 12;
    const TestFolder folder;
    measure(folder, {"nothing recorded", {"capture.enabled=false"}}, pairs);
    measure(folder, {"phases and loader", {"capture.ops_every=0"}}, pairs);
    measure(folder, {"default windows", {}}, pairs);
    measure(folder, {"operators of every step", {"capture.ops_every=1"}}, pairs);
    measure(folder, {"default, two workers", {"loader.workers=2", "loader.persistent_workers=true"}}, pairs);
}
