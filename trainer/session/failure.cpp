#include "trainer/session/failure.h"

#include "profiler/model/result.h"
#include "trainer/session/progress.h"

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
using profiler::Failure;
using profiler::message;
using profiler::MessageParameter;

namespace {

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

// The CPU allocator has no exception type for this, and neither do CUDA and its libraries for their own allocations.
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

// Omits the backtrace of c10's what(), and the file and the hint of ours.
std::string textOf(const std::exception& exception)
{
    if (const auto* failure = dynamic_cast<const Failure*>(&exception))
        return failure->error().what.text;
    const auto* error = dynamic_cast<const c10::Error*>(&exception);
    return error ? error->what_without_backtrace() : exception.what();
}

// "536.9 MB more were requested" if the allocator's text contains the size.
std::string askedFor(std::string_view text)
{
    constexpr std::string_view kBefore = "you tried to allocate ";
    const std::size_t at = text.find(kBefore);
    if (at == std::string_view::npos)
        return firstLine(text);
    const std::string_view rest = text.substr(at + kBefore.size());
    const auto bytes = std::strtod(std::string(rest.substr(0, rest.find(' '))).c_str(), nullptr);
    std::ostringstream stream;
    stream << std::fixed << std::setprecision(1) << bytes / 1e6 << " MB more were requested";
    return stream.str();
}

// If the message's text does not mention the step, the step is added after the file and to the parameters.
Notice noticeOf(const profiler::Error& failure, std::int64_t step)
{
    profiler::Message what = failure.what;
    std::string where = failure.where;
    if (!what.find("step")) {
        what.parameters.emplace_back("step", step);
        if (step >= 0)
            where += (where.empty() ? "step " : ", step ") + std::to_string(step);
    }
    return notice(Notice::Severity::Error, what, std::move(where), failure.hint);
}

} // namespace

Notice explain(const std::exception& exception, std::int64_t step)
{
    const auto error = [](const profiler::Message& what, std::string where, std::string hint) {
        return notice(Notice::Severity::Error, what, std::move(where), std::move(hint));
    };
    // The text mentions the step only if there is one; programs get -1 for "before the first step".
    const MessageParameter at("at", step < 0 ? "" : " at step " + std::to_string(step)), index("step", step);
    const std::string text = textOf(exception);
    if (isOutOfMemory(exception, text))
        return error(message<"training.out_of_memory", "Out of memory{at}">({at, index}), askedFor(text),
                     "choose a smaller batch.size (gradient.accumulation keeps the number of samples per update), "
                     "checkpointing=cheap or all, a smaller dataset.image_size or model, or fewer loader.workers");
    if (text.find("returned nan values") != std::string::npos) {
        std::string function = firstLine(text);
        if (function.ends_with('.'))
            function.pop_back();
        return error(message<"training.bad_gradient", "A gradient is NaN{at}: {why}">({at, index, {"why", function}}),
                     {}, "lower optimizer.learning_rate; debug.anomaly stopped the training at this operator");
    }
    if (text.find("view size is not compatible") != std::string::npos)
        return error(message<"training.order_of_dimensions",
                             "The training failed{at}: the model depends on the memory format of its tensors: {why}">(
                         {at, index, {"why", firstLine(text)}}),
                     "memory_format", "set memory_format=contiguous, or use reshape() instead of view() in the model");
    if (const auto* failure = dynamic_cast<const Failure*>(&exception))
        return noticeOf(failure->error(), step);
    if (text.find("gloo") != std::string::npos || text.find("NCCL") != std::string::npos)
        return error(message<"training.rank_lost", "Another rank of this training has exited or cannot be reached">(),
                     firstLine(text), "check the output of that rank");
    return error(message<"training.failed", "The training failed{at}: {why}">({at, index, {"why", firstLine(text)}}),
                 {}, {});
}

Notice explainUncompiled(const std::exception& exception)
{
    const std::string text = textOf(exception);
    if (isOutOfMemory(exception, text))
        return notice(
            Notice::Severity::Warning,
            message<"compile.out_of_memory",
                    "Out of memory while recording the step as a CUDA graph; the training continues without it">(),
            askedFor(text), "choose a smaller batch.size: a CUDA graph needs its own memory pool");
    const auto* failure = dynamic_cast<const Failure*>(&exception);
    return notice(
        Notice::Severity::Warning,
        message<"compile.failed", "The step could not be recorded as a CUDA graph; the training continues without it">(
            {{"error", failure ? failure->error().what.id : ""}}),
        firstLine(text),
        failure ? failure->error().hint : "use fixed shapes and avoid operators that wait for the device");
}

} // namespace trainer
