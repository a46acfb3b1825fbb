#pragma once

#include <string>

namespace record_test {

/// The command that runs a script of this folder with the Python that has torch.
inline std::string python(const std::string& script, const std::string& arguments = {})
{
    return std::string(PYTHON_WITH_TORCH) + " " + SCRIPTS + "/" + script + " " + arguments;
}

} // namespace record_test
