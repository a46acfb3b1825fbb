#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/container/trace_reader.h"
#include "trainer/parallel/local_ranks.h"

#include <arpa/inet.h>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <netinet/in.h>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>

// Several processes train one model, over Gloo on the processor.
using namespace trainer_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

// No batch statistics: those of half a batch are others. No augmentation seeds to differ: they follow the sample.
const std::vector<std::string> kComparable = {"model.norm=none", "dataset.validation_share=0", "run.epochs=2",
                                              "dataset.samples=96"};

double finalLoss(const Finished& run)
{
    return run.one<protocol::Done>().finalLoss;
}

protocol::NoticeValue number(const std::string& name, std::int64_t value)
{
    return {name, value, std::to_string(value)};
}

pid_t childOf(pid_t parent)
{
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
        std::ifstream children(entry.path() / "children");
        pid_t child = 0;
        if (children >> child)
            return child;
    }
    return 0;
}

TEST(DataParallel, OfOneProcessEqualsOneModel)
{
    const TestFolder folder;
    auto alone = kComparable, copies = kComparable;
    copies.insert(copies.end(), {"parallel.kind=dp", "parallel.local_ranks=3"});
    const auto one = train(folder.path(), alone), three = train(folder.path(), copies);
    ASSERT_EQ(three.ended.status, 0) << three.ended.output;
    EXPECT_NEAR(finalLoss(three), finalLoss(one), 1e-5);
}

TEST(DistributedDataParallel, OnTwoRanksEqualsOneWithTwiceTheBatch)
{
    const TestFolder folder;
    auto alone = kComparable, ranks = kComparable;
    alone.insert(alone.end(), {"batch.size=16", "schedule.kind=cosine"});
    ranks.insert(ranks.end(), {"batch.size=8", "schedule.kind=cosine", "parallel.kind=ddp", "parallel.local_ranks=2"});
    // An odd number of validation samples, which two ranks cannot share evenly.
    for (auto* settings : {&alone, &ranks})
        settings->insert(settings->end(), {"dataset.validation_share=0.22", "dataset.samples=99"});
    const auto one = train(folder.path(), alone), two = train(folder.path(), ranks);
    ASSERT_EQ(one.ended.status, 0) << one.ended.output;
    ASSERT_EQ(two.ended.status, 0) << two.ended.output;
    ASSERT_EQ(one.one<protocol::Hello>().validationSamples % 2, 1);
    ASSERT_EQ(one.one<protocol::Hello>().trainSamples % 2, 0);
    // Sums over all ranks, of the training's samples and of the validation's.
    const auto means = [](const Finished& run) {
        std::vector<double> found;
        for (const protocol::Progress& record : run.records)
            if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record))
                found.insert(found.end(), {epoch->trainLoss, epoch->trainAccuracy, epoch->validationLoss,
                                           epoch->validationAccuracy, static_cast<double>(epoch->samples)});
        return found;
    };
    ASSERT_EQ(means(one).size(), 10u);
    ASSERT_EQ(means(two).size(), 10u);
    for (std::size_t i = 0; i < 10; ++i)
        EXPECT_NEAR(means(two)[i], means(one)[i], 1e-5) << i;
    EXPECT_EQ(two.one<protocol::Done>().steps, one.one<protocol::Done>().steps);
}

TEST(DistributedDataParallel, TakesTurnsAsOneProcessDoes)
{
    const TestFolder folder;
    auto alone = kComparable, ranks = kComparable;
    alone.insert(alone.end(), {"batch.size=16", "dataset.validation_share=0.25"});
    ranks.insert(ranks.end(),
                 {"batch.size=8", "dataset.validation_share=0.25", "parallel.kind=ddp", "parallel.local_ranks=2"});
    std::vector<protocol::TurnResult> results[2];
    for (const std::size_t which : {0, 1}) {
        auto arguments = smallTraining(folder.path(), which == 0 ? alone : ranks);
        arguments.emplace_back("--turns");
        TrainerRun run(arguments);
        for (const auto& turn : {protocol::Turn{"steps", 2, 3}, protocol::Turn{"steps", 0, 1},
                                 protocol::Turn{"epoch", 0, 1}, protocol::Turn{"validation", 0, 2}}) {
            run.send(turn);
            const auto result = run.await<protocol::TurnResult>();
            ASSERT_TRUE(result) << run.end().output;
            results[which].push_back(*result);
        }
        run.send(protocol::Stop{});
        EXPECT_EQ(run.end().status, 0);
    }
    for (std::size_t turn = 0; turn < 4; ++turn) {
        const protocol::TurnResult &one = results[0][turn], &two = results[1][turn];
        EXPECT_EQ(two.what, one.what);
        EXPECT_EQ(two.seconds.size(), one.seconds.size());
        EXPECT_EQ(two.samples, one.samples) << "of both ranks";
        EXPECT_GT(two.peakBytes, 0);
        ASSERT_EQ(two.losses.size(), one.losses.size());
        for (std::size_t i = 0; i < one.losses.size(); ++i)
            EXPECT_NEAR(two.losses[i], one.losses[i], 1e-5) << "the mean of both ranks', of " << one.what;
    }
}

TEST(DistributedDataParallel, EndsWithItsStarterWhileItWaitsForATurn)
{
    const TestFolder folder;
    auto arguments = smallTraining(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2"});
    arguments.emplace_back("--turns");
    TrainerRun run(arguments);
    ASSERT_TRUE(run.await<protocol::Hello>());
    run.closeInput();
    EXPECT_EQ(run.end().status, 0);
}

TEST(DistributedDataParallel, SaysWhichRankDiedBetweenTurns)
{
    const TestFolder folder;
    auto arguments = smallTraining(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2"});
    arguments.emplace_back("--turns");
    TrainerRun run(arguments);
    run.send(protocol::Turn{"steps", 0, 1});
    ASSERT_TRUE(run.await<protocol::TurnResult>());
    const pid_t rank = childOf(run.pid());
    ASSERT_GT(rank, 0);
    ::kill(rank, SIGKILL);
    run.send(protocol::Turn{"steps", 0, 1});
    EXPECT_EQ(run.end().status, static_cast<int>(protocol::Exit::Failed));
    const auto told = run.all<protocol::Notice>();
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().id, "training.rank_killed");
    EXPECT_THAT(told.back().parameters, testing::IsSupersetOf({number("rank", 1), number("signal", 9)}));
}

TEST(DistributedDataParallel, AccumulatesAndRecomputesAsOneRankDoes)
{
    const TestFolder folder;
    auto ranks = kComparable;
    ranks.insert(ranks.end(), {"batch.size=4", "gradient.accumulation=2", "parallel.kind=ddp", "parallel.local_ranks=2",
                               "dataset.validation_share=0.25"});
    auto recomputed = ranks;
    recomputed.emplace_back("checkpointing=all");
    const auto plain = train(folder.path(), ranks), again = train(folder.path(), recomputed);
    ASSERT_EQ(plain.ended.status, 0) << plain.ended.output;
    ASSERT_EQ(again.ended.status, 0) << again.ended.output;
    EXPECT_EQ(finalLoss(again), finalLoss(plain));
}

TEST(DistributedDataParallel, WritesATraceForEachRankByOneClock)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2"});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    const fs::path file = folder.path() / "run.rank1.sstrace";
    const auto header = profiler::container::InputFile::open(file).and_then(profiler::container::readHeader);
    ASSERT_TRUE(header) << header.error().message();
    EXPECT_TRUE(header->isSealed);
    const auto other = profiler::container::readTrace(file);
    ASSERT_TRUE(other) << other.error().message();
    const TraceView zero(run.trace), one(*other);
    EXPECT_EQ(zero.metadata("rank"), "0");
    EXPECT_EQ(one.metadata("rank"), "1");
    const auto steps = [](const TraceView& trace) { return trace.onMain(profiler::ActivityKind::Step); };
    ASSERT_EQ(steps(zero).size(), steps(one).size());
    ASSERT_FALSE(steps(zero).empty());
    // A step ends on both when gradients are exchanged: it overlaps with the other's.
    for (std::size_t i = 0; i < steps(zero).size(); ++i) {
        EXPECT_LT(steps(zero)[i].begin, steps(one)[i].end()) << i;
        EXPECT_LT(steps(one)[i].begin, steps(zero)[i].end()) << i;
    }
}

TEST(DistributedDataParallel, EndsWithAClearErrorWhenARankDies)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2", "run.steps=100000"}));
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    const pid_t rank = childOf(run.pid());
    ASSERT_GT(rank, 0);
    ::kill(rank, SIGKILL);
    const auto ended = run.end();
    EXPECT_EQ(ended.status, static_cast<int>(protocol::Exit::Failed)) << ended.output;
    const auto told = run.all<protocol::Notice>();
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().id, "training.rank_killed");
    EXPECT_THAT(told.back().parameters, testing::IsSupersetOf({number("rank", 1), number("signal", 9)}));
}

// Where the process listens over IPv4, but for the store, which listens everywhere: "127.0.0.1" once for each mesh.
std::vector<std::string> listeningAddresses(pid_t pid)
{
    std::set<std::string> own;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
        std::error_code closed;
        own.insert(fs::read_symlink(entry.path(), closed).string());
    }
    std::ifstream sockets("/proc/" + std::to_string(pid) + "/net/tcp");
    std::vector<std::string> found;
    for (std::string line; std::getline(sockets, line);) {
        std::istringstream row(line);
        const std::vector<std::string> words{std::istream_iterator<std::string>(row), {}};
        if (words.size() < 10 || words[3] != "0A" || !own.contains("socket:[" + words[9] + "]"))
            continue;
        const in_addr address{static_cast<in_addr_t>(std::stoul(words[1].substr(0, 8), nullptr, 16))};
        char text[INET_ADDRSTRLEN] = "";
        if (address.s_addr != INADDR_ANY && ::inet_ntop(AF_INET, &address, text, sizeof(text)))
            found.emplace_back(text);
    }
    return found;
}

TEST(DistributedDataParallel, RanksOfOneMachineMeetOnItsLoopback)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2", "run.steps=100000"}));
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    // For gradients, and for what the ranks agree on.
    EXPECT_THAT(listeningAddresses(run.pid()), testing::ElementsAre("127.0.0.1", "127.0.0.1"));
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
}

int freePort()
{
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    ::close(socket);
    return ntohs(address.sin_port);
}

// As torchrun starts a rank on each of two hosts.
TEST(DistributedDataParallel, RanksOfSeveralHostsMeetOnTheWayToTheFirst)
{
    const auto here = trainer::addressTowardsAnywhere();
    if (!here)
        GTEST_SKIP() << "this machine has no address but its loopback's";
    const TestFolder folder;
    EXPECT_EQ(train(folder.path()).ended.status, 0); // makes the images
    const std::string port = std::to_string(freePort());
    // The second host gets an address; the first has only the loopback address for its own name.
    const auto asRank = [&](const char* rank, const std::string& master) {
        return [=, &port] {
            ::setenv("RANK", rank, 1);
            ::setenv("LOCAL_RANK", "0", 1);
            ::setenv("WORLD_SIZE", "2", 1);
            ::setenv("LOCAL_WORLD_SIZE", "1", 1);
            ::setenv("MASTER_ADDR", master.c_str(), 1);
            ::setenv("MASTER_PORT", port.c_str(), 1);
        };
    };
    const auto arguments = smallTraining(folder.path(), {"parallel.kind=ddp", "run.steps=100000"});
    TrainerRun first(arguments, asRank("0", "127.0.1.1")), second(arguments, asRank("1", *here));
    ASSERT_TRUE(first.await<protocol::StepProgress>());
    EXPECT_THAT(listeningAddresses(first.pid()), testing::ElementsAre(*here, *here));
    EXPECT_THAT(listeningAddresses(second.pid()), testing::ElementsAre(*here, *here));
    first.send(protocol::Stop{});
    EXPECT_EQ(first.end().status, 0);
    EXPECT_EQ(second.end().status, 0);
}

// The folder of the small training's images; of these files nothing can be read.
fs::path withBrokenImages(const fs::path& folder, int broken)
{
    EXPECT_EQ(train(folder).ended.status, 0);
    fs::path classes;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "images"))
        if (entry.is_regular_file() && entry.path().extension().string().starts_with(".jp")) {
            classes = entry.path().parent_path().parent_path();
            if (broken-- > 0)
                fs::resize_file(entry.path(), 0);
        }
    return classes;
}

TEST(DistributedDataParallel, ContinuesIfOneRankHasOnlyBadSamples)
{
    const TestFolder folder;
    const fs::path classes = withBrokenImages(folder.path(), 5);
    for (const char* accumulation : {"gradient.accumulation=1", "gradient.accumulation=3"}) {
        const auto run = train(folder.path(), {"dataset.kind=image_folder", "dataset.path=" + classes.string(),
                                               "batch.size=1", "parallel.kind=ddp", "parallel.local_ranks=2",
                                               "dataset.validation_share=0", accumulation});
        ASSERT_EQ(run.ended.status, 0) << run.ended.output;
        const auto done = run.one<protocol::Done>();
        EXPECT_EQ(done.steps, run.one<protocol::Hello>().totalSteps);
        EXPECT_TRUE(std::isfinite(done.finalLoss));
        EXPECT_GT(done.finalLoss, 0);
    }
}

TEST(DistributedDataParallel, SamplesInTheLogAreThoseOfAllRanks)
{
    const TestFolder folder;
    const fs::path log = folder.path() / "log.csv";
    const auto run = train(
        folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2", "run.steps=1", "run.log_file=" + log.string()});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    std::ifstream file(log);
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    const std::string samples = std::to_string(run.one<protocol::Done>().samples);
    EXPECT_EQ(samples, "32");
    EXPECT_THAT(line, HasSubstr("," + samples + ","));
    for (const profiler::Track& track : run.trace->tracks())
        if (track.kind == profiler::TrackKind::Counter && track.name == "samples") {
            EXPECT_EQ(run.trace->counter(track.id).back().value, 32);
        }
}

TEST(DistributedDataParallel, ARankThatDiesBeforeItJoinsEndsTheRunWithItsMessage)
{
    const TestFolder folder;
    fs::create_directories(folder.path() / "run.rank1.sstrace" / "taken");
    const auto run = train(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2"});
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed)) << run.ended.output;
    protocol::Notice last;
    for (const protocol::Progress& record : run.records)
        if (const auto* notice = std::get_if<protocol::Notice>(&record))
            last = *notice;
    EXPECT_EQ(last.id, "training.rank_exited");
    EXPECT_THAT(last.parameters, testing::Contains(number("rank", 1)));
    EXPECT_THAT(last.hint, HasSubstr("run.rank1.sstrace"));
}

void asRankFiveOfTwo()
{
    ::setenv("RANK", "5", 1);
    ::setenv("WORLD_SIZE", "2", 1);
}

TEST(RanksInTheEnvironment, DoNotAffectATrainingByOneProcess)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"run.steps=1"}), asRankFiveOfTwo);
    const auto ended = run.end();
    EXPECT_EQ(ended.status, 0) << ended.output;
    EXPECT_EQ(run.all<protocol::Done>().size(), 1u);
}

TEST(RanksInTheEnvironment, ThatAreInconsistentAreBadInputToRanks)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"run.steps=1", "parallel.kind=ddp"}), asRankFiveOfTwo);
    const auto ended = run.end();
    EXPECT_EQ(ended.status, static_cast<int>(protocol::Exit::BadInput)) << ended.output;
    const auto told = run.all<protocol::Notice>();
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().id, "ranks.bad_environment");
    EXPECT_THAT(told.back().parameters,
                testing::ElementsAre(number("rank", 5), number("size", 2), number("port", 29500)));
    EXPECT_THAT(told.back().hint, HasSubstr("torchrun"));
}

TEST(DataParallel, EachCopyHasOneTrack)
{
    const TestFolder folder;
    const auto run = train(
        folder.path(), {"parallel.kind=dp", "parallel.local_ranks=3", "capture.ops_every=1", "capture.ops_window=1"});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    std::set<std::string> withForward;
    for (const profiler::Slice& op : run.trace->ofKind(profiler::ActivityKind::CpuOp))
        if (run.trace->name(op) == "aten::conv2d")
            withForward.insert(run.trace->track(op.id.track).name);
    EXPECT_THAT(withForward, testing::UnorderedElementsAre("main thread", "copy 1", "copy 2"));
}

TEST(DistributedDataParallel, StopsOnAllRanksAtOnce)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"parallel.kind=ddp", "parallel.local_ranks=2", "run.steps=100000"}));
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
    ASSERT_EQ(run.all<protocol::Done>().size(), 1u);
    EXPECT_TRUE(run.all<protocol::Done>()[0].stopped);
}

} // namespace
