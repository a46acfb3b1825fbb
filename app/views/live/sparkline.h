#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace app {

/// One figure of a running training: its name, its latest value, and its course so far as a small curve.
class Sparkline : public QWidget {
    Q_OBJECT
public:
    Sparkline(const QString& title, QWidget* parent);

    /// @param latest  the value in words, with its unit
    void show(const QString& latest, std::vector<double> course);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] int textWidth() const; ///< where the curve may begin

    QString m_title, m_latest;
    std::vector<double> m_course;
};

/// Mean of each of at most `columns` equal parts: what a curve of that many pixels can show.
std::vector<double> thinned(const std::vector<double>& values, std::size_t columns);

} // namespace app
