// Compares our loader with LibTorch's DataLoader on the same Dataset::load, and with Dataset::load alone on as many
// threads (decode work × cores: no loader can be faster), with 0, 1 and 2 workers, alternating (A B C C B A …) in one
// process, so that other load of the machine affects all of them. Not Google Benchmark, because the result is the ratio
// of adjacent runs; its interval is Student's t at 95 % on the logarithms. Takes about a minute.
// Usage: loader_bench [rounds]

#include "advisor/experiment/statistics.h"
#include "trainer/data/loader.h"
#include "trainer/data/random.h"
#include "trainer_data_datasets_registry.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <torch/torch.h>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace trainer::data;

constexpr int kPrefetch = 2;
constexpr std::uint64_t kSeed = 1;

/// One of our datasets for LibTorch: a tensor per sample, stacked into a batch by LibTorch's transform.
class TorchSet : public torch::data::datasets::Dataset<TorchSet> {
public:
    explicit TorchSet(std::shared_ptr<const trainer::data::Dataset> dataset) : m_dataset(std::move(dataset)) {}
    torch::data::Example<> get(std::size_t index) override
    {
        const SampleSpec& spec = m_dataset->spec();
        torch::Tensor image = torch::empty(spec.inputs[0].shape);
        torch::Tensor label = torch::empty({}, torch::kLong);
        const auto sample = static_cast<std::int64_t>(index);
        SampleOut out;
        out.inputs[0] = {static_cast<std::byte*>(image.data_ptr()), spec.inputs[0].bytes()};
        out.target = {static_cast<std::byte*>(label.data_ptr()), spec.target.bytes()};
        if (!m_dataset->load(Split::Train, sample, sampleSeed(kSeed, 0, sample), out, {}))
            std::abort();
        return {image, label};
    }
    torch::optional<std::size_t> size() const override
    {
        return static_cast<std::size_t>(m_dataset->size(Split::Train));
    }

private:
    std::shared_ptr<const trainer::data::Dataset> m_dataset;
};

/// Samples per second of one epoch.
double timed(const std::function<std::int64_t()>& epoch)
{
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t samples = epoch();
    return static_cast<double>(samples) /
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Ours {
public:
    Ours(std::shared_ptr<const Dataset> dataset, std::int64_t batchSize, int workers)
        : m_shape(dataset->spec().inputs[0].shape), m_loader(std::move(dataset), {.batchSize = batchSize,
                                                                                  .workers = workers,
                                                                                  .prefetchFactor = kPrefetch,
                                                                                  .persistentWorkers = true,
                                                                                  .seed = kSeed})
    {
    }
    std::int64_t epoch()
    {
        std::int64_t samples = 0;
        m_loader.startEpoch(m_epoch++);
        while (const auto batch = m_loader.next()) {
            std::vector<std::int64_t> shape = {batch->count};
            shape.insert(shape.end(), m_shape.begin(), m_shape.end());
            samples += torch::from_blob(batch->input<float>(), shape).size(0);
        }
        return samples;
    }

private:
    std::vector<std::int64_t> m_shape;
    Loader m_loader;
    std::int64_t m_epoch = 0;
};

/// Samples loaded by threads that share them: without batches, order or hand-over.
class Bare {
public:
    Bare(std::shared_ptr<const Dataset> dataset, int threads) : m_dataset(std::move(dataset)), m_threads(threads) {}
    std::int64_t epoch()
    {
        const std::int64_t samples = m_dataset->size(Split::Train);
        std::vector<std::thread> others;
        for (int thread = 1; thread < m_threads; ++thread)
            others.emplace_back([this, thread, samples] { loadShare(thread, samples); });
        loadShare(0, samples);
        for (std::thread& other : others)
            other.join();
        ++m_epoch;
        return samples;
    }

private:
    void loadShare(int thread, std::int64_t samples) const
    {
        const SampleSpec& spec = m_dataset->spec();
        std::vector<std::byte> input(spec.inputs[0].bytes()), target(spec.target.bytes());
        SampleOut out;
        out.inputs[0] = input;
        out.target = target;
        for (std::int64_t sample = thread; sample < samples; sample += m_threads)
            if (!m_dataset->load(Split::Train, sample, sampleSeed(kSeed, m_epoch, sample), out, {}))
                std::abort();
    }

    std::shared_ptr<const Dataset> m_dataset;
    int m_threads;
    std::int64_t m_epoch = 0;
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// "1.234 [1.210 … 1.258]": the geometric mean of a / b over the rounds, with its 95 % interval.
std::string ratioText(const std::vector<double>& a, const std::vector<double>& b)
{
    std::vector<double> logs;
    for (std::size_t i = 0; i < a.size(); ++i)
        logs.push_back(std::log(a[i] / b[i]));
    const advisor::Interval ratio = advisor::ratioInterval(logs, 0.05);
    char text[64];
    std::snprintf(text, sizeof(text), "%.3f [%.3f … %.3f]", ratio.value, ratio.low, ratio.high);
    return text;
}

void compare(const std::string& name, const std::shared_ptr<const Dataset>& dataset, std::int64_t batchSize,
             int workers, int rounds)
{
    Ours ours(dataset, batchSize, workers);
    // LibTorch's workers always persist; as many batches in flight as ours.
    torch::data::DataLoaderOptions options(static_cast<std::size_t>(batchSize));
    options.workers(static_cast<std::size_t>(workers));
    if (workers > 0)
        options.max_jobs(static_cast<std::size_t>(workers * kPrefetch));
    auto torchs = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        TorchSet(dataset).map(torch::data::transforms::Stack<>()), options);
    const auto torchEpoch = [&] {
        std::int64_t samples = 0;
        for (const auto& batch : *torchs)
            samples += batch.data.size(0);
        return samples;
    };
    Bare bare(dataset, std::max(workers, 1));
    const std::function<std::int64_t()> epochs[] = {[&] { return ours.epoch(); }, torchEpoch,
                                                    [&] { return bare.epoch(); }};
    std::vector<double> speeds[3];
    for (int round = -1; round < rounds; ++round)
        for (int turn = 0; turn < 3; ++turn) {
            const int arm = round % 2 == 0 ? turn : 2 - turn;
            const double speed = timed(epochs[arm]);
            if (round >= 0)
                speeds[arm].push_back(speed);
        }
    std::printf("%-18s workers %d  ours %7.0f/s  LibTorch %7.0f/s  ours / LibTorch %s  ours / bare loading %s\n",
                name.c_str(), workers, median(speeds[0]), median(speeds[1]), ratioText(speeds[0], speeds[1]).c_str(),
                ratioText(speeds[0], speeds[2]).c_str());
    std::fflush(stdout);
}

std::shared_ptr<const Dataset> open(std::string_view kind,
                                    const std::vector<std::pair<std::string, std::string>>& values)
{
    config::TrainingConfig config;
    for (const auto& [key, value] : values)
        if (!config.set(key, value))
            std::abort();
    for (const auto& entry : trainer::datasets::all())
        if (entry.stem == kind) {
            auto dataset = entry.entry.open(config, {}, {});
            if (dataset)
                return *dataset;
            std::fprintf(stderr, "loader_bench: %s\n", dataset.error().message().c_str());
        }
    std::exit(1);
}

void writeIdx(const fs::path& path, const std::vector<std::uint32_t>& dimensions)
{
    std::size_t values = 1;
    std::string file{'\0', '\0', '\x08', static_cast<char>(dimensions.size())};
    for (const std::uint32_t size : dimensions) {
        values *= size;
        for (int shift = 24; shift >= 0; shift -= 8)
            file.push_back(static_cast<char>(size >> shift));
    }
    for (std::size_t i = 0; i < values; ++i)
        file.push_back(static_cast<char>(i % 10));
    std::ofstream(path, std::ios::binary) << file;
}

/// The number of intra-op threads of LibTorch is fixed when its library is loaded.
void restartWithOneThread(char** arguments)
{
    if (std::getenv("OMP_NUM_THREADS"))
        return;
    ::setenv("OMP_NUM_THREADS", "1", 1);
    ::execv("/proc/self/exe", arguments);
}

} // namespace

int main(int count, char** arguments)
{
    restartWithOneThread(arguments);
    const int rounds = count > 1 ? std::max(2, std::atoi(arguments[1])) : 10;
    torch::set_num_threads(1);
    const fs::path folder = fs::temp_directory_path() / ("loader-bench-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    for (const auto& [part, samples] : {std::pair{"train", 30000U}, {"t10k", 10U}}) {
        writeIdx(folder / (std::string(part) + "-images-idx3-ubyte"), {samples, 28, 28});
        writeIdx(folder / (std::string(part) + "-labels-idx1-ubyte"), {samples});
    }
    const auto jpegs = open("generated_images", {{"dataset.path", folder.string()},
                                                 {"dataset.samples", "1000"},
                                                 {"dataset.validation_share", "0"},
                                                 {"dataset.image_size", "64"}});
    const auto digits = open("mnist", {{"dataset.path", folder.string()}});
    for (const int workers : {0, 1, 2})
        compare("JPEG 256 to 64 px", jpegs, 32, workers, rounds);
    for (const int workers : {0, 1, 2})
        compare("28 x 28 in memory", digits, 64, workers, rounds);
    fs::remove_all(folder);
}
