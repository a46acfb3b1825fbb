#include "profiler/analysis/python_frame.h"

#include <charconv>

namespace profiler::analysis {

std::optional<PythonFrame> pythonFrame(std::string_view name)
{
    constexpr std::string_view kOpen = ".py(", kClose = "): ";
    const std::size_t open = name.find(kOpen);
    if (open == std::string_view::npos || open == 0 || name.front() == '<')
        return std::nullopt;
    PythonFrame frame;
    frame.file = name.substr(0, open + 3);
    const char* const end = name.data() + name.size();
    const auto number = std::from_chars(name.data() + open + kOpen.size(), end, frame.line);
    const auto after = static_cast<std::size_t>(number.ptr - name.data());
    if (number.ec != std::errc{} || frame.line < 0 || name.substr(after, kClose.size()) != kClose)
        return std::nullopt;
    frame.function = name.substr(after + kClose.size());
    return frame;
}

bool isOfPytorch(std::string_view file)
{
    return file.starts_with("torch/") || file.find("/torch/") != std::string_view::npos;
}

} // namespace profiler::analysis
