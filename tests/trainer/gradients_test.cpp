#include "trainer/memory/checkpointing.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/step/weight_update.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

using namespace trainer;
namespace nn = torch::nn;

namespace {

std::vector<at::Tensor> gradientsOf(const nn::Module& module)
{
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& parameter : module.parameters())
        gradients.push_back(parameter.grad());
    return gradients;
}

// Convolution, batch norm, dropout: what recomputation can get wrong.
class Part final : public nn::Module {
public:
    Part(std::int64_t in, std::int64_t out)
        : m_conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)))),
          m_norm(register_module("norm", nn::BatchNorm2d(out))), m_dropout(register_module("dropout", nn::Dropout(0.3)))
    {
    }
    at::Tensor forward(const at::Tensor& x)
    {
        return m_dropout->forward(at::relu(m_norm->forward(m_conv->forward(x))));
    }

private:
    nn::Conv2d m_conv;
    nn::BatchNorm2d m_norm;
    nn::Dropout m_dropout;
};

class Parts final : public Network {
public:
    Parts()
    {
        addBlock("first", std::make_shared<Part>(3, 16));
        addBlock("second", std::make_shared<Part>(16, 4));
    }
    Pass forward(const BatchTensors& batch) override { return {runBlocks(batch.inputs[0]), batch.target}; }
    [[nodiscard]] Objective objective() const override { return Objective::Numbers; }
};

std::shared_ptr<Parts> makeParts()
{
    at::manual_seed(3);
    return std::make_shared<Parts>();
}

struct Result {
    std::vector<at::Tensor> gradients, buffers;
    at::Tensor next; ///< random numbers drawn after the step
};

Result trainOnce(Parts& network, std::optional<at::ScalarType> half, const at::Tensor& input)
{
    at::manual_seed(7);
    at::Tensor sum;
    {
        const Autocast autocast(at::kCPU, half);
        sum = network.forward({{input}, {}, input.size(0)}).predictions.to(at::kFloat).square().sum();
    }
    sum.backward();
    Result result{gradientsOf(network), {}, at::rand({4})};
    for (const at::Tensor& buffer : network.buffers())
        result.buffers.push_back(buffer.clone());
    return result;
}

void expectEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(a[i].defined() && b[i].defined()) << i;
        EXPECT_TRUE(at::equal(a[i], b[i])) << i;
    }
}

class Recomputation : public testing::TestWithParam<bool> {};

TEST_P(Recomputation, IsBitIdenticalInGradientsStatisticsAndRandomNumbers)
{
    const auto half = GetParam() ? std::optional(at::kBFloat16) : std::nullopt;
    const at::Tensor input = at::rand({4, 3, 8, 8});
    const auto plain = makeParts(), again = makeParts();
    const Checkpointing checkpointing(*again, Checkpointing::Choice::All, at::kCPU);
    const Result expected = trainOnce(*plain, half, input), found = trainOnce(*again, half, input);
    expectEqual(found.gradients, expected.gradients);
    expectEqual(found.buffers, expected.buffers);
    EXPECT_TRUE(at::equal(found.next, expected.next)) << "the generator has the same state as without it";
}
INSTANTIATE_TEST_SUITE_P(Precision, Recomputation, testing::Bool(),
                         [](const auto& test) { return test.param ? "Bf16" : "Float"; });

TEST(Recomputation, GivesTheInputItsGradient)
{
    const auto network = makeParts();
    const Checkpointing checkpointing(*network, Checkpointing::Choice::All, at::kCPU);
    const at::Tensor input = at::rand({4, 3, 8, 8}).requires_grad_(), same = input.detach().clone().requires_grad_();
    trainOnce(*network, {}, input);
    const auto plain = makeParts();
    trainOnce(*plain, {}, same);
    EXPECT_TRUE(at::equal(input.grad(), same.grad()));
}

// Calls of a block over a step.
int callsOfBlocks(Checkpointing::Choice choice, bool training, bool recording)
{
    const auto network = makeParts();
    int calls = 0;
    for (Block& block : network->blocks())
        block.run = [run = block.run, &calls](at::TensorList x) { return ++calls, run(x); };
    const Checkpointing checkpointing(*network, choice, at::kCPU);
    network->train(training);
    const at::AutoGradMode mode(recording);
    const at::Tensor sum = network->forward({{at::rand({2, 3, 8, 8})}, {}, 2}).predictions.sum();
    if (recording)
        sum.backward();
    return calls;
}

TEST(Recomputation, RunsBlocksTwiceInTrainingOnly)
{
    EXPECT_EQ(callsOfBlocks(Checkpointing::Choice::Off, true, true), 2);
    EXPECT_EQ(callsOfBlocks(Checkpointing::Choice::All, true, true), 4);
    EXPECT_EQ(callsOfBlocks(Checkpointing::Choice::All, true, false), 2);
    EXPECT_EQ(callsOfBlocks(Checkpointing::Choice::All, false, true), 2);
}

class Cheap final : public nn::Module {
public:
    at::Tensor forward(const at::Tensor& x) { return at::relu(at::sigmoid(at::tanh(x + 1))); }
};
class Dear final : public nn::Module {
public:
    Dear() : m_in(register_module("in", nn::Linear(256, 16))), m_out(register_module("out", nn::Linear(16, 256))) {}
    at::Tensor forward(const at::Tensor& x)
    {
        workHard(); // far more than a busy machine adds to the cheap block's time
        return m_out(m_in(x));
    }

private:
    static void workHard()
    {
        const at::NoGradGuard keepsNothing;
        at::Tensor product = at::rand({512, 512});
        for (int i = 0; i < 48; ++i)
            product = at::matmul(product, product).tanh();
    }
    nn::Linear m_in, m_out;
};
class CheapAndDear final : public Network {
public:
    CheapAndDear()
    {
        addBlock("cheap", std::make_shared<Cheap>());
        addBlock("dear", std::make_shared<Dear>());
    }
    Pass forward(const BatchTensors& batch) override { return {runBlocks(batch.inputs[0]), batch.target}; }
    [[nodiscard]] Objective objective() const override { return Objective::Numbers; }
};

TEST(Recomputation, ChoosesBlocksThatKeepMuchAndCostLittle)
{
    CheapAndDear network;
    const Checkpointing checkpointing(network, Checkpointing::Choice::Cheap, at::kCPU);
    for (int pass = 0; pass < 3 && !checkpointing.decided(); ++pass)
        network.forward({{at::rand({2048, 256}).requires_grad_()}, {}, 2048}).predictions.sum().backward();
    ASSERT_TRUE(checkpointing.decided());
    const auto costs = checkpointing.costs();
    EXPECT_EQ(costs[0].freedBytes, 2 * 2048 * 256 * 4) << "outputs of tanh and sigmoid, beside the block's own";
    EXPECT_EQ(costs[1].freedBytes, 2048 * 16 * 4) << "the first product; weights and their views stay anyway";
    EXPECT_TRUE(costs[0].recomputed);
    EXPECT_FALSE(costs[1].recomputed);
}

TEST(GradScaler, GivesTheGradientsThatTheLossWouldHave)
{
    GradScaler scaler(at::kCPU);
    const at::Tensor weight = at::full({2}, 3.0F).requires_grad_();
    scaler.scaled(weight.square().sum()).backward();
    EXPECT_EQ(weight.grad()[0].item<float>(), 6 * 65536);
    EXPECT_TRUE(scaler.unscale({weight.grad()}));
    EXPECT_EQ(weight.grad()[0].item<float>(), 6);
    EXPECT_EQ(scaler.skipped(), 0);
    EXPECT_EQ(scaler.scale(), 65536);
}

TEST(GradScaler, SkipsAnOverflowAndHalvesTheScale)
{
    GradScaler scaler(at::kCPU);
    EXPECT_FALSE(scaler.unscale({at::ones({2}), at::tensor({1.0F, INFINITY})}));
    EXPECT_FALSE(scaler.unscale({at::tensor({NAN})}));
    EXPECT_EQ(scaler.skipped(), 2);
    EXPECT_EQ(scaler.scale(), 65536 / 4);
    EXPECT_TRUE(scaler.unscale({at::ones({2})})) << "one overflow does not stay";
}

TEST(GradScaler, DoublesTheScaleAfterTwoThousandGoodSteps)
{
    GradScaler scaler(at::kCPU);
    for (int step = 0; step < 2000; ++step) {
        EXPECT_EQ(scaler.scale(), 65536);
        scaler.unscale({at::ones({1})});
    }
    EXPECT_EQ(scaler.scale(), 2 * 65536);
}

TEST(Clipping, ByNormKeepsDirectionAndGivesTheNormBefore)
{
    const std::vector<at::Tensor> gradients = {at::tensor({3.0, 0.0}, at::kDouble), at::tensor({4.0}, at::kDouble)};
    EXPECT_DOUBLE_EQ(clipNorm(gradients, 1).item<double>(), 5);
    EXPECT_NEAR(gradients[0][0].item<double>(), 0.6, 1e-6);
    EXPECT_NEAR(gradients[1][0].item<double>(), 0.8, 1e-6);
    EXPECT_NEAR(clipNorm(gradients, 10).item<double>(), 1, 1e-6);
    EXPECT_NEAR(gradients[0][0].item<double>(), 0.6, 1e-6) << "below the limit nothing changes";
}

TEST(Clipping, ByValueCutsBothEnds)
{
    const std::vector<at::Tensor> gradients = {at::tensor({-3.0F, 0.5F, 9.0F})};
    clipValue(gradients, 2);
    EXPECT_TRUE(at::equal(gradients[0], at::tensor({-2.0F, 0.5F, 2.0F})));
}

} // namespace
