#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;

namespace app {

/// Progress of a long operation: description, share done, and Cancel.
class LoadingBar : public QWidget {
    Q_OBJECT
public:
    explicit LoadingBar(QWidget* parent);

    /// @param share  [0, 1]; 1 hides it
    void show(const QString& what, double share);

signals:
    void cancelled();

private:
    QLabel* m_what;
    QProgressBar* m_bar;
};

} // namespace app
