#pragma once

#include "profiler/model/message.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"
#include "trainer/models/objective.h"
#include "trainer/workloads/network.h"

#include <functional>
#include <memory>
#include <optional>

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace trainer {

/// The model's forward pass as a package of AOTInductor (torch._inductor.aoti_compile_and_package), for validation.
/// Gets the weights of the training before each pass. Where it cannot be used the model itself runs, and a notice says
/// why. One thread.
class CompiledModel {
public:
    /// @param network  whose weights the package takes, by name
    /// @return null without eval.package
    static std::unique_ptr<CompiledModel> open(const config::TrainingConfig& config, Network& network,
                                               c10::Device device);
    ~CompiledModel();

    /// The weights are others since the last pass.
    void weightsChanged() { m_stale = true; }
    /// Its first answer is held against the model's own.
    /// @param model  runs the model itself
    Pass forward(const BatchTensors& batch, const std::function<Pass()>& model);
    /// What the user should know, once each.
    std::optional<config::protocol::Notice> takeNotice();

private:
    CompiledModel(Network& network, c10::Device device, double tolerance);
    void load(const std::string& content);
    void giveUp(const profiler::Message& why, const std::string& hint);
    void checkWeights();
    void updateWeights();
    std::optional<at::Tensor> run(const BatchTensors& batch);
    Pass compared(const BatchTensors& batch, Pass own);

    Network& m_network;
    c10::Device m_device;
    double m_tolerance; // of its answers, as a share of the largest
    std::string m_path;
    std::unique_ptr<torch::inductor::AOTIModelPackageLoader> m_package; // null: given up
    bool m_stale = true, m_compared = false, m_toldOfShapes = false;
    std::optional<config::protocol::Notice> m_notice;
};

} // namespace trainer
