#pragma once

#include "app/findings/finding_card.h"
#include "app/window/workbench.h"

#include <QString>
#include <QTemporaryDir>
#include <QTimer>
#include <QWidget>

namespace app_test {

/// Sets the application's name, and a test folder for its settings, caches and runs. Create it before the application
/// object, in initMain().
class OwnFolders {
public:
    OwnFolders();

private:
    QTemporaryDir m_folder;
};

/// Chooses the behaviour of the scripted trainer for trainings started from now on.
void useScript(const char* script);

/// A configuration with a few fast steps.
config::TrainingConfig shortTraining(int steps = 30);

/// Types this name into the next save dialog, as a user does.
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

/// Test data: sizes of the window ("size") and the share of its area that the timeline must have at least ("share").
void addTimelineShares();

/// What a finding's card uses of a workbench.
app::FindingServices cardServices(app::Workbench& bench);

/// The widget of this class and object name under `parent`; fails the test if there is none.
template <class T>
T* find(const QObject* parent, const QString& name)
{
    auto* found = parent->findChild<T*>(name);
    if (!found)
        qFatal("there is no %s", qPrintable(name));
    return found;
}

} // namespace app_test
