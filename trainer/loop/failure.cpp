#include "trainer/loop/failure.h"

#include "trainer/loop/run.h"
#include "trainer/models/model_file.h"

#include <algorithm>
#include <c10/util/Exception.h>
#include <cstdlib>
#include <iomanip>
#include <iterator>
#include <new>
#include <sstream>
#include <string_view>

namespace trainer {

using config::protocol::Notice;

namespace {

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

// The allocator of the processor has no exception type of its own, nor has what CUDA and its libraries take for
// themselves.
bool isOutOfMemory(const std::exception& exception, std::string_view text)
{
    constexpr std::string_view kTexts[] = {
        "can't allocate memory",       "not enough memory",
        "CUDA error: out of memory",   "CUBLAS_STATUS_ALLOC_FAILED",
        "CUDNN_STATUS_ALLOC_FAILED",   "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
        "CUSPARSE_STATUS_ALLOC_FAILED"};
    return dynamic_cast<const std::bad_alloc*>(&exception) || dynamic_cast<const c10::OutOfMemoryError*>(&exception) ||
           std::any_of(std::begin(kTexts), std::end(kTexts),
                       [&](std::string_view known) { return text.find(known) != std::string_view::npos; });
}

// c10's what() has a backtrace that is of no use to users.
std::string textOf(const std::exception& exception)
{
    const auto* error = dynamic_cast<const c10::Error*>(&exception);
    return error ? error->what_without_backtrace() : exception.what();
}

// "536.9 MB more were asked for" where the allocator says so.
std::string askedFor(std::string_view text)
{
    constexpr std::string_view kBefore = "you tried to allocate ";
    const std::size_t at = text.find(kBefore);
    if (at == std::string_view::npos)
        return firstLine(text);
    const std::string_view rest = text.substr(at + kBefore.size());
    const auto bytes = std::strtod(std::string(rest.substr(0, rest.find(' '))).c_str(), nullptr);
    std::ostringstream words;
    words << std::fixed << std::setprecision(1) << bytes / 1e6 << " MB more were asked for";
    return words.str();
}

} // namespace

Notice explain(const std::exception& exception, std::int64_t step)
{
    const std::string at = step < 0 ? "" : " at step " + std::to_string(step);
    const std::string text = textOf(exception);
    Notice notice;
    notice.severity = Notice::Severity::Error;
    if (isOutOfMemory(exception, text)) {
        notice.what = "Out of memory" + at;
        notice.where = askedFor(text);
        notice.mend = "choose a smaller batch.size (with gradient.accumulation an update sees as many samples), "
                      "checkpointing=cheap or all, a smaller dataset.image_size or model, or fewer loader.workers";
    } else if (text.find("returned nan values") != std::string::npos) {
        std::string function = firstLine(text);
        if (function.ends_with('.'))
            function.pop_back();
        notice.what = "A gradient is not a number" + at + ": " + function;
        notice.mend = "lower optimizer.learning_rate; debug.anomaly stopped the training here";
    } else if (dynamic_cast<const LossLost*>(&exception)) {
        notice.what = text;
        notice.mend = "lower optimizer.learning_rate, clip gradients with gradient.clip_norm, or let it go on with "
                      "run.on_nan = continue; debug.anomaly names the operator";
    } else if (text.find("view size is not compatible") != std::string::npos) {
        notice.what = "The training failed" + at +
                      ": the model goes by the order of its dimensions in memory: " + firstLine(text);
        notice.where = "memory_format";
        notice.mend = "set memory_format=contiguous, or have the model use reshape() in place of view()";
    } else if (const auto* misfit = dynamic_cast<const ModelMisfit*>(&exception)) {
        notice.what = "The training failed" + at + ": " + text;
        notice.where = misfit->where();
        notice.mend = misfit->mend();
    } else if (text.find("gloo") != std::string::npos || text.find("NCCL") != std::string::npos) {
        notice.what = "Another rank of this training has ended or cannot be reached";
        notice.where = firstLine(text);
        notice.mend = "look at what that rank said";
    } else {
        notice.what = "The training failed" + at + ": " + firstLine(text);
    }
    return notice;
}

Notice explainUncompiled(const std::exception& exception)
{
    const std::string text = textOf(exception);
    if (isOutOfMemory(exception, text))
        return {Notice::Severity::Warning,
                "Out of memory while the step was compiled as a CUDA graph; the training goes on without",
                askedFor(text), "choose a smaller batch.size: a graph has memory of its own", 1};
    return {Notice::Severity::Warning, "The step could not be compiled as a CUDA graph; the training goes on without",
            firstLine(text), "a graph needs fixed shapes, and no operator that waits for the device", 1};
}

} // namespace trainer
