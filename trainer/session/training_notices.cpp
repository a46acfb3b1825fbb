#include "trainer/hooks/gradient_check.h"
#include "trainer/session/training.h"

#include <iomanip>
#include <sstream>

// Notices about the settings of a training: knobs without any effect, and results of some knobs.
namespace trainer {

namespace key = config::key;
using profiler::message;

// Warns about knobs that are switched on without any effect.
void Training::warnOfKnobs()
{
    const std::string device(key::augmentOnDevice.name), copies(key::nonBlocking.name);
    if (m_config[key::augmentOnDevice] && m_config[key::augment] && !augmentsOnDevice(m_config, m_dataset->spec()))
        m_progress.warn(message<"augment.no_device_augmentation",
                                "This dataset has no augmentation that can run on the device: the knob has no "
                                "effect">(),
                        device, "use a dataset of images");
    else if (augmentsOnDevice(m_config, m_dataset->spec()) && m_trainStep.device().is_cpu())
        m_progress.warn(message<"augment.on_the_processor",
                                "The training runs on the CPU: its own thread augments the batches instead of the "
                                "loader's workers, which delays each step">(),
                        device, "switch it off, or train on a GPU");
    const auto level = profiler::capture::captureLevelFromName(m_config[key::captureLevel]);
    if (m_recording.events() && m_config[key::autogradProfiler] && level &&
        profiler::capture::contentsOf(*level).memory)
        m_progress.warn(message<"training.no_allocations",
                                "Allocations are not recorded: LibTorch's own profiler uses the allocation listener">(),
                        std::string(key::autogradProfiler.name), "switch it off, as in any real training");
    if (m_config[key::nonBlocking] && !m_feed.isAsynchronous())
        m_progress.warn(
            message<"transfer.copies_wait", "Only copies from pinned memory are asynchronous: these copies block">(),
            copies, "set loader.pin_memory too");
}

void Training::checkGradientsOf(const BatchTensors& batch)
{
    for (const bool second : {false, true}) {
        if (!m_config[second ? key::gradgradcheck : key::gradcheck])
            continue;
        const std::string name(second ? key::gradgradcheck.name : key::gradcheck.name);
        try {
            const GradientCheck check = checkGradients(m_trainStep.network(), batch, second);
            std::ostringstream worst;
            worst << std::setprecision(2) << check.worst;
            if (check.agrees())
                m_progress.inform(
                    message<"gradients.agree",
                            "{knob}: gradients agree with finite differences; the largest deviation of {elements} "
                            "elements is {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where);
            else
                m_progress.warn(
                    message<"gradients.disagree", "{knob}: gradients disagree with finite differences; the largest "
                                                  "deviation of {elements} elements is {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where, "check the backward pass, unless the function is not differentiable at this point");
        } catch (const std::exception& failure) {
            m_progress.warn(message<"gradients.not_checked", "{knob} does not work with this model: {why}">(
                {{"knob", name}, {"why", std::string(failure.what()).substr(0, 200)}}));
        }
    }
}

// Reports which blocks are recomputed, once their costs are known.
void Training::reportBlocks()
{
    if (m_config[key::checkpointing] != "off" && m_trainStep.checkpointing().costs().empty())
        m_progress.warn(message<"checkpointing.no_blocks", "This model has no blocks: nothing is recomputed">(),
                        std::string(key::checkpointing.name), "choose another workload to use recomputation");
    else if (m_config[key::checkpointing] == "cheap" && m_trainStep.checkpointing().decided()) {
        const auto costs = m_trainStep.checkpointing().costs();
        m_recording.setMetadata("checkpointing.blocks", partsText(costs));
        m_progress.inform(message<"checkpointing.chosen", "{choice}">({{"choice", choiceText(costs)}}),
                          std::string(key::checkpointing.name));
    } else if (m_config[key::checkpointing] == "cheap")
        return;
    m_blocksReported = true;
}

} // namespace trainer
