#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <string>

class QLabel;
class QLineEdit;
class QStandardItemModel;
class QTreeView;

namespace profiler {
class Trace;
}

namespace app {

/// What a recorded Python program consists of: its loaders, models, optimizers and calls, with which settings, and
/// where in the user's files each of them is set. Enter or a double click opens the place in the user's editor.
class ProgramPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProgramPanel(QWidget* parent = nullptr);

    /// Shows the program of this trace. Cheap while the trace grows and says nothing new about it.
    void setTrace(const std::shared_ptr<const profiler::Trace>& trace);

signals:
    /// The user wants to see this line.
    void lineActivated(const QString& file, int line);

private:
    void showText(const std::string& text);
    void filter(const QString& text);

    QLabel* m_head;
    QLabel* m_empty;
    QLineEdit* m_filter;
    QTreeView* m_tree;
    QStandardItemModel* m_model;
    std::string m_shown; ///< the document on screen
};

} // namespace app
