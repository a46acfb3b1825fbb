#pragma once

class QPainter;
class QStyleOption;
class QStyleOptionDockWidget;
class QStyleOptionMenuItem;
class QStyleOptionSlider;
class QStyleOptionSpinBox;
class QRect;
class QWidget;

/// Painting functions of app::Style.
namespace app {

void drawButton(const QStyleOption* option, QPainter* painter, const QWidget* widget);
void drawToolButton(const QStyleOption* option, QPainter* painter);
void drawLineEdit(const QStyleOption* option, QPainter* painter, const QWidget* widget);
/// @param up, down  rectangles of its buttons
void drawSpinBox(const QStyleOptionSpinBox& option, QPainter* painter, const QWidget* widget, const QRect& up,
                 const QRect& down);
void drawCheckBox(const QStyleOption* option, QPainter* painter);
void drawTab(const QStyleOption* option, QPainter* painter);
void drawDockTitle(const QStyleOptionDockWidget& option, QPainter* painter, const QRect& text);
void drawHeaderSection(const QStyleOption* option, QPainter* painter);
void drawMenuBarItem(const QStyleOptionMenuItem& option, QPainter* painter);
/// Rectangle of the handle of a scroll bar without arrows.
QRect scrollHandle(const QStyleOptionSlider& option);
void drawScrollBar(const QStyleOptionSlider& option, QPainter* painter);

} // namespace app
