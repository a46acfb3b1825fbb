#pragma once

#include <QString>
#include <QWidget>
#include <cstddef>
#include <vector>

/// The parts of the live view: a curve per value, and its history in bounded memory.
namespace app {

/// A time series of any length in bounded memory: means over equal numbers of values, which grow with the length of the
/// run. Adding a value is cheap.
class DecimatedSeries {
public:
    static constexpr std::size_t kMost = 1024; ///< more points than a curve has pixels

    void add(double value);
    /// At most kMost means, in order; the last may cover fewer values than the others.
    [[nodiscard]] const std::vector<double>& means() const { return m_means; }

private:
    std::vector<double> m_means;
    std::size_t m_each = 1; ///< values per mean
    std::size_t m_last = 0; ///< values in the last mean so far
    double m_sum = 0;       ///< sum of these values
};

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
