#include "app/configuration/presets.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QPushButton>
#include <QTest>
#include <cstdio>

// Drives the real app with the real trainer and takes screenshots, in light and dark.
namespace {

class RunPhotographer : private ui::Photographer {
public:
    explicit RunPhotographer(QString folder) : Photographer(std::move(folder), {1440, 900})
    {
        await("the trainer's description", [this] { return m_bench.configuration.descriptionKnown(); });
    }

    void takeAll()
    {
        take("start");
        startTraining();
        await("some steps", [this] { return m_bench.training.stepHistory().size() > 60 && card(); });
        take("run");
        await("the end of the training", [this] { return m_bench.training.state() == app::RunState::Idle; });
        awaitAnalysis();
        click("show");
        raise("selection");
        take("timeline");
        raise("summary");
        take("summary");
        click("apply");
        await("a first interval",
              [this] { return m_bench.experiments.progress() && m_bench.experiments.progress()->ratio; });
        take("measuring");
        await("the verdict", [this] { return !m_bench.experiments.isRunning(); });
        const auto* result = m_bench.journal.result("loader.workers");
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
                qFatal("%s is not an assignment", assignment);
        m_bench.configuration.set(configuration, "pictures");
        m_bench.training.start();
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
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    RunPhotographer(application.arguments().value(1, ".")).takeAll();
    return 0;
}
