#pragma once

#include "profiler/model/message.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"
#include "trainer/workloads/parts/network.h"

#include <functional>
#include <memory>
#include <optional>

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace trainer {

/// The model's forward pass as an AOTInductor package (torch._inductor.aoti_compile_and_package), for validation.
/// Receives the current weights before each pass. If it cannot be used, the model itself runs and a notice gives the
/// reason. Single-threaded.
class CompiledModel {
public:
    /// @param network  provides the package's weights by name
    /// @return null without eval.package
    static std::unique_ptr<CompiledModel> open(const config::TrainingConfig& config, Network& network,
                                               c10::Device device);
    ~CompiledModel();

    /// Call it when the weights have changed since the last pass.
    void weightsChanged() { m_stale = true; }
    /// The first result is compared with the model's own.
    /// @param model  runs the model itself
    Pass forward(const BatchTensors& batch, const std::function<Pass()>& model);
    /// Notices for the user, once each.
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
    double m_tolerance; // tolerance for its results, relative to the largest value
    std::string m_path;
    std::unique_ptr<torch::inductor::AOTIModelPackageLoader> m_package; // null: not usable
    bool m_stale = true, m_compared = false, m_shapesReported = false;
    std::optional<config::protocol::Notice> m_notice;
};

} // namespace trainer
