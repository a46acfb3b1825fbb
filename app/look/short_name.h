#pragma once

#include <QString>
#include <string_view>

namespace app {

/// The informative part of the name of a slice, for labels; tooltips and copies have the full name.
/// - Kernels: the function without return type, namespaces, template arguments and parameters. ATen's generic kernels
///   are named after their operation: "add (vectorized)"; those of CUTLASS after their tile configuration.
/// - Operators: without "aten::".
/// - Python functions: "forward (net.py:12)" for "/home/me/net.py(12): forward".
/// - Modules: "Linear_0" for "nn.Module: Linear_0".
/// Other names stay as they are. O(length); thread-safe.
QString shortName(std::string_view name);

/// Only the rule for kernels: tables show operators, Python functions and modules with their full names. O(length);
/// thread-safe.
QString shortKernelName(std::string_view name);

} // namespace app
