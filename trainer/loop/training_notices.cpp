#include "trainer/hooks/gradient_check.h"
#include "trainer/loop/training.h"

#include <iomanip>
#include <sstream>

// What a training says of its settings: those that change nothing, and what some of them found.
namespace trainer {

namespace key = config::key;
using profiler::message;

// Knobs that are switched on and change nothing here.
void Training::warnOfKnobs()
{
    const std::string device(key::augmentOnDevice.name), beside(key::nonBlocking.name);
    if (m_config[key::augmentOnDevice] && m_config[key::augment] && !augmentsOnDevice(m_config, m_dataset->spec()))
        m_progress.warn(message<"augment.no_device_augmentation",
                                "This data set has no augmentation that a device could do: the knob changes nothing">(),
                        device, "images and volumes have one");
    else if (augmentsOnDevice(m_config, m_dataset->spec()) && m_trainStep.device().is_cpu())
        m_progress.warn(message<"augment.on_the_processor",
                                "There is no other device than the processor: the training's own thread augments, and "
                                "waits for that, instead of the loader's workers">(),
                        device, "switch it off, or train on a GPU");
    const auto level = profiler::capture::captureLevelFromName(m_config[key::captureLevel]);
    if (m_recording.events() && m_config[key::autogradProfiler] && level &&
        profiler::capture::contentsOf(*level).memory)
        m_progress.warn(message<"training.no_allocations",
                                "Allocations are not recorded: LibTorch's own profiler listens to them">(),
                        std::string(key::autogradProfiler.name), "leave it off, as in any real run");
    if (m_config[key::nonBlocking] && !m_feed.runsBeside())
        m_progress.warn(message<"transfer.copies_wait",
                                "Only copies from page-locked memory run beside the training: these wait">(),
                        beside, "set loader.pin_memory as well");
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
                            "{knob}: gradients agree with differences, the worst of {elements} differs by {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where);
            else
                m_progress.warn(
                    message<"gradients.disagree", "{knob}: gradients do not agree with differences, the "
                                                  "worst of {elements} differs by {worst}">(
                        {{"knob", name}, {"elements", check.elements}, {"worst", check.worst, worst.str()}}),
                    check.where, "a kink of the function may lie there; otherwise its backward pass is wrong");
        } catch (const std::exception& failure) {
            m_progress.warn(message<"gradients.not_checked", "{knob} cannot be done with this model: {why}">(
                {{"knob", name}, {"why", std::string(failure.what()).substr(0, 200)}}));
        }
    }
}

// Which parts are recomputed, once their costs are known.
void Training::tellOfBlocks()
{
    if (m_config[key::checkpointing] != "off" && m_trainStep.checkpointing().costs().empty())
        m_progress.warn(message<"checkpointing.no_blocks", "This model has no blocks: nothing of it is recomputed">(),
                        std::string(key::checkpointing.name),
                        "choose another workload to see what recomputation saves");
    else if (m_config[key::checkpointing] == "cheap" && m_trainStep.checkpointing().decided()) {
        const auto costs = m_trainStep.checkpointing().costs();
        m_recording.setMetadata("checkpointing.blocks", partsText(costs));
        m_progress.inform(message<"checkpointing.chosen", "{choice}">({{"choice", choiceText(costs)}}),
                          std::string(key::checkpointing.name));
    } else if (m_config[key::checkpointing] == "cheap")
        return;
    m_blocksTold = true;
}

} // namespace trainer
