#pragma once

#include <QLabel>
#include <QString>

namespace app {

/// A label of plain, wrapping text that can be selected and copied.
QLabel* makeWords(const QString& name, QWidget* parent);
/// What stands in the middle of a view that has nothing to show: what to do next.
QLabel* makeEmptyWords(const QString& name, QWidget* parent);

} // namespace app
