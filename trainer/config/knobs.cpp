#include "trainer/config/knobs.h"

#include <algorithm>
#include <utility>

// The knob table. The defaults describe a naive training: no workers, no pinned memory, the loss is read back in every
// step, gradients are zeroed.
namespace config {

namespace {

using Rows = std::vector<Knob>;

// The headings of the form.
constexpr std::string_view kRun = "Run", kModel = "Model", kData = "Data", kLoading = "Data loading",
                           kOptimizer = "Optimizer", kSchedule = "Learning rate schedule", kGradients = "Gradients",
                           kPrecision = "Precision", kMemory = "Memory", kTransfer = "Transfer", kHost = "Host",
                           kParallel = "Parallel", kValidation = "Validation", kDebugging = "Debugging",
                           kCapture = "Recording";

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

// The first choice is the default.
Knob choice(Key<std::string> key, std::string_view group, std::string_view label, std::vector<std::string_view> choices,
            std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Choice;
    knob.fallback = std::string(choices.front());
    knob.choices = std::move(choices);
    return knob;
}

Knob text(Key<std::string> key, std::string_view group, std::string_view label, std::string_view where,
          std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Text;
    knob.fallback = std::string();
    return knob;
}

// @param whenEmpty  the meaning of an empty path, shown in the field: "none"
Knob path(Key<std::string> key, std::string_view group, std::string_view label, PathKind kind,
          std::string_view whenEmpty, std::string_view where, std::string_view doc)
{
    Knob knob = text(key, group, label, where, doc);
    knob.type = KnobType::Path;
    knob.path = kind;
    knob.whenEmpty = whenEmpty;
    return knob;
}

// 0 has a special meaning. @param meaning  what it means, shown next to the field: "never"
Knob zeroIs(std::string_view meaning, Knob knob)
{
    knob.zero = meaning;
    return knob;
}

// Collapsed by default in the form.
Knob advanced(Knob knob)
{
    knob.advanced = true;
    return knob;
}

// Rejected without a GPU.
Knob gpuOnly(Knob knob)
{
    knob.needsGpu = true;
    return knob;
}

// Evaluated by something other than step time.
Knob withObjective(Objective objective, Knob knob)
{
    knob.objective = objective;
    return knob;
}

// Evaluated by time or memory, but the loss may differ by more than rounding.
Knob lossMayChange(Knob knob)
{
    knob.mayChangeLoss = true;
    return knob;
}

// Changes what the model learns: evaluated by the loss at equal training time.
Knob learned(Knob knob)
{
    return lossMayChange(withObjective(Objective::LossAtEqualTime, std::move(knob)));
}

// Changes the batches and therefore the loss. @param values  only when changing from or to these; empty: always
Knob otherBatches(Batches how, Knob knob, std::vector<std::string_view> values = {})
{
    knob.batches = how;
    knob.batchValues = std::move(values);
    return lossMayChange(std::move(knob));
}

// The losses before and after a change are not comparable.
Knob otherTask(Knob knob)
{
    knob.comparableLoss = false;
    return lossMayChange(std::move(knob));
}

// Makes training samples harder or easier, but not validation samples.
Knob otherTrainingSamples(Knob knob)
{
    knob.changesTrainingSamples = true;
    return lossMayChange(std::move(knob));
}

// A number of steps that scales with the length of the training.
Knob scaledWithLength(Knob knob)
{
    knob.scalesWithLength = true;
    return knob;
}

// The product of all knobs of this kind is the number of samples per update.
Knob batchFactor(Knob knob)
{
    knob.isBatchFactor = true;
    return knob;
}

// The trainer searches for a batch size itself.
Knob batchSearch(Knob knob)
{
    knob.searchesBatch = true;
    return knob;
}

// Controls how long a training runs or what it records.
Knob ofMeasurement(Knob knob)
{
    knob.isOfMeasurement = true;
    return knob;
}

// When it is on, the first steps take longer.
Knob warmsUp(WarmUp why, Knob knob)
{
    knob.warmUp = why;
    return knob;
}

// After a change that helped, the tuner tries further values.
Knob searched(ValueSearch search, Knob knob)
{
    knob.search = search;
    return knob;
}

// Settings that share the device's memory: batch size, micro-batches, precision, recomputation; and the loader's
// workers, because a faster step needs more of them.
Knob sharesMemory(Knob knob)
{
    knob.settings = "memory";
    return knob;
}

// Has an effect only if `on` has one of the values.
Knob onlyIf(std::string_view on, std::vector<std::string_view> values, Knob knob)
{
    knob.enabledIf.push_back({on, true, std::move(values)});
    return knob;
}

// Has no effect if `on` has one of the values.
Knob unless(std::string_view on, std::vector<std::string_view> values, Knob knob)
{
    knob.enabledIf.push_back({on, false, std::move(values)});
    return knob;
}

void addRun(Rows& rows)
{
    rows.push_back(choice(key::device, kRun, "Device", {"auto", "cpu", "cuda"}, "whole run",
                          "Device that trains the model. auto uses the GPU if it is usable, otherwise the CPU."));
    rows.push_back(onlyIf(key::steps.name, {"0"},
                          ofMeasurement(lossMayChange(number(
                              key::epochs, kRun, "Epochs", 2, 1, 100000, "", "whole run",
                              "Number of passes over all training samples. Ignored if a number of steps is set.")))));
    rows.push_back(ofMeasurement(lossMayChange(zeroIs(
        "by epochs",
        number(key::steps, kRun, "Steps", 0, 0, 1e9, "", "whole run",
               "Ends the training after this many steps, whatever the epoch. 0: trains for the number of epochs.")))));
    rows.push_back(
        searched(ValueSearch::Doubling,
                 batchFactor(sharesMemory(otherBatches(
                     Batches::OtherSize,
                     number(key::batchSize, kRun, "Batch size", 32, 1, 65536, "samples", "every step",
                            "Samples per step. Larger batches use the device better and need more memory."))))));
    rows.push_back(otherBatches(
        Batches::OtherSamples,
        advanced(number(
            key::seed, kRun, "Seed", 1, 0, 2147483647, "", "whole run",
            "Determines the initial weights, the sample order and the augmentation: equal seeds give equal runs."))));
    rows.push_back(advanced(zeroIs(
        "all cores",
        number(
            key::threads, kRun, "Threads", 0, 0, 1024, "threads", "every step",
            "CPU threads per operator of the training (intra-op threads). 0: one per usable core. Fewer threads leave "
            "cores to the loader's workers."))));
}

void addModel(Rows& rows)
{
    rows.push_back(otherTask(
        choice(key::workload, kModel, "Model",
               {"convnet", "resnet18", "resnet50", "vit", "gpt", "bert", "lstm", "mlp", "convolution", "torchscript",
                "plugin"},
               "whole run",
               "Model to train: a network for images (convnet, ResNet, ViT), for text (GPT, BERT, LSTM) or for "
               "tables (MLP), a single convolution, or your own model from a file.")));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(choice(
                   key::modelSize, kModel, "Size", {"small", "tiny", "base", "large"}, "every step",
                   "Size of the model: a tiny model takes milliseconds per step on a CPU, a large one fills a GPU."))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin"},
        lossMayChange(zeroIs("by size", number(key::modelWidth, kModel, "Width", 0, 0, 65536, "channels", "every step",
                                               "Channels or features of the model's first layer. 0: set by the model's "
                                               "size.")))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin"},
               lossMayChange(
                   zeroIs("by size", number(key::modelDepth, kModel, "Depth", 0, 0, 1000, "layers", "every step",
                                            "Layers, or blocks per stage of a ResNet. 0: set by the model's size.")))));
    rows.push_back(unless(
        key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
        learned(choice(key::modelNorm, kModel, "Normalization", {"batch", "group", "none"}, "every step",
                       "Layer after convolutions and hidden layers: batch norm, group norm (independent of the batch), "
                       "or none. Transformers and LSTMs do not use it."))));
    rows.push_back(
        unless(key::workload.name, {"torchscript", "plugin", "vit", "gpt", "bert", "lstm", "convolution"},
               lossMayChange(flag(
                   key::convBias, kModel, "Bias before normalization", true, "every step",
                   "Adds a bias to layers directly before a normalization, which cancels it: costs time and memory "
                   "without any effect."))));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               choice(key::attention, kModel, "Attention", {"math", "sdpa"}, "every step",
                      "Attention of transformers: math computes matmul, softmax, matmul; sdpa is one operator that "
                      "never stores the score matrix.")));
    rows.push_back(
        onlyIf(key::workload.name, {"vit", "gpt", "bert"},
               warmsUp(WarmUp::Compilation,
                       flag(key::fusePointwise, kModel, "Fuse pointwise operations", false, "every step",
                            "Runs the five pointwise operations of GELU in transformers as one kernel: compiled just "
                            "in time on a GPU, LibTorch's built-in kernel on a CPU."))));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(path(key::modelPath, kModel, "Model file", PathKind::File, "none", "whole run",
                       "Your own model: a TorchScript file for torchscript, a shared library for plugin. It contains "
                       "code and runs only if its SHA-256 is entered as trusted."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::trustedSha256, kModel, "Trusted SHA-256", "whole run",
                    "SHA-256 of the model file that may run. Any other file at the same path is rejected.")));
    rows.push_back(onlyIf(
        key::workload.name, {"torchscript", "plugin"},
        otherTask(choice(key::modelLoss, kModel, "Loss of the model file", {"cross_entropy", "mse", "given"},
                         "every step",
                         "Loss of a TorchScript model: cross_entropy for classes or tokens, mse for numbers, or given "
                         "if the model returns the loss itself when called with inputs and target."))));
    rows.push_back(
        onlyIf(key::workload.name, {"torchscript", "plugin"},
               text(key::inputShapes, kModel, "Inputs of the model file", "whole run",
                    "Shapes of one sample's inputs for a TorchScript model, such as 3,32,32 or, for two inputs, "
                    "128;128. Empty: not checked against the dataset before the first step.")));
}

void addSamples(Rows& rows)
{
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        choice(key::dataset, kData, "Dataset",
               {"generated_images", "image_folder", "mnist", "cifar10", "text", "csv", "arrays", "stream"}, "loader",
               "Source of the samples: JPEG files that are generated once, a folder of JPEG and PNG files with one "
               "subfolder per class, the files of MNIST or CIFAR-10, a text, a table, NumPy arrays, or a stream of tar "
               "files."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        path(key::datasetPath, kData, "Folder", PathKind::FileOrFolder, "automatic", "loader",
             "File or folder of the dataset. Empty: samples are generated once and kept in the user's cache; "
             "image_folder requires a folder."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples, number(key::datasetSamples, kData, "Samples", 2000, 2, 10000000, "samples",
                                      "generated data", "Number of samples to generate if there is no dataset yet."))));
    rows.push_back(otherTask(
        otherBatches(Batches::OtherSamples,
                     number(key::datasetClasses, kData, "Classes", 10, 2, 1000, "classes", "loader",
                            "Number of classes of generated samples, and of the labels in tables and arrays. MNIST and "
                            "CIFAR-10 have ten; image folders have one per subfolder."))));
    rows.push_back(onlyIf(
        key::dataset.name, {"generated_images", "stream"},
        otherTask(otherBatches(
            Batches::OtherSamples,
            advanced(number(key::datasetSourceSize, kData, "Stored size", 256, 16, 4096, "px",
                            "generated_images, stream",
                            "Edge length of the generated images on disk. Larger images take longer to decode."))))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        number(key::imageSize, kData, "Image size", 32, 16, 1024, "px", "every step",
               "Edge length of the model's input images, after cropping and resizing. MNIST and CIFAR-10 keep their 28 "
               "and 32 px."))));
    rows.push_back(otherTask(otherBatches(
        Batches::OtherSamples,
        advanced(zeroIs("none", real(key::datasetValidation, kData, "Validation fraction", 0.2, 0, 0.9, "loader",
                                     "Fraction of the samples held out for validation. 0: no validation. MNIST and "
                                     "CIFAR-10 have their own split."))))));
}

void addModelAndData(Rows& rows)
{
    addModel(rows);
    addSamples(rows);
    rows.push_back(onlyIf(
        key::dataset.name, {"text"},
        otherTask(otherBatches(Batches::OtherSamples,
                               number(key::contextLength, kData, "Context", 64, 2, 1048576, "tokens", "text",
                                      "Tokens per text sample. The cost of attention grows with the square of this "
                                      "number.")))));
    rows.push_back(onlyIf(key::dataset.name, {"csv"},
                          otherTask(otherBatches(Batches::OtherSamples,
                                                 text(key::targetColumn, kData, "Target column", "csv",
                                                      "Name of the column to predict. Empty: the last column.")))));
    rows.push_back(
        onlyIf(key::dataset.name, {"csv", "arrays"},
               otherTask(otherBatches(Batches::OtherSamples,
                                      choice(key::targetKind, kData, "Target", {"class", "number"}, "csv, arrays",
                                             "What to predict from a table or from arrays: a class or a number.")))));
    rows.push_back(
        learned(flag(key::normalize, kData, "Normalize", true, "loader",
                     "Shifts and scales inputs to mean 0 and standard deviation 1, using the statistics of the "
                     "training samples, or the published statistics for ImageNet, MNIST and CIFAR-10 images.")));
    rows.push_back(otherTrainingSamples(learned(otherBatches(
        Batches::OtherSamples,
        flag(key::augment, kData, "Augment", true, "loader",
             "Changes training samples at random, so that each epoch shows the model different variants: crops, "
             "horizontal flips, shifted windows of a text. Table rows and arrays are not changed.")))));
}

void addLoading(Rows& rows)
{
    rows.push_back(searched(
        ValueSearch::Neighbours,
        sharesMemory(number(
            key::workers, kLoading, "Workers", 0, 0, 256, "threads", "loader",
            "Threads that load batches while the model trains. 0: the training waits while each batch is loaded."))));
    rows.push_back(unless(
        key::workers.name, {"0"},
        sharesMemory(number(key::prefetchFactor, kLoading, "Prefetch factor", 2, 1, 64, "batches", "loader",
                            "Batches that each worker loads ahead. More hides slow files better and needs more memory. "
                            "No effect without workers."))));
    rows.push_back(
        unless(key::workers.name, {"0"},
               withObjective(Objective::EpochTime,
                             flag(key::persistentWorkers, kLoading, "Persistent workers", false, "start of an epoch",
                                  "Keeps the workers between epochs instead of starting new ones."))));
    rows.push_back(
        gpuOnly(flag(key::pinMemory, kLoading, "Pin memory", false, "loader",
                     "Puts batches into page-locked memory: copies to a GPU are faster and can run asynchronously.")));
    rows.push_back(
        otherBatches(Batches::OtherSamples,
                     advanced(flag(key::shuffle, kLoading, "Shuffle", true, "loader",
                                   "Visits the training samples in a new order in every epoch. Streams keep their "
                                   "order."))));
    rows.push_back(onlyIf(key::dataset.name, {"stream"},
                          lossMayChange(advanced(flag(
                              key::shardStreams, kLoading, "Shard streams", true, "loader",
                              "Each worker reads its own part of a stream. false: every worker reads the whole stream, "
                              "so each sample is repeated once per worker: a common mistake.")))));
}

void addOptimizer(Rows& rows)
{
    rows.push_back(
        learned(choice(key::optimizer, kOptimizer, "Optimizer",
                       {"sgd", "adam", "adamw", "lars", "lamb", "nvlamb", "novograd"}, "every step",
                       "How gradients change the weights. SGD is the simplest; AdamW usually needs a smaller learning "
                       "rate (0.001); LARS, LAMB, NVLAMB and NovoGrad are for large batches.")));
    rows.push_back(learned(real(key::learningRate, kOptimizer, "Learning rate", 0.05, 0, 100, "every step",
                                "How far each step moves the weights. With a schedule, this is the highest rate.")));
    rows.push_back(
        learned(choice(key::lrScaling, kOptimizer, "Scale learning rate", {"none", "linear", "sqrt"}, "every step",
                       "Multiplies the learning rate by the ratio of the batch size to the reference batch, or by the "
                       "square root of that ratio. Linear suits SGD with a warm-up, sqrt suits AdamW.")));
    rows.push_back(
        unless(key::lrScaling.name, {"none"},
               learned(advanced(number(key::lrBaseBatch, kOptimizer, "Reference batch", 32, 1, 1000000, "samples",
                                       "every step", "The batch size that the learning rate was chosen for.")))));
    rows.push_back(
        learned(real(key::weightDecay, kOptimizer, "Weight decay", 0.0005, 0, 10, "every step",
                     "Pulls the weights towards zero: as L2 regularization with SGD and Adam, decoupled from the "
                     "gradient with the others. LARS and LAMB skip biases and norms.")));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd", "lars"},
                          learned(real(key::momentum, kOptimizer, "Momentum", 0.9, 0, 0.9999, "every step",
                                       "Fraction of the previous step that is kept. Used by SGD and LARS."))));
    rows.push_back(onlyIf(key::optimizer.name, {"sgd"},
                          learned(advanced(flag(key::nesterov, kOptimizer, "Nesterov", false, "every step",
                                                "Uses Nesterov momentum, which looks one step ahead. Used by SGD.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta1, kOptimizer, "Beta 1", 0.9, 0, 0.9999, "every step",
                                     "Decay rate of the mean of gradients in Adam and its variants. NovoGrad's authors "
                                     "use 0.95.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
               learned(advanced(real(key::beta2, kOptimizer, "Beta 2", 0.999, 0, 0.999999, "every step",
                                     "Decay rate of the mean of squared gradients in Adam and its variants. NovoGrad's "
                                     "authors use 0.98.")))));
    rows.push_back(onlyIf(key::optimizer.name, {"adam", "adamw", "lamb", "nvlamb", "novograd"},
                          learned(advanced(real(key::epsilon, kOptimizer, "Epsilon", 1e-8, 0, 1, "every step",
                                                "Prevents division by zero in Adam and its variants.")))));
    rows.push_back(
        onlyIf(key::optimizer.name, {"lars"},
               learned(advanced(real(key::trustCoefficient, kOptimizer, "Trust coefficient", 0.001, 0, 1, "every step",
                                     "Limits how far LARS may move a layer, as a fraction of the norm of its "
                                     "weights.")))));
    rows.push_back(choice(key::implementation, kOptimizer, "Implementation", {"for-loop", "foreach", "fused"},
                          "every step",
                          "for-loop: one operator per weight tensor. foreach: one operator per list of tensors. fused: "
                          "one kernel for the whole update, for SGD, Adam and AdamW only. All give the same results."));
    rows.back().formerFirst = "plain";
}

void addSchedule(Rows& rows)
{
    rows.push_back(
        learned(choice(key::schedule, kSchedule, "Schedule",
                       {"constant", "cosine", "linear", "step", "cyclic", "one_cycle", "range_test"}, "every step",
                       "How the learning rate changes over the training. range_test raises it step by step and reports "
                       "the rate at which the loss fell fastest.")));
    rows.push_back(
        unless(key::schedule.name, {"cyclic", "one_cycle", "range_test"},
               scaledWithLength(learned(
                   number(key::warmupSteps, kSchedule, "Warm-up", 0, 0, 1e9, "steps", "first steps",
                          "Raises the rate linearly over this many first steps. Large batches and Adam need it. Not "
                          "used by cyclic, one_cycle and range_test, which start low.")))));
    rows.push_back(onlyIf(key::schedule.name, {"cosine", "linear", "one_cycle"},
                          learned(advanced(real(key::finalShare, kSchedule, "Final fraction", 0.001, 0, 1, "every step",
                                                "Rate at the end of cosine, linear and one_cycle, as a fraction of the "
                                                "highest.")))));
    rows.push_back(onlyIf(key::schedule.name, {"step"},
                          scaledWithLength(learned(advanced(number(key::scheduleStepSize, kSchedule, "Step size", 1000,
                                                                   1, 1e9, "steps", "every step",
                                                                   "Steps between two reductions of the rate by the "
                                                                   "schedule 'step'."))))));
    rows.push_back(onlyIf(key::schedule.name, {"step"},
                          learned(advanced(real(key::scheduleGamma, kSchedule, "Factor", 0.1, 0, 1, "every step",
                                                "Factor of each reduction of the rate by the schedule 'step'.")))));
    rows.push_back(onlyIf(key::schedule.name, {"cyclic"},
                          scaledWithLength(learned(advanced(
                              number(key::cycleSteps, kSchedule, "Half cycle", 500, 1, 1e9, "steps", "every step",
                                     "Steps from the lowest to the highest rate of 'cyclic'."))))));
    rows.push_back(
        onlyIf(key::schedule.name, {"cyclic", "one_cycle"},
               learned(advanced(real(key::lowestShare, kSchedule, "Lowest fraction", 0.1, 0, 1, "every step",
                                     "Lowest rate of 'cyclic' and 'one_cycle', as a fraction of the highest.")))));
    rows.push_back(onlyIf(key::schedule.name, {"one_cycle"},
                          learned(advanced(real(key::cycleShare, kSchedule, "Cycle fraction", 0.9, 0.1, 1, "every step",
                                                "Length of the cycle of 'one_cycle', as a fraction of the "
                                                "training.")))));
    rows.push_back(
        onlyIf(key::schedule.name, {"range_test"},
               learned(advanced(real(key::rangeLowest, kSchedule, "Range start", 1e-6, 1e-12, 1, "every step",
                                     "First rate of a range test; the last is the learning rate.")))));
}

void addGradients(Rows& rows)
{
    rows.push_back(lossMayChange(
        flag(key::setToNone, kGradients, "Set gradients to None", false, "every step",
             "Frees gradients before each step instead of filling them with zeros: no fill, and the backward pass "
             "writes instead of adding. The optimizer then skips parameters without a gradient.")));
    rows.push_back(batchFactor(sharesMemory(withObjective(
        Objective::Memory,
        otherBatches(
            Batches::OtherSize,
            number(key::accumulation, kGradients, "Accumulate", 1, 1, 100000, "batches", "every step",
                   "Micro-batches whose gradients are added before the weights are updated: a larger batch in the "
                   "memory of a small one. Steps and the schedule count weight updates."))))));
    rows.push_back(learned(zeroIs(
        "never", real(key::clipNorm, kGradients, "Clip gradient norm", 0, 0, 1e9, "every step",
                      "Scales all gradients down if their total norm exceeds this value. 0: never. Common values are 1 "
                      "for transformers and 10 to 100 for other models."))));
    rows.push_back(learned(
        advanced(zeroIs("never", real(key::clipValue, kGradients, "Clip gradient values", 0, 0, 1e9, "every step",
                                      "Limits every gradient element to the range from minus to plus this value. 0: "
                                      "never.")))));
    rows.push_back(lossMayChange(choice(key::onNan, kGradients, "On NaN loss", {"stop", "continue"}, "every step",
                                        "What to do if the loss that is read back is infinite or NaN.")));
}

void addPrecision(Rows& rows)
{
    rows.push_back(choice(key::memoryFormat, kPrecision, "Memory format", {"contiguous", "channels_last"}, "every step",
                          "Memory layout of images and weights: contiguous stores one channel after the other, "
                          "channels_last keeps the channels of a pixel together, which convolutions often prefer."));
    rows.push_back(sharesMemory(lossMayChange(
        choice(key::amp, kPrecision, "Mixed precision", {"off", "bf16", "fp16"}, "every step",
               "Runs the convolutions and matmuls of the forward pass in half precision. Faster on devices with "
               "instructions for it. FP16 scales the loss and skips steps that overflow."))));
    rows.push_back(lossMayChange(
        gpuOnly(flag(key::tf32, kPrecision, "TF32", false, "every step",
                     "Allows TF32 (10-bit mantissa) for FP32 matmuls. Convolutions use it in any case."))));
    rows.push_back(warmsUp(WarmUp::Autotuning,
                           gpuOnly(flag(key::cudnnBenchmark, kPrecision, "cuDNN autotuner", false, "first steps",
                                        "Benchmarks cuDNN's algorithms once per shape and keeps the fastest. Useful if "
                                        "shapes do not change."))));
    rows.push_back(
        warmsUp(WarmUp::Compilation,
                flag(key::compile, kPrecision, "Compile", false, "every step",
                     "Records the forward and backward pass as a CUDA graph, which launches thousands of kernels at "
                     "once. If recording fails, a notice gives the reason and the training continues without it. GPU "
                     "only. Use eval.package to run a model compiled by PyTorch in validation, on any device.")));
}

void addMemory(Rows& rows)
{
    rows.push_back(sharesMemory(withObjective(
        Objective::Memory,
        choice(key::checkpointing, kMemory, "Recompute activations", {"off", "all", "cheap"}, "every step",
               "Recomputes activations in the backward pass instead of storing them. all: those of every block, which "
               "costs about one more forward pass. cheap: those of norms, activations, softmax and upsampling where "
               "this frees the most memory per time, as measured in the first steps."))));
    rows.push_back(flag(key::shareMemory, kMemory, "Share batch memory", false, "every step",
                        "Creates tensors directly on the loader's memory instead of copying each batch once more."));
    rows.push_back(batchSearch(otherBatches(
        Batches::OtherSize,
        flag(key::findMax, kMemory, "Find the largest batch", false, "before the run",
             "Tries larger and larger batch sizes, each in a separate process, until one runs out of memory, and "
             "trains with the largest that fits."))));
    rows.push_back(advanced(zeroIs(
        "all free memory", number(key::memoryLimit, kMemory, "Memory limit", 0, 0, 1e8, "MiB", "before the run",
                                  "Memory that the training may use on the CPU: the search for the largest batch stays "
                                  "below it, and the advisor compares the peak with it. 0: all free memory."))));
}

void addTransfer(Rows& rows)
{
    rows.push_back(
        gpuOnly(flag(key::nonBlocking, kTransfer, "Asynchronous copies", false, "every step",
                     "Copies the next batch to the GPU on a separate stream during the computation. Needs pinned "
                     "memory (loader.pin_memory). No effect on a CPU.")));
    rows.push_back(otherTrainingSamples(flag(
        key::augmentOnDevice, kTransfer, "Augment on the device", false, "every step",
        "Augments whole batches of images on the model's device instead of each sample in the loader, with the same "
        "random choices. Images are cropped after scaling to the model's size, so they are slightly softer.")));
    rows.push_back(otherTrainingSamples(learned(advanced(
        zeroIs("none", real(key::noise, kTransfer, "Noise", 0, 0, 10, "every step",
                            "Standard deviation of the random noise added to numeric training inputs. 0: none."))))));
    rows.push_back(
        unless(key::noise.name, {"0"},
               lossMayChange(flag(
                   key::createOnDevice, kTransfer, "Create tensors on the device", false, "every step",
                   "Draws the noise of augment.noise on the device instead of drawing it on the CPU and copying it. "
                   "The device's random numbers differ from the CPU's."))));
    rows.push_back(zeroIs(
        "at the end",
        number(key::syncEvery, kTransfer, "Read the loss every", 1, 0, 1000000, "steps", "every step",
               "Number of steps between reads of loss and accuracy from the device. Each read waits for all of the "
               "device's work. 0: only at the end of an epoch. Between reads, the values are summed on the device.")));
}

void addHost(Rows& rows)
{
    rows.push_back(
        flag(key::asyncWork, kHost, "Asynchronous host work", false, "every step",
             "Computes and reads metrics, and writes the log and checkpoints, on background threads instead of in the "
             "step. The numbers are the same but arrive a moment later."));
    rows.push_back(path(key::logFile, kHost, "Log", PathKind::NewFile, "none", "every step",
                        "File that receives one line per step: time, samples, learning rate, loss. Empty: none."));
    rows.push_back(zeroIs(
        "never", number(key::checkpointEvery, kHost, "Checkpoint every", 0, 0, 1e9, "steps", "every n steps",
                        "Number of steps between checkpoints, which hold everything needed to resume the training. 0: "
                        "never.")));
    rows.push_back(unless(key::checkpointEvery.name, {"0"},
                          path(key::checkpointPath, kHost, "Checkpoints", PathKind::NewFolder, "automatic",
                               "every n steps", "Folder for the checkpoints.")));
    rows.push_back(
        lossMayChange(path(key::resume, kHost, "Resume from checkpoint", PathKind::File, "none", "whole run",
                           "Checkpoint from which the training resumes as if it had not been interrupted.")));
    rows.push_back(
        flag(key::unusedWork, kHost, "Unused work", false, "every step",
             "Adds work that is common but unused: gradients of the inputs and of frozen layers, and outputs "
             "that nothing reads. The results are the same without it."));
    rows.push_back(lossMayChange(
        advanced(number(key::frozenBlocks, kHost, "Frozen blocks", 0, 0, 1000, "blocks", "every step",
                        "Number of blocks, counted from the model's input, whose weights stay fixed, as in "
                        "fine-tuning."))));
}

void addParallel(Rows& rows)
{
    rows.push_back(otherBatches(
        Batches::OtherSize,
        choice(key::parallel, kParallel, "Parallel", {"none", "dp", "ddp"}, "every step",
               "none: one model. dp (DataParallel): copies of the model in one process, which receive the weights and "
               "their part of the batch in every step. ddp (DistributedDataParallel): one process per copy; the "
               "processes exchange gradients during the backward pass. torchrun can start the processes too."),
        {"ddp"}));
    rows.push_back(unless(
        key::parallel.name, {"none"},
        otherBatches(Batches::OtherSize,
                     number(key::localRanks, kParallel, "Copies", 2, 1, 64, "copies", "every step",
                            "Copies of the model on this machine. DDP trains a batch of batch.size on each copy; "
                            "DataParallel splits one batch."))));
}

void addRest(Rows& rows)
{
    rows.push_back(withObjective(
        Objective::ValidationTime,
        flag(key::evalNoGrad, kValidation, "No gradients", true, "validation",
             "Validates without recording a graph for the backward pass. false costs time and memory without any "
             "benefit.")));
    rows.push_back(withObjective(
        Objective::ValidationTime,
        path(key::evalPackage, kValidation, "Compiled model", PathKind::File, "none", "validation",
             "AOTInductor package (.pt2) that runs the model's forward pass in validation with the current weights. "
             "Compile it with inductor_configs={'always_keep_tensor_constants': True}. If it does not fit, a notice "
             "gives the reason and the model itself runs.")));
    rows.push_back(withObjective(Objective::ValidationTime,
                                 advanced(text(key::evalPackageSha256, kValidation, "Trusted package", "validation",
                                               "SHA-256 of the package that may run: it contains code."))));
    rows.push_back(
        flag(key::anomaly, kDebugging, "Detect anomalies", false, "every step",
             "Checks every gradient for NaN and remembers where each operator was called. For debugging only: slow."));
    rows.push_back(flag(key::autogradProfiler, kDebugging, "LibTorch's profiler", false, "every step",
                        "Runs LibTorch's own profiler for CPU operators and discards its results."));
    rows.push_back(flag(key::emitNvtx, kDebugging, "NVTX ranges", false, "every step",
                        "Emits every operator as an NVTX range for tools such as Nsight Systems."));
    rows.push_back(withObjective(
        Objective::EpochTime, flag(key::gradcheck, kDebugging, "Check gradients", false, "first step of an epoch",
                                   "Compares gradients with finite differences of the loss, in double precision, for a "
                                   "few weights.")));
    rows.push_back(withObjective(Objective::EpochTime,
                                 flag(key::gradgradcheck, kDebugging, "Check second gradients", false,
                                      "first step of an epoch", "The same check for gradients of gradients.")));
    rows.push_back(
        ofMeasurement(flag(key::captureEnabled, kCapture, "Record", true, "whole run",
                           "Records phases, loader stages, operators and GPU work for the timeline and the advisor.")));
    rows.push_back(ofMeasurement(onlyIf(
        key::captureEnabled.name, {"true"},
        choice(key::captureLevel, kCapture, "Detail level", {"standard", "always", "full"}, "recording",
               "always: phases, loader, kernels and copies, no operators. standard: also operators, runtime calls and "
               "waits in windows of a few steps. full: also shapes, driver calls and every allocation; the highest "
               "overhead. Each run measures the overhead by comparing steps with and without operator recording."))));
    rows.push_back(ofMeasurement(
        unless(key::captureLevel.name, {"always"},
               onlyIf(key::captureEnabled.name, {"true"},
                      advanced(zeroIs("never", number(key::captureOpsEvery, kCapture, "Record operators every", 50, 0,
                                                      1000000, "steps", "recording",
                                                      "Operators are recorded in one window at the start and then in "
                                                      "one window per this many steps. 0: never.")))))));
    rows.push_back(ofMeasurement(
        unless(key::captureLevel.name, {"always"},
               unless(key::captureOpsEvery.name, {"0"},
                      onlyIf(key::captureEnabled.name, {"true"},
                             advanced(number(key::captureOpsWindow, kCapture, "Operator window", 5, 1, 1000000, "steps",
                                             "recording", "Steps in each window of recorded operators.")))))));
}

std::vector<Knob> makeTable()
{
    Rows table;
    addRun(table);
    addModelAndData(table);
    addLoading(table);
    addOptimizer(table);
    addSchedule(table);
    addGradients(table);
    addPrecision(table);
    addMemory(table);
    addTransfer(table);
    addHost(table);
    addParallel(table);
    addRest(table);
    return table;
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

bool changesBatches(const Knob& knob, std::string_view from, std::string_view to)
{
    if (knob.batches == Batches::Same)
        return false;
    const auto isOne = [&](std::string_view value) {
        return std::find(knob.batchValues.begin(), knob.batchValues.end(), value) != knob.batchValues.end();
    };
    return knob.batchValues.empty() || from.empty() || isOne(from) || isOne(to);
}

} // namespace config
