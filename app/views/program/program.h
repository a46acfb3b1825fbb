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

/// The parts of a recorded Python program: its loaders, models, optimizers and calls, their settings, and where each is
/// set in the user's files. Enter or a double click opens the line in the user's editor.
class ProgramPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProgramPanel(QWidget* parent = nullptr);

    /// Shows the program of this trace. Cheap if a growing trace has nothing new about it.
    void setTrace(const std::shared_ptr<const profiler::Trace>& trace);

signals:
    /// The user wants to open this line.
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
