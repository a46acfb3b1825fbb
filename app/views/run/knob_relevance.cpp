#include "app/views/run/knob_relevance.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <vector>

namespace app {

namespace key = config::key;

namespace {

/// `knob` does something while `on` has one of `values`, or none of them.
struct Dependency {
    std::string_view knob, on;
    bool unlessOne; ///< true: while it has one of them
    std::vector<std::string_view> values;
};

const std::vector<Dependency>& dependencies()
{
    static const std::vector<std::string_view> adams = {"adam", "adamw", "lamb", "nvlamb", "novograd"};
    static const std::vector<Dependency> all = {
        {key::modelPath.name, key::workload.name, true, {"torchscript", "plugin"}},
        {key::trustedSha256.name, key::workload.name, true, {"torchscript", "plugin"}},
        {key::modelLoss.name, key::workload.name, true, {"torchscript", "plugin"}},
        {key::inputShapes.name, key::workload.name, true, {"torchscript", "plugin"}},
        {key::modelSize.name, key::workload.name, false, {"torchscript", "plugin"}},
        {key::modelWidth.name, key::workload.name, false, {"torchscript", "plugin"}},
        {key::modelDepth.name, key::workload.name, false, {"torchscript", "plugin"}},
        {key::modelNorm.name, key::workload.name, false, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm"}},
        {key::convBias.name, key::workload.name, false, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm"}},
        {key::attention.name, key::workload.name, true, {"vit", "gpt", "bert"}},
        {key::fusePointwise.name, key::workload.name, true, {"vit", "gpt", "bert"}},
        {key::datasetSourceSize.name, key::dataset.name, true, {"generated_images", "stream"}},
        {key::contextLength.name, key::dataset.name, true, {"text"}},
        {key::tokenizer.name, key::dataset.name, true, {"text"}},
        {key::targetColumn.name, key::dataset.name, true, {"csv"}},
        {key::targetKind.name, key::dataset.name, true, {"csv", "arrays"}},
        {key::volumeSize.name, key::dataset.name, true, {"volumes"}},
        {key::shardStreams.name, key::dataset.name, true, {"stream"}},
        {key::epochs.name, key::steps.name, true, {"0"}},
        {key::prefetchFactor.name, key::workers.name, false, {"0"}},
        {key::persistentWorkers.name, key::workers.name, false, {"0"}},
        {key::momentum.name, key::optimizer.name, true, {"sgd", "lars"}},
        {key::nesterov.name, key::optimizer.name, true, {"sgd"}},
        {key::beta1.name, key::optimizer.name, true, adams},
        {key::beta2.name, key::optimizer.name, true, adams},
        {key::epsilon.name, key::optimizer.name, true, adams},
        {key::trustCoefficient.name, key::optimizer.name, true, {"lars"}},
        {key::lrBaseBatch.name, key::lrScaling.name, false, {"none"}},
        {key::warmupSteps.name, key::schedule.name, false, {"cyclic", "one_cycle", "range_test"}},
        {key::finalShare.name, key::schedule.name, true, {"cosine", "linear", "one_cycle"}},
        {key::scheduleStepSize.name, key::schedule.name, true, {"step"}},
        {key::scheduleGamma.name, key::schedule.name, true, {"step"}},
        {key::cycleSteps.name, key::schedule.name, true, {"cyclic"}},
        {key::lowestShare.name, key::schedule.name, true, {"cyclic", "one_cycle"}},
        {key::cycleShare.name, key::schedule.name, true, {"one_cycle"}},
        {key::rangeLowest.name, key::schedule.name, true, {"range_test"}},
        {key::createOnDevice.name, key::noise.name, false, {"0"}},
        {key::checkpointPath.name, key::checkpointEvery.name, false, {"0"}},
        {key::localRanks.name, key::parallel.name, false, {"none"}},
        {key::captureLevel.name, key::captureEnabled.name, true, {"true"}},
        {key::captureOpsEvery.name, key::captureEnabled.name, true, {"true"}},
        {key::captureOpsEvery.name, key::captureLevel.name, false, {"always"}},
        {key::captureOpsWindow.name, key::captureEnabled.name, true, {"true"}},
        {key::captureOpsWindow.name, key::captureOpsEvery.name, false, {"0"}},
        {key::captureOpsWindow.name, key::captureLevel.name, false, {"always"}},
    };
    return all;
}

QString asQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// "a", "a or b", "a, b or c"; flags as a user sees them.
QString listed(const std::vector<std::string_view>& values)
{
    QStringList words;
    for (const std::string_view value : values)
        words << (value == "true" ? QCoreApplication::translate("KnobRow", "on") : asQString(value));
    const QString last = words.takeLast();
    return words.isEmpty() ? last : QCoreApplication::translate("KnobRow", "%1 or %2").arg(words.join(", "), last);
}

} // namespace

QString whyNoEffect(std::string_view knob, const config::TrainingConfig& configuration)
{
    for (const Dependency& dependency : dependencies()) {
        if (dependency.knob != knob)
            continue;
        const std::string now = configuration.text(dependency.on);
        const bool isOne =
            std::find(dependency.values.begin(), dependency.values.end(), now) != dependency.values.end();
        if (isOne == dependency.unlessOne)
            continue;
        const QString on = asQString(config::findKnob(dependency.on)->label);
        return dependency.unlessOne
                   ? QCoreApplication::translate("KnobRow", "No effect unless %1 is %2")
                         .arg(on, listed(dependency.values))
                   : QCoreApplication::translate("KnobRow", "No effect while %1 is %2").arg(on, asQString(now));
    }
    return {};
}

QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description)
{
    if (!knob.needsGpu || !description || description->gpuAvailable)
        return {};
    return QCoreApplication::translate("KnobRow", "Needs a GPU");
}

} // namespace app
