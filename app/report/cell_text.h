#pragma once

#include <QString>
#include <functional>

namespace app {

/// A number and its unit stay on one line: "9.00 µs", "16 MiB and more".
[[nodiscard]] QString withUnitsKept(QString text);

/// A long C++ name without its types: "at::native::vectorized_elementwise_kernel<…>" of
/// "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, …>(int, …)". Empty: nothing can be
/// left out, or it is short enough as it is.
[[nodiscard]] QString shortNameOf(const QString& name);

/// Breaks the words that are wider than the room by line separators, where names have their joints (after :: , < ( _ /
/// . and the like), and between any letters only where there is none.
[[nodiscard]] QString brokenToFit(const QString& text, double room, const std::function<double(QStringView)>& widthOf);

/// The widest part of a text that is not broken.
[[nodiscard]] double widestWord(const QString& text, const std::function<double(QStringView)>& widthOf);

} // namespace app
