#include "app/configuration/presets.h"
#include "tests/ui/photographer.h"

#include <QAction>
#include <QApplication>
#include <QTest>
#include <cstdio>
#include <cstdlib>

// Tunes the example training with the real app and the real trainer, and takes screenshots in light and dark.
namespace {

class TunePhotographer : private ui::Photographer {
public:
    explicit TunePhotographer(QString folder) : Photographer(std::move(folder), {1440, 900})
    {
        await("the trainer's description", [this] { return m_bench.configuration.descriptionKnown(); });
    }

    void takeAll(std::chrono::seconds budget)
    {
        m_bench.configuration.set(app::firstRun().configuration, "pictures");
        m_window.findChild<QAction*>("tuneTraining")->trigger();
        take("tune_empty");
        m_bench.tuning.start(budget);
        await("a first interval", [this] {
            const auto& progress = m_bench.tuning.progress();
            return progress && progress->ratio;
        });
        take("tune_running");
        await(
            "the end", [this] { return !m_bench.tuning.isRunning(); }, budget + std::chrono::seconds(60));
        if (m_bench.tuning.result() && m_bench.tuning.result()->start == m_bench.tuning.result()->best)
            std::puts("Nothing paid: is the machine busy with something else?");
        take("tune_end");
        m_bench.tuning.apply();
        take("tune_applied");
        for (const char* name : {"/tuning.html", "/tuning.pdf"}) {
            bool written = false;
            const auto told = QObject::connect(&m_bench.notices, &app::Notices::noticed, [&] { written = true; });
            m_bench.reports.saveTuneReport((m_folder + name).toStdString());
            await(name, [&] { return written; });
            QObject::disconnect(told);
        }
    }
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    TunePhotographer(arguments.value(1, ".")).takeAll(std::chrono::seconds(arguments.value(2, "120").toInt()));
    return 0;
}
