#include "tests/data/numbered_dataset.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>
#include <new>
#include <stdexcept>

namespace data_test {
namespace {

using namespace trainer::data;
using profiler::test::hasId;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

LoaderOptions inOrder(int workers)
{
    return {.batchSize = 4, .workers = workers, .shuffle = false, .augment = false};
}

class LoaderFaults : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, LoaderFaults, testing::Values(0, 1, 3));

TEST_P(LoaderFaults, ABadSampleIsSkippedAndNamed)
{
    Loader loader(
        std::make_shared<NumberedDataset>(
            8, [](std::int64_t i) { return i == 1 || i == 2 ? std::optional(sampleError(i)) : std::nullopt; }),
        inOrder(GetParam()));
    loader.startEpoch(0);
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->count, 2);
    EXPECT_EQ(batch->target<std::int64_t>()[1], 3);
    EXPECT_EQ(batch->input<float>()[3], 3); // moved up into the gap
    ASSERT_THAT(batch->bad, SizeIs(2));
    EXPECT_EQ(batch->bad[0].index, 1);
    EXPECT_THAT(batch->bad[1].what, AllOf(hasId("test.broken"), test_support::TextIs(HasSubstr("sample 2"))));
    const auto next = loader.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->count, 4);
    EXPECT_THAT(next->bad, IsEmpty());
}

TEST_P(LoaderFaults, ABatchOfOnlyBadSamplesIsStillDelivered)
{
    Loader loader(std::make_shared<NumberedDataset>(
                      12, [](std::int64_t i) { return i / 4 == 1 ? std::optional(sampleError(i)) : std::nullopt; }),
                  inOrder(GetParam()));
    std::vector<std::int64_t> counts;
    loader.startEpoch(0);
    while (const auto batch = loader.next())
        counts.push_back(batch->count);
    EXPECT_THAT(counts, ElementsAre(4, 0, 4));
}

TEST_P(LoaderFaults, AnExceptionIsABadSample)
{
    EXPECT_TRUE(endsInTime([] {
        Loader loader(std::make_shared<NumberedDataset>(8,
                                                        [](std::int64_t i) -> std::optional<profiler::Error> {
                                                            if (i == 0)
                                                                throw std::runtime_error("lost");
                                                            if (i == 5)
                                                                throw 5;
                                                            return std::nullopt;
                                                        }),
                      inOrder(GetParam()));
        loader.startEpoch(0);
        const auto first = loader.next();
        ASSERT_TRUE(first);
        ASSERT_THAT(first->bad, SizeIs(1));
        EXPECT_THAT(first->bad[0].what, profiler::test::hasIdAndPart("data.sample.failed", "why", "lost"));
        const auto second = loader.next();
        ASSERT_TRUE(second);
        ASSERT_THAT(second->bad, SizeIs(1));
        EXPECT_EQ(second->bad[0].index, 5);
        EXPECT_FALSE(loader.next());
    }));
}

TEST_P(LoaderFaults, OutOfMemoryIsThrownInTheCaller)
{
    EXPECT_TRUE(endsInTime([] {
        LoaderOptions options = inOrder(GetParam());
        options.memory.allocate = [](std::size_t) -> std::shared_ptr<void> {
            throw std::runtime_error("no pinned memory");
        };
        Loader throwing(std::make_shared<NumberedDataset>(8), options);
        throwing.startEpoch(0);
        EXPECT_THROW(throwing.next(), std::runtime_error);
        options.memory.allocate = [](std::size_t) { return std::shared_ptr<void>(); };
        Loader nothing(std::make_shared<NumberedDataset>(8), options);
        nothing.startEpoch(0);
        EXPECT_THROW(nothing.next(), std::bad_alloc);
    }));
}

TEST(LoaderStart, AFailedWorkerStartIsThrownInTheCaller)
{
    EXPECT_TRUE(endsInTime([] {
        LoaderOptions options = inOrder(2);
        options.workerStart = [] { throw std::runtime_error("no threads"); };
        const auto dataset = std::make_shared<NumberedDataset>(8);
        Loader loader(dataset, options);
        loader.startEpoch(0);
        EXPECT_THROW(loader.next(), std::runtime_error);
        EXPECT_EQ(dataset->begun(), 0);
    }));
}

} // namespace
} // namespace data_test
