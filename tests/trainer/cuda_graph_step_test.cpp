#include "trainer/step/cuda_graph_step.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/util/intrusive_ptr.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <vector>

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

// Up to the driver boundary: operations that a GPU would capture are kept and run again.
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
    CudaGraphStep step{network,
                       [this](const BatchTensors& batch) {
                           sizes.push_back(batch.count);
                           const Pass pass = network.forward(batch);
                           const at::Tensor loss = pass.predictions.mean();
                           loss.backward();
                           return CudaGraphStep::Result{loss.detach(), pass.detached()};
                       },
                       [this] { return std::make_unique<KeptWork>(recorded); }};

    bool run(std::int64_t count)
    {
        return step.run({{at::ones({count, 2})}, at::zeros({count, 1}), count}).has_value();
    }
};

TEST(CudaGraphStep, IsRecordedForAWholeBatchHoweverShortTheFourthIs)
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

TEST(CudaGraphStep, ABatchThatIsAlwaysShortIsAWholeOne)
{
    Steps steps;
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(steps.run(5));
    EXPECT_TRUE(steps.run(5));
}

TEST(CudaGraphStep, WhatFailsIsToldAndNotTakenForUnused)
{
    OneLayer network;
    CudaGraphStep step(
        network, [](const BatchTensors&) { return CudaGraphStep::Result{}; },
        []() -> std::unique_ptr<CudaGraph> { throw std::runtime_error("no such library\nand more"); });
    const BatchTensors batch{{at::ones({2, 2})}, at::zeros({2, 1}), 2};
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(step.run(batch));
    EXPECT_FALSE(step.isUnused());
    const auto failure = step.takeFailure();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->severity, config::protocol::Notice::Severity::Warning);
    EXPECT_EQ(failure->where, "no such library");
    EXPECT_FALSE(step.takeFailure());
}

// Its statistics change in each pass.
class Normalised final : public Network {
public:
    Normalised() : m_norm(register_module("norm", torch::nn::BatchNorm1d(2))) {}
    Pass forward(const BatchTensors& batch) override { return {m_norm->forward(batch.inputs[0]), batch.target}; }
    [[nodiscard]] Objective objective() const override { return Objective::Numbers; }

private:
    torch::nn::BatchNorm1d m_norm;
};

// A recording that runs the work, as all do, and then has no memory left.
class TooLarge final : public CudaGraph {
public:
    void record(const std::function<void()>& work) override
    {
        work();
        throw std::bad_alloc();
    }
    void replay() override {}
};

TEST(CudaGraphStep, ARecordingThatFailsIsUndone)
{
    Normalised network;
    const auto isAlive = [](const c10::weak_intrusive_ptr<c10::TensorImpl>& tensor) { return !tensor.expired(); };
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> given;
    CudaGraphStep step(
        network,
        [&](const BatchTensors& batch) {
            const Pass pass = network.forward(batch);
            const at::Tensor loss = pass.predictions.mean();
            loss.backward();
            CudaGraphStep::Result result{loss.detach(), pass.detached()};
            for (const at::Tensor& tensor : {batch.inputs[0], batch.target, result.loss, result.pass.predictions})
                given.emplace_back(tensor.getIntrusivePtr());
            return result;
        },
        [] { return std::make_unique<TooLarge>(); });
    std::vector<at::Tensor> before;
    for (const at::Tensor& buffer : network.buffers())
        before.push_back(buffer.clone());
    ASSERT_EQ(before.size(), 3u) << "mean, variance, and how many batches";

    const BatchTensors batch{{at::arange(8, at::kFloat).reshape({4, 2})}, at::zeros({4, 2}), 4};
    for (int i = 0; i < 5; ++i)
        EXPECT_FALSE(step.run(batch));
    ASSERT_EQ(given.size(), 4u) << "it was tried once";
    const auto buffers = network.buffers();
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(at::equal(buffers[i], before[i])) << i;
    EXPECT_EQ(std::count_if(given.begin(), given.end(), isAlive), 0) << "memory that the next step may need";
    for (const at::Tensor& parameter : network.parameters())
        EXPECT_FALSE(parameter.grad().defined());
    EXPECT_EQ(step.takeFailure().value().id, "compile.out_of_memory");
}

} // namespace
