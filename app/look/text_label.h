#pragma once

#include <QLabel>
#include <QString>

namespace app {

/// A label of plain, wrapping text that can be selected and copied.
QLabel* makeTextLabel(const QString& name, QWidget* parent);
/// The centred text of an empty view: what to do next.
QLabel* makeEmptyLabel(const QString& name, QWidget* parent);

} // namespace app
