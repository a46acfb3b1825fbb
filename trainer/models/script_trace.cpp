#include "trainer/models/script_trace.h"

#include <map>
#include <sstream>

namespace trainer {

namespace {

/// Takes "    _0 = getattr(self, "0")" into account: what is called _0 is the layer 0.
void noteAlias(const std::string& line, std::map<std::string, std::string>& aliases)
{
    constexpr std::string_view kGet = " = getattr(self, \"";
    const auto get = line.find(kGet);
    if (get == std::string::npos)
        return;
    const auto name = line.find_first_not_of(' '), layer = get + kGet.size();
    aliases[line.substr(name, get - name)] = line.substr(layer, line.find('"', layer) - layer);
}

/// The name in "    _0 = (conv1).forward(x, )" or "return torch.relu((fc).forward(x))"; empty where none is called.
std::string calledModule(const std::string& line)
{
    const auto call = line.find(").forward(");
    const auto begin = call == std::string::npos ? call : line.rfind('(', call);
    return begin == std::string::npos ? "" : line.substr(begin + 1, call - begin - 1);
}

} // namespace

std::string layerAndReason(std::string_view text)
{
    std::map<std::string, std::string> aliases; // of the frame at hand: layers whose names are numbers have others
    std::istringstream lines{std::string(text)};
    std::string layer, reason, before, line;
    bool serialized = true;
    while (std::getline(lines, line)) {
        if (line.find("  File \"") != std::string::npos)
            aliases.clear();
        noteAlias(line, aliases);
        // The same calls follow once more, in the words of the original source.
        if (line.find("original code") != std::string::npos)
            serialized = false;
        if (serialized && line.find("<--- HERE") != std::string::npos)
            if (const std::string name = calledModule(before); !name.empty())
                layer += (layer.empty() ? "" : ".") + (aliases.contains(name) ? aliases[name] : name);
        if (const auto error = line.find("Error: "); error != std::string::npos)
            reason = line.substr(error + 7);
        before = line;
    }
    if (reason.empty())
        reason = std::string(text.substr(0, text.find('\n')));
    return layer.empty() ? reason : "layer " + layer + ": " + reason;
}

} // namespace trainer
