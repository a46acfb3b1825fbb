#include "trainer/hooks/gradient_check.h"
#include "trainer/loop/training.h"

#include <iomanip>
#include <sstream>

// What a training says of its settings: those that change nothing, and what some of them found.
namespace trainer {

namespace key = config::key;

// Knobs that are switched on and change nothing here.
void Training::warnOfKnobs()
{
    const std::string device(key::augmentOnDevice.name), beside(key::nonBlocking.name);
    if (m_config[key::augmentOnDevice] && m_config[key::augment] && !augmentsOnDevice(m_config, m_dataset->spec()))
        m_progress.warn("This data set has no augmentation that a device could do: the knob changes nothing", device,
                        "images and volumes have one");
    else if (augmentsOnDevice(m_config, m_dataset->spec()) && m_learner.device().is_cpu())
        m_progress.warn("There is no other device than the processor: the training's own thread augments, and waits "
                        "for that, instead of the loader's workers",
                        device, "switch it off, or train on a GPU");
    const auto level = profiler::capture::captureLevelFromName(m_config[key::captureLevel]);
    if (m_recording.events() && m_config[key::autogradProfiler] && level &&
        profiler::capture::contentsOf(*level).memory)
        m_progress.warn("Allocations are not recorded: LibTorch's own profiler listens to them",
                        std::string(key::autogradProfiler.name), "leave it off, as in any real run");
    if (m_config[key::nonBlocking] && !m_feed.runsBeside())
        m_progress.warn("Only copies from page-locked memory run beside the training: these wait", beside,
                        "set loader.pin_memory as well");
}

void Training::checkGradientsOf(const BatchTensors& batch)
{
    for (const bool second : {false, true}) {
        if (!m_config[second ? key::gradgradcheck : key::gradcheck])
            continue;
        const std::string name(second ? key::gradgradcheck.name : key::gradcheck.name);
        try {
            const GradientCheck check = checkGradients(m_learner.network(), batch, second);
            std::ostringstream worst;
            worst << "the worst of " << check.elements << " differs by " << std::setprecision(2) << check.worst;
            if (check.agrees())
                m_progress.report(config::protocol::Notice{config::protocol::Notice::Severity::Info,
                                                           name + ": gradients agree with differences, " + worst.str(),
                                                           check.where,
                                                           {},
                                                           1});
            else
                m_progress.warn(name + ": gradients do not agree with differences, " + worst.str(), check.where,
                                "a kink of the function may lie there; otherwise its backward pass is wrong");
        } catch (const std::exception& failure) {
            m_progress.warn(name + " cannot be done with this model: " + std::string(failure.what()).substr(0, 200));
        }
    }
}

// Which parts are recomputed, once their costs are known.
void Training::tellOfBlocks()
{
    if (m_config[key::checkpointing] != "off" && m_learner.checkpointing().costs().empty())
        m_progress.warn("This model has no blocks: nothing of it is recomputed", std::string(key::checkpointing.name),
                        "choose another workload to see what recomputation saves");
    else if (m_config[key::checkpointing] == "cheap" && m_learner.checkpointing().decided()) {
        const auto costs = m_learner.checkpointing().costs();
        m_recording.setMetadata("checkpointing.blocks", partsText(costs));
        m_progress.report(config::protocol::Notice{
            config::protocol::Notice::Severity::Info, choiceText(costs), std::string(key::checkpointing.name), {}, 1});
    } else if (m_config[key::checkpointing] == "cheap")
        return;
    m_blocksTold = true;
}

} // namespace trainer
