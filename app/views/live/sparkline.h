#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace app {

/// One value of a running training: its name, its latest value, and its history as a small curve.
class Sparkline : public QWidget {
    Q_OBJECT
public:
    Sparkline(const QString& title, QWidget* parent);

    /// @param latest  the value as text with its unit
    void show(const QString& latest, std::vector<double> history);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int textWidth() const; ///< leftmost x of the curve
    [[nodiscard]] QRectF curveArea() const;

    QString m_title, m_latest;
    std::vector<double> m_history;
};

/// Means over at most `columns` equal parts, one per pixel of the curve.
std::vector<double> thinned(const std::vector<double>& values, std::size_t columns);

} // namespace app
