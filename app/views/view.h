#pragma once

#include <QString>
#include <string_view>

class QWidget;

namespace app {

class Session;
class Selection;

/// The services available to a view; never another view.
struct ViewContext {
    Session* session = nullptr;
    Selection* selection = nullptr;
};

enum class ViewArea {
    Left,
    Center,
    Bottom,
    Right,
    Start, ///< shown instead of the central views while there is no trace
};

/// A dock or page. Each folder app/views/<stem>/ contains <stem>.cpp, which defines `View <stem>()`.
struct View {
    QString title;
    ViewArea area = ViewArea::Center;
    int order = 0; ///< within its area
    QWidget* (*create)(const ViewContext& context, QWidget* parent) = nullptr;
};

} // namespace app
