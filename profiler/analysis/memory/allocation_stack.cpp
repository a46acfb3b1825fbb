#include "profiler/analysis/memory/allocation_stack.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace profiler::analysis {

namespace {

struct Frame {
    std::string_view file, function;
    std::int64_t line = 0;
};

/// "file:line function"; a file may contain colons and blanks.
Frame frameOf(std::string_view text)
{
    for (std::size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
        std::int64_t line = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data() + colon + 1, end, line);
        if (read.ec != std::errc{} || (read.ptr != end && *read.ptr != ' '))
            continue;
        const auto after = std::min<std::size_t>(static_cast<std::size_t>(read.ptr - text.data()) + 1, text.size());
        return {text.substr(0, colon), text.substr(after), line};
    }
    return {text, {}, 0};
}

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), text) != names.end();
}

AllocationOrigin originOf(const Frame& frame)
{
    // The engine's own frames are C++; snapshots contain them unless they were recorded with stacks="python".
    if (has(frame.function, "torch::autograd::Engine") || has(frame.function, "torch::autograd::AccumulateGrad"))
        return AllocationOrigin::Backward;
    if (has(frame.file, "/torch/autograd/") && isOneOf(frame.function, {"backward", "grad", "_engine_run_backward"}))
        return AllocationOrigin::Backward;
    if (has(frame.file, "/torch/optim/"))
        return isOneOf(frame.function, {"zero_grad", "__init__", "add_param_group"}) ? AllocationOrigin::Unknown
                                                                                     : AllocationOrigin::Optimizer;
    if (frame.file.ends_with("/torch/nn/modules/module.py")) {
        if (isOneOf(frame.function, {"_call_impl", "_wrapped_call_impl"}))
            return AllocationOrigin::Forward;
        if (isOneOf(frame.function, {"_apply", "convert", "to", "cuda", "half", "float", "double", "bfloat16",
                                     "to_empty", "load_state_dict", "_load_from_state_dict"}))
            return AllocationOrigin::Construction;
    }
    if (has(frame.file, "/torch/nn/") && isOneOf(frame.function, {"__init__", "reset_parameters", "_reset_parameters"}))
        return AllocationOrigin::Construction;
    return AllocationOrigin::Unknown;
}

/// zero_grad() ends the search for an origin: what it frees was not freed by its callers.
bool endsSearch(const Frame& frame)
{
    return frame.function == "zero_grad" &&
           (has(frame.file, "/torch/optim/") || frame.file.ends_with("/torch/nn/modules/module.py"));
}

} // namespace

AllocationStack readAllocationStack(std::string_view text)
{
    AllocationStack stack;
    SourceLine library;
    bool searching = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const Frame frame = frameOf(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        stack.hasFrames = true;
        if (searching) {
            stack.origin = originOf(frame);
            searching = stack.origin == AllocationOrigin::Unknown && !endsSearch(frame);
        }
        if (!frame.file.ends_with(".py"))
            continue;
        if (stack.innermost.empty())
            stack.innermost = std::string(frame.file) + ':' + std::to_string(frame.line);
        SourceLine& place = has(frame.file, "/torch/") ? library : stack.place;
        if (place.empty())
            place = {std::string(frame.file), frame.line, std::string(frame.function)};
    }
    if (stack.place.empty())
        stack.place = std::move(library);
    return stack;
}

} // namespace profiler::analysis
