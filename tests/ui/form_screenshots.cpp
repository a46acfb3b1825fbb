#include "app/window/window_dialogs.h"
#include "tests/ui/photographer.h"

#include <QApplication>
#include <QCheckBox>
#include <QDateTime>
#include <QLineEdit>
#include <QTest>
#include <QToolButton>

// The configuration form in its initial state, with all settings, and with changed ones; and the question about a model
// file.
namespace {

class FormPhotographer : private ui::Photographer {
public:
    explicit FormPhotographer(QString folder) : Photographer(std::move(folder), {1280, 900}) {}

    void takeAll()
    {
        m_bench.configuration.refreshDescription();
        QTest::qWait(2000);
        take("form");
        for (const auto& [key, value] : {std::pair{"loader.workers", "4"},
                                         {"schedule.kind", "one_cycle"},
                                         {"optimizer.learning_rate", "0.1"},
                                         {"workload", "gpt"}})
            if (m_bench.configuration.setKnob(key, value))
                qFatal("%s is not a valid value of %s", value, key);
        take("form_changed");
        auto* only = m_window.findChild<QToolButton*>("onlyChanged");
        only->click();
        take("form_only_changed");
        only->click();
        m_window.findChild<QCheckBox*>("allKnobs")->setChecked(true);
        take("form_all");
        m_window.findChild<QLineEdit*>("searchKnobs")->setText("memory");
        take("form_search");
        app::CodeFile file;
        file.path = "/home/someone/models/experiments/resnet50-with-a-long-name-v3-final.pt";
        file.sha256 = QString("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
        file.bytes = 102'400'000;
        file.workload = "torchscript";
        takeQuestion("trust", file);
        file.changedSince = QDateTime::currentDateTime().addDays(-3);
        takeQuestion("trust_changed", file);
    }

private:
    void takeQuestion(const char* name, const app::CodeFile& file)
    {
        auto* question = new app::TrustQuestion(file, &m_window);
        question->open();
        QTest::qWait(200);
        take(name, question);
        question->close();
    }
};

} // namespace

int main(int argc, char** argv)
{
    ui::beTheApplication();
    QApplication application(argc, argv);
    FormPhotographer(application.arguments().value(1, ".")).takeAll();
    return 0;
}
