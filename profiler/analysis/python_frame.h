#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::analysis {

/// A call of a Python function as PyTorch's profiler names it (with_stack=True): "train.py(42): forward".
struct PythonFrame {
    std::string_view file; ///< as recorded: absolute, or relative to an entry of sys.path
    std::int64_t line = 0; ///< where the function starts
    std::string_view function;
};

/// None for a name of another form, such as "<built-in method to of Tensor object at 0x…>". The texts are valid as long
/// as the name.
std::optional<PythonFrame> pythonFrame(std::string_view name);

/// True for a file of PyTorch itself: "torch/nn/modules/module.py", "/venv/lib/torch/…".
bool isOfPytorch(std::string_view file);

} // namespace profiler::analysis
