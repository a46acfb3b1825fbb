#include "trainer/workloads/parts/script_trace.h"

#include <sstream>

namespace trainer {

namespace {

/// The name in "    _0 = (conv1).forward(x, )" or "return torch.relu((fc).forward(x))"; empty if the line calls no
/// module.
std::string calledModule(const std::string& line)
{
    const auto call = line.find(").forward(");
    const auto begin = call == std::string::npos ? call : line.rfind('(', call);
    return begin == std::string::npos ? "" : line.substr(begin + 1, call - begin - 1);
}

} // namespace

std::string layerAndReason(std::string_view text)
{
    std::istringstream lines{std::string(text)};
    std::string layer, reason, before, line;
    bool serialized = true;
    bool inContainer = false; // a container calls its layers by number, which TorchScript writes as _0, _1, …
    while (std::getline(lines, line)) {
        if (line.find("  File \"") != std::string::npos)
            inContainer =
                line.find("/container/") != std::string::npos || line.find("container.py") != std::string::npos;
        // The rest repeats the same calls in terms of the original source.
        if (line.find("original code") != std::string::npos)
            serialized = false;
        if (serialized && line.find("<--- HERE") != std::string::npos)
            if (const std::string name = calledModule(before); !name.empty())
                layer += (layer.empty() ? "" : ".") + (inContainer && name.starts_with('_') ? name.substr(1) : name);
        if (const auto error = line.find("Error: "); error != std::string::npos)
            reason = line.substr(error + 7);
        before = line;
    }
    if (reason.empty())
        reason = std::string(text.substr(0, text.find('\n')));
    return layer.empty() ? reason : "layer " + layer + ": " + reason;
}

} // namespace trainer
