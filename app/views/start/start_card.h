#pragma once

#include <QFrame>
#include <QString>

class QPushButton;

namespace app {

/// A card of the start page: an icon, a description, and a button.
class StartCard : public QFrame {
    Q_OBJECT
public:
    StartCard(const QString& iconStem, const QString& title, const QString& text, const QString& action,
              QWidget* parent);

    [[nodiscard]] QPushButton* button() const { return m_button; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPushButton* m_button;
};

} // namespace app
