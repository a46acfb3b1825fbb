#pragma once

#include <QString>
#include <functional>

namespace app {

/// Keeps a number and its unit on one line: "9.00 µs", "16 MiB and more".
[[nodiscard]] QString withUnitsKept(QString text);

/// A long C++ name without its types: "at::native::vectorized_elementwise_kernel<…>" for "void
/// at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, …>(int, …)". Empty: nothing can be left
/// out, or the name is short enough.
[[nodiscard]] QString shortNameOf(const QString& name);

/// Inserts line separators into words that are wider than the available width: after separators of names (:: , < ( _ /
/// . and similar), or between any letters if there are none.
[[nodiscard]] QString brokenToFit(const QString& text, double room, const std::function<double(QStringView)>& widthOf);

/// The widest unbreakable part of a text.
[[nodiscard]] double widestWord(const QString& text, const std::function<double(QStringView)>& widthOf);

} // namespace app
