#include "tests/support/job_traces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <random>
#include <utility>

namespace test_support {

namespace {

// Times in µs.
constexpr double kLaunch = 6;
constexpr double kGap = 0.01; // so that rounded times of neighbours do not overlap
constexpr double kBucketTransfer = 900, kTensorTransfer = 60, kStageTransfer = 30, kParameterTransfer = 50;
constexpr int kBucketLayers = 4, kTensorLayers = 4;
constexpr std::array<const char*, 6> kKernels = {
    "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_nn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)",
    "flash_fwd_kernel",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
    "ampere_fp16_s16816gemm_fp16_256x64_ldg8_f2f_stages_64x3_nt",
    "void at::native::reduce_kernel<512, 1>(int)"};

/// A rank while it trains.
struct RankState {
    double host = 0, compute = 0, comm = 0; ///< when its thread and its streams are free
    std::filesystem::path file;             ///< empty: lost
    std::string json;                       ///< not yet in the file
    std::mt19937 random;
    std::int64_t correlation = 1000, external = 1, sequence = 0, tensorSequence = 0, tokenSequence = 0,
                 stageSequence = 0;
};

class Simulation {
public:
    Simulation(const JobTraceOptions& options, const std::filesystem::path& folder)
        : m_options(options), m_ranks(static_cast<std::size_t>(options.ranks))
    {
        for (int r = 0; r < options.ranks; ++r) {
            if (!options.lost.contains(r))
                m_ranks[at(r)].file = folder / fmt::format(fmt::runtime(options.name), r);
            std::filesystem::remove(m_ranks[at(r)].file);
            begin(r);
            m_ranks[at(r)].random.seed(options.seed * 7919 + static_cast<unsigned>(r));
            m_ranks[at(r)].host = 1000.0 * options.firstStep;
            m_ranks[at(r)].compute = m_ranks[at(r)].comm = m_ranks[at(r)].host;
        }
        const double step = 3 * options.kernelUs * options.layers;
        m_middle = m_ranks.front().host + step * options.steps / 2;
    }

    std::vector<std::filesystem::path> run()
    {
        for (int step = 0; step < m_options.steps; ++step)
            trainStep(step);
        std::vector<std::filesystem::path> files;
        for (int rank = 0; rank < m_options.ranks; ++rank) {
            m_ranks[at(rank)].json += "  {\n    \"name\": \"process_labels\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0, "
                                      "\"args\": {\"labels\": \"GPU 0\"}\n  }\n  ]\n}\n";
            flush(m_ranks[at(rank)]);
            files.push_back(m_ranks[at(rank)].file);
        }
        return files;
    }

private:
    static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    [[nodiscard]] bool isFaulty(int rank, int step, Fault fault) const
    {
        return m_options.fault == fault && m_options.faultyRanks.contains(rank) &&
               (m_options.faultySteps.empty() || m_options.faultySteps.contains(step));
    }
    [[nodiscard]] double jittered(RankState& rank, double us) const
    {
        std::normal_distribution<double> noise(1, m_options.jitter);
        return us * std::max(0.5, noise(rank.random));
    }
    [[nodiscard]] double computeUs() const { return 3 * m_options.kernelUs * m_options.layers; }

    void begin(int rank)
    {
        std::string& text = m_ranks[at(rank)].json;
        text =
            "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"" + m_options.device +
            "\", \"totalGlobalMem\": 85049016320, \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132}\n  ],\n";
        if (m_options.distributedInfo)
            text += fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n",
                                rank, m_options.ranks);
        text += fmt::format("  \"hostname\": \"node{}\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
                            "1712188800000000000,\n  \"traceEvents\": [\n",
                            rank / m_options.ranksPerHost);
    }

    static void flush(RankState& rank)
    {
        if (!rank.file.empty()) {
            std::FILE* file = std::fopen(rank.file.c_str(), "ab");
            if (!file || std::fwrite(rank.json.data(), 1, rank.json.size(), file) != rank.json.size() ||
                std::fclose(file) != 0) {
                std::perror(rank.file.c_str());
                std::abort();
            }
        }
        rank.json.clear();
    }

    /// What the clock of the rank's host shows at a true time.
    [[nodiscard]] double shown(int rank, double us) const
    {
        const int host = rank / m_options.ranksPerHost;
        const int last = (m_options.ranks - 1) / m_options.ranksPerHost;
        double result = us;
        if (!m_options.clockOffsetNs.empty())
            result += static_cast<double>(
                          m_options.clockOffsetNs[static_cast<std::size_t>(host) % m_options.clockOffsetNs.size()]) /
                      1000;
        if (host == last && last > 0) {
            result += us * m_options.driftPpm * 1e-6;
            result += us >= m_middle ? static_cast<double>(m_options.clockJumpNs) / 1000 : 0;
        }
        return result;
    }

    void event(int rank, const char* category, std::string_view name, int pid, int tid, double begin, double end,
               std::string_view args)
    {
        fmt::format_to(std::back_inserter(m_ranks[at(rank)].json),
                       "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    "
                       "\"ts\": {:.3f}, \"dur\": {:.3f},\n    \"args\": {{\n      {}\n    }}\n  }},\n",
                       category, name, pid, tid, shown(rank, begin), shown(rank, end) - shown(rank, begin), args);
        constexpr std::size_t kMostHeld = std::size_t{1} << 20;
        if (m_ranks[at(rank)].json.size() > kMostHeld)
            flush(m_ranks[at(rank)]);
    }

    static int pidOf(int rank) { return 4000 + rank; }

    void annotation(int rank, std::string_view name, double begin, double end)
    {
        event(rank, "user_annotation", name, pidOf(rank), pidOf(rank), begin, end,
              fmt::format("\"External id\": {}", m_ranks[at(rank)].external++));
    }

    /// An operator that launches a kernel. @return the kernel's correlation id
    std::int64_t launch(int rank, std::string_view op, double us)
    {
        RankState& state = m_ranks[at(rank)];
        for (int i = 0; i < m_options.extraOperators; ++i) {
            event(rank, "cpu_op", "aten::view", pidOf(rank), pidOf(rank), state.host, state.host + 0.5,
                  fmt::format("\"External id\": {}", state.external++));
            state.host += 0.6;
        }
        const std::int64_t correlation = state.correlation++;
        const std::int64_t external = state.external++;
        event(rank, "cpu_op", op, pidOf(rank), pidOf(rank), state.host, state.host + us,
              fmt::format("\"External id\": {}, \"Input Dims\": [[64, 1024]], \"Input type\": [\"float\"]", external));
        event(rank, "cuda_runtime", "cudaLaunchKernel", pidOf(rank), pidOf(rank), state.host + us - kLaunch - 1,
              state.host + us - 1,
              fmt::format("\"External id\": {}, \"cbid\": 211, \"correlation\": {}", external, correlation));
        state.host += us + kGap;
        return correlation;
    }

    void kernel(int rank, std::string_view name, int stream, double begin, double end, std::int64_t correlation,
                std::string_view args = {})
    {
        event(rank, "kernel", name, 0, stream, begin, end,
              fmt::format("\"device\": 0, \"context\": 1, \"stream\": {}, \"correlation\": {}, \"grid\": [64, 1, 1], "
                          "\"block\": [256, 1, 1]{}",
                          stream, correlation, args));
    }

    void computeLayer(int rank, int step, int layer, double us, const char* op)
    {
        RankState& state = m_ranks[at(rank)];
        double hostUs = jittered(state, m_options.operatorUs);
        if (isFaulty(rank, step, Fault::SlowHost))
            hostUs = computeUs() * (1 + m_options.amount) / (2 * m_options.layers);
        const std::int64_t correlation = launch(rank, op, hostUs);
        double duration = jittered(state, us);
        if (isFaulty(rank, step, Fault::Throttling))
            duration *= 1 + m_options.amount;
        // One of the six kernels; it accounts for a sixth of the time.
        if (isFaulty(rank, step, Fault::SlowCompute) && layer % 6 == 2)
            duration *= 1 + m_options.amount * m_options.layers / ((m_options.layers + 3) / 6);
        const double begin = std::max(state.host, state.compute + 1);
        kernel(rank, kKernels[at(layer % 6)], 7, begin, begin + duration, correlation);
        state.compute = begin + duration;
    }

    [[nodiscard]] std::string argsOf(const char* name, const char* group, const std::string& ranks, int size,
                                     std::int64_t elements, std::int64_t sequence) const
    {
        if (!m_options.groups)
            return {};
        return fmt::format(", \"Collective name\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group "
                           "size\": {}, \"dtype\": \"Float\", \"Process Group Name\": \"{}\", \"Process Group Ranks\": "
                           "\"{}\"{}",
                           name, elements, elements, size, group, ranks,
                           m_options.sequences ? fmt::format(", \"Seq\": {}", sequence) : "");
    }

    /// A collective of a group; the ranks have reached it on their own.
    struct Collective {
        const char *op, *name, *kernel;
        std::string group;
        double transfer = 0;
        bool blocking = false;             ///< compute waits for it
        std::int64_t RankState::*sequence; ///< the counter of its group
    };

    static Collective allReduceOf(std::string group, double transfer, bool blocking, std::int64_t RankState::*sequence)
    {
        return {"c10d::allreduce_",
                "allreduce",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                std::move(group),
                transfer,
                blocking,
                sequence};
    }

    /// @param elements  of a rank
    template <class Elements>
    void runCollective(int step, const std::vector<int>& members, const Collective& collective,
                       const Elements& elements)
    {
        const std::string list = listOf(members);
        bool slow = false;
        for (const int rank : members)
            slow = slow || isFaulty(rank, step, Fault::SlowLink);
        double last = 0;
        std::vector<double> begins;
        std::vector<std::int64_t> correlations;
        for (const int rank : members) {
            RankState& state = m_ranks[at(rank)];
            correlations.push_back(launch(rank, collective.op, jittered(state, m_options.operatorUs)));
            begins.push_back(std::max({state.host, state.compute, state.comm}) + kGap);
            last = std::max(last, begins.back());
        }
        const double end = last + jittered(m_ranks[at(members.front())], collective.transfer) * (slow ? 3 : 1);
        for (std::size_t i = 0; i < members.size(); ++i) {
            RankState& state = m_ranks[at(members[i])];
            std::uniform_real_distribution<double> leaving(0, 4); // ranks do not leave at exactly the same time
            const double own = end + leaving(state.random);
            std::int64_t& sequence = state.*collective.sequence;
            kernel(members[i], collective.kernel, 20, begins[i], own, correlations[i],
                   argsOf(collective.name, collective.group.c_str(), list, static_cast<int>(members.size()),
                          elements(members[i]), sequence));
            ++sequence;
            state.comm = own;
            if (collective.blocking)
                state.compute = own;
        }
    }

    static std::string listOf(const std::vector<int>& members)
    {
        std::string list = "[";
        for (const int rank : members)
            list += (list.size() > 1 ? ", " : "") + std::to_string(rank);
        return list + ']';
    }

    void tensorAllReduce(int step)
    {
        const int size = m_options.tensorParallel;
        for (int first = 0; first < m_options.ranks; first += size) {
            std::vector<int> members;
            for (int rank = first; rank < std::min(first + size, m_options.ranks); ++rank)
                members.push_back(rank);
            runCollective(
                step, members,
                allReduceOf(fmt::format("tp{}", first / size), kTensorTransfer, true, &RankState::tensorSequence),
                [](int) { return 1 << 20; });
        }
    }

    void dataAllReduce(int step)
    {
        const int stride = m_options.tensorParallel;
        for (int first = 0; first < stride; ++first) {
            std::vector<int> members;
            for (int rank = first; rank < m_options.ranks; rank += stride)
                members.push_back(rank);
            runCollective(step, members,
                          allReduceOf(fmt::format("dp{}", first), kBucketTransfer, false, &RankState::sequence),
                          [](int) { return 25 << 18; });
        }
    }

    [[nodiscard]] std::vector<int> allRanks() const
    {
        std::vector<int> ranks;
        for (int rank = 0; rank < m_options.ranks; ++rank)
            ranks.push_back(rank);
        return ranks;
    }

    void exchangeParameters(int step)
    {
        for (int i = 0; i < m_options.parameterExchanges; ++i)
            runCollective(step, allRanks(), allReduceOf("dp0", kParameterTransfer, true, &RankState::sequence),
                          [](int) { return 1 << 12; });
    }

    void exchangeTokens(int step)
    {
        runCollective(step, allRanks(),
                      {"c10d::alltoall_base_", "all_to_allv",
                       "ncclDevKernel_AllToAll_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "experts", kTensorTransfer,
                       true, &RankState::tokenSequence},
                      [this](int rank) {
                          return static_cast<std::int64_t>((1 << 20) * (rank == 0 ? 1 + m_options.tokenSkew : 1));
                      });
    }

    // ---- a pipeline: stage s has the ranks s × width, s × width + 1 … ----

    [[nodiscard]] int width() const { return m_options.ranks / m_options.pipelineStages; }

    /// A message between neighbouring stages, which ends at `end` on this rank.
    void message(int rank, const char* name, double begin, double end, std::int64_t correlation)
    {
        std::vector<int> members;
        for (int stage = 0; stage < m_options.pipelineStages; ++stage)
            members.push_back(stage * width() + rank % width());
        RankState& state = m_ranks[at(rank)];
        kernel(rank, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 24, begin, end, correlation,
               argsOf(name, fmt::format("pp{}", rank % width()).c_str(), listOf(members), m_options.pipelineStages,
                      1 << 18, state.stageSequence++));
        state.comm = end;
    }
    /// @return when the message has left
    double send(int rank)
    {
        const std::int64_t correlation = launch(rank, "c10d::send", m_options.operatorUs);
        RankState& state = m_ranks[at(rank)];
        const double begin = std::max({state.host, state.compute, state.comm});
        message(rank, "send", begin, begin + kStageTransfer, correlation);
        return begin + kStageTransfer;
    }
    void receive(int rank, double sent)
    {
        const std::int64_t correlation = launch(rank, "c10d::recv_", m_options.operatorUs);
        RankState& state = m_ranks[at(rank)];
        const double begin = std::max({state.host, state.compute, state.comm});
        const double end = std::max(begin + 2, sent);
        message(rank, "recv", begin, end, correlation);
        state.compute = end;
    }

    void trainMicroBatches(int step)
    {
        const int stages = m_options.pipelineStages, layers = m_options.layers / stages;
        const auto compute = [&](int rank, double us, const char* op) {
            for (int layer = 0; layer < layers; ++layer)
                computeLayer(rank, step, layer, us, op);
        };
        for (int column = 0; column < width(); ++column) {
            for (int batch = 0; batch < m_options.microBatches; ++batch) {
                double sent = 0;
                for (int stage = 0; stage < stages; ++stage) {
                    const int rank = stage * width() + column;
                    if (stage > 0)
                        receive(rank, sent);
                    compute(rank, m_options.kernelUs, "aten::linear");
                    if (stage + 1 < stages)
                        sent = send(rank);
                }
            }
            for (int batch = 0; batch < m_options.microBatches; ++batch) {
                double sent = 0;
                for (int stage = stages - 1; stage >= 0; --stage) {
                    const int rank = stage * width() + column;
                    if (stage + 1 < stages)
                        receive(rank, sent);
                    compute(rank, 2 * m_options.kernelUs, "AddmmBackward0");
                    if (stage > 0)
                        sent = send(rank);
                }
            }
        }
        for (int stage = 0; stage < stages && width() > 1; ++stage) {
            std::vector<int> members;
            for (int column = 0; column < width(); ++column)
                members.push_back(stage * width() + column);
            runCollective(step, members,
                          allReduceOf(fmt::format("dp{}", stage), kBucketTransfer, false, &RankState::sequence),
                          [](int) { return 25 << 18; });
        }
    }

    void trainLayers(int step)
    {
        for (int layer = 0; layer < m_options.layers; ++layer) {
            for (int rank = 0; rank < m_options.ranks; ++rank)
                computeLayer(rank, step, layer, m_options.kernelUs, "aten::linear");
            if (m_options.tensorParallel > 1 && layer % kTensorLayers == kTensorLayers - 1)
                tensorAllReduce(step);
        }
        if (m_options.tokenSkew > 0)
            exchangeTokens(step);
        for (int layer = m_options.layers - 1; layer >= 0; --layer) {
            for (int rank = 0; rank < m_options.ranks; ++rank)
                computeLayer(rank, step, layer, 2 * m_options.kernelUs, "AddmmBackward0");
            if (m_options.ranks > 1 && layer % kBucketLayers == 0 && m_options.parameterExchanges == 0)
                dataAllReduce(step);
        }
        exchangeParameters(step);
    }

    void trainStep(int step)
    {
        std::vector<double> begins;
        for (int rank = 0; rank < m_options.ranks; ++rank) {
            RankState& state = m_ranks[at(rank)];
            begins.push_back(state.host);
            state.host += 5;
            double wait = jittered(state, m_options.dataWaitUs);
            if (isFaulty(rank, step, Fault::SlowLoader))
                wait += m_options.amount * computeUs();
            annotation(rank, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", state.host,
                       state.host + wait);
            state.host += wait + 2;
            if (isFaulty(rank, step, Fault::GarbageCollection)) {
                const double us = m_options.amount * computeUs();
                annotation(rank, "gc.collect", state.host, state.host + us);
                state.host += us + 2;
            }
        }
        if (m_options.pipelineStages > 1)
            trainMicroBatches(step);
        else
            trainLayers(step);
        for (int rank = 0; rank < m_options.ranks; ++rank) {
            RankState& state = m_ranks[at(rank)];
            state.compute = std::max(state.compute, state.comm);
            const double begin = state.host;
            computeLayer(rank, -1, 1, m_options.kernelUs / 3, "aten::_foreach_add_");
            state.host += 1;
            annotation(rank, "Optimizer.step#AdamW.step", begin, state.host);
            state.host += kGap;
            const double end = std::max(state.host + 5, state.compute);
            event(rank, "cuda_runtime", "cudaStreamSynchronize", pidOf(rank), pidOf(rank), state.host, end,
                  fmt::format("\"cbid\": 131, \"correlation\": {}", state.correlation++));
            state.host = end + 10;
            annotation(rank, fmt::format("ProfilerStep#{}", m_options.firstStep + step), begins[at(rank)], state.host);
            state.host += 3;
        }
    }

    const JobTraceOptions& m_options;
    std::vector<RankState> m_ranks;
    double m_middle = 0; ///< when the last host's clock jumps
};

} // namespace

std::vector<std::filesystem::path> writeJobTraces(const std::filesystem::path& folder, const JobTraceOptions& options)
{
    std::filesystem::create_directories(folder);
    return Simulation(options, folder).run();
}

} // namespace test_support
