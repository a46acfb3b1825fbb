#pragma once

#include "app/session/session.h"

#include <QString>
#include <QTemporaryDir>
#include <QTimer>
#include <QWidget>

namespace app_test {

/// The application's name, and its settings, caches and runs in a folder of the test's own. Make it before the
/// application object, in initMain().
class OwnFolders {
public:
    OwnFolders();

private:
    QTemporaryDir m_folder;
};

/// Chooses what the scripted trainer does in the trainings that are started from now on.
void useScript(const char* script);

/// A few steps, quickly done.
config::TrainingConfig shortTraining(int steps = 30);

/// Gives the next dialog that asks where to save this name, as a user types it.
class SaveAs : public QObject {
public:
    explicit SaveAs(QString file);
    [[nodiscard]] bool asked() const { return m_asked; }

private:
    void look();

    QString m_file;
    bool m_asked = false;
    QTimer m_look;
};

/// The widget of a class with an object name, under `parent`; fails the test when there is none.
template <class T>
T* find(const QObject* parent, const QString& name)
{
    auto* found = parent->findChild<T*>(name);
    if (!found)
        qFatal("there is no %s", qPrintable(name));
    return found;
}

} // namespace app_test
