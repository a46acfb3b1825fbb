#pragma once

#include <QFrame>
#include <QString>

class QLabel;
class QPlainTextEdit;
class QToolButton;

namespace app {

/// A notice above the timeline: one sentence, details that can be expanded and copied, and a close button. A newer
/// notice replaces an older one, but information does not hide an error.
class NoticeStrip : public QFrame {
    Q_OBJECT
public:
    explicit NoticeStrip(QWidget* parent);

    void show(const QString& what, const QString& detail, bool isError);
    void dismiss();
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString detail() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QToolButton* makeButton(const QString& name, const QString& iconStem, const QString& text);
    void fold(bool folded);

    bool m_isError = false;
    QLabel* m_what;
    QPlainTextEdit* m_detail;
    QToolButton *m_more, *m_copy, *m_close;
};

} // namespace app
