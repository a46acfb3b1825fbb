#include "trainer/data/loader.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace data_test {
namespace {

using namespace trainer::data;

// A rank with a single sample has room for one in its loader's memory.
TEST(DummyBatch, HasItsOwnMemoryForTwoSamples)
{
    SampleSpec spec;
    spec.inputs.push_back({Dtype::Float32, {3, 5, 7}});
    spec.target = {Dtype::Int64, {}};
    const auto pool = std::make_shared<BatchPool>(BufferAllocator(), spec, 1);
    Batch batch;
    batch.memory = pool->acquire();
    batch.pinned = true;
    const std::byte* loaders = batch.memory->inputs[0];
    dummyBatch(batch, spec, 32);
    EXPECT_EQ(batch.count, 2);
    EXPECT_NE(batch.memory->inputs[0], loaders);
    EXPECT_FALSE(batch.pinned);
    const float* values = batch.input<float>();
    EXPECT_TRUE(std::all_of(values, values + 2 * 3 * 5 * 7, [](float value) { return value == 0; }));
    EXPECT_EQ(batch.target<std::int64_t>()[0], 0);
    EXPECT_EQ(batch.target<std::int64_t>()[1], 0);
    EXPECT_EQ(pool->acquire()->inputs[0], loaders) << "the loader's memory was returned";
}

TEST(DummyBatch, IsNoLargerThanABatch)
{
    SampleSpec spec;
    spec.inputs.push_back({Dtype::Float32, {4}});
    spec.target = {Dtype::Int64, {}};
    Batch batch;
    dummyBatch(batch, spec, 1);
    EXPECT_EQ(batch.count, 1);
}

} // namespace
} // namespace data_test
