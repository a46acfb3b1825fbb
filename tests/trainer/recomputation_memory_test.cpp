#include "trainer/memory/checkpointing.h"
#include "trainer/memory/tensor_memory.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace trainer;
using Choice = Checkpointing::Choice;

namespace {

// A model whose activations are most of the memory of a step.
struct Model {
    const char* name;
    std::vector<std::string> settings;
    data::SampleSpec spec;
    std::int64_t batch;
    double mostAll, mostCheap; ///< of the peak without recomputation
    friend void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }
};

struct Step {
    std::int64_t firstPeak = 0; ///< bytes, of the first two steps, which measure costs
    std::int64_t peakBytes = 0; ///< of all steps
    std::vector<at::Tensor> gradients, buffers;
    at::Tensor next; ///< random number drawn after it
};

data::SampleSpec tokens()
{
    data::SampleSpec spec;
    spec.kind = data::DataKind::Tokens;
    spec.inputs = {{data::Dtype::Int64, {128}}};
    spec.target = {data::Dtype::Int64, {128}};
    spec.classes = 256;
    return spec;
}

std::vector<std::int64_t> withBatch(const data::ArraySpec& array, std::int64_t batch)
{
    std::vector<std::int64_t> shape = array.shape;
    shape.insert(shape.begin(), batch);
    return shape;
}

BatchTensors batchOf(const Model& model)
{
    at::manual_seed(5);
    const data::ArraySpec& input = model.spec.inputs[0];
    const bool ids = input.dtype == data::Dtype::Int64;
    const auto shape = withBatch(input, model.batch);
    return {{ids ? at::randint(model.spec.classes, shape, at::kLong) : at::rand(shape)},
            at::randint(model.spec.classes, withBatch(model.spec.target, model.batch), at::kLong),
            model.batch};
}

// The last of four steps, and the peak of them all: it must not be high while costs are measured either.
Step fourthStep(const Model& model, Choice choice)
{
    countCpuMemory();
    at::set_num_threads(1); // small work: threads would wait for each other on a busy machine
    config::TrainingConfig config;
    for (const std::string& setting : model.settings)
        EXPECT_TRUE(config.setAssignment(setting)) << setting;
    at::manual_seed(3);
    const auto network = makeNetwork(config, model.spec);
    const Checkpointing checkpointing(*network, choice, at::kCPU);
    const BatchTensors batch = batchOf(model);
    restartPeakCpuTensorBytes();
    const std::int64_t before = cpuTensorBytes();
    Step step;
    for (int number = 0; number < 4; ++number) {
        network->zero_grad();
        lossOf(network->objective(), network->forward(batch)).backward();
        if (number == 1)
            step.firstPeak = peakCpuTensorBytes() - before;
    }
    EXPECT_TRUE(checkpointing.decided());
    step.peakBytes = peakCpuTensorBytes() - before;
    step.next = at::rand({1});
    for (const at::Tensor& parameter : network->parameters())
        step.gradients.push_back(parameter.grad().clone());
    for (const at::Tensor& buffer : network->buffers())
        step.buffers.push_back(buffer.clone());
    return step;
}

void expectSame(const Step& a, const Step& b)
{
    const auto equal = [](const at::Tensor& x, const at::Tensor& y) { return at::equal(x, y); };
    EXPECT_TRUE(std::equal(a.gradients.begin(), a.gradients.end(), b.gradients.begin(), b.gradients.end(), equal));
    EXPECT_TRUE(std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(), equal));
    EXPECT_TRUE(at::equal(a.next, b.next));
}

class RecomputationMemory : public testing::TestWithParam<Model> {};

TEST_P(RecomputationMemory, ShrinksWithRecomputationAndTheStepIsBitIdentical)
{
    const Step kept = fourthStep(GetParam(), Choice::Off);
    const Step cheap = fourthStep(GetParam(), Choice::Cheap);
    const Step all = fourthStep(GetParam(), Choice::All);
    const auto share = [&](std::int64_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(kept.peakBytes);
    };
    EXPECT_LT(share(all.peakBytes), GetParam().mostAll) << kept.peakBytes;
    EXPECT_LT(share(cheap.firstPeak), GetParam().mostCheap) << "with every cheap part: their times decide afterwards";
    EXPECT_LT(all.peakBytes, cheap.firstPeak);
    EXPECT_LE(cheap.firstPeak, cheap.peakBytes);
    EXPECT_LT(share(cheap.peakBytes), 1.01) << "the state of a random generator for each part";
    expectSame(all, kept);
    expectSame(cheap, kept);
}

// The shares follow from the sizes: a residual block keeps 4 tensors, one less with its cheap part, and 1 recomputed.
INSTANTIATE_TEST_SUITE_P(
    OfActivations, RecomputationMemory,
    testing::Values(
        Model{"ResNet18", {"workload=resnet18", "model.width=8"}, data::imageSpec(3, 32, 32, 10), 16, 0.75, 0.93},
        Model{"Gpt", {"workload=gpt", "model.width=32", "model.depth=4"}, tokens(), 4, 0.5, 0.65}),
    [](const auto& test) { return test.param.name; });

} // namespace
