#include "app/main_window.h"
#include "app/session/presets.h"

#include <QApplication>
#include <QDockWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QTest>
#include <cstdio>
#include <functional>

// Drives the real app with the real trainer and takes its picture, in light and dark.
namespace {

constexpr int kPatienceMs = 180'000;

class Photographer {
public:
    explicit Photographer(QString folder)
        : m_folder(std::move(folder)), m_window(&m_session, &m_selection, &m_appearance)
    {
        m_window.resize(1440, 900);
        m_window.show();
        await("the window", [this] { return m_window.isComplete() && m_session.descriptionKnown(); });
    }

    void takeAll()
    {
        take("start");
        startTraining();
        await("some steps", [this] { return m_session.stepHistory().size() > 60 && card(); });
        take("run");
        await("the end of the training", [this] { return m_session.runState() == app::RunState::Idle; });
        await("the analysis",
              [this] { return m_session.analysed() && m_session.analysed()->trace == m_session.trace(); });
        click("show");
        raise("selection");
        take("timeline");
        raise("summary");
        take("summary");
        click("apply");
        await("a first interval",
              [this] { return m_session.experiments().progress() && m_session.experiments().progress()->ratio; });
        take("measuring");
        await("the verdict", [this] { return !m_session.experimentRunning(); });
        const auto* result = m_session.experiments().result("loader.workers");
        if (!result || result->verdict != advisor::Verdict::Pays)
            std::puts("The change did not pay: is the machine busy with something else?");
        else
            click("keep");
        take("advisor");
    }

private:
    void startTraining()
    {
        auto configuration = app::firstRun().configuration;
        for (const char* assignment : {"run.steps=240", "capture.ops_every=40"})
            if (!configuration.setAssignment(assignment))
                qFatal("%s is no assignment", assignment);
        m_session.setConfiguration(configuration, "pictures");
        m_session.start();
    }

    void await(const char* what, const std::function<bool()>& condition)
    {
        if (!QTest::qWaitFor(condition, kPatienceMs))
            qFatal("%s did not come", what);
        QTest::qWait(600); // what is drawn with a delay
    }

    [[nodiscard]] QWidget* card() const { return m_window.findChild<QWidget*>("card:loader.workers"); }

    void click(const char* button)
    {
        auto* found = card() ? card()->findChild<QPushButton*>(button) : nullptr;
        if (!found)
            qFatal("there is no button %s", button);
        found->click();
        QTest::qWait(600);
    }

    void raise(const char* dock)
    {
        auto* found = m_window.findChild<QDockWidget*>(QString("dock:%1").arg(dock));
        if (!found)
            qFatal("there is no dock %s", dock);
        found->raise();
        QTest::qWait(300);
    }

    void take(const QString& name)
    {
        for (const auto& [theme, suffix] :
             {std::pair(app::Theme::Dark, "dark"), std::pair(app::Theme::Light, "light")}) {
            m_appearance.setTheme(theme);
            QTest::qWait(150);
            const QString file = QString("%1/%2_%3.png").arg(m_folder, name, suffix);
            if (!m_window.grab().save(file))
                qFatal("%s cannot be written", qPrintable(file));
            std::printf("%s\n", qPrintable(file));
        }
        std::fflush(stdout);
    }

    QString m_folder;
    app::Appearance m_appearance;
    app::Session m_session;
    app::Selection m_selection;
    app::MainWindow m_window;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication::setOrganizationName("Stepscope");
    QApplication::setApplicationName("stepscope");
    QApplication application(argc, argv);
    Photographer(application.arguments().value(1, ".")).takeAll();
    return 0;
}
