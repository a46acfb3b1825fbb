#include "tests/data/numbered_dataset.h"

#include <condition_variable>
#include <gmock/gmock.h>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace data_test {
namespace {

using namespace trainer::data;
using testing::Each;
using testing::SizeIs;

LoaderOptions options(int workers, int prefetch, bool persistent = false)
{
    return {.batchSize = 4, .workers = workers, .prefetchFactor = prefetch, .persistentWorkers = persistent, .seed = 7};
}

class LoaderIdentity : public testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(LoaderIdentity, SameBatchesInTheSameOrderInEveryEpoch)
{
    const auto [workers, prefetch, persistent] = GetParam();
    const auto dataset = std::make_shared<NumberedDataset>(
        30, [](std::int64_t index) { return index % 7 == 3 ? std::optional(sampleError(index)) : std::nullopt; });
    Loader alone(dataset, options(0, 1));
    Loader loader(dataset, options(workers, prefetch, persistent));
    for (const std::int64_t epoch : {0, 1})
        EXPECT_EQ(epochOf(loader, epoch), epochOf(alone, epoch)) << "epoch " << epoch;
}

INSTANTIATE_TEST_SUITE_P(Settings, LoaderIdentity,
                         testing::Combine(testing::Values(0, 1, 2, 4), testing::Values(1, 2, 4), testing::Bool()));

TEST(Loader, EveryEpochHasEachSampleOnceInItsOwnOrder)
{
    Loader loader(std::make_shared<NumberedDataset>(30), options(2, 2));
    std::vector<std::vector<float>> orders;
    for (const std::int64_t epoch : {0, 1}) {
        std::vector<float> order;
        for (const Copy& batch : epochOf(loader, epoch))
            for (std::size_t i = 0; i < batch.images.size(); i += 3)
                order.push_back(batch.images[i]);
        orders.push_back(order);
        std::sort(order.begin(), order.end());
        std::vector<float> all(30);
        std::iota(all.begin(), all.end(), 0.0F);
        EXPECT_EQ(order, all);
    }
    EXPECT_NE(orders[0], orders[1]);
}

TEST(Loader, TheSeedDecidesTheOrder)
{
    const auto dataset = std::make_shared<NumberedDataset>(30);
    LoaderOptions other = options(0, 1);
    other.seed = 8;
    Loader a(dataset, options(0, 1)), b(dataset, other);
    EXPECT_NE(epochOf(a, 0), epochOf(b, 0));
}

TEST(Loader, WithoutShuffleSamplesKeepTheirOrder)
{
    LoaderOptions plain = options(2, 2);
    plain.shuffle = false;
    Loader loader(std::make_shared<NumberedDataset>(10), plain);
    const auto batches = epochOf(loader, 3);
    ASSERT_THAT(batches, SizeIs(3));
    EXPECT_THAT(batches[0].labels, testing::ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(batches[2].labels, testing::ElementsAre(8, 9));
    EXPECT_EQ(loader.batchesPerEpoch(), 3);
}

TEST(Loader, RanksShareEverySampleOrAsManyEach)
{
    for (const bool equal : {true, false}) {
        std::multiset<float> seen;
        std::vector<std::int64_t> each;
        for (int rank = 0; rank < 3; ++rank) {
            const LoaderOptions options{.batchSize = 2, .seed = 1, .rank = rank, .ranks = 3, .equalRanks = equal};
            Loader loader(std::make_shared<NumberedDataset>(11), options);
            std::int64_t samples = 0;
            for (const Copy& batch : epochOf(loader, 0))
                for (std::size_t i = 0; i < batch.images.size(); i += 3, ++samples)
                    seen.insert(batch.images[i]);
            each.push_back(samples);
        }
        EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size()) << "none occurs twice";
        EXPECT_EQ(each, equal ? std::vector<std::int64_t>({3, 3, 3}) : std::vector<std::int64_t>({4, 4, 3}));
    }
}

TEST(Loader, AugmentationDiffersByEpochAndSampleAndCanBeTurnedOff)
{
    LoaderOptions wanted = options(0, 1);
    wanted.shuffle = false;
    const auto dataset = std::make_shared<NumberedDataset>(8);
    Loader loader(dataset, wanted);
    const auto first = epochOf(loader, 0), second = epochOf(loader, 1);
    for (std::size_t i = 0; i < first[0].images.size(); i += 3) {
        EXPECT_EQ(first[0].images[i], second[0].images[i]);
        EXPECT_NE(std::vector(first[0].images.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              first[0].images.begin() + static_cast<std::ptrdiff_t>(i) + 3),
                  std::vector(second[0].images.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              second[0].images.begin() + static_cast<std::ptrdiff_t>(i) + 3));
    }
    EXPECT_NE(first[0].images[1], first[0].images[4]);
    wanted.augment = false;
    Loader plain(dataset, wanted);
    for (const Copy& batch : epochOf(plain, 0))
        for (std::size_t i = 0; i < batch.images.size(); i += 3)
            EXPECT_EQ(batch.images[i + 1] + batch.images[i + 2], 0);
}

TEST(Loader, AnEpochLeftEarlyDoesNotLeakIntoTheNext)
{
    const auto dataset = std::make_shared<NumberedDataset>(400);
    Loader alone(dataset, options(0, 1));
    const auto expected = epochOf(alone, 1);
    for (const bool persistent : {false, true}) {
        Loader loader(dataset, options(2, 2, persistent));
        loader.startEpoch(0);
        ASSERT_TRUE(loader.next());
        EXPECT_EQ(epochOf(loader, 1), expected);
    }
}

TEST(Loader, ASplitOfItsOwnAndAnEmptyDataSet)
{
    LoaderOptions validation = options(2, 2);
    validation.split = Split::Validation;
    Loader half(std::make_shared<NumberedDataset>(16), validation);
    EXPECT_THAT(epochOf(half, 0), SizeIs(2));
    Loader none(std::make_shared<NumberedDataset>(0), options(2, 2));
    EXPECT_THAT(epochOf(none, 0), SizeIs(0));
    EXPECT_FALSE(none.next());
}

TEST(Loader, NeverMoreThanItsCapacityInFlight)
{
    const CountedMemory memory;
    LoaderOptions wanted = options(2, 2, true);
    wanted.memory = memory.allocator();
    const auto dataset = std::make_shared<NumberedDataset>(400);
    Loader loader(dataset, wanted);
    EXPECT_EQ(loader.capacity(), 4);
    loader.startEpoch(0);
    // Nobody takes anything: the workers fill the ring and rest.
    while (dataset->begun() < 16)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(dataset->begun(), 16);
    EXPECT_EQ(*memory.made, 4);
}

TEST(Loader, BuffersAreReusedAndOutliveTheLoader)
{
    const CountedMemory memory;
    for (const int workers : {0, 1, 3}) {
        const int before = *memory.made;
        std::optional<Batch> kept;
        {
            LoaderOptions wanted = options(workers, 2);
            wanted.memory = memory.allocator(true);
            Loader loader(std::make_shared<NumberedDataset>(400), wanted);
            for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
                loader.startEpoch(epoch);
                while (auto batch = loader.next()) {
                    EXPECT_TRUE(batch->pinned);
                    kept = std::move(batch);
                }
            }
            // One more is the batch that the training uses, one more the batch that it releases only afterwards.
            EXPECT_LE(*memory.made - before, loader.capacity() + 2);
        }
        EXPECT_EQ(*memory.alive, 1);
        EXPECT_EQ(kept->target<std::int64_t>()[0], static_cast<std::int64_t>(kept->input<float>()[0]) % 10);
        kept.reset();
        EXPECT_EQ(*memory.alive, 0);
    }
}

TEST(Loader, MemoryIsAlignedForVectors)
{
    Loader loader(std::make_shared<NumberedDataset>(8), options(1, 1));
    loader.startEpoch(0);
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->input<float>()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->target<std::int64_t>()) % 64, 0U);
    EXPECT_FALSE(batch->pinned);
}

TEST(Loader, WorkersPersistOnlyOnRequest)
{
    for (const bool persistent : {false, true}) {
        std::mutex mutex;
        std::vector<std::thread::id> started;
        LoaderOptions wanted = options(2, 1, persistent);
        wanted.workerStart = [&] {
            const std::lock_guard lock(mutex);
            started.push_back(std::this_thread::get_id());
        };
        Loader loader(std::make_shared<NumberedDataset>(40), wanted);
        for (std::int64_t epoch = 0; epoch < 3; ++epoch)
            epochOf(loader, epoch);
        const std::lock_guard lock(mutex);
        if (persistent) {
            EXPECT_THAT(started.size(), testing::AllOf(testing::Ge(1U), testing::Le(2U))); // one may not have begun yet
        } else {
            EXPECT_EQ(started.size(), 6U);
        }
    }
}

TEST(Loader, CancelWakesAWaitingNext)
{
    EXPECT_TRUE(endsInTime([] {
        std::mutex mutex;
        std::condition_variable begun;
        bool isBegun = false, released = false;
        Loader loader(std::make_shared<NumberedDataset>(40,
                                                        [&](std::int64_t) -> std::optional<profiler::Error> {
                                                            std::unique_lock lock(mutex);
                                                            isBegun = true;
                                                            begun.notify_all();
                                                            begun.wait(lock, [&] { return released; });
                                                            return std::nullopt;
                                                        }),
                      options(2, 2));
        loader.startEpoch(0);
        std::thread other([&] {
            {
                std::unique_lock lock(mutex);
                begun.wait(lock, [&] { return isBegun; });
            }
            loader.cancel();
            const std::lock_guard lock(mutex);
            released = true;
            begun.notify_all();
        });
        EXPECT_FALSE(loader.next());
        EXPECT_FALSE(loader.next());
        other.join();
        loader.startEpoch(1); // for good
        EXPECT_FALSE(loader.next());
    }));
}

TEST(Loader, CancelEndsALoaderWithoutWorkers)
{
    Loader* cancelled = nullptr;
    const auto dataset = std::make_shared<NumberedDataset>(40, [&](std::int64_t) -> std::optional<profiler::Error> {
        cancelled->cancel();
        return std::nullopt;
    });
    Loader loader(dataset, options(0, 1));
    cancelled = &loader;
    loader.startEpoch(0);
    EXPECT_FALSE(loader.next());
    EXPECT_EQ(dataset->begun(), 1);
}

TEST(Loader, DestroyingAnUnfinishedLoaderEnds)
{
    EXPECT_TRUE(endsInTime([] {
        for (int i = 0; i < 20; ++i) {
            Loader loader(std::make_shared<NumberedDataset>(400), options(3, 2, i % 2 == 0));
            loader.startEpoch(0);
            if (i % 3 == 0)
                loader.next();
            if (i % 5 == 0)
                loader.park();
        }
    }));
}

TEST(Loader, ParkedWorkersStartNothing)
{
    const auto dataset = std::make_shared<NumberedDataset>(4000);
    Loader loader(dataset, options(2, 4, true));
    loader.startEpoch(0);
    ASSERT_TRUE(loader.next());
    loader.park();
    const std::int64_t parkedAt = dataset->begun();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(dataset->begun(), parkedAt);
    loader.unpark();
    std::int64_t batches = 1;
    while (loader.next())
        ++batches;
    EXPECT_EQ(batches, 1000);
    EXPECT_EQ(dataset->begun(), 4000);
}

TEST(Loader, ReadyBatchesAreDeliveredWhileParked)
{
    const auto dataset = std::make_shared<NumberedDataset>(400);
    Loader loader(dataset, options(1, 3));
    loader.startEpoch(0);
    while (dataset->begun() < 12)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loader.park();
    EXPECT_TRUE(endsInTime([&] {
        for (int i = 0; i < 3; ++i)
            EXPECT_TRUE(loader.next());
    }));
    EXPECT_EQ(dataset->begun(), 12);
}

TEST(Loader, AnEpochLeftWhileParkedDoesNotLeakIntoTheNext)
{
    const auto dataset = std::make_shared<NumberedDataset>(400);
    Loader alone(dataset, options(0, 1));
    const auto expected = epochOf(alone, 1);
    for (const bool persistent : {false, true})
        for (int i = 0; i < 20; ++i) {
            Loader loader(dataset, options(3, 2, persistent));
            loader.startEpoch(0);
            ASSERT_TRUE(loader.next());
            loader.park();
            if (i % 2 == 0)
                loader.unpark();
            loader.startEpoch(1);
            loader.unpark();
            std::vector<Copy> batches;
            while (const auto batch = loader.next())
                batches.push_back(copyOf(*batch, 3));
            ASSERT_EQ(batches, expected);
        }
}

TEST(Loader, ParkedBeforeTheFirstEpochItWaitsAndParkedItStartsAnew)
{
    const auto dataset = std::make_shared<NumberedDataset>(40);
    for (const bool persistent : {false, true}) {
        Loader loader(dataset, options(2, 2, persistent));
        loader.park();
        const std::int64_t before = dataset->begun();
        loader.startEpoch(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(dataset->begun(), before);
        loader.startEpoch(1);
        loader.unpark();
        std::int64_t batches = 0;
        while (loader.next())
            ++batches;
        EXPECT_EQ(batches, 10);
    }
}

} // namespace
} // namespace data_test
