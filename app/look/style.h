#pragma once

#include <QProxyStyle>

namespace app {

/// Property of a QTabBar: pixels that are kept free beside its scroll buttons, for a button of its own. Scrolling tabs
/// do not cover them.
inline constexpr auto kTabMenuWidth = "tabMenuWidth";

/// The Fusion style with flat panels: hairlines instead of bevels, underlined tabs, plain dock titles. It is a style
/// and not an application stylesheet, which would add 16 ms to the first paint.
///
/// An open menu receives all keys; otherwise its letters would trigger shortcuts of the focused widget.
///
/// A QPushButton whose property "primary" is true is filled with the accent colour.
class Style : public QProxyStyle {
    Q_OBJECT
public:
    Style();

    using QProxyStyle::polish;
    void polish(QWidget* widget) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    [[nodiscard]] QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                                       const QWidget* widget) const override;
    [[nodiscard]] QRect subElementRect(SubElement element, const QStyleOption* option,
                                       const QWidget* widget) const override;
    [[nodiscard]] QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                                         const QWidget* widget) const override;
    [[nodiscard]] int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    [[nodiscard]] int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                                QStyleHintReturn* result) const override;
    [[nodiscard]] QIcon standardIcon(StandardPixmap which, const QStyleOption* option,
                                     const QWidget* widget) const override;
};

} // namespace app
