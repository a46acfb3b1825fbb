#include "trainer/loop/graphed_step.h"
#include "trainer/workloads/network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <torch/nn/modules/linear.h>

using namespace trainer;

namespace {

class OneLayer final : public Network {
public:
    OneLayer() : m_layer(register_module("layer", torch::nn::Linear(2, 1))) {}
    Pass forward(const BatchTensors& batch) override { return {m_layer->forward(batch.inputs[0]), batch.target}; }
    [[nodiscard]] Objective objective() const override { return Objective::Numbers; }

private:
    torch::nn::Linear m_layer;
};

// Up to the driver's edge: what would be recorded on a GPU is kept, and run again.
class KeptWork final : public CudaGraph {
public:
    explicit KeptWork(int& recorded) : m_recorded(recorded) {}
    void record(const std::function<void()>& work) override
    {
        m_work = work;
        m_work();
        ++m_recorded;
    }
    void replay() override {}

private:
    int& m_recorded;
    std::function<void()> m_work;
};

struct Steps {
    int recorded = 0;
    std::vector<std::int64_t> sizes; // of the batches that were worked on
    OneLayer network;
    GraphedStep step{network,
                     [this](const BatchTensors& batch) {
                         sizes.push_back(batch.count);
                         const Pass pass = network.forward(batch);
                         const at::Tensor loss = pass.predictions.mean();
                         loss.backward();
                         return GraphedStep::Result{loss.detach(), pass.detached()};
                     },
                     [this] { return std::make_unique<KeptWork>(recorded); }};

    bool run(std::int64_t count)
    {
        return step.run({{at::ones({count, 2})}, at::zeros({count, 1}), count}).has_value();
    }
};

TEST(GraphedStep, IsRecordedForAWholeBatchHoweverShortTheFourthIs)
{
    Steps steps;
    for (const std::int64_t count : {8, 8, 8, 3}) // the last of an epoch is short
        EXPECT_FALSE(steps.run(count));
    EXPECT_EQ(steps.recorded, 0);
    EXPECT_TRUE(steps.step.isUnused());
    EXPECT_TRUE(steps.run(8));
    EXPECT_TRUE(steps.run(8));
    EXPECT_FALSE(steps.run(3)) << "another shape goes without";
    EXPECT_TRUE(steps.run(8));
    EXPECT_FALSE(steps.step.isUnused());
    EXPECT_EQ(steps.recorded, 1);
    EXPECT_EQ(steps.sizes, std::vector<std::int64_t>{8});
}

TEST(GraphedStep, ABatchThatIsAlwaysShortIsAWholeOne)
{
    Steps steps;
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(steps.run(5));
    EXPECT_TRUE(steps.run(5));
}

TEST(GraphedStep, WhatFailsIsToldAndNotTakenForUnused)
{
    OneLayer network;
    GraphedStep step(
        network, [](const BatchTensors&) { return GraphedStep::Result{}; },
        []() -> std::unique_ptr<CudaGraph> { throw std::runtime_error("no such library\nand more"); });
    const BatchTensors batch{{at::ones({2, 2})}, at::zeros({2, 1}), 2};
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(step.run(batch));
    EXPECT_FALSE(step.isUnused());
    EXPECT_EQ(step.takeFailure(), "no such library");
    EXPECT_EQ(step.takeFailure(), std::nullopt);
}

} // namespace
