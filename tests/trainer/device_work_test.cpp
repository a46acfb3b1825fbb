#include "trainer/data/image.h"
#include "trainer/data/random.h"
#include "trainer/hooks/gradient_check.h"
#include "trainer/memory/device_batch.h"
#include "trainer/precision/mixed_precision.h"
#include "trainer/workloads/parts/network.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/modules/linear.h>
#include <tuple>

using namespace trainer;

namespace {

// A picture whose red is its x and whose green its y, from 0 to 1 at the centres of its pixels.
at::Tensor coordinates(std::int64_t edge)
{
    const at::Tensor line = (at::arange(edge, at::kFloat) + 0.5) / edge;
    const at::Tensor x = line.expand({edge, edge}), y = line.unsqueeze(1).expand({edge, edge});
    return at::stack({x, y, at::zeros({edge, edge})});
}

struct Crop {
    double width, height, x, y;
    bool flip;
};

// The crop, read off the corners of what came out.
Crop cropOf(const at::Tensor& image)
{
    const std::int64_t last = image.size(1) - 1;
    const auto value = [&](int channel, std::int64_t row, std::int64_t column) {
        return image[channel][row][column].item<double>();
    };
    const double left = value(0, last / 2, 0), right = value(0, last / 2, last);
    const double top = value(1, 0, last / 2), bottom = value(1, last, last / 2);
    const double stretch = static_cast<double>(last + 1) / static_cast<double>(last);
    return {std::abs(right - left) * stretch, (bottom - top) * stretch, (left + right) / 2, (top + bottom) / 2,
            right < left};
}

double quantile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

TEST(DeviceAugment, CropsAndMirrorsAsTheLoaderDoes)
{
    constexpr int kImages = 2000, kEdge = 64;
    const at::Tensor result = cropped(coordinates(kEdge).unsqueeze(0).repeat({kImages, 1, 1, 1}), 5);
    std::vector<double> areas[2], ratios[2], places[2];
    int mirrored[2] = {0, 0};
    data::Random seeds(9);
    for (int i = 0; i < kImages; ++i) {
        const Crop crop = cropOf(result[i]);
        areas[0].push_back(crop.width * crop.height);
        ratios[0].push_back(crop.width / crop.height);
        places[0].push_back(crop.x);
        mirrored[0] += crop.flip;
        const data::CropBox box = data::randomCrop({kEdge, kEdge}, seeds.bits());
        areas[1].push_back(box.width * box.height / (kEdge * kEdge));
        ratios[1].push_back(box.width / box.height);
        places[1].push_back((box.x + box.width / 2) / kEdge);
        mirrored[1] += box.flip;
    }
    for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
        EXPECT_NEAR(quantile(areas[0], share), quantile(areas[1], share), 0.03) << share;
        EXPECT_NEAR(quantile(ratios[0], share), quantile(ratios[1], share), 0.03) << share;
        EXPECT_NEAR(quantile(places[0], share), quantile(places[1], share), 0.03) << share;
    }
    EXPECT_NEAR(mirrored[0], mirrored[1], 100) << "half of them";
}

TEST(DeviceAugment, DependsOnTheSeedAlone)
{
    for (const auto kind : {data::BatchAugment::Kind::Crop, data::BatchAugment::Kind::Shift}) {
        data::SampleSpec spec;
        spec.augment = {.kind = kind, .mostShift = 4, .mirrors = true, .outside = {0, 0, 0}};
        const at::Tensor input = at::rand({4, 3, 16, 16}), target = at::zeros({4}, at::kLong);
        const auto with = [&](std::uint64_t seed) {
            BatchTensors batch{{input}, target, 4};
            augment(batch, spec, seed);
            return batch.inputs[0];
        };
        EXPECT_TRUE(at::equal(with(1), with(1)));
        EXPECT_FALSE(at::equal(with(1), with(2)));
    }
}

// As Cifar10 and Mnist do it: every way as often as every other, and mirrored half of the time.
TEST(DeviceAugment, ShiftsByWholePixelsAsOftenEachWay)
{
    constexpr int kImages = 4500, kEdge = 12, kMost = 1;
    const at::Tensor picture = at::arange(1, kEdge * kEdge + 1, at::kFloat).view({1, 1, kEdge, kEdge});
    const at::Tensor result =
        shifted(picture.repeat({kImages, 1, 1, 1}), {.mostShift = kMost, .mirrors = true, .outside = {-7}}, 5);
    std::map<std::tuple<int, int, bool>, int> seen;
    for (int i = 0; i < kImages; ++i) {
        const auto value = [&](int row, int column) { return result[i][0][row][column].item<float>(); };
        // Two pixels of the middle say it all: the number of each is its place in the picture, counted from one.
        const int middle = static_cast<int>(value(5, 5)) - 1, right = static_cast<int>(value(5, 6)) - 1;
        const bool mirrored = right < middle;
        const int dx = middle % kEdge - (mirrored ? kEdge - 1 - 5 : 5), dy = middle / kEdge - 5;
        ++seen[{dx, dy, mirrored}];
        if (dy == -kMost) {
            EXPECT_EQ(value(0, 5), -7) << "the part outside";
        }
        if (dy == 0 && dx == 0 && !mirrored) {
            EXPECT_TRUE(at::equal(result[i], picture[0]));
        }
    }
    ASSERT_EQ(seen.size(), 18u) << "three ways by three ways, mirrored or not";
    for (const auto& [how, count] : seen)
        EXPECT_NEAR(count, kImages / 18, 80);
}

// Two classes at three positions of one sample.
Measured measuredSegments(const at::Tensor& classes)
{
    const at::Tensor truth = at::tensor({0, 1, 1}, at::kLong).unsqueeze(0);
    const Pass pass{at::one_hot(classes, 2).movedim(-1, 1).to(at::kFloat) * 20, truth};
    return measure(Objective::Segments, pass, lossOf(Objective::Segments, pass));
}

TEST(Segments, AreJudgedByTheirOverlapWithoutTheBackground)
{
    const auto dice = [](const std::vector<std::int64_t>& classes) {
        const Measured sums = measuredSegments(at::tensor(classes, at::kLong).unsqueeze(0));
        return metricValue(Objective::Segments, sums.sum.item<double>(), sums.weight.item<double>());
    };
    EXPECT_EQ(metricName(Objective::Segments), "dice");
    EXPECT_DOUBLE_EQ(dice({0, 1, 1}), 1);
    EXPECT_DOUBLE_EQ(dice({0, 0, 1}), 2.0 / 3);
    EXPECT_DOUBLE_EQ(dice({1, 0, 0}), 0);
    EXPECT_DOUBLE_EQ(metricValue(Objective::Segments, 0, 0), 1) << "nothing to find, and nothing found";
}

TEST(Segments, LossFallsWithTheOverlap)
{
    const at::Tensor truth = at::tensor({0, 1, 1}, at::kLong).unsqueeze(0);
    const auto loss = [&](const at::Tensor& scores) {
        return lossOf(Objective::Segments, {scores, truth}).item<double>();
    };
    const at::Tensor right = at::one_hot(truth, 2).movedim(-1, 1).to(at::kFloat) * 20;
    EXPECT_NEAR(loss(right), 0, 1e-3);
    EXPECT_GT(loss(-right), 10);
    EXPECT_GT(loss(at::zeros_like(right)), loss(right / 10));
}

TEST(Float32Settings, AreLibTorchs)
{
    auto& context = at::globalContext();
    const auto matmul = [&] { return context.float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL); };
    setTf32(true);
    EXPECT_EQ(matmul(), at::Float32Precision::TF32);
    setTf32(false);
    EXPECT_EQ(matmul(), at::Float32Precision::IEEE);
    EXPECT_EQ(context.float32Precision(at::Float32Backend::CUDA, at::Float32Op::CONV), at::Float32Precision::TF32)
        << "LibTorch's own work";
    setCudnnBenchmark(true);
    EXPECT_TRUE(context.benchmarkCuDNN());
    setCudnnBenchmark(false);
    EXPECT_FALSE(context.benchmarkCuDNN());
}

// The square, with a gradient that may be wrong.
struct Square : torch::autograd::Function<Square> {
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double slope)
    {
        context->save_for_backward({x});
        context->saved_data["slope"] = slope;
        return x.square();
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients)
    {
        return {gradients[0] * context->get_saved_variables()[0] * context->saved_data["slope"].toDouble(), {}};
    }
};

class Squares final : public Network {
public:
    explicit Squares(double slope) : m_slope(slope), m_layer(register_module("layer", torch::nn::Linear(4, 2))) {}
    Pass forward(const BatchTensors& batch) override
    {
        return {Square::apply(m_layer->forward(batch.inputs[0]), m_slope), batch.target};
    }
    [[nodiscard]] Objective objective() const override { return Objective::Numbers; }

private:
    double m_slope;
    torch::nn::Linear m_layer;
};

BatchTensors someBatch()
{
    return {{at::rand({8, 4})}, at::rand({8, 2}), 8};
}

TEST(GradientCheck, FindsAWrongDerivativeAndPassesARightOne)
{
    Squares right(2), wrong(2.1);
    for (const bool second : {false, true}) {
        EXPECT_TRUE(checkGradients(right, someBatch(), second).agrees()) << second;
        EXPECT_FALSE(checkGradients(wrong, someBatch(), second).agrees()) << second;
    }
}

TEST(GradientCheck, LeavesTheModelAsItWas)
{
    Squares network(2);
    const at::Tensor before = network.parameters()[0].detach().clone();
    EXPECT_EQ(checkGradients(network, someBatch(), false).elements, 16);
    EXPECT_TRUE(at::equal(network.parameters()[0], before));
    EXPECT_EQ(network.parameters()[0].scalar_type(), at::kFloat);
    EXPECT_TRUE(network.is_training());
}

} // namespace
