#include "app/configuration/presets.h"
#include "app/document/trace_files.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <cstdio>

// Drives the real app with the real trainer and takes the screenshots of the README and the book, in light and dark,
// and the frames of the README's animated picture.
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
        frame(150);
        startTraining();
        for (const std::size_t steps : {5U, 20U, 40U}) {
            await("steps", [this, steps] { return m_bench.training.stepHistory().size() > steps; });
            frame(60);
        }
        await("some steps", [this] { return m_bench.training.stepHistory().size() > 60 && card(); });
        take("run");
        frame(100);
        await("the end of the training", [this] { return m_bench.training.state() == app::RunState::Idle; });
        awaitAnalysis();
        frame(150);
        click("show");
        raise("selection");
        take("timeline");
        frame(180);
        raise("summary");
        take("summary");
        click("apply");
        frame(80);
        await("a first interval",
              [this] { return m_bench.experiments.progress() && m_bench.experiments.progress()->ratio; });
        take("measuring");
        frame(120);
        await("the verdict", [this] { return !m_bench.experiments.isRunning(); });
        frame(250);
        const auto* result = m_bench.journal.result("loader.workers");
        if (!result || result->verdict != advisor::Verdict::Pays)
            std::puts("The change did not pay: is the machine busy with something else?");
        else
            click("keep");
        take("advisor");
        frame(250);
        takeSamples();
    }

private:
    /// Views of the samples, for which nothing is trained.
    void takeSamples()
    {
        openSample("launch_bound");
        raise("kernels");
        take("kernels");
        openSample("well_fed");
        raise("flame");
        take("calls");
        raise("compare");
        auto* choice = m_window.findChild<QComboBox*>("compareWith");
        emit choice->activated(choice->findText(app::allSamples().front().title));
        await("the comparison", [this] {
            const auto* verdict = m_window.findChild<QWidget*>("compareVerdict");
            return verdict && verdict->isVisible();
        });
        take("compare");
        m_bench.job.open({sample("late_rank")});
        await("the job", [this] { return m_bench.job.isOpen() && !m_bench.job.isLoading(); });
        awaitAnalysis();
        m_bench.job.setTimeline(app::JobTimeline::ByRank);
        await("all ranks", [this] { return m_bench.job.timeline() == app::JobTimeline::ByRank; });
        awaitAnalysis();
        take("job");
    }

    static std::filesystem::path sample(const QString& id)
    {
        const auto samples = app::allSamples();
        const auto file = app::sampleFile(*std::ranges::find(samples, id, &app::Sample::id));
        if (!file)
            qFatal("%s", file.error().message().c_str());
        return *file;
    }

    void openSample(const QString& id)
    {
        m_bench.document.openTrace(sample(id));
        awaitAnalysis();
    }

    /// The next frame of the animated picture: FOLDER/frames/NN_HUNDREDTHS.png.
    /// @param hundredths  of a second that it is shown
    void frame(int hundredths)
    {
        constexpr int kWidth = 960;
        QDir().mkpath(m_folder + "/frames");
        const QString file =
            QString("%1/frames/%2_%3.png").arg(m_folder).arg(m_frames++, 2, 10, QChar('0')).arg(hundredths);
        if (!m_window.grab().toImage().scaledToWidth(kWidth, Qt::SmoothTransformation).save(file))
            qFatal("%s cannot be written", qPrintable(file));
    }

    int m_frames = 0;

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
