#include "profiler/model/result.h"
#include "stepscope_training_optimizers_registry.h"
#include "trainer/config/training_config.h"

#include <ATen/ATen.h>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer;
using Implementation = OptimizerOptions::Implementation;

namespace {

OptimizerKind kindOf(const std::string& id)
{
    for (const auto& [stem, kind] : optimizers::all())
        if (stem == id)
            return kind;
    ADD_FAILURE() << "no optimizer " << id;
    return {};
}

// A 2 × 3 matrix and a bias of two numbers, in double.
std::vector<at::Tensor> firstWeights()
{
    return {((at::arange(6, at::kDouble) - 2.5).reshape({2, 3}) / 3).requires_grad_(),
            at::tensor({0.5, -0.25}, at::kDouble).requires_grad_()};
}

void giveGradients(std::vector<at::Tensor>& weights, int step)
{
    weights[0].mutable_grad() = at::sin((at::arange(6, at::kDouble) + 1) * step).reshape({2, 3});
    weights[1].mutable_grad() = at::cos((at::arange(2, at::kDouble) + 1) * step) * 0.1;
}

std::vector<double> numbers(const std::vector<at::Tensor>& weights)
{
    std::vector<double> all;
    for (const at::Tensor& tensor : weights) {
        const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous().flatten();
        all.insert(all.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return all;
}

constexpr double kRate = 0.1;

std::vector<double> afterSteps(const std::string& id, const OptimizerOptions& options, int steps = 5)
{
    auto weights = firstWeights();
    const auto optimizer = kindOf(id).make(weights, options);
    for (int step = 1; step <= steps; ++step) {
        giveGradients(weights, step);
        optimizer->step(kRate);
    }
    return numbers(weights);
}

void expectNear(const std::vector<double>& found, const std::vector<double>& expected, double tolerance = 1e-12)
{
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], tolerance) << "weight " << i;
}

OptimizerOptions sgdOptions()
{
    OptimizerOptions options;
    options.momentum = 0.9;
    options.weightDecay = 0.01;
    return options;
}

OptimizerOptions adamOptions()
{
    OptimizerOptions options;
    options.beta1 = 0.8;
    options.beta2 = 0.95;
    options.epsilon = 1e-6;
    options.weightDecay = 0.01;
    return options;
}

// Weights after five steps of torch.optim in Python (torch 2.11), from the same weights and gradients.
struct Python {
    const char *name, *id;
    OptimizerOptions options;
    std::vector<double> weights;
    friend void PrintTo(const Python& row, std::ostream* out) { *out << row.name; }
};

std::vector<Python> pythonRows()
{
    OptimizerOptions nesterov = sgdOptions(), plain;
    nesterov.nesterov = true;
    plain.momentum = 0;
    return {
        {"Sgd",
         "sgd",
         sgdOptions(),
         {-1.2760202979239663, -0.66252989660613937, -0.2008513766565897, 0.24233914407097001, 0.73497111952302818,
          1.5943977239137459, 0.5220512130847077, -0.22216204910709522}},
        {"Nesterov",
         "sgd",
         nesterov,
         {-1.2426561863228209, -0.67479204489753442, -0.23530129603565297, 0.20119540834725094, 0.71443662557027476,
          1.8582756034797034, 0.52968869813542951, -0.21285989918046294}},
        {"SgdWithoutMomentum",
         "sgd",
         plain,
         {-0.85094949830557121, -0.53184165690528395, -0.20542045839260467, 0.13456418992890853, 0.50720640447655374,
          1.1793918982403857, 0.51235818462679827, -0.23905808266354547}},
        {"Adam",
         "adam",
         adamOptions(),
         {-1.1035647666326056, -0.61163373688895861, -0.25864883726132032, 0.25524876434940641, 0.67348893489907335,
          1.331817232484541, 0.54223400264106014, -0.017548785303821236}},
        {"AdamW",
         "adamw",
         adamOptions(),
         {-1.1015992270991042, -0.61168731144616506, -0.26000879342670385, 0.25522819125131874, 0.67288527019062783,
          1.3269772299785507, 0.56462832934627305, -0.021908200392625053}},
    };
}

class AgainstPython : public testing::TestWithParam<std::tuple<Python, Implementation>> {};

TEST_P(AgainstPython, GivesTheSameWeights)
{
    auto [row, implementation] = GetParam();
    row.options.implementation = implementation;
    expectNear(afterSteps(row.id, row.options), row.weights);
}

std::string rowName(const testing::TestParamInfo<std::tuple<Python, Implementation>>& info)
{
    static const char* const kNames[] = {"Plain", "Foreach", "Fused"};
    return std::string(std::get<0>(info.param).name) + kNames[static_cast<int>(std::get<1>(info.param))];
}
INSTANTIATE_TEST_SUITE_P(Optimizers, AgainstPython,
                         testing::Combine(testing::ValuesIn(pythonRows()),
                                          testing::Values(Implementation::ForLoop, Implementation::Foreach,
                                                          Implementation::Fused)),
                         rowName);

// The papers' formulas, element by element in plain double arithmetic. A layer: its weights, whether it is a matrix.
struct Layer {
    std::vector<double> w, m, v;
    bool matrix;
};

double norm(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return std::sqrt(sum);
}

using Formula = void (*)(std::vector<Layer>& layers, std::vector<std::vector<double>> gradients, int step,
                         const OptimizerOptions& options);

std::vector<double> byFormula(Formula formula, const OptimizerOptions& options, int steps = 5)
{
    auto weights = firstWeights();
    std::vector<Layer> layers;
    for (const at::Tensor& tensor : weights) {
        const auto w = numbers({tensor});
        layers.push_back({w, std::vector<double>(w.size()), std::vector<double>(w.size()), tensor.dim() > 1});
    }
    for (int step = 1; step <= steps; ++step) {
        giveGradients(weights, step);
        formula(layers, {numbers({weights[0].grad()}), numbers({weights[1].grad()})}, step, options);
    }
    std::vector<double> all;
    for (const Layer& layer : layers)
        all.insert(all.end(), layer.w.begin(), layer.w.end());
    return all;
}

void lars(std::vector<Layer>& layers, std::vector<std::vector<double>> gradients, int, const OptimizerOptions& o)
{
    for (std::size_t l = 0; l < layers.size(); ++l) {
        Layer& layer = layers[l];
        const double decay = layer.matrix ? o.weightDecay : 0;
        const double local =
            layer.matrix ? o.trustCoefficient * norm(layer.w) / (norm(gradients[l]) + decay * norm(layer.w)) : 1;
        for (std::size_t i = 0; i < layer.w.size(); ++i) {
            layer.m[i] = o.momentum * layer.m[i] + kRate * local * (gradients[l][i] + decay * layer.w[i]);
            layer.w[i] -= layer.m[i];
        }
    }
}

void lambStep(std::vector<Layer>& layers, const std::vector<std::vector<double>>& gradients, int step,
              const OptimizerOptions& o, bool everyLayer)
{
    for (std::size_t l = 0; l < layers.size(); ++l) {
        Layer& layer = layers[l];
        std::vector<double> update(layer.w.size());
        for (std::size_t i = 0; i < layer.w.size(); ++i) {
            const double g = gradients[l][i];
            layer.m[i] = o.beta1 * layer.m[i] + (1 - o.beta1) * g;
            layer.v[i] = o.beta2 * layer.v[i] + (1 - o.beta2) * g * g;
            const double mean = layer.m[i] / (1 - std::pow(o.beta1, step));
            const double square = layer.v[i] / (1 - std::pow(o.beta2, step));
            update[i] = mean / (std::sqrt(square) + o.epsilon) + (layer.matrix ? o.weightDecay * layer.w[i] : 0);
        }
        const double ratio = everyLayer || layer.matrix ? norm(layer.w) / norm(update) : 1;
        for (std::size_t i = 0; i < layer.w.size(); ++i)
            layer.w[i] -= kRate * ratio * update[i];
    }
}

void lamb(std::vector<Layer>& layers, std::vector<std::vector<double>> gradients, int step, const OptimizerOptions& o)
{
    lambStep(layers, gradients, step, o, false);
}

void nvlamb(std::vector<Layer>& layers, std::vector<std::vector<double>> gradients, int step, const OptimizerOptions& o)
{
    double sum = 0;
    for (const auto& layer : gradients)
        sum += norm(layer) * norm(layer);
    const double divisor = std::max(std::sqrt(sum), 1.0);
    EXPECT_GT(divisor, 1) << "these gradients are large enough to be normalised";
    for (auto& layer : gradients)
        for (double& g : layer)
            g /= divisor;
    lambStep(layers, gradients, step, o, true);
}

void novograd(std::vector<Layer>& layers, std::vector<std::vector<double>> gradients, int step,
              const OptimizerOptions& o)
{
    for (std::size_t l = 0; l < layers.size(); ++l) {
        Layer& layer = layers[l];
        const double squared = norm(gradients[l]) * norm(gradients[l]);
        layer.v[0] = step == 1 ? squared : o.beta2 * layer.v[0] + (1 - o.beta2) * squared;
        for (std::size_t i = 0; i < layer.w.size(); ++i) {
            const double update = gradients[l][i] / (std::sqrt(layer.v[0]) + o.epsilon) + o.weightDecay * layer.w[i];
            layer.m[i] = o.beta1 * layer.m[i] + update;
        }
        for (std::size_t i = 0; i < layer.w.size(); ++i)
            layer.w[i] -= kRate * layer.m[i];
    }
}

TEST(LayerwiseOptimizers, FollowTheirPapers)
{
    for (const auto implementation : {Implementation::ForLoop, Implementation::Foreach}) {
        OptimizerOptions options = adamOptions();
        options.trustCoefficient = 0.02;
        options.implementation = implementation;
        SCOPED_TRACE(implementation == Implementation::ForLoop ? "for-loop" : "foreach");
        expectNear(afterSteps("lars", options), byFormula(lars, options));
        expectNear(afterSteps("lamb", options), byFormula(lamb, options));
        expectNear(afterSteps("nvlamb", options), byFormula(nvlamb, options));
        expectNear(afterSteps("novograd", options), byFormula(novograd, options));
    }
}

TEST(LayerwiseOptimizers, HandleWeightsThatAreZero)
{
    for (const char* id : {"lars", "lamb", "nvlamb", "novograd"}) {
        std::vector<at::Tensor> weights = {at::zeros({2, 2}).requires_grad_()};
        const auto optimizer = kindOf(id).make(weights, {});
        weights[0].mutable_grad() = at::ones({2, 2});
        optimizer->step(0.1);
        EXPECT_TRUE(weights[0].isfinite().all().item<bool>()) << id;
        EXPECT_TRUE(weights[0].lt(0).all().item<bool>()) << id << " moves them all the same";
    }
}

TEST(Optimizers, LeaveParametersWithoutAGradientAlone)
{
    for (const auto& [stem, kind] : optimizers::all()) {
        auto weights = firstWeights();
        const auto optimizer = kind.make(weights, sgdOptions());
        giveGradients(weights, 1);
        weights[1].mutable_grad().reset();
        optimizer->step(kRate);
        EXPECT_EQ(numbers({weights[1]}), numbers({firstWeights()[1]})) << stem;
        EXPECT_NE(numbers({weights[0]}), numbers({firstWeights()[0]})) << stem;
    }
}

TEST(Optimizers, ContinueFromASavedState)
{
    for (const auto& [stem, kind] : optimizers::all())
        for (const auto implementation : {Implementation::ForLoop, Implementation::Fused}) {
            OptimizerOptions options = adamOptions();
            options.implementation = kind.hasFused ? implementation : Implementation::Foreach;
            auto weights = firstWeights();
            const auto first = kind.make(weights, options);
            for (int step = 1; step <= 3; ++step) {
                giveGradients(weights, step);
                first->step(kRate);
            }
            const auto second = kind.make(weights, options);
            second->setState(first->state());
            for (int step = 4; step <= 5; ++step) {
                giveGradients(weights, step);
                second->step(kRate);
            }
            EXPECT_EQ(numbers(weights), afterSteps(std::string(stem), options)) << stem;
        }
}

/// The id of the error that `work` throws; empty: none.
std::string failureOf(const std::function<void()>& work)
{
    try {
        work();
    } catch (const profiler::Failure& failure) {
        return failure.error().what.id;
    }
    return {};
}

TEST(Optimizers, RefuseTheStateOfAnotherModel)
{
    auto weights = firstWeights();
    const auto adam = kindOf("adam").make(weights, {});
    std::vector<at::Tensor> others = {at::zeros({7}).requires_grad_()};
    EXPECT_EQ(failureOf([&] { kindOf("adam").make(others, {})->setState(adam->state()); }),
              "checkpoint.optimizer_shape");
    EXPECT_EQ(failureOf([&] { kindOf("lars").make(weights, {})->setState(adam->state()); }),
              "checkpoint.no_optimizer_state");
}

TEST(Optimizers, SayWhereThereIsNoFusedKernel)
{
    OptimizerOptions options;
    options.implementation = Implementation::Fused;
    for (const auto& [stem, kind] : optimizers::all()) {
        if (kind.hasFused)
            EXPECT_NE(kind.make(firstWeights(), options), nullptr) << stem;
        else
            EXPECT_EQ(failureOf([&, &make = kind.make] { make(firstWeights(), options); }), "optimizer.no_fused")
                << stem;
    }
}

TEST(Optimizers, AreTheChoicesOfTheKnob)
{
    std::vector<std::string_view> stems;
    for (const auto& [stem, kind] : optimizers::all())
        stems.push_back(stem);
    EXPECT_THAT(config::findKnob("optimizer.kind")->choices, testing::UnorderedElementsAreArray(stems));
}

} // namespace
