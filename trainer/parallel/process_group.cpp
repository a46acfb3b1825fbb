#include "trainer/parallel/process_group.h"

#include "profiler/model/result.h"
#include "trainer/parallel/cuda_plugin.h"
#include "trainer/parallel/local_ranks.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace trainer {

namespace {

constexpr auto kToJoin = std::chrono::minutes(2);
constexpr auto kLook = std::chrono::milliseconds(50);
// A user may pause a rank for this long. If a rank dies, Gloo's connections close at once; for NCCL see abort().
constexpr auto kToAnswer = std::chrono::hours(1);

int number(const char* name, int fallback)
{
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : fallback;
}

std::string text(const char* name, const char* fallback)
{
    const char* value = std::getenv(name);
    return value ? value : fallback;
}

c10::intrusive_ptr<c10d::Store> joinStore(const Ranks& ranks)
{
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(ranks.port);
    // torchrun's own process is the server if torchrun says so.
    options.isServer = ranks.rank == 0 && text("TORCHELASTIC_USE_AGENT_STORE", "") != "True";
    options.numWorkers = static_cast<std::size_t>(ranks.size);
    options.waitWorkers = false;
    options.timeout = kToJoin;
    auto store = c10::make_intrusive<c10d::TCPStore>(ranks.address, options);
    return c10::make_intrusive<c10d::PrefixStore>("stepscope/" + text("TORCHELASTIC_RESTART_COUNT", "0"),
                                                  std::move(store));
}

// Connecting blocks until all ranks are there and checks nothing else. Therefore each rank first registers here and
// waits for the others.
void awaitAll(c10d::Store& store, const Ranks& ranks, const std::function<void()>& watch)
{
    const auto keyOf = [](int rank) { return "rank" + std::to_string(rank); };
    store.set(keyOf(ranks.rank), std::vector<std::uint8_t>{1});
    const auto begin = std::chrono::steady_clock::now();
    for (int rank = 0; rank < ranks.size; ++rank)
        while (!store.check({keyOf(rank)})) {
            if (watch)
                watch();
            else if (std::chrono::steady_clock::now() - begin > kToJoin)
                profiler::throwError<"ranks.missing", "Rank {rank} of {size} did not join within {time}">(
                    profiler::Error::Code::Unavailable, {},
                    "check that it was started, and that all ranks have the same MASTER_ADDR and MASTER_PORT",
                    {{"rank", rank},
                     {"size", ranks.size},
                     {"time", std::chrono::duration<double, std::micro>(kToJoin).count(),
                      std::to_string(kToJoin.count()) + " minutes"}});
            std::this_thread::sleep_for(kLook);
        }
}

bool isLocal(const std::string& address)
{
    return address == "127.0.0.1" || address == "localhost";
}

// A host may resolve its own name to an address that others cannot reach: Debian uses 127.0.1.1.
std::string addressForOthers(const Ranks& ranks)
{
    const bool severalHosts = number("LOCAL_WORLD_SIZE", ranks.size) < ranks.size;
    auto here = addressTowards(ranks.address);
    if (here && severalHosts && isLoopback(*here))
        here = addressTowardsAnywhere();
    if (!here)
        throw profiler::Failure(here.error());
    return *here;
}

// One device: with several, each would have its own mesh, and exchanges would alternate between them.
std::vector<std::shared_ptr<gloo::transport::Device>> meshDevice(const Ranks& ranks)
{
    using Gloo = c10d::ProcessGroupGloo;
    if (isLocal(ranks.address))
        return {Gloo::createDeviceForHostname("127.0.0.1")};
    if (!text("GLOO_SOCKET_IFNAME", "").empty()) // LibTorch uses this variable
        return Gloo::Options::create_default(kToJoin)->devices;
    return {Gloo::createDeviceForHostname(addressForOthers(ranks))};
}

c10::intrusive_ptr<c10d::Backend> makeGloo(const c10::intrusive_ptr<c10d::Store>& store, const Ranks& ranks)
{
    const auto options = c10d::ProcessGroupGloo::Options::create(kToJoin);
    options->devices = meshDevice(ranks);
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, ranks.rank, ranks.size, options);
}

} // namespace

Ranks Ranks::fromEnvironment()
{
    Ranks ranks;
    ranks.rank = number("RANK", 0);
    ranks.size = number("WORLD_SIZE", 1);
    ranks.localRank = number("LOCAL_RANK", ranks.rank);
    ranks.address = text("MASTER_ADDR", "127.0.0.1");
    ranks.port = number("MASTER_PORT", 29500);
    if (ranks.size < 1 || ranks.rank < 0 || ranks.rank >= ranks.size || ranks.port < 1 || ranks.port > 65535)
        profiler::throwError<"ranks.bad_environment",
                             "RANK={rank}, WORLD_SIZE={size} and MASTER_PORT={port} are inconsistent">(
            profiler::Error::Code::Invalid, "environment variables", "start the ranks with torchrun",
            {{"rank", ranks.rank}, {"size", ranks.size}, {"port", ranks.port}});
    return ranks;
}

struct ProcessGroup::State {
    c10::intrusive_ptr<c10d::Store> store;
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    c10::intrusive_ptr<c10d::Backend> hosts; ///< for agreement between the ranks
    int exceptions = std::uncaught_exceptions();
    std::atomic<bool> isAborted = false;
};

ProcessGroup::ProcessGroup(const Ranks& ranks, c10::Device device, const std::function<void()>& watch)
    : m_ranks(ranks), m(std::make_unique<State>())
{
    using Native = c10d::ProcessGroup;
    m->store = joinStore(ranks);
    awaitAll(*m->store, ranks, watch);
    m->group = c10::make_intrusive<Native>(m->store, ranks.rank, ranks.size);
    if (device.is_cuda()) {
        m->group->setBackend(c10::kCUDA, Native::BackendType::NCCL,
                             cudaPlugin().makeNccl(m->store, ranks.rank, ranks.size, kToAnswer));
        m->group->setDefaultBackend(Native::BackendType::NCCL);
    } else {
        m->group->setBackend(c10::kCPU, Native::BackendType::GLOO, makeGloo(m->store, ranks));
        m->group->setDefaultBackend(Native::BackendType::GLOO);
    }
    m->hosts = makeGloo(c10::make_intrusive<c10d::PrefixStore>("hosts", m->store), ranks);
    // Done before the others wait for it: a rank without enough GPU memory fails here.
    std::vector<at::Tensor> first = {at::zeros({1}, at::TensorOptions(device).dtype(at::kInt))};
    barrier();
    // NCCL connects in the first exchange and waits for all ranks without a timeout: do it now, while all ranks are
    // known to be alive. If a rank dies later, while it creates its model, abort() can end its connections.
    m->group->allreduce(first)->wait();
    m->group->setTimeout(kToAnswer);
    m->hosts->setTimeout(kToAnswer);
}

ProcessGroup::~ProcessGroup()
{
    if (m->isAborted)
        return;
    try {
        if (std::uncaught_exceptions() > m->exceptions)
            m->group->abort();
        else
            m->group->shutdown();
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "the exchange between the ranks could not be shut down: %s\n", failure.what());
    }
}

void ProcessGroup::barrier()
{
    static_cast<void>(anyOf(false));
}

bool ProcessGroup::anyOf(bool here)
{
    std::vector<at::Tensor> flag = {at::full({1}, here ? 1 : 0, at::kInt)};
    c10d::AllreduceOptions options;
    options.reduceOp = c10d::ReduceOp::MAX;
    m->hosts->allreduce(flag, options)->wait();
    return flag[0].item<int>() != 0;
}

void ProcessGroup::addUp(std::vector<double>& numbers)
{
    std::vector<at::Tensor> sums = {at::tensor(numbers, at::kDouble)};
    m->hosts->allreduce(sums)->wait();
    std::copy_n(sums[0].const_data_ptr<double>(), numbers.size(), numbers.begin());
}

void ProcessGroup::abort()
{
    m->isAborted = true;
    m->group->abort();
}

c10d::ProcessGroup& ProcessGroup::native()
{
    return *m->group;
}

} // namespace trainer
