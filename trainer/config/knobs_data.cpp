#include "trainer/config/knob_rows.h"

// Rows about what is trained on what: the run, the model, the data and how they are loaded.
namespace config::rows {

void addRun(Rows& rows)
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

void addModelAndData(Rows& rows)
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

void addLoading(Rows& rows)
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

} // namespace config::rows
