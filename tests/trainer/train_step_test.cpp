#include "trainer/step/train_step.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace trainer;

namespace {

data::SampleSpec smallPictures()
{
    data::SampleSpec spec;
    spec.inputs.push_back({data::Dtype::Float32, {3, 16, 16}});
    spec.target = {data::Dtype::Int64, {}};
    spec.classes = 4;
    return spec;
}

config::TrainingConfig with(std::initializer_list<std::string_view> assignments)
{
    config::TrainingConfig config;
    for (const std::string_view assignment : assignments)
        EXPECT_TRUE(config.setAssignment(assignment)) << assignment;
    return config;
}

BatchTensors zeros(std::int64_t count)
{
    return {{at::zeros({2, 3, 16, 16})}, at::zeros({2}, at::kLong), count};
}

TEST(TrainStep, ABatchThatStandsInForNoneLeavesTheStatistics)
{
    TrainStep trainStep(with({"workload=convnet", "model.norm=batch"}), smallPictures(), at::kCPU, nullptr, 10);
    Recording recording;
    std::vector<at::Tensor> before;
    for (const at::Tensor& buffer : trainStep.network().buffers())
        before.push_back(buffer.clone());
    ASSERT_FALSE(before.empty()) << "a batch norm has statistics";

    trainStep.begin(recording);
    static_cast<void>(trainStep.dummyBatch(zeros(0), recording));
    const auto buffers = trainStep.network().buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i)
        EXPECT_TRUE(at::equal(buffers[i], before[i]));
    for (const at::Tensor& parameter : trainStep.network().parameters()) {
        ASSERT_TRUE(parameter.grad().defined()) << "the other ranks wait for it";
        EXPECT_EQ(parameter.grad().abs().max().item<float>(), 0);
    }

    static_cast<void>(trainStep.accumulate(zeros(2), 1, true, recording));
    EXPECT_FALSE(at::equal(buffers[1], before[1])) << "a batch that counts changes them";
}

TEST(TrainStep, UnneededGradientsAreThoseOfFrozenWeightsAndOfTheInput)
{
    for (const bool unused : {false, true}) {
        TrainStep trainStep(
            with({"workload=convnet", "model.frozen_blocks=1", unused ? "work.unused=true" : "work.unused=false"}),
            smallPictures(), at::kCPU, nullptr, 10);
        Recording recording;
        const BatchTensors batch = zeros(2);
        trainStep.begin(recording);
        static_cast<void>(trainStep.accumulate(batch, 1, true, recording));
        std::int64_t computed = batch.inputs[0].grad().defined() ? 1 : 0;
        for (const at::Tensor& parameter : trainStep.network().parameters())
            computed += parameter.grad().defined() ? 1 : 0;
        TrainStep trained(with({"workload=convnet", "model.frozen_blocks=1"}), smallPictures(), at::kCPU, nullptr, 10);
        std::int64_t needed = 0;
        for (const at::Tensor& parameter : trained.network().parameters())
            needed += parameter.requires_grad() ? 1 : 0;
        EXPECT_EQ(trainStep.unneededGradients(), computed - needed) << unused;
        EXPECT_EQ(trainStep.unneededGradients() > 1, unused) << "of the input, and of at least one weight";
    }
}

} // namespace
