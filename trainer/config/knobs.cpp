#include "trainer/config/training_config.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

// The table of knobs. Defaults are the naive training: no workers, nothing pinned, the loss read back each step,
// gradients zeroed.
namespace config {

namespace {

Knob flag(Key<bool> key, std::string_view group, std::string_view label, bool fallback, std::string_view where,
          std::string_view doc)
{
    Knob knob;
    knob.key = key.name;
    knob.group = group;
    knob.label = label;
    knob.type = KnobType::Flag;
    knob.fallback = fallback;
    knob.where = where;
    knob.doc = doc;
    return knob;
}

Knob number(Key<std::int64_t> key, std::string_view group, std::string_view label, std::int64_t fallback, double min,
            double max, std::string_view unit, std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Integer;
    knob.fallback = fallback;
    knob.min = min;
    knob.max = max;
    knob.unit = unit;
    return knob;
}

Knob real(Key<double> key, std::string_view group, std::string_view label, double fallback, double min, double max,
          std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Real;
    knob.fallback = fallback;
    knob.min = min;
    knob.max = max;
    return knob;
}

Knob choice(Key<std::string> key, std::string_view group, std::string_view label, std::vector<std::string_view> choices,
            std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Choice;
    knob.fallback = std::string(choices.front());
    knob.choices = std::move(choices);
    return knob;
}

Knob path(Key<std::string> key, std::string_view group, std::string_view label, std::string_view where,
          std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Path;
    knob.fallback = std::string();
    return knob;
}

Knob advanced(Knob knob)
{
    knob.advanced = true;
    return knob;
}

Knob gpuOnly(Knob knob)
{
    knob.needsGpu = true;
    return knob;
}

constexpr std::string_view kRun = "Run", kModel = "Model", kData = "Data", kLoading = "Data loading",
                           kOptimizer = "Optimizer", kStep = "Step", kValidation = "Validation",
                           kDebugging = "Debugging", kCapture = "Recording";

void addRun(std::vector<Knob>& rows)
{
    rows.push_back(choice(key::device, kRun, "Device", {"auto", "cpu", "cuda"}, "whole run",
                          "Where the model is trained. auto takes the GPU if one can be used, else the processor."));
    rows.push_back(
        number(key::epochs, kRun, "Epochs", 2, 1, 100000, "", "whole run",
               "How often the training goes through all training samples. Ignored when a number of steps is given."));
    rows.push_back(
        number(key::steps, kRun, "Steps", 0, 0, 1e9, "", "whole run",
               "Ends the training after this many steps, whatever the epoch. 0: trains for the number of epochs."));
    rows.push_back(number(key::batchSize, kRun, "Batch size", 32, 1, 65536, "samples", "every step",
                          "Samples in one step. Larger batches use the device better and take more memory."));
    rows.push_back(advanced(
        number(key::seed, kRun, "Seed", 1, 0, 2147483647, "", "whole run",
               "First weights, order of the samples and augmentation come from it: equal seeds give equal runs.")));
    rows.push_back(advanced(number(
        key::threads, kRun, "Threads", 0, 0, 1024, "threads", "every step",
        "Threads that one operator of the training may use on the processor. 0: one for each core that it may use. "
        "Fewer leave cores to the loader's workers.")));
}

void addModelAndData(std::vector<Knob>& rows)
{
    rows.push_back(choice(key::workload, kModel, "Model", {"convnet", "resnet18"}, "whole run",
                          "What is trained: a small convolutional network, or ResNet-18."));
    rows.push_back(number(key::modelWidth, kModel, "Width", 16, 1, 512, "channels", "every step",
                          "Channels of the convnet's first layer; later layers have two and four times as many. "
                          "ResNet-18 does not use it."));
    rows.push_back(
        choice(key::dataset, kData, "Data set", {"generated_images", "image_folder", "mnist"}, "loader",
               "Where samples come from: JPEG files that are generated once, a folder of JPEG and PNG files with one "
               "subfolder for each class, or MNIST's IDX files."));
    rows.push_back(path(key::datasetPath, kData, "Folder", "loader",
                        "Folder of the data set. Empty: generated images are kept in the user's cache; the other data "
                        "sets need a folder."));
    rows.push_back(number(key::datasetSamples, kData, "Images", 2000, 2, 10000000, "images", "generated_images",
                          "How many images are generated."));
    rows.push_back(number(key::datasetClasses, kData, "Classes", 10, 2, 1000, "classes", "generated_images",
                          "How many classes the generated images have."));
    rows.push_back(
        advanced(number(key::datasetSourceSize, kData, "Stored size", 256, 16, 4096, "px", "generated_images",
                        "Edge of the generated images as they are stored. Larger images take longer to decode.")));
    rows.push_back(number(
        key::imageSize, kData, "Image size", 32, 16, 1024, "px", "every step",
        "Edge of the images that the model gets, after cropping and resizing. MNIST's images keep their 28 px."));
    rows.push_back(advanced(
        real(key::datasetValidation, kData, "Validation share", 0.2, 0, 0.9, "loader",
             "Share of the samples that is kept for validation. 0: no validation. MNIST comes with its own split.")));
    rows.push_back(flag(key::augment, kData, "Augment", true, "loader",
                        "Crops and mirrors the training images at random, so that the model sees each one differently "
                        "in every epoch."));
}

void addLoading(std::vector<Knob>& rows)
{
    rows.push_back(
        number(key::workers, kLoading, "Workers", 0, 0, 256, "threads", "loader",
               "Threads that load batches while the model trains. 0: the training waits while each batch is loaded."));
    rows.push_back(number(key::prefetchFactor, kLoading, "Prefetch factor", 2, 1, 64, "batches", "loader",
                          "Batches that each worker loads ahead. More evens out slow files and takes more memory. No "
                          "effect without workers."));
    rows.push_back(flag(key::persistentWorkers, kLoading, "Keep workers", false, "start of an epoch",
                        "Keeps the workers from one epoch to the next instead of starting new ones."));
    rows.push_back(gpuOnly(flag(
        key::pinMemory, kLoading, "Pin memory", false, "loader",
        "Puts batches into page-locked memory, from which copies to a GPU are faster and need not be waited for.")));
    rows.push_back(advanced(flag(key::shuffle, kLoading, "Shuffle", true, "loader",
                                 "Another order of the training samples in every epoch.")));
}

void addStep(std::vector<Knob>& rows)
{
    rows.push_back(choice(key::optimizer, kOptimizer, "Optimizer", {"sgd", "adamw"}, "every step",
                          "How gradients change the weights: SGD with momentum, or AdamW, which usually wants a "
                          "smaller learning rate (0.001)."));
    rows.push_back(real(key::learningRate, kOptimizer, "Learning rate", 0.05, 0, 100, "every step",
                        "How far each step moves the weights."));
    rows.push_back(real(key::momentum, kOptimizer, "Momentum", 0.9, 0, 0.9999, "every step",
                        "Share of the step before that is kept. Used by SGD."));
    rows.push_back(real(key::weightDecay, kOptimizer, "Weight decay", 0.0005, 0, 10, "every step",
                        "Pulls the weights towards zero: as L2 with SGD, decoupled from the gradient with AdamW."));
    rows.push_back(
        flag(key::setToNone, kStep, "Drop gradients", false, "every step",
             "Gives gradients back before each step instead of filling them with zeros: no fill, and the backward pass "
             "writes instead of adding. Parameters without a gradient are then left alone by the optimizer."));
    rows.push_back(choice(key::memoryFormat, kStep, "Memory format", {"contiguous", "channels_last"}, "every step",
                          "Order of images and weights in memory: channel by channel, or pixel by pixel, which "
                          "convolutions often prefer."));
    rows.push_back(choice(key::amp, kStep, "Mixed precision", {"off", "bf16"}, "every step",
                          "Runs convolutions and matrix products of the forward pass in BF16. Pays where the device "
                          "has instructions for it."));
    rows.push_back(
        number(key::syncEvery, kStep, "Read the loss every", 1, 0, 1000000, "steps", "every step",
               "Every how many steps loss and accuracy are read back from the device, which waits for all of its work. "
               "0: only at the end of an epoch. In between they are summed up on the device."));
}

void addRest(std::vector<Knob>& rows)
{
    rows.push_back(
        flag(key::evalNoGrad, kValidation, "No gradients", true, "validation",
             "Validates without recording what a backward pass would need; false costs time and memory for nothing."));
    rows.push_back(flag(
        key::anomaly, kDebugging, "Detect anomalies", false, "every step",
        "Looks for NaN in every gradient and remembers where each operator was called. For hunting errors: slow."));
    rows.push_back(flag(key::captureEnabled, kCapture, "Record", true, "whole run",
                        "Records phases, loader stages, operators and GPU work for the timeline and the advisor."));
    rows.push_back(advanced(
        number(key::captureOpsEvery, kCapture, "Record operators every", 50, 0, 1000000, "steps", "recording",
               "Operators are recorded in a window at the start and in one window of every so many steps. 0: never.")));
    rows.push_back(advanced(number(key::captureOpsWindow, kCapture, "Operator window", 5, 1, 1000000, "steps",
                                   "recording", "How many steps each window of recorded operators has.")));
}

std::vector<Knob> makeTable()
{
    std::vector<Knob> rows;
    addRun(rows);
    addModelAndData(rows);
    addLoading(rows);
    addStep(rows);
    addRest(rows);
    return rows;
}

std::string bound(double value, KnobType type)
{
    return type == KnobType::Integer ? toText(static_cast<std::int64_t>(value)) : toText(value);
}

} // namespace

std::span<const Knob> knobs()
{
    static const std::vector<Knob> table = makeTable();
    return table;
}

const Knob* findKnob(std::string_view key)
{
    const auto all = knobs();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Knob& knob) { return knob.key == key; });
    return found == all.end() ? nullptr : &*found;
}

std::string allowedText(const Knob& knob)
{
    switch (knob.type) {
    case KnobType::Flag:
        return "true or false";
    case KnobType::Integer:
        return fmt::format("an integer from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Real:
        return fmt::format("a number from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Choice:
        return fmt::format("one of {}", fmt::join(knob.choices, ", "));
    case KnobType::Path:
        return "a path in UTF-8";
    case KnobType::Text:
        return "a text in UTF-8";
    }
    return {};
}

} // namespace config
