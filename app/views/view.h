#pragma once

#include <QString>
#include <string_view>

class QWidget;

namespace app {

struct Workbench;

enum class ViewArea {
    Left,
    Center,
    Bottom,
    Right,
    Start, ///< shown instead of the central views while there is no trace
};

/// A dock or page. Each folder app/views/<stem>/ contains <stem>.cpp, which defines `View <stem>()`. Its create()
/// passes the widget the documents and services that it uses; a widget knows neither the workbench nor another view.
struct View {
    QString title;
    ViewArea area = ViewArea::Center;
    int order = 0; ///< within its area
    QWidget* (*create)(Workbench& bench, QWidget* parent) = nullptr;
};

} // namespace app
