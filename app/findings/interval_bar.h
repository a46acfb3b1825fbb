#pragma once

#include "advisor/experiment/experiment.h"

#include <QWidget>
#include <optional>

namespace app {

/// A ratio and its confidence interval on a logarithmic axis around "no difference". The axis range never grows, so
/// that the shrinking of the interval is visible.
class IntervalBar : public QWidget {
    Q_OBJECT
public:
    explicit IntervalBar(QWidget* parent);

    void show(const std::optional<advisor::Interval>& ratio);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] double position(double ratio) const; ///< [0, 1] along the axis

    std::optional<advisor::Interval> m_ratio;
    double m_reach = 0; ///< the axis goes from 1 / reach to reach; 0: not known yet
};

} // namespace app
