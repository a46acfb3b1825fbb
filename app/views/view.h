#pragma once

#include <QString>
#include <string_view>

class QWidget;

namespace app {

class Session;
class Selection;

/// What a view is given; never another view.
struct ViewContext {
    Session* session = nullptr;
    Selection* selection = nullptr;
};

enum class ViewArea {
    Left,
    Center,
    Bottom,
    Right,
    Start, ///< shown in place of the centre while there is no trace
};

/// A dock or page. A folder app/views/<stem>/ with <stem>.cpp defines `View <stem>()`.
struct View {
    QString title;
    ViewArea area = ViewArea::Center;
    int order = 0; ///< within its area
    QWidget* (*create)(const ViewContext& context, QWidget* parent) = nullptr;
};

} // namespace app
